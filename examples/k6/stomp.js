// A location group by STOMP over a WebSocket: `sonagi serve`, then `sonagi run stomp.js`. A broker behind TCP has
// `{ addr: 'localhost:61613', user, pass }`.
import { check } from 'k6';
import stomp from 'k6/x/stomp';

const base = __ENV.SERVE || 'http://127.0.0.1:8080';
const words = 5;

export const options = {
  vus: 5,
  iterations: 5,
  thresholds: { checks: ['rate==1'], stomp_read_count: [`count==${5 * words}`], stomp_send_time: ['p(95)<500'] },
};

export default function () {
  const client = stomp.connect({ addr: base.replace(/^http:\/\//, ''), protocol: 'ws', path: '/location', timeout: '5s' });
  // One's own words come back like everybody's; here everybody is in a group alone.
  const subscription = client.subscribe(`/sub/location/alone-${__VU}`, { ack: 'client' });
  for (let word = 0; word < words; word += 1) {
    client.send(`/pub/share/alone-${__VU}`, 'application/json', JSON.stringify({ word }), { receipt: true });
    const message = subscription.read();
    check(message, { 'it is what was said': (it) => it.json('content.word') === word });
    client.ack(message);
  }
  subscription.unsubscribe();
  client.disconnect();
}
