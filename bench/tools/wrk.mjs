// wrk: C, one epoll loop per thread. Closed loop only; the fastest HTTP generator people use.
import { join } from 'node:path';
import { debian, debianVersion, installed } from '../lib/cache.mjs';

export const name = 'wrk';
const VERSION = '4.1.0';
export const version = (cache) => `${VERSION} (Debian ${debianVersion(join(cache, name), name)})`;

export const install = (cache) => installed(cache, name, `${VERSION}, packages noted`, (folder) => debian(folder, [`wrk=${VERSION}*`, 'libluajit-5.1-2', 'libluajit-5.1-common']));

/** Closed loop: `connections` ask for `path` for `seconds`. */
export const closed = (path, { connections, seconds }) => ({
  tool: name,
  command: ({ target, cache }) => ({
    argv: [join(cache, name, 'usr/bin/wrk'), '-t1', `-c${connections}`, `-d${seconds}s`, '--latency', target.url + path],
    env: { LD_LIBRARY_PATH: ['x86_64', 'aarch64'].map((machine) => join(cache, name, `usr/lib/${machine}-linux-gnu`)).join(':') },
  }),
  report,
});

/** Its text: `{ requests, seconds, p50_ms, p99_ms, errors }`. */
export function report({ stdout }) {
  const found = stdout.match(/(\d+) requests in ([\d.]+)(m?s)/);
  if (!found) throw new Error('no summary of wrk');
  const percentile = (n) => inMs(stdout.match(new RegExp(`^\\s+${n}%\\s+([\\d.]+)(us|ms|s)`, 'm')));
  const errors = stdout.match(/Socket errors: .*|Non-2xx .*/g)?.join('; ');
  return { requests: Number(found[1]), seconds: inMs(found.slice(0, 1).concat(found[2], found[3])) / 1000, p50_ms: percentile(50), p99_ms: percentile(99), errors };
}

const inMs = (found) => found && Number(found[1]) * { us: 0.001, ms: 1, s: 1000 }[found[2]];
