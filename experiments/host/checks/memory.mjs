// Memory beyond a limit is killed, and the run says so.
import { launched } from '../lib/launched.mjs';

const TOLD = 'memory limit';

export async function* memory(started) {
  const small = { limits: { memory: '200 MB' } };
  yield* eaten(started, { name: 't2.micro', kind: 'eat', launch: { host: 't2.micro' }, limit_mib: 1024 });
  yield* eaten(started, { name: '200 MB', kind: 'eat', launch: small, limit_mib: 190.7 });
  yield* eaten(started, { name: '200 MB, a child', kind: 'worker', launch: small, limit_mib: 190.7 });
}

/** What it had when it was killed, and what the run says of it. */
async function* eaten(started, { name, kind, launch, limit_mib }) {
  const run = await launched(started, { kind, launch, seconds: 10 });
  const { code, said, service } = await run.end();
  const most = Number(run.written('eaten'));
  // A Node process has some 40 MiB before it begins, and its parent as well.
  const least = limit_mib - (kind === 'worker' ? 120 : 70);
  const words = said.includes(TOLD);
  yield {
    what: `memory: ${name}`,
    asked: `at most ${limit_mib.toFixed(0)} MiB`,
    got: `the service had ${most} MiB when it was killed`,
    isHeld: most >= least && most <= limit_mib,
  };
  yield {
    what: `memory: ${name}: the run says so`,
    asked: `the words "${TOLD}", exit code 1`,
    got: words ? `"${service?.ended ?? `processes killed: ${service?.memory_kills}`}", exit code ${code}` : `nothing of it, exit code ${code}`,
    isHeld: words && code === 1,
  };
}
