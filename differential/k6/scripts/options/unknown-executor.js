// An executor that is not known
export const options = { scenarios: { a: { executor: 'every-monday' }, b: { vus: 1 } } };
export default function () { console.log('never'); }
