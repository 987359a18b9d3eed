// Holds the limits of a launch to what docs/launch.md says of them: processor, memory, network, and that nothing stays
// (README.md).
//
//   node experiments/host/run.mjs                  all of it: three and a half minutes
//   ONLY=latency,end node experiments/host/run.mjs
import { existsSync } from 'node:fs';
import { loadavg } from 'node:os';
import { machine } from '../../bench/lib/machine.mjs';
import { SONAGI, finish } from '../../interop/support/process.mjs';
import { Started, endAllWhenInterrupted } from '../bottlenecks/lib/started.mjs';
import { rewrite } from '../lib/marked.mjs';
import { cpu } from './checks/cpu.mjs';
import { killed } from './checks/end.mjs';
import { memory } from './checks/memory.mjs';
import { bandwidth, connections, latency } from './checks/network.mjs';

const README = new URL('README.md', import.meta.url);
const CHECKS = { cpu, memory, latency, bandwidth, connections, end: killed };
const { ONLY, WRITE } = process.env;

endAllWhenInterrupted();
if (!existsSync(SONAGI)) {
  throw new Error(`there is no ${SONAGI}\nhint: cargo build --release -p sonagi; SONAGI_BIN=target/release/sonagi`);
}
const rows = [];
for (const [name, check] of Object.entries(CHECKS).filter(([name]) => !ONLY || ONLY.split(',').includes(name))) {
  // Told as they come: it may be cut off.
  for await (const row of once(name, check)) {
    rows.push(row);
    console.log(`${row.isHeld === false ? 'NOT HELD ' : ''}${row.what}: asked ${row.asked}, got ${row.got}`);
  }
}
const text = `${markdown(rows)}\n\n${await where()}`;
console.log(`\n${text}`);
if (WRITE) rewrite(README, 'table', () => text);
process.exitCode = rows.some(({ isHeld }) => isHeld === false) ? 1 : 0;

/** The rows of one check; one that cannot be made is a row that is not held. */
async function* once(name, check) {
  const started = new Started();
  const load = loadavg()[0].toFixed(1);
  try {
    for await (const row of check(started)) yield { ...row, load };
  } catch (error) {
    const got = `FAILED: ${error.message.split('\n')[0]}`;
    yield { what: name, asked: 'to be measured', got, isHeld: false, load };
  } finally {
    await started.end();
  }
}

/** What it was measured on. */
async function where() {
  const { cpu, cores, kernel, node } = machine();
  const { stdout } = await finish(SONAGI, ['--version']);
  return `${stdout.trim()}; ${cpu}, ${cores} cores, Linux ${kernel}, Node ${node}.`;
}

function markdown(rows) {
  const word = { true: 'yes', false: 'NO', undefined: '' };
  const head = ['what', 'asked', 'got', 'held', 'machine load'];
  const cells = rows.map(({ what, asked, got, isHeld, load }) => [what, asked, got, word[isHeld], load]);
  return [head, ['---', '--:', '--:', '---', '--:'], ...cells].map((row) => `| ${row.join(' | ')} |`).join('\n');
}
