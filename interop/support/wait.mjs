// Waiting for what a peer does, never for time to pass; everything has an end.
import { once } from 'node:events';

const LIMIT_MS = 10_000;

/** The first arguments of an event, as an array. */
export async function event(emitter, name, limit = LIMIT_MS) {
  return within(limit, `the event ${name}`, (signal) => once(emitter, name, { signal }));
}

/** A promise that must be kept within a limit. */
export async function within(limit, what, start) {
  const abort = new AbortController();
  let overdue;
  const late = new Promise((_, reject) => {
    overdue = setTimeout(() => (abort.abort(), reject(new Error(`${what} did not come within ${limit} ms`))), limit);
  });
  try {
    const kept = start(abort.signal);
    kept.catch(() => {});
    return await Promise.race([kept, late]);
  } finally {
    clearTimeout(overdue);
  }
}

/** Collects what is pushed and hands out the first n once they are there. */
export class Inbox {
  #items = [];
  #waiting = [];

  push(item) {
    this.#items.push(item);
    this.#waiting = this.#waiting.filter(({ count, resolve }) => this.#items.length < count || resolve());
  }

  get items() {
    return [...this.#items];
  }

  async first(count, limit = LIMIT_MS) {
    if (this.#items.length < count) {
      await within(limit, `item ${count} (${this.#items.length} so far)`, () => new Promise((resolve) => this.#waiting.push({ count, resolve })));
    }
    return this.#items.slice(0, count);
  }
}
