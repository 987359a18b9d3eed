// What Artillery did before (../../lib/kept.mjs), and what that depends on.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { version } from '../../../bench/tools/artillery.mjs';
import * as lib from '../../lib/kept.mjs';
import { SCRIPTS } from './cases.mjs';

export const CACHE = lib.CACHE;

export const kept = (one, fresh) => lib.kept({ file: join(CACHE, 'differential', `${one.name}.json`), key: sum(one), again: one.again }, fresh);

/** Where it is decided how a tool is run, against what, and what is kept of it. */
const DECIDING = ['tools.mjs', 'target.mjs', '../../lib/multipart.mjs', '../../../interop/support/process.mjs'].map((path) => new URL(path, import.meta.url).pathname);

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
