// Syntax that the engine of k6 does not know
export const options = { iterations: 1 };
export default async function () { for await (const value of (async function* () { yield 1; yield 2; })()) console.log('for await', value); }
