// Lines of a run that is served: server-sent events whose ids are a word of the server and the number of the line, from
// 1. The browser asks again by itself with the id of the last line it saw; a line that comes twice is dropped here, so
// nothing is lost and nothing doubled. Another word is another numbering (a server that was started anew): the page
// begins anew too.

import type { Line } from './contract';

/** Whether more can come: `lost` is tried again, after `closed` and `failed` nothing is asked any more. */
export type Connection = 'open' | 'lost' | 'closed' | 'failed';

/** What who follows a run is told. */
export interface Listener {
  /** Lines come in groups, as they arrive. */
  lines(lines: Line[]): void;
  connection(connection: Connection): void;
  /** What came until now is void: the first line comes next. */
  restart(): void;
  /** Nothing more comes, for this reason. */
  failed(why: string): void;
  /** The next run of the same process has begun. */
  next?(id: string): void;
}

/** How long to wait before asking again when the server refused, in milliseconds. */
const RETRY_MS = 2_000;

/** Follows a run until its end; `stop` ends it before. */
export function follow(id: string, listener: Listener): { stop(): void } {
  const stream = new Stream(id, listener);
  stream.connect();
  return stream;
}

class Stream {
  private nonce = '';
  private last = 0;
  private waiting: Line[] = [];
  private source: EventSource | null = null;
  private stopped = false;

  constructor(
    private readonly id: string,
    private readonly listener: Listener,
  ) {}

  connect(): void {
    if (this.stopped) return;
    const source = new EventSource(`/api/runs/${encodeURIComponent(this.id)}/lines`);
    this.source = source;
    const on = (kind: string, act: (data: string) => void) =>
      source.addEventListener(kind, event => {
        if (!this.stopped) act((event as MessageEvent<string>).data);
      });
    source.onopen = () => this.listener.connection('open');
    source.onmessage = message => this.take(message.lastEventId, message.data);
    on('restart', () => this.restart());
    on('next', data => this.listener.next?.((JSON.parse(data) as { id: string }).id));
    on('closed', () => this.end('closed'));
    on('failed', data => {
      this.end('failed');
      this.listener.failed((JSON.parse(data) as { why: string }).why);
    });
    source.onerror = () => {
      if (this.stopped) return;
      this.flush();
      this.listener.connection('lost');
      if (source.readyState === EventSource.CLOSED) setTimeout(() => this.connect(), RETRY_MS);
    };
  }

  stop(): void {
    this.stopped = true;
    this.waiting = [];
    this.source?.close();
  }

  private take(eventId: string, data: string): void {
    if (this.stopped) return;
    const dash = eventId.lastIndexOf('-');
    const [nonce, number] = [eventId.slice(0, Math.max(dash, 0)), Number(eventId.slice(dash + 1))];
    // A new connection names no last line, and so gets lines of another numbering without a word.
    if (nonce !== this.nonce) {
      if (this.last > 0) this.restart();
      this.nonce = nonce;
    }
    if (number <= this.last) return;
    this.last = number;
    if (this.waiting.length === 0) setTimeout(() => this.flush(), 0);
    this.waiting.push(JSON.parse(data) as Line);
  }

  private restart(): void {
    this.waiting = [];
    this.last = 0;
    this.listener.restart();
  }

  private end(connection: Connection): void {
    this.flush();
    this.stop();
    this.listener.connection(connection);
  }

  private flush(): void {
    const lines = this.waiting;
    this.waiting = [];
    if (lines.length > 0) this.listener.lines(lines);
  }
}
