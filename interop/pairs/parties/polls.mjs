// Short and long polling by `fetch`: one GET after another, each with the `next` of the answer before it.
import { setTimeout as pause } from 'node:timers/promises';
import { Party, post } from './party.mjs';

const EVERY_MS = 20;

class Polls extends Party {
  #end = new AbortController();

  constructor(url, group, path) {
    super(url, group);
    this.path = path;
  }

  send(content) {
    return post(`${this.url}/location/long/${this.group}/notify`, content);
  }

  close() {
    this.isClosed = true;
    this.#end.abort();
  }

  async poll() {
    const query = this.cursor === undefined ? '' : `?after=${encodeURIComponent(this.cursor)}`;
    const response = await fetch(this.url + this.path + query, { signal: this.#end.signal });
    if (response.status === 204) return;
    if (response.status !== 200) {
      this.complain(`${response.status} ${await response.text()}`);
      throw new Error(`a poll was answered ${response.status}`);
    }
    // Read to its end before anything of it counts: what breaks off in the middle is asked for again.
    const { messages, next, gap } = await response.json();
    if (gap) this.complain({ gap });
    for (const message of messages) this.hear(message);
    this.cursor = next;
  }

  async goOn(restMs) {
    while (!this.isClosed) {
      await this.poll().catch(() => pause(EVERY_MS));
      if (restMs > 0) await pause(restMs);
    }
  }
}

async function begin(url, group, path, restMs) {
  const party = new Polls(url, group, path);
  await party.poll();
  party.goOn(restMs);
  return party;
}

export const poll = (url, group) => begin(url, group, `/cur/${group}`, EVERY_MS);
export const longpoll = (url, group) => begin(url, group, `/location/long/${group}`, 0);
