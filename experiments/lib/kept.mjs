// Results of an experiment that takes hours, written down one by one: it may be cut off, and goes on where it was.
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';

/** The results that a file of JSON lines holds, by key. One without `error` is kept; what failed is made again the next time. */
export class Kept {
  #file;
  #results;

  /** `isFresh`: what the file holds is forgotten. */
  constructor(file, { isFresh = false } = {}) {
    this.#file = file;
    if (isFresh) rmSync(file, { force: true });
    mkdirSync(dirname(file), { recursive: true });
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    this.#results = new Map(text.split('\n').flatMap(entry));
    // Whatever was being written when it was cut off stays by itself.
    if (text !== '' && !text.endsWith('\n')) appendFileSync(file, '\n');
  }

  /** The result of a key: `{ result, isOld }`, made now by `make` unless it is there. */
  async of(key, make) {
    if (this.#results.has(key)) return { result: this.#results.get(key), isOld: true };
    const result = await make();
    if (!result.error) appendFileSync(this.#file, `${JSON.stringify({ key, ...result })}\n`);
    return { result, isOld: false };
  }
}

/** A line's key and result, if it is whole. */
function entry(line) {
  try {
    const { key, ...result } = JSON.parse(line);
    return [[key, result]];
  } catch {
    return [];
  }
}

/** A short name for what files hold: a change of one of them makes results of before another thing's results. */
export function fingerprint(files) {
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(file));
  return hash.digest('hex').slice(0, 12);
}
