// --no-summary
// flags: --no-summary
export const options = { iterations: 1 };
export default function () { console.log('iteration'); }
export function handleSummary() { console.log('never'); return {}; }
