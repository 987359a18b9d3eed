// open() of a directory
open('/');
export default function () { console.log('never'); }
