// Lines of a run that is served: server-sent events, numbered from 1. The browser asks again by itself with the number
// of the last line it saw; a line that comes twice is dropped here, so nothing is lost and nothing doubled.

import type { Line } from './contract';

export type Connection = 'open' | 'lost' | 'closed';

/** How long to wait before asking again when the server refused, in milliseconds. */
const RETRY_MS = 2_000;

/** Follows a run. Lines come in groups, as they arrive; `onConnection` says whether more can come. */
export function follow(
  id: string,
  onLines: (lines: Line[]) => void,
  onConnection: (connection: Connection) => void,
): void {
  let last = 0;
  let waiting: Line[] = [];
  const flush = () => {
    const lines = waiting;
    waiting = [];
    if (lines.length > 0) onLines(lines);
  };
  const connect = () => {
    const source = new EventSource(`/api/runs/${encodeURIComponent(id)}/lines`);
    source.onopen = () => onConnection('open');
    source.onmessage = message => {
      const number = Number(message.lastEventId);
      if (number <= last) return;
      last = number;
      if (waiting.length === 0) setTimeout(flush, 0);
      waiting.push(JSON.parse(message.data) as Line);
    };
    source.addEventListener('closed', () => {
      source.close();
      flush();
      onConnection('closed');
    });
    source.onerror = () => {
      flush();
      onConnection('lost');
      if (source.readyState === EventSource.CLOSED) setTimeout(connect, RETRY_MS);
    };
  };
  connect();
}
