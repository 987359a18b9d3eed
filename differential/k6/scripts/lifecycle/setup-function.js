// A setup that returns a function
export const options = { iterations: 1 };
export function setup() { return { f: () => 1 }; }
export default function (data) { console.log('iteration', typeof data, JSON.stringify(data)); }
