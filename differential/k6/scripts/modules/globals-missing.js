// Globals of browsers and of Node that k6 does not have
export const options = { iterations: 1 };
export default function () {
  for (const name of ['self', 'setImmediate', 'queueMicrotask', 'structuredClone', 'CryptoKey', 'fetch', 'Headers', 'URL', 'URLSearchParams', 'FormData', 'Blob', 'AbortController', 'Event', 'EventTarget', 'ReadableStream', 'WebSocket', 'XMLHttpRequest', 'atob', 'btoa', 'performance', 'navigator', 'Intl', 'WeakRef', 'FinalizationRegistry', 'SharedArrayBuffer', 'Atomics', 'Iterator', 'Temporal', '__filename', '_'])
    try { console.log(name, eval(`typeof ${name}`)); } catch (error) { console.log(name, 'throws', error.name); }
}
