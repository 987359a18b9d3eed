// An iteration that awaits a promise that never settles
// patience: 10
export const options = { iterations: 2 };
export default async function (data) { console.log('iteration', data); await new Promise(() => {}); console.log('behind'); }
