// --no-setup and --no-teardown
// flags: --no-setup --no-teardown
export const options = { iterations: 1 };
export function setup() { console.log('never'); return 1; }
export default function (data) { console.log('iteration', typeof data); }
export function teardown() { console.log('never'); }
