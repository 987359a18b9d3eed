// A throw in a user's init code only
if (__VU === 2) throw new Error('in the init code of user 2');
export const options = { vus: 2, iterations: 2 };
export function setup() { console.log('setup'); }
export default function () { console.log('never'); }
export function teardown() { console.log('teardown'); }
