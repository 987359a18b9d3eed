// How many people may talk in one room, once a second each, through nginx and three instances? `sonagi capacity` over
// room.yml (README.md).
//
//   node experiments/stack/room.mjs                        a search from 100 people on: up to ten minutes
//   FROM=20 TO=100 WIDTH=20% BUDGET=2m                     another range
//   KEEP=folder WRITE=1                                    keep the trials; write the curve into README.md
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SONAGI } from '../../interop/support/process.mjs';
import { rewrite } from '../lib/marked.mjs';
import { endWhenInterrupted } from './lib/interrupted.mjs';
import { curve } from './lib/room_table.mjs';
import { Stack } from './lib/stack.mjs';

const SCRIPT = fileURLToPath(new URL('room.yml', import.meta.url));
const PAGE = new URL('README.md', import.meta.url);
const UNTIL = 'delivery.ratio == 1 and delivery.latency_ms.p99 < 100';
/** A search that takes so much longer than its budget hangs (ms). */
const OVERDUE_MS = 120_000;

const { FROM = '100', TO = '800', WIDTH = '5%', BUDGET = '15m', KEEP, WRITE } = process.env;
if (!/^\d+m$/.test(BUDGET)) throw new Error(`BUDGET is a number of minutes as 12m, got ${BUDGET}`);

const starting = Stack.start();
const isInterrupted = endWhenInterrupted(async () => (await starting.catch(() => undefined))?.end());
const stack = await starting;
try {
  const range = ['--vary', 'people', '--from', FROM, '--to', TO, '--width', WIDTH, '--budget', BUDGET];
  const runs = join(stack.folder, 'runs');
  const told = ['--runs', runs, '--quiet'];
  const argv = [SONAGI, 'capacity', SCRIPT, '--target', stack.url, '--until', UNTIL, ...range, ...told];
  const search = stack.processes.start('capacity', argv, { asRoot: true });
  const overdue = setTimeout(() => search.signal('SIGKILL'), Number.parseInt(BUDGET) * 60_000 + OVERDUE_MS);
  const code = await search.ended;
  clearTimeout(overdue);
  // What was interrupted ends with the stack.
  if (isInterrupted()) await new Promise(() => {});
  if (KEEP) cpSync(runs, KEEP, { recursive: true });
  if (![0, 1, 3].includes(code)) throw new Error(`sonagi capacity ended with ${code}: ${search.output()}`);
  // Of the one search there is.
  const [folder] = readdirSync(runs);
  const text = curve(JSON.parse(readFileSync(join(runs, folder, 'capacity.json'), 'utf8')));
  console.log(text);
  if (WRITE) rewrite(PAGE, 'room', () => text);
} finally {
  await stack.end();
}
