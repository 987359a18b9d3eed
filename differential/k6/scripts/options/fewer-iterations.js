// Fewer iterations than users
// order: connections
export const options = { vus: 4, iterations: 2 };
export default function () { console.log('iteration'); }
