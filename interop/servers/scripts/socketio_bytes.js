// What a k6 script sends and gets as bytes; each line of the console is a list.
import { io } from 'k6/x/socketio';

const hex = (bytes) => Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
const say = (...all) => console.log(JSON.stringify(all));

export default function () {
  io(__ENV.TARGET, { auth: { token: __ENV.TOKEN } }, (socket) => {
    socket.on('picture', ({ label, bytes, more }) => say('picture', label, hex(bytes), hex(more[0])));
    socket.on('question', (bytes, answer) => answer({ again: bytes, more: new Uint8Array([1, 2, 3]).subarray(1) }));
    socket.on('disconnect', (reason) => say('disconnect', reason));
    socket.emit('draw', 'a cloud', ({ label, bytes }) => {
      say('drawn', label, bytes.byteLength);
      socket.emit('upload', 'mine', new Uint8Array([1, 2]).buffer, new DataView(new ArrayBuffer(3)), (answer) => {
        say('uploaded', answer);
        socket.emit('return', new Uint8Array([9, 8]), (returned) => {
          say('returned', returned);
          socket.disconnect();
        });
      });
    });
  });
  const { status, error } = io('http://127.0.0.1:1', null, (socket) => {
    socket.on('connect_error', ({ message, type }) => say('connect_error', type, message));
    socket.emit('never');
  });
  say('status', status, error);
  io('http://127.0.0.1:1', null, () => {});
}
