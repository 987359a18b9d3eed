// k6/ws: close codes, as the target gets and as it gives them
import ws from 'k6/ws';
export const options = { iterations: 6 };
export default function () {
  ws.connect(`${__ENV.TARGET_WS}/echo?${__ITER}`, (socket) => {
    socket.on('open', () => {
      if (__ITER === 0) socket.close();
      else if (__ITER === 1) socket.close(4000);
      else if (__ITER === 2) socket.send('bye 4001 with a reason');
      else if (__ITER === 3) socket.send('leave');
      else if (__ITER === 4) { socket.close(1000); socket.close(1001); }
      else socket.send('drop');
    });
    socket.on('error', (error) => console.log(__ITER, 'error', error.error()));
    socket.on('close', (code) => console.log(__ITER, 'close', code));
  });
  console.log(__ITER, 'over');
}
