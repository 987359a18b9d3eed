// Sonagi itself: a run of a script, and what it says broke first.
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SONAGI } from '../../../interop/support/process.mjs';

/** A run that takes longer than this hangs (ms). */
const OVERDUE_MS = 120_000;
/**
 * Root may put the generator first: it stands for a machine of its own, which nothing planted here reaches. The kernel shares cores out
 * between sessions before it looks at a process's own niceness (sched(7), autogroup), so it is the session's that is set.
 */
const FIRST = process.getuid() === 0 ? ['sh', '-c', 'echo -20 2>/dev/null >/proc/self/autogroup; exec nice -n -20 "$@"', 'sh'] : [];

/** Runs a script against a service and explains the run: `{ diagnosis, verdict }`. */
export async function explained(started, { target, watch = [], script, seed, name }) {
  const [file, runs] = [join(started.folder, `${name}.yml`), join(started.folder, 'runs')];
  mkdirSync(runs);
  writeFileSync(file, JSON.stringify({ ...script, config: { target, ...script.config } }, null, 2));
  const watched = watch.flatMap((what) => ['--watch', what]);
  const run = started.spawn([SONAGI, 'run', file, '--runs', runs, '--seed', seed, '--json', ...watched], { before: FIRST });
  await ended(run, 'sonagi run');
  const [folder] = readdirSync(runs);
  if (!folder) throw new Error(`sonagi run left no run folder: ${run.output().slice(-600)}`);
  if (process.env.KEEP) cpSync(join(runs, folder), join(process.env.KEEP, folder), { recursive: true });
  const explain = started.spawn([SONAGI, 'explain', join(runs, folder), '--json']);
  await ended(explain, 'sonagi explain');
  return { diagnosis: JSON.parse(explain.output()) };
}

async function ended(program, what) {
  const overdue = setTimeout(() => program.stop('SIGKILL'), OVERDUE_MS);
  const code = await program.ended;
  clearTimeout(overdue);
  if (![0, 1, 3].includes(code)) throw new Error(`${what} ended with ${code}: ${program.output().slice(-600)}`);
}
