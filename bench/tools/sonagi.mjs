// Sonagi itself: the release build of this tree.
import { join } from 'node:path';
import { quietly, ROOT } from '../lib/cache.mjs';
import { lastJsonLine, scriptPath, variables } from '../lib/scripts.mjs';

export const name = 'sonagi';
export const BINARY = join(process.env.CARGO_TARGET_DIR ?? join(ROOT, 'target'), 'release/sonagi');

/** Always asked: Cargo knows whether something changed. */
export async function install() {
  await quietly(['cargo', 'build', '--release', '--locked', '-p', 'sonagi'], { cwd: ROOT, timeout_s: 1800 });
}

export const version = async () => (await quietly([BINARY, '--version'])).trim().replace(/^sonagi\s+/, '');

/** A YAML script of scripts/, one shard unless told otherwise; `flags` are more flags of `sonagi run`. */
export const script = (path, parameters = {}, { shards = 1, flags = [] } = {}) => ({
  tool: name,
  command: ({ target, ...context }) => ({
    argv: [BINARY, 'run', scriptPath(path), '--target', target.url, '--json', '--no-folder', '--shards', shards, ...flags],
    env: variables(target, parameters, context),
  }),
  report,
});

/** A k6 script of scripts/, as the tool `k6` runs it; threads are as many as it has cores. */
export const k6 = (path, parameters = {}) => ({
  tool: name,
  command: ({ target, ...context }) => ({
    argv: [BINARY, 'run', '--quiet', '--no-usage-report', scriptPath(path)],
    env: variables(target, parameters, context),
  }),
  report: ({ stdout }) => lastJsonLine(stdout),
});

/** The summary document (docs/summary.schema.json). A verdict of fail or invalid is a report like any other. */
function report({ stdout }) {
  if (!stdout.startsWith('{')) throw new Error('no summary');
  return JSON.parse(stdout);
}

/** A closed loop without pauses uses all of its core, and the generator says so of itself. */
const SATURATED = /used more than 90 % of its core|wanted more than 90 % of a core/;

/**
 * What of a run the generator itself objects to, as a text for `falls_short`; undefined when nothing. `saturating` is for
 * loads that are as much as the tool can: then that one finding is what was asked for, and no other.
 */
export function objections({ verdict, generator, errors }, { saturating = false } = {}) {
  const failed = errors.map(({ code, operation, count }) => `${count} × ${code} in ${operation ?? 'no operation'}`);
  const invalid = verdict.result === 'invalid' ? generator.findings.filter((finding) => !(saturating && SATURATED.test(finding))) : [];
  return [...invalid, ...failed].join('; ') || undefined;
}
