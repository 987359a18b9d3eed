// --config with a file that is no JSON
// flags: --config _files/words.txt
export default function () { console.log('iteration'); }
