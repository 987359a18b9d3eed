// Runs an entry in Node with the modules a graph gave: node run.mjs graph.json entry.
import { readFileSync } from 'node:fs';
import Module, { register } from 'node:module';
import { pathToFileURL } from 'node:url';

const [graph, entry] = process.argv.slice(2);
const files = JSON.parse(readFileSync(graph, 'utf8'));
register('./hooks.mjs', import.meta.url, { data: files });

const made = new Map(files.map((file) => [file.path, file]));
const resolveFilename = Module._resolveFilename;
Module._resolveFilename = function (request, parent, ...rest) {
  return made.get(parent?.filename)?.links[request] ?? resolveFilename.call(this, request, parent, ...rest);
};
for (const extension of ['.js', '.cjs', '.mjs', '.jsx', '.ts', '.tsx', '.mts', '.cts']) {
  const before = Module._extensions[extension] ?? Module._extensions['.js'];
  Module._extensions[extension] = (module, filename) => {
    const file = made.get(filename);
    if (file) module._compile(file.code, filename);
    else before(module, filename);
  };
}
await import(pathToFileURL(entry).href);
