// A top-level await of a promise that never settles
// patience: 10
console.log('before');
await new Promise(() => {});
console.log('behind');
export default function () { console.log('iteration'); }
