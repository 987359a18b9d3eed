// `sonagi serve` with its store in a file: the same service, every message committed before it is passed on.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { argv as inMemory } from './serve.mjs';

export const name = 'serve-sqlite';
export { install, metrics, version } from './serve.mjs';

/** Every start begins with an empty database. */
export function argv(cache) {
  const folder = join(cache, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return [...inMemory(cache), '--store', join(folder, 'store.db')];
}
