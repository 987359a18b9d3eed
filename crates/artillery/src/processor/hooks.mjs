// What the engine has turned into JavaScript, as Node's loader asks for it: by the file it was written in.
let files = {};

export async function initialize(data) {
  files = data;
}

export async function resolve(specifier, context, next) {
  const found = files[context.parentURL]?.imports?.[specifier];
  return found ? { url: found, shortCircuit: true } : next(specifier, context);
}

export async function load(url, context, next) {
  const file = files[url];
  if (!file) return next(url, context);
  if (file.format === 'commonjs') {
    // Loaded by `require`, which knows what to do with the file; handed on as its default export.
    const path = JSON.stringify(url);
    const source = `import { createRequire } from 'node:module'; import { fileURLToPath } from 'node:url';\nexport default createRequire(${path})(fileURLToPath(${path}));`;
    return { format: 'module', source, shortCircuit: true };
  }
  return { format: 'module', source: file.code, shortCircuit: true };
}
