// k6: JavaScript on goja, in Go. Built from its module (tools/k6/), as its releases are.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { installed, patiently } from '../lib/cache.mjs';
import { lastJsonLine, scriptPath, variables } from '../lib/scripts.mjs';

export const name = 'k6';
const SOURCE = new URL('./k6/', import.meta.url).pathname;
const VERSION = readFileSync(`${SOURCE}go.mod`, 'utf8').match(/go\.k6\.io\/k6\/v2 v([\d.]+)/)[1];
export const version = () => VERSION;

export const install = (cache) =>
  installed(cache, name, VERSION, (folder) =>
    patiently(['go', 'build', '-mod=readonly', '-trimpath', '-ldflags=-s -w', '-o', join(folder, 'k6'), '.'], { cwd: SOURCE, env: { CGO_ENABLED: '0', GOFLAGS: '' } }),
  );

/** A script of scripts/ whose handleSummary prints one line of JSON. No progress, no report of use, no server of its own. */
export const script = (path, parameters = {}, { flags = [] } = {}) => ({
  tool: name,
  command: ({ target, cache, ...context }) => ({
    argv: [join(cache, name, 'k6'), 'run', '--quiet', '--no-usage-report', '--address', '', ...flags, scriptPath(path)],
    env: variables(target, parameters, context),
  }),
  report: ({ stdout }) => lastJsonLine(stdout),
});
