// --execution-segment: a part of the users and iterations
// flags: --execution-segment 0:1/2
// order: connections
export const options = { vus: 4, iterations: 8 };
export default function () { console.log('iteration'); }
