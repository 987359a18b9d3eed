// Init code of a script that has no handleSummary
export const options = { iterations: 1 };
console.log('init', __VU);
export default function () {}
