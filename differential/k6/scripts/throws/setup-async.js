// A rejected async setup
export const options = { iterations: 1 };
export async function setup() { throw new Error('in setup'); }
export default function () { console.log('never'); }
