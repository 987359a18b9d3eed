// k6/ws: a handshake that takes its time; metrics of it
import ws from 'k6/ws';
export const options = { iterations: 1, thresholds: { ws_connecting: ['min>=300'], ws_session_duration: ['min>=0'] } };
export default function () { console.log(ws.connect(`${__ENV.TARGET_WS}/slow/350`, (socket) => { socket.on('open', () => socket.close()); }).status); }
