// Two friends talk by Socket.IO: `sonagi serve --seed-users 4`, then `sonagi run socketio.js`.
import { check } from 'k6';
import http from 'k6/http';
import { Counter, Trend } from 'k6/metrics';
import { io } from 'k6/x/socketio';

const base = __ENV.SERVE || 'http://127.0.0.1:8080';
const words = 5;
const heard = new Counter('heard');
const acknowledged = new Trend('acknowledged', true);

export const options = { vus: 4, iterations: 4, thresholds: { checks: ['rate==1'], heard: [`count>=${4 * words}`] } };

export default function () {
  const json = { headers: { 'Content-Type': 'application/json' } };
  const login = http.post(`${base}/auth/login`, JSON.stringify({ email: `user${__VU}@example.test`, password: 'password' }), json);
  const token = login.json('access_token');
  const known = { headers: { ...json.headers, Authorization: `Bearer ${token}` } };
  const friendId = http.get(`${base}/users/friends`, known).json('friends.0.id');
  const roomId = http.post(`${base}/rooms/find-or-create`, JSON.stringify({ friendId }), known).json('roomId');

  const response = io(base, { auth: { token } }, (socket) => {
    let said = 0;
    const say = () => {
      const begun = Date.now();
      socket.emit('sendMessage', { roomId, content: `word ${said}` }, (answer) => {
        acknowledged.add(Date.now() - begun);
        said += 1;
        check(answer, { 'it is stored': ({ seq }) => seq > 0 });
        if (said === words) socket.setTimeout(() => socket.disconnect(), 200);
        else say();
      });
    };
    socket.on('connect', () => socket.emit('joinRoom', { roomId }, (answer) => (check(answer, { joined: ({ ok }) => ok }), say())));
    socket.on('newMessage', () => heard.add(1));
    socket.on('error', (error) => console.error(error.message));
  });
  check(response, { 'status is 101': (r) => r.status === 101 });
}
