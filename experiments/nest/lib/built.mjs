import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const DIST = fileURLToPath(new URL('../dist', import.meta.url));

/** The compiled main file of a service: `chat` or `lists`. */
export function built(name, dist = DIST) {
  const main = join(dist, name, 'main.js');
  if (!existsSync(main)) throw new Error(`the service on NestJS is not built: ${main} was not found\nhint: scripts/setup.sh experiments`);
  return main;
}
