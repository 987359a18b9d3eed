// toJSON in what setup returns
export const options = { iterations: 1 };
export function setup() { return { own: { toJSON() { return 'x'; } } }; }
export default function (data) { console.log(JSON.stringify(data)); }
