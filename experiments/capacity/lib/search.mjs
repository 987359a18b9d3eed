// One search: the service with a planted limit, and what `sonagi capacity` finds of it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SONAGI, finish, serve } from '../../../interop/support/process.mjs';

const SERVICE = fileURLToPath(new URL('../service.mjs', import.meta.url));
/** A search that takes longer than this hangs (ms). */
const OVERDUE_MS = 20 * 60_000;

/** What a search comes to: `{ end, low, high, trials, trial_s, took_s }`; `low` and `high` are null where it found none. */
export async function found(name, { until, vary, from, to, scenarios }, { width, trial, budget }) {
  const folder = mkdtempSync(join(tmpdir(), 'sonagi-capacity-'));
  try {
    const service = await serve(process.execPath, [SERVICE, name], /http:\S+/);
    try {
      const script = join(folder, `${name}.yml`);
      writeFileSync(script, JSON.stringify({ config: { target: service.match[0] }, scenarios }));
      const range = ['--vary', vary, '--from', from, '--to', to, '--width', width, '--trial', trial, '--budget', budget];
      const argv = ['capacity', script, '--until', until, ...range, '--json', '--quiet', '--runs', join(folder, 'runs')];
      const answer = await finish(SONAGI, argv, { timeout: OVERDUE_MS });
      if (!answer.stdout) throw new Error(`sonagi capacity ended with ${answer.code}: ${answer.stderr}`);
      return summed(JSON.parse(answer.stdout));
    } finally {
      await service.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function summed({ end, found: { lower, upper }, trials, used_s }) {
  const trial_s = trials.reduce((sum, { seconds }) => sum + seconds, 0);
  return { end, low: lower?.load ?? null, high: upper?.load ?? null, trials: trials.length, trial_s, took_s: used_s };
}
