// A rejected promise and a top-level await in init code
console.log('before');
await Promise.reject(new Error('in init'));
export default function () {}
