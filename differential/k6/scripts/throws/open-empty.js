// open() of nothing
open('');
export default function () { console.log('never'); }
