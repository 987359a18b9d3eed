// A throw in handleSummary: the summary is told in k6's own way
export const options = { iterations: 1 };
export default function () { console.log('iteration'); }
export function handleSummary() { throw new Error('in handleSummary'); }
