// k6/experimental/websockets and k6/experimental/timers still load, or say what took their place
import { WebSocket } from 'k6/experimental/websockets';
export const options = { iterations: 1 };
export default function () { console.log(typeof WebSocket); }
