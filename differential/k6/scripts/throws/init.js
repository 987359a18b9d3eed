// A throw in init code: nothing runs, exit code 107
// quick
console.log('before');
throw new Error('in init');
export default function () { console.log('never'); }
