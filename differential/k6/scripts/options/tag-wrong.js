// --tag without a value
// flags: --tag alone
export default function () { console.log('never'); }
