// Says a word so many times a second in a group of the service, by HTTP, from the harness: outside of what is measured.
import { Agent, request } from 'node:http';

/** Answers that are out at once; a service that falls behind is not given more to do. */
const CONNECTIONS = 8;

export class Speaker {
  #agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  #began = performance.now();
  /** Words sent so far. */
  said = 0;
  #failure;
  #timer;

  /** Begins at once: word n is planned n ÷ `per_second` after it, however long the one before took. */
  constructor(url, word, per_second) {
    Object.assign(this, { url, word, per_second });
    this.#speak();
  }

  #speak() {
    const now = performance.now();
    for (; this.#planned() <= now; this.said += 1) this.#say();
    this.#timer = setTimeout(() => this.#speak(), this.#planned() - now);
  }

  /** When the next word is due. */
  #planned() {
    return this.#began + (this.said * 1000) / this.per_second;
  }

  #say() {
    const settings = { method: 'POST', agent: this.#agent, headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(this.word) } };
    const sent = request(this.url, settings, (response) => {
      if (response.statusCode !== 200) this.#failure ??= `it was answered ${response.statusCode}`;
      response.resume();
    });
    sent.on('error', ({ message }) => (this.#failure ??= message));
    sent.end(this.word);
  }

  /** Says no more. An Error when a word was not taken before: whoever listened was owed it. */
  end() {
    clearTimeout(this.#timer);
    const failure = this.#failure;
    // What is under way is given up, which is no failure of anybody.
    this.#failure = 'it has ended';
    this.#agent.destroy();
    if (failure) throw new Error(`a word could not be said: ${failure}`);
  }
}
