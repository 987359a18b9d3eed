// k6: JavaScript on goja, in Go. Built from its module (tools/k6/), as its releases are.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { installed, patiently } from '../lib/cache.mjs';
import { lastJsonLine, scriptPath, variables } from '../lib/scripts.mjs';

/** The k6 that the Go module in the folder `name` beside this file makes, with `extensions`, modules it requires: a tool. */
export function built(name, extensions = []) {
  const source = new URL(`./${name}/`, import.meta.url).pathname;
  const required = readFileSync(`${source}go.mod`, 'utf8');
  const versionOf = (module) => required.match(new RegExp(`${module} v(\\S+)`))[1];
  const noted = extensions.map((module) => `${module.split('/').at(-1)} ${versionOf(module)}`);
  const version = versionOf('go.k6.io/k6/v2') + (noted.length > 0 ? ` (${noted.join(', ')})` : '');
  return {
    name,
    version: () => version,
    install: (cache) =>
      installed(cache, name, version, (folder) =>
        patiently(['go', 'build', '-mod=readonly', '-trimpath', '-ldflags=-s -w', '-o', join(folder, 'k6'), '.'], { cwd: source, env: { CGO_ENABLED: '0', GOFLAGS: '' } }),
      ),
    /** A script of scripts/ whose handleSummary prints one line of JSON. No progress, no report of use, no server of its own. */
    script: (path, parameters = {}, { flags = [] } = {}) => ({
      tool: name,
      command: ({ target, cache, ...context }) => ({
        argv: [join(cache, name, 'k6'), 'run', '--quiet', '--no-usage-report', '--address', '', ...flags, scriptPath(path)],
        env: variables(target, parameters, context),
      }),
      report: ({ stdout }) => lastJsonLine(stdout),
    }),
  };
}

export const { name, version, install, script } = built('k6');
