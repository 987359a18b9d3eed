// A rejected async iteration
export const options = { iterations: 2 };
export default async function () { await null; throw new Error(`in iteration ${__ITER}`); }
