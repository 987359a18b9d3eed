// A setup that returns NaN
export const options = { iterations: 1 };
export function setup() { return { number: NaN }; }
export default function (data) { console.log('iteration', JSON.stringify(data)); }
