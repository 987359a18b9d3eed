// Installs the foreign servers, all or those named, and says of each what came of it:
//
//   node bench/servers/setup.mjs [NAME…]
import { CACHE } from '../lib/cache.mjs';
import { SERVERS } from './servers.mjs';

const names = process.argv.slice(2);
for (const server of SERVERS.filter(({ name }) => names.length === 0 || names.includes(name))) {
  const failed = await server.install(CACHE).then(() => undefined, (error) => error);
  console.log(failed ? `${server.name}: not available: ${failed.message}` : `${server.name}: ${server.version(CACHE)}`);
  if (failed) process.exitCode = 1;
}
