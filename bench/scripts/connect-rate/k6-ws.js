// USERS at a time connect by k6/ws and close, again and again.
import ws from 'k6/ws';

export const options = { vus: Number(__ENV.USERS), duration: `${__ENV.SECONDS}s`, systemTags: [] };

const url = `${__ENV.TARGET.replace('http', 'ws')}/ws/echo`;

export default function () {
  ws.connect(url, null, (socket) => socket.on('open', () => socket.close()));
}

export const handleSummary = ({ metrics }) => ({ stdout: `${JSON.stringify({ connections: metrics.ws_sessions.values.count })}\n` });
