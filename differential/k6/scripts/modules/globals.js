// Globals that there are, and some that there are not
export const options = { iterations: 1 };
export default function () {
  for (const name of ['__ENV', '__VU', '__ITER', 'console', 'open', 'require', 'module', 'exports', 'global', 'globalThis', 'window', 'self', 'process', 'Buffer', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'queueMicrotask', 'structuredClone', 'TextEncoder', 'TextDecoder', 'crypto', 'CryptoKey', 'fetch', 'Headers', 'URL', 'URLSearchParams', 'FormData', 'Blob', 'AbortController', 'Event', 'EventTarget', 'ReadableStream', 'WebSocket', 'XMLHttpRequest', 'atob', 'btoa', 'performance', 'navigator', 'Intl', 'WeakRef', 'FinalizationRegistry', 'SharedArrayBuffer', 'Atomics', 'BigInt', 'Symbol', 'Proxy', 'Reflect', 'eval', 'escape', 'Iterator', 'Temporal', '__dirname', '__filename', '_'])
    console.log(name, eval(`typeof ${name}`));
}
