// A rejection nobody handles in init code
Promise.reject(new Error('in init'));
export const options = { iterations: 1 };
export default function () { console.log('iteration'); }
