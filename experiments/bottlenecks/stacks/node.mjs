import { fileURLToPath } from 'node:url';
import { listening } from '../lib/started.mjs';

const SERVICE = fileURLToPath(new URL('node/service.mjs', import.meta.url));

/** Starts the service on Node: `{ target, port, metrics, process }`. `env` sets its sizes, `before` are words in front of its command. */
export async function node(started, { env = {}, before, flags = [] } = {}) {
  const process = started.spawn(['node', ...flags, SERVICE], { env, before });
  const port = await listening('the service on Node', process);
  const target = `http://127.0.0.1:${port}`;
  return { target, port, metrics: `${target}/metrics`, process };
}
