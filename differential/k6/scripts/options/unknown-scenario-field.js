// A field of a scenario that is not known is refused
export const options = { scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '1s', notKnown: 1 } } };
export default function () { console.log('never'); }
