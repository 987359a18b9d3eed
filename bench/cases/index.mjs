// The cases, in the order in which they run and are shown. To add one: its file here, one line below.
export const CASES = [
  'http-closed',
  'http-open',
  'ws-echo',
  'connect-rate',
  'ws-fanout',
  'ws-flood',
  'idle',
  'socketio-cycle',
  'processor',
  'poll-receive',
  'longpoll-receive',
  'sse-receive',
  'stomp-receive',
  'shards',
  'service-fanout',
  'service-idle',
  'postgres-appends',
  'redis-bus',
  'k6-http',
  'k6-receive',
  'k6-held',
  'cold-start',
];

export async function load(name) {
  return (await import(`./${name}.mjs`)).default;
}
