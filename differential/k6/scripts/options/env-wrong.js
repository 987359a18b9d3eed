// K6_* that cannot be read
// env: K6_VUS=many
export const options = { iterations: 1 };
export default function () { console.log('never'); }
