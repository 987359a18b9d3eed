// --config with a file that is not there
// flags: --config _files/none.json
export default function () { console.log('iteration'); }
