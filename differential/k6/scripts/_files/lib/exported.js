export const options = { iterations: 2 };
export function helper() { console.log('helper'); }
