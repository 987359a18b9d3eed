// new WebSocket in init code
import { WebSocket } from 'k6/websockets';
try { new WebSocket(`${__ENV.TARGET_WS}/echo`); console.log('works'); } catch (error) { console.log('throws', error.name); }
export const options = { iterations: 1 };
export default function () {}
