// `sonagi serve`: the reference service as it is, on one thread, its store in memory.
import { BINARY, install, version } from '../tools/sonagi.mjs';

export const name = 'serve';
export { install, version };
export const argv = () => [BINARY, 'serve', '--workers', 1, '--listen', '127.0.0.1:0', '--seed-users', 1000, '--connections', 18_000, '--grace', '10ms', '--stop-on-eof'];

/** What it tells of itself: connections open now, who of them receives how, and the copies of messages it has handed out. */
export const metrics = {
  connections: 'chat_sockets_open',
  copies: 'chat_deliveries_total',
  polls: 'chat_polls_total',
  empty_polls: 'chat_polls_empty_total',
  longpoll: 'chat_connections{transport="longpoll"}',
  sse: 'chat_connections{transport="sse"}',
  stomp: 'chat_stomp_connected',
};
