// A handleSummary that returns no object of files
export const options = { iterations: 1 };
export default function () { console.log('iteration'); }
export function handleSummary() { return 7; }
