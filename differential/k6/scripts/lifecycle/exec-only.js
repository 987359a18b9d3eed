// Scenarios with exec, without a default function
export const options = { scenarios: { a: { executor: 'shared-iterations', exec: 'mine' } } };
export function mine() { console.log('mine'); }
