// --compatibility-mode base: no `global`
// flags: --compatibility-mode base
export const options = { iterations: 1 };
export default function () { console.log(typeof global, typeof globalThis); }
