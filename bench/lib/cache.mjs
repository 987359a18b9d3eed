// Where peers are installed, and the few ways to do it. A stamp file says that an installation was finished; a tool is
// installed again only when what its stamp says (its version and recipe) has changed.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { killTree } from './processes.mjs';
import { remember } from './started.mjs';

export const CACHE = process.env.SONAGI_BENCH_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'sonagi-bench');
export const ROOT = new URL('../..', import.meta.url).pathname.replace(/\/$/, '');

/** The same text with the machine's own folders named by what they are: figures are published, home folders are not. */
export function impersonal(text) {
  const built = process.env.CARGO_TARGET_DIR;
  return (built ? text.replaceAll(built, 'target') : text).replaceAll(CACHE, '$CACHE').replaceAll(`${ROOT}/`, '').replaceAll(ROOT, '.').replaceAll(homedir(), '~');
}

/** The folder of a tool, with its recipe done in it: `recipe(folder)` runs at most once per `stamp`. */
export async function installed(cache, name, stamp, recipe) {
  const folder = join(cache, name);
  const done = join(folder, '.installed');
  if (existsSync(done) && readFileSync(done, 'utf8') === stamp) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await recipe(folder);
  writeFileSync(done, stamp);
  return folder;
}

/** Runs a command quietly; an Error with the last lines it said when it fails. */
export async function quietly(argv, { cwd, env, timeout_s = 900 } = {}) {
  const child = spawn(argv[0], argv.slice(1), { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said = (said + text).slice(-20_000)));
  const overdue = setTimeout(() => killTree(child.pid), timeout_s * 1000);
  const forget = remember(child.pid);
  // A program that is not there is an event, not an exit code.
  const [code, signal] = await once(child, 'close').catch((error) => [error.message]).finally(() => (clearTimeout(overdue), forget()));
  if (code !== 0) throw new Error(`${argv.slice(0, 3).join(' ')} ended with ${code ?? signal}: ${lastLines(said)}`);
  return said;
}

/** The same, up to three times: one dropped connection to a registry is no missing peer. */
export async function patiently(argv, settings) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await quietly(argv, settings);
    } catch (error) {
      if (attempt === 3) throw error;
    }
  }
}

const lastLines = (text) => text.trim().split('\n').slice(-3).join(' · ').slice(-400);

/**
 * Debian packages unpacked below `folder`, not installed: no root needed, nothing else on the machine changes. A version may
 * end in `*`; what came is noted in packages.txt, for `debianVersion`.
 */
export async function debian(folder, packages) {
  try {
    await patiently(['apt-get', 'download', ...packages], { cwd: folder });
  } catch (error) {
    const lists = (await quietly(['apt-cache', 'policy', packages[0].split('=')[0]]).catch(() => '')).includes('Candidate: ');
    throw lists ? error : new Error(`apt knows no ${packages[0]}: its lists are empty, or this is not Debian\nhint: apt-get update`);
  }
  const unpack = 'ls *.deb >packages.txt; for package in *.deb; do dpkg-deb -x "$package" . && rm "$package"; done';
  await quietly(['sh', '-c', unpack], { cwd: folder });
}

/** The version of the package that was unpacked. */
export function debianVersion(folder, name) {
  const found = readFileSync(join(folder, 'packages.txt'), 'utf8').match(new RegExp(`^${name}_(.+)_\\w+\\.deb$`, 'm'));
  return found ? decodeURIComponent(found[1]) : 'unknown';
}

/** The one entry of a folder that a pattern matches, as a path: the names of Debian's folders carry revisions and triplets. */
export function within(folder, pattern) {
  const found = readdirSync(folder).filter((name) => pattern.test(name));
  if (found.length !== 1) throw new Error(`one ${pattern} was expected in ${folder}, found ${found.length}`);
  return join(folder, found[0]);
}
