// k6/websockets: a handshake that fails and nobody listens
import { WebSocket } from 'k6/websockets';
export const options = { iterations: 1 };
export default function () { new WebSocket('ws://127.0.0.1:1/'); console.log('returned'); }
