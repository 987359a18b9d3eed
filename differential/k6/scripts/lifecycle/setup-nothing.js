// A setup that returns nothing, and what teardown and users get then
export const options = { iterations: 1 };
export function setup() {}
export default function (data) { console.log('iteration', typeof data, data === undefined, data === null); }
export function teardown(data) { console.log('teardown', typeof data, data === undefined, data === null); }
