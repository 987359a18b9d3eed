// Errors as scripts see them: `stack` begins with what the error is, then its callers
class Own extends Error { constructor(message) { super(message); this.name = 'Own'; } }
function thrower() { throw new RangeError('thrown'); }
const lines = (error) => error.stack.split('\n').map((line) => line.replace(/\(?file:\/\/\/.*\/([^/]+):(\d+):\d+.*$/, '$1:$2')).join('|');
export const options = { iterations: 1 };
export default function () {
  console.log(lines(new Error('plain')));
  console.log(lines(new Error()), lines(new Own('own')).split('|')[0], lines(new TypeError('two\nlines')).split('|').slice(0, 2).join());
  try { thrower(); } catch (error) { console.log(lines(error)); }
  const renamed = new Error('a'); renamed.name = 'B'; renamed.message = 'c'; console.log(lines(renamed).split('|')[0]);
  const read = new Error('a'); read.stack; read.message = 'c'; console.log(lines(read).split('|')[0]);
  const written = new Error('a'); written.stack = 'mine'; console.log(written.stack, typeof Error.prepareStackTrace);
  console.log(Object.keys(new Error('a')).length, typeof Object.getOwnPropertyDescriptor(written, 'stack').value);
}
