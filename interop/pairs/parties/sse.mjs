// Event streams by the `eventsource` package, which comes back by itself, with Last-Event-ID.
import { EventSource } from 'eventsource';
import { opened, Party, post } from './party.mjs';

class Sse extends Party {
  constructor(url, group) {
    super(url, group);
    this.stream = new EventSource(`${url}/location/sse/connect?group=${group}`);
    this.stream.onmessage = ({ data, lastEventId }) => {
      const message = JSON.parse(data);
      if (lastEventId !== `${message.seq}`) this.complain({ lastEventId, seq: message.seq });
      this.hear(message);
    };
    this.stream.addEventListener('gap', ({ data }) => this.complain({ gap: data }));
    this.stream.onerror = ({ code, message }) => {
      if (this.stream.readyState === EventSource.CLOSED) this.complain({ closed: code, message });
    };
  }

  send(content) {
    return post(`${this.url}/location/sse/share?group=${this.group}`, content);
  }

  close() {
    this.stream.close();
  }
}

export function sse(url, group) {
  const party = new Sse(url, group);
  return opened(party, 'the event stream', () => new Promise((resolve) => (party.stream.onopen = resolve)));
}
