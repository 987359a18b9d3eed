// Holds `sonagi capacity` against services with planted limits (README.md).
//
//   node experiments/capacity/run.mjs                 every limit once
//   ONLY=bucket500,pool RUNS=20 TRIAL=20s WIDTH=5% node experiments/capacity/run.mjs
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SONAGI, finish, serve } from '../../interop/support/process.mjs';
import { LIMITS } from './limits.mjs';

const { ONLY, RUNS = 1, TRIAL = '20s', WIDTH = '5%', BUDGET = '15m' } = process.env;
/** A search that takes longer than this hangs (ms). */
const OVERDUE_MS = 20 * 60_000;

const names = Object.keys(LIMITS).filter((name) => !ONLY || ONLY.split(',').includes(name));
console.log('| limit | truth | bracket | width | holds the truth | trials | trial seconds | took |');
console.log('| --- | --: | --: | --: | --- | --: | --: | --: |');
let wrong = 0;
for (const name of names) {
  for (let run = 0; run < Number(RUNS); run++) {
    const row = await once(name, LIMITS[name]);
    wrong += row.isRight ? 0 : 1;
    console.log(row.text);
  }
}
process.exitCode = wrong > 0 ? 1 : 0;

async function once(name, { truth, until, vary, from, to, scenarios }) {
  const folder = mkdtempSync(join(tmpdir(), 'sonagi-capacity-'));
  const service = await serve(process.execPath, [new URL('service.mjs', import.meta.url).pathname, name], /http:\S+/);
  try {
    const script = join(folder, `${name}.yml`);
    writeFileSync(script, JSON.stringify({ config: { target: service.match[0] }, scenarios }));
    const range = ['--vary', vary, '--from', from, '--to', to, '--width', WIDTH, '--trial', TRIAL, '--budget', BUDGET];
    const answer = await finish(SONAGI, ['capacity', script, '--until', until, ...range, '--json', '--quiet', '--runs', join(folder, 'runs')], {
      timeout: OVERDUE_MS,
    });
    if (!answer.stdout) throw new Error(`sonagi capacity ended with ${answer.code}: ${answer.stderr}`);
    return told(name, truth, JSON.parse(answer.stdout));
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function told(name, truth, { end, found, trials, used_s }) {
  const [low, high] = [found.lower?.load, found.upper?.load];
  const isRight = end === 'bracket' && low <= truth && truth <= high;
  const width = low && high ? `${(100 * (1 - low / high)).toFixed(1)} %` : '-';
  const seconds = trials.reduce((sum, trial) => sum + trial.seconds, 0);
  const holds = isRight ? 'yes' : `no (${end})`;
  const bracket = `${low ?? '-'}–${high ?? '-'}`;
  return { isRight, text: `| ${name} | ${truth} | ${bracket} | ${width} | ${holds} | ${trials.length} | ${seconds.toFixed(0)} s | ${used_s.toFixed(0)} s |` };
}
