// A throw in the callback of ws.connect itself
import ws from 'k6/ws';
export const options = { iterations: 1 };
export default function () {
  try { ws.connect(`${__ENV.TARGET_WS}/greet`, () => { throw new Error('in the callback'); }); } catch (error) { console.log('caught', error.message); }
}
