// A group that chats, each message followed to every member: `sonagi serve`, then `sonagi run group-chat.js`.
//
// The load of a field report on a chat service: 100 people in one room, each saying a word a second over a connection of 10 s,
// six times over. There, k6 could only count what came and divide; here the ledger says what became of every copy.
import { check } from 'k6';
import ws from 'k6/ws';
import { join, leave, stamp } from 'k6/x/sonagi';

const url = `${__ENV.SERVE_WS || 'ws://127.0.0.1:8080'}/ws`;
const seconds = Number(__ENV.SECONDS || 10);
const room = 'location:lobby';

export const options = {
  scenarios: { chat: { executor: 'per-vu-iterations', vus: Number(__ENV.PEOPLE || 100), iterations: Number(__ENV.TIMES || 6) } },
  thresholds: { checks: ['rate==1'], sonagi_delivery: ['rate==1'], sonagi_duplicate: ['count==0'], sonagi_leaked: ['count==0'], sonagi_e2e: ['p(99)<1000'] },
};

export default function () {
  const response = ws.connect(url, (socket) => {
    const say = (what) => socket.send(JSON.stringify(what));
    socket.on('open', () => say({ type: 'join', room }));
    socket.on('message', (text) => {
      if (!text.startsWith('{"type":"joined"')) return;
      join(room);
      socket.setInterval(() => say({ type: 'send', room, content: `hello ${stamp(room)}` }), 1000);
      // Who leaves a second before it hangs up still hears what is under way.
      socket.setTimeout(() => leave(room, { drain: true }), (seconds - 1) * 1000);
      socket.setTimeout(() => socket.close(), seconds * 1000);
    });
    socket.on('error', (error) => console.error(error.error()));
  });
  check(response, { 'status is 101': (r) => r && r.status === 101 });
}
