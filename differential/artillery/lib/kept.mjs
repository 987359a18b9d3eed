// What Artillery did before, so that it need not do it again.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { version } from '../../../bench/tools/artillery.mjs';
import { SCRIPTS } from './cases.mjs';

export const CACHE = new URL('../../../.cache', import.meta.url).pathname;

/**
 * What Artillery did with the same files, target and version before; it takes some seconds to start, and does not change.
 * FRESH=1 runs it again, and so does a case with `again`.
 */
export async function kept(one, fresh) {
  const file = join(CACHE, 'differential', `${one.name}.json`);
  const key = sum(one);
  if (!process.env.FRESH && !one.again && existsSync(file)) {
    const { of, raw } = JSON.parse(readFileSync(file, 'utf8'));
    if (of === key) return raw;
  }
  const raw = await fresh();
  mkdirSync(join(CACHE, 'differential'), { recursive: true });
  writeFileSync(file, JSON.stringify({ of: key, raw }));
  return raw;
}

/** Where it is decided how a tool is run, against what, and what is kept of it. */
const DECIDING = ['tools.mjs', 'target.mjs', 'multipart.mjs', '../../../interop/support/process.mjs'].map((path) => new URL(path, import.meta.url).pathname);

/**
 * A checksum of all that decides what a run of the case does: its script, the processor it names, the files below it, the target,
 * the harness.
 */
export function sum({ name }, read = readFileSync) {
  const hash = createHash('sha256').update(version());
  const script = readFileSync(join(SCRIPTS, `${name}.yml`), 'utf8');
  const beside = readdirSync(SCRIPTS, { recursive: true }).filter((path) => path.startsWith('files') || script.includes(`./${path}`)).sort();
  const files = [`${name}.yml`, ...beside].map((path) => join(SCRIPTS, path)).filter((path) => statSync(path).isFile());
  for (const path of [...files, ...DECIDING]) hash.update(read(path));
  return hash.digest('hex');
}
