// A flag that is not known
// flags: --not-known
export default function () { console.log('never'); }
