import { freePort, isOpen } from '../../../interop/support/ports.mjs';
import { ready } from '../lib/started.mjs';

/** Starts a Redis that keeps nothing: `{ url, port }`. `settings` as in redis.conf. */
export async function redis(started, settings = {}) {
  const port = await freePort();
  const words = Object.entries({ port, bind: '127.0.0.1', save: '', appendonly: 'no', dir: started.folder, ...settings });
  const server = started.spawn(['redis-server', ...words.flatMap(([name, value]) => [`--${name}`, value])]);
  await ready('Redis', server, () => isOpen(port));
  return { url: `redis://127.0.0.1:${port}`, port };
}
