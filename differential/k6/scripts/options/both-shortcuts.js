// scenarios beside vus and iterations in one script
export const options = { vus: 2, iterations: 4, scenarios: { a: { executor: 'shared-iterations' } } };
export default function () { console.log('iteration'); }
