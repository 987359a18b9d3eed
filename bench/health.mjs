// How late the generator is on a quiet machine and beside CPU burners: what the limits of its health are chosen from
// (docs/metrics.md, "Generator health"). RUNS=10 of each, interleaved; SONAGI_BIN or the release build.
//
// A healthy run should never warn, and one that others hold up should say that it was starved. Measured on two cores: none of 40
// quiet runs warned, none of 40 beside 2 burners (the default: one per core) did either, and 2 of 40 beside 16 (BURNERS=16) did,
// both `starved`. The quiet half is only as quiet as the machine: the table shows what others took (pressure) beside what came
// of it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { markdown } from './lib/markdown.mjs';
import { finish, serve } from '../interop/support/process.mjs';

const SONAGI = process.env.SONAGI_BIN ?? new URL('../target/release/sonagi', import.meta.url).pathname;
const RUNS = Number(process.env.RUNS ?? 10);
const SECONDS = Number(process.env.SECONDS_EACH ?? 4);
const BURNERS = Number(process.env.BURNERS ?? availableParallelism());

const phases = (rate) => `phases: [{ duration: ${SECONDS}, arrivalRate: ${rate} }]`;
/** The shapes users run. */
const SCRIPTS = {
  // Few requests, each by a user with a connection of its own.
  'http 20/s': `config: { ${phases(20)} }\nscenarios: [{ flow: [{ get: { url: /healthz } }] }]\n`,
  // Many requests, over 20 shared connections.
  'http 500/s': `config: { http: { pool: 20 }, ${phases(500)} }\nscenarios: [{ flow: [{ get: { url: /healthz } }] }]\n`,
  // 50 users that come within the first second, each with a WebSocket and five messages a second.
  'ws 50 users': `config: { phases: [{ duration: 1, arrivalCount: 50 }] }
scenarios:
  - engine: ws
    flow: [{ connect: /ws/echo }, { loop: [{ send: hello }, { think: 0.2 }], count: ${SECONDS * 5} }]
`,
  // A population of 20 that begins at one instant, each with a request every 0.1 s.
  'closed 20 users': `config: { phases: [{ duration: ${SECONDS}, users: 20 }] }\nscenarios: [{ flow: [{ get: { url: /healthz } }, { think: 0.1 }] }]\n`,
};

/** Programs that compute and nothing else, until they are ended. */
function burn(count) {
  const burners = Array.from({ length: count }, () => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
  return async () => {
    for (const burner of burners) {
      burner.kill('SIGKILL');
      await once(burner, 'exit');
    }
  };
}

async function measured(folder, name, target) {
  const file = join(folder, 'script.yml');
  writeFileSync(file, SCRIPTS[name].replace('config: {', `config: { target: "${target}",`));
  const { code, stdout, stderr } = await finish(SONAGI, ['run', file, '--json', '--no-folder', '-q', '--fail-on-status', 'never'], { timeout: 120_000 });
  if (!stdout) throw new Error(`${name}: exit ${code}: ${stderr}`);
  const { generator } = JSON.parse(stdout);
  return generator;
}

const figure = (value, unit = '') => `${value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2)}${unit}`;
const median = (values) => [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)];
const share = (waited, computed) => (waited + computed > 0 ? waited / (waited + computed) : 0);

/** A row of the table: the medians of all runs of a shape under a condition, with the least and the largest. */
function row(name, condition, runs) {
  const of = (pick) => runs.map(pick);
  const spread = (values) => `${figure(median(values))} (${figure(Math.min(...values))}–${figure(Math.max(...values))})`;
  const counted = (wanted) => runs.filter(wanted).length;
  return [
    name,
    condition,
    spread(of((run) => run.send_lag_ms.p99)),
    spread(of((run) => run.hiccup_ms.p99)),
    spread(of((run) => run.busiest_core * 100)),
    spread(of((run) => share(run.cpu_wait_s, run.cpu_s) * 100)),
    spread(of((run) => (run.cpu_pressure ?? 0) * 100)),
    `${counted((run) => run.send_lag_ms.p99 > 1)} / ${counted((run) => run.send_lag_ms.p99 > 5)} / ${counted((run) => run.send_lag_ms.p99 > 10)}`,
    `${counted((run) => run.state !== 'ok')} (${counted((run) => run.cause === 'starved')})`,
  ];
}

const folder = mkdtempSync(join(tmpdir(), 'sonagi-health-'));
// With workers of its own and no burners in its way: it is the generator that is measured.
const service = await serve(SONAGI, ['serve', '--null', '--listen', '127.0.0.1:0', '--stop-on-eof'], /(http:\/\/[\d.]+:\d+)/);
const found = new Map();
try {
  for (let run = 0; run < RUNS; run += 1) {
    for (const name of Object.keys(SCRIPTS)) {
      for (const condition of ['quiet', 'busy']) {
        const end = condition === 'busy' ? burn(BURNERS) : async () => {};
        try {
          const key = `${name}|${condition}`;
          found.set(key, [...(found.get(key) ?? []), await measured(folder, name, service.match[1])]);
        } finally {
          await end();
        }
      }
    }
    console.error(`health: ${run + 1} of ${RUNS}`);
  }
} finally {
  await service.stop();
  rmSync(folder, { recursive: true });
}
console.log(`${RUNS} runs each of ${SECONDS} s; busy: beside ${BURNERS} CPU burners on ${availableParallelism()} cores. Median (least–largest).\n`);
const head = ['script', 'machine', 'lag p99 ms', 'hiccup p99 ms', 'busiest core %', 'waited of wanted %', 'pressure %', 'lag > 1 / 5 / 10 ms', 'not ok (starved)'];
console.log(markdown({ head }, [...found].map(([key, runs]) => row(...key.split('|'), runs))));
