// oha: Rust, tokio and hyper. The target of the closed loop: the fast tool with a summary people read.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { installed, patiently } from '../lib/cache.mjs';

export const name = 'oha';
const VERSION = '1.16.0';
export const version = () => VERSION;

export const install = (cache) =>
  installed(cache, name, VERSION, async (folder) => {
    const built = join(folder, 'target');
    await patiently(['cargo', 'install', 'oha', '--version', VERSION, '--locked', '--quiet', '--root', folder], { cwd: folder, timeout_s: 1800, env: { CARGO_TARGET_DIR: built } });
    rmSync(built, { recursive: true, force: true });
  });

const run = (flags) => (path, { connections, seconds, rate }) => ({
  tool: name,
  command: ({ target, cache, ...context }) => ({
    argv: [join(cache, name, 'bin/oha'), '--no-tui', '--output-format', 'json', '-z', `${value(seconds, context)}s`, '-c', value(connections, context), ...flags(value(rate, context)), target.url + path],
    // It starts a worker per core it sees; pinned to one, more would only take turns.
    env: { TOKIO_WORKER_THREADS: '1' },
  }),
  report,
});

const value = (given, context) => (typeof given === 'function' ? given(context) : given);

/** Closed loop: `connections` ask for `path` for `seconds`. */
export const closed = run(() => []);

/** Open model: `rate` requests a second; latency from the planned instant, as its own flag corrects it. */
export const open = run((rate) => ['-q', rate, '--latency-correction']);

/** One request, for the cold start. */
export const once = (path) => ({
  tool: name,
  command: ({ target, cache }) => ({ argv: [join(cache, name, 'bin/oha'), '--no-tui', '-n', 1, '-c', 1, target.url + path], env: { TOKIO_WORKER_THREADS: '1' } }),
  report,
});

/** Its JSON: `{ requests, under_way, seconds, p50_ms, p99_ms, errors }`; `under_way` when its time was over. */
export function report({ stdout }) {
  const { summary, latencyPercentiles, statusCodeDistribution, errorDistribution } = JSON.parse(stdout);
  const requests = Object.values(statusCodeDistribution).reduce((sum, count) => sum + count, 0);
  // Requests under way when time is up are reported as aborted by their deadline: no error of anybody.
  const [deadline, errors] = [true, false].map((over) => Object.entries(errorDistribution).filter(([text]) => text.includes('deadline') === over));
  return {
    requests,
    under_way: deadline.reduce((sum, [, count]) => sum + count, 0),
    seconds: summary.total,
    p50_ms: latencyPercentiles.p50 * 1000,
    p99_ms: latencyPercentiles.p99 * 1000,
    errors: errors.map(([text, count]) => `${count} × ${text}`).join('; ') || undefined,
  };
}
