// k6/websockets in an async function that waits for an answer
import { WebSocket } from 'k6/websockets';
export const options = { iterations: 1 };
export default async function () {
  const socket = new WebSocket(`${__ENV.TARGET_WS}/echo`);
  await new Promise((done) => { socket.onopen = done; });
  const answered = new Promise((done) => { socket.onmessage = ({ data }) => done(data); });
  socket.send('asked');
  console.log(await answered, socket.bufferedAmount);
  const closed = new Promise((done) => { socket.onclose = ({ code }) => done(code); });
  socket.close();
  console.log(await closed);
}
