// A setup that awaits a promise that never settles
// patience: 10
export const options = { iterations: 2 };
export async function setup() { await new Promise(() => {}); return 1; }
export default function (data) { console.log('iteration', data); }
export function teardown(data) { console.log('teardown', data); }
