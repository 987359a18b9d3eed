// summaryTrendStats that mean nothing
export const options = { iterations: 1, summaryTrendStats: ['average'] };
export default function () { console.log('never'); }
