// Flags win over the script; --iterations wipes its stages
// flags: --vus 2 --iterations 3 --tag from=flag
// order: connections
export const options = { vus: 5, stages: [{ duration: '5s', target: 1 }], tags: { from: 'script', also: 'script' } };
export default function () { console.log('iteration'); }
