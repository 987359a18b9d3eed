// The cycle by the official client in a bare loop: what a user gets who writes the load in Node. `MODULES` says
// where its packages are. With LOGIN=1 everybody logs in first, each time.
import { createRequire } from 'node:module';
import { Agent, request } from 'node:http';

const { io } = createRequire(process.env.MODULES)('socket.io-client');
const { TARGET, LOGIN } = process.env;
const users = Number(process.env.USERS);
const seconds = Number(process.env.SECONDS);
const agent = new Agent({ keepAlive: true });
const credentials = JSON.stringify({ email: 'user1@example.test', password: 'password' });
const options = { transports: ['websocket'], forceNew: true, reconnection: false };

function login() {
  return new Promise((resolve, reject) => {
    const post = request(`${TARGET}/auth/login`, { agent, method: 'POST', headers: { 'content-type': 'application/json' } }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text) => (body += text)).on('end', () => resolve(JSON.parse(body).access_token));
    });
    post.on('error', reject).end(credentials);
  });
}

function cycle(token) {
  return new Promise((resolve, reject) => {
    const socket = io(TARGET, { ...options, auth: { token } });
    socket.on('connect_error', reject);
    socket.on('connect', () => {
      socket.emit('sendMessage', { roomId: 'lobby', content: 'hello' }, () => {
        socket.disconnect();
        resolve();
      });
    });
  });
}

const shared = await login();
const started = performance.now();
const end = started + seconds * 1000;
let cycles = 0;

async function user() {
  while (performance.now() < end) {
    await cycle(LOGIN === '1' ? await login() : shared);
    cycles += 1;
  }
}

await Promise.all(Array.from({ length: users }, user));
console.log(JSON.stringify({ cycles, seconds: (performance.now() - started) / 1000 }));
process.exit(0);
