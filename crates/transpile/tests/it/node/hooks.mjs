// What run.mjs registers: relative imports of a made module go where the graph says, its code is what the graph made.
import { pathToFileURL } from 'node:url';

let made;
export function initialize(files) {
  made = new Map(files.map((file) => [pathToFileURL(file.path).href, file]));
}

export async function resolve(specifier, context, next) {
  const target = made.get(context.parentURL)?.links[specifier];
  return target ? next(pathToFileURL(target).href, context) : next(specifier, context);
}

export async function load(url, context, next) {
  const file = made.get(url);
  if (!file) return next(url, context);
  return file.esm
    ? { format: 'module', source: file.code, shortCircuit: true }
    : { format: 'commonjs', source: null, shortCircuit: true };
}
