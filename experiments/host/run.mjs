// Holds the limits of a launch to what docs/launch.md says of them: processor, memory, network, and that nothing stays
// (README.md).
//
//   node experiments/host/run.mjs                  all of it: five minutes, or thirty while much is stolen
//   ONLY=latency,end WRITE=1 node experiments/host/run.mjs    some; rows of the others stay as they are
import { existsSync } from 'node:fs';
import { loadavg } from 'node:os';
import { SONAGI, finish } from '../../interop/support/process.mjs';
import { Started, endAllWhenInterrupted } from '../bottlenecks/lib/started.mjs';
import { fingerprint } from '../lib/kept.mjs';
import { marked, rewrite } from '../lib/marked.mjs';
import { machineLine } from '../lib/measured_on.mjs';
import { markdown, merged } from '../../bench/lib/markdown.mjs';
import { cpu } from './checks/cpu.mjs';
import { killed } from './checks/end.mjs';
import { memory } from './checks/memory.mjs';
import { bandwidth, connections, latency } from './checks/network.mjs';
import { TABLE, rowOf, told } from './lib/table.mjs';

const README = new URL('README.md', import.meta.url);
const CHECKS = { cpu, memory, latency, bandwidth, connections, end: killed };
const table = { ...TABLE, order: Object.keys(CHECKS) };
const { ONLY, WRITE } = process.env;

endAllWhenInterrupted();
if (!existsSync(SONAGI)) {
  throw new Error(`there is no ${SONAGI}\nhint: cargo build --release -p sonagi; SONAGI_BIN=target/release/sonagi`);
}
// A table of other columns is refused at once, and not after hours.
if (WRITE) merged(table, marked(README, 'table'), []);
const { stdout: version } = await finish(SONAGI, ['--version']);
// Rows of several binaries may come to stand in one table.
const where = `${version.trim()} ${fingerprint([SONAGI])}; ${machineLine()}`;
const rows = [];
let areHeld = true;
for (const [name, check] of Object.entries(CHECKS).filter(([name]) => !ONLY || ONLY.split(',').includes(name))) {
  // Told as they come: it may be cut off.
  for await (const figure of once(name, check)) {
    rows.push(rowOf(name, figure, where));
    areHeld &&= figure.isHeld !== false;
    console.log(told(figure));
  }
}
console.log(`\n${markdown(table, rows)}`);
if (WRITE) rewrite(README, 'table', (text) => markdown(table, merged(table, text, rows)));
process.exitCode = areHeld ? 0 : 1;

/** The figures of one check; one that cannot be made is a figure that is not held. */
async function* once(name, check) {
  const started = new Started();
  const load = loadavg()[0].toFixed(1);
  try {
    for await (const figure of check(started)) yield { ...figure, load };
  } catch (error) {
    const got = `FAILED: ${error.message.split('\n')[0]}`;
    yield { what: name, asked: 'to be measured', got, isHeld: false, load };
  } finally {
    await started.end();
  }
}
