// k6/ws: send of what is no text, sendBinary of what are no bytes
import ws from 'k6/ws';
export const options = { iterations: 1 };
export default function () {
  ws.connect(`${__ENV.TARGET_WS}/echo`, (socket) => {
    socket.on('open', () => {
      for (const value of [7, true, null, undefined, { a: 1 }, [1, 2]]) { try { socket.send(value); } catch (error) { console.log('send', String(value), 'throws', error.name); } }
      for (const value of ['text', 7, new Uint8Array([1]), null]) { try { socket.sendBinary(value); } catch (error) { console.log('sendBinary', String(value), 'throws', error.name); } }
      socket.send('bye');
    });
    socket.on('message', (text) => console.log('message', text));
  });
}
