// Users and teardown without a setup
export const options = { iterations: 1 };
export default function (...given) { console.log('iteration', given.length, typeof given[0]); }
export function teardown(...given) { console.log('teardown', given.length, typeof given[0]); }
