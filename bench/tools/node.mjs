// Clients people write by hand on Node: a script of scripts/ on the reference clients of their protocols.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installed, patiently } from '../lib/cache.mjs';
import { lastJsonLine, scriptPath, variables } from '../lib/scripts.mjs';

export const name = 'node';
const PACKAGES = ['socket.io-client@4.8.4', '@stomp/stompjs@7.5.0', 'eventsource@4.1.1', 'ws@8.23.0', 'bufferutil@4.1.0'];
export const version = () => `${process.version.slice(1)} (${PACKAGES.join(', ')})`;

export const install = (cache) =>
  installed(cache, name, PACKAGES.join(), async (folder) => {
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
    await patiently(['npm', 'install', '--silent', '--no-audit', '--no-fund', ...PACKAGES], { cwd: folder });
  });

/** The script finds its packages by `createRequire(process.env.MODULES)` and prints one line of JSON. */
export const script = (path, parameters = {}) => ({
  tool: name,
  command: ({ target, cache, ...context }) => ({
    argv: [process.execPath, scriptPath(path)],
    env: { ...variables(target, parameters, context), MODULES: join(cache, name, 'package.json') },
  }),
  report: ({ stdout }) => lastJsonLine(stdout),
});
