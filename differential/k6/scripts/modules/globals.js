// Globals that there are, and a few that scripts look for to know where they run
export const options = { iterations: 1 };
export default function () {
  for (const name of ['__ENV', '__VU', '__ITER', 'console', 'open', 'require', 'global', 'globalThis', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'TextEncoder', 'TextDecoder', 'crypto', 'BigInt', 'Symbol', 'Proxy', 'Reflect', 'eval', 'escape', 'window', 'process', 'Buffer', '__dirname'])
    try { console.log(name, eval(`typeof ${name}`)); } catch (error) { console.log(name, 'throws', error.name); }
}
