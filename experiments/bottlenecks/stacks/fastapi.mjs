import { fileURLToPath } from 'node:url';
import { freePort, isOpen } from '../../../interop/support/ports.mjs';
import { ready } from '../lib/started.mjs';

const FOLDER = fileURLToPath(new URL('fastapi', import.meta.url));
const PYTHON = process.env.SONAGI_FASTAPI ?? fileURLToPath(new URL('../../../.cache/fastapi/bin/python', import.meta.url));

/** Starts the service on FastAPI and uvicorn: `{ target }`. */
export async function fastapi(started, { env = {} } = {}) {
  const port = await freePort();
  const words = ['-B', '-m', 'uvicorn', 'service:app', '--host', '127.0.0.1', '--port', port, '--log-level', 'warning'];
  const server = started.spawn([PYTHON, ...words], { env, cwd: FOLDER });
  await ready('the service on FastAPI', server, () => isOpen(port));
  return { target: `http://127.0.0.1:${port}`, port };
}
