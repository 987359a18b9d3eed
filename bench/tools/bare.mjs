// The floor: bench/bare, one thread, an epoll loop and hand-written framing.
import { join } from 'node:path';
import { quietly, ROOT } from '../lib/cache.mjs';
import { lastJsonLine } from '../lib/scripts.mjs';

export const name = 'bare';
const BINARY = join(process.env.CARGO_TARGET_DIR ?? join(ROOT, 'target'), 'release/bare');

export async function install() {
  await quietly(['cargo', 'build', '--release', '--locked', '-p', 'sonagi-bare'], { cwd: ROOT, timeout_s: 1800 });
}

export const version = () => 'this tree';

/** What is asked for by HTTP; the others are WebSockets. */
const BY_HTTP = ['http', 'open', 'events'];

/**
 * `bare KIND URL FLAGS…`: the first of `flags` is the path; one may be a function of the run's context, e.g. the rate
 * found by calibration.
 */
export const run = (kind, [path, ...flags]) => ({
  tool: name,
  command: ({ target, ...context }) => {
    const base = BY_HTTP.includes(kind) ? target.url : target.url.replace(/^http/, 'ws');
    return { argv: [BINARY, kind, base + path, ...flags.map((flag) => (typeof flag === 'function' ? flag({ target, ...context }) : flag))] };
  },
  report: ({ stdout }) => lastJsonLine(stdout),
});
