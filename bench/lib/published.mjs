// A published Socket.IO script with its processor, laid out as its author had it: addresses filled in, a file of users, and
// what `npm install axios` leaves. Its text is that of the tests (crates/sonagi/tests/it/seeds).
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './cache.mjs';

const TEXTS = join(ROOT, 'crates/sonagi/tests/it/seeds/socketio');
const PACKAGES = join(ROOT, '.cache/seeds/node_modules');
/** Its name in the folder. */
export const SCRIPT = 'artillery-http-config.yml';

/** Writes all of it into `folder`. */
export function published(folder, url, users) {
  if (!existsSync(PACKAGES)) throw new Error('the packages of the published script are not there\nhint: make setup');
  const text = (name) => readFileSync(join(TEXTS, name), 'utf8');
  mkdirSync(join(folder, 'data'), { recursive: true });
  const modules = join(folder, 'node_modules');
  if (!existsSync(modules)) symlinkSync(PACKAGES, modules);
  const people = Array.from({ length: users }, (_, n) => ({ id: n + 1, email: `user${n + 1}@example.test`, password: 'password' }));
  writeFileSync(join(folder, 'data/chat-users.json'), JSON.stringify(people));
  writeFileSync(join(folder, SCRIPT), text(SCRIPT).replace('target: #', `target: "${url}" #`));
  writeFileSync(join(folder, 'processor.ts'), text('processor.ts').replace('const API_URL = //', `const API_URL = '${url}'; //`));
}
