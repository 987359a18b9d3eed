// An output that there is not
// flags: --out none=x
export const options = { iterations: 1 };
export default function () { console.log('never'); }
