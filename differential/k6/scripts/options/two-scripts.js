// Nothing to run: a script that is not there
// flags: not-there.js
export default function () { console.log('never'); }
