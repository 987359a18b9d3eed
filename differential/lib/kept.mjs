// What a peer did before, so that it need not do it again: it takes some seconds to start, and does not change.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

export const CACHE = new URL('../../.cache', import.meta.url).pathname;

/** What `file` keeps under this key, or what `fresh` gives. FRESH=1 asks anew, and so does `again`. */
export async function kept({ file, key, again }, fresh) {
  if (!process.env.FRESH && !again && existsSync(file)) {
    const { of, raw } = JSON.parse(readFileSync(file, 'utf8'));
    if (of === key) return raw;
  }
  const raw = await fresh();
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ of: key, raw }));
  return raw;
}
