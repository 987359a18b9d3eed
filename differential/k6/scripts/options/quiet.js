// --quiet: no plan, no progress, the summary stays
// flags: --quiet
export const options = { iterations: 1 };
export default function () { console.log('iteration'); }
