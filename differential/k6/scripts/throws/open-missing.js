// open() of a file that is not there
open('missing.txt');
export default function () { console.log('never'); }
