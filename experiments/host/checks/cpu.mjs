// The processor of a host: full speed while there are credits, its baseline then. Two threads burn all they get.
import { availableParallelism } from 'node:os';
import { launched } from '../lib/launched.mjs';

/** A credit is a core for a minute, and a t2.micro earns six an hour: a tenth of a core. */
const EARNED = 0.1;
const CREDITS = 0.05;
/** The credits last so long at full speed: what is used beyond what comes in. */
const LASTS_S = (CREDITS * 60) / (1 - EARNED);

export async function* cpu(started) {
  if (availableParallelism() > 1) {
    const free = await burned(started, {}, 4);
    const cores = free.share(1, 4);
    // Without it the others would show what the burner can do and not what it may.
    const what = 'CPU without limits: what the burner can use';
    yield { what, asked: 'over 1.5 cores', got: in_cores(cores), isHeld: cores > 1.5 };
  }
  const micro = await burned(started, { host: 't2.micro', limits: { credits: CREDITS } }, 14);
  yield share(`t2.micro, ${CREDITS * 60} core seconds of credits: while they last`, micro.share(0.5, 2.5), 1);
  const over = micro.falls(0.5);
  const isHeld = Math.abs(over - LASTS_S) < 0.3;
  yield { what: 't2.micro: they last', asked: `${LASTS_S.toFixed(1)} s`, got: `${over.toFixed(1)} s`, isHeld };
  yield share('t2.micro: behind them, from 5 to 13 s', micro.share(5, 13), EARNED);
  const none = await burned(started, { host: 't2.micro', limits: { credits: 0 } }, 9);
  yield share('t2.micro, no credits: from 2 to 8 s', none.share(2, 8), EARNED);
  const half = await burned(started, { limits: { cpu: 0.5 } }, 5);
  yield share('cpu: 0.5', half.share(1, 4.5), 0.5);
}

const in_cores = (cores) => `${cores.toFixed(3)} cores`;

/** Held within 5 %, or a hundredth of a core: the service's clock and the kernel's periods do not begin together. */
function share(what, got, asked) {
  const isHeld = Math.abs(got - asked) <= Math.max(0.05 * asked, 0.01);
  return { what, asked: in_cores(asked), got: in_cores(got), isHeld };
}

/** Burns for so long under these limits: what was used, by the process's own account. */
async function burned(started, launch, seconds) {
  const run = await launched(started, { kind: 'burn', launch, seconds });
  const samples = () => run.written('cpu').split('\n').slice(0, -1).map((line) => line.split(' ').map(Number));
  await run.until(`${seconds} s of work`, () => samples().at(-1)?.[0] > seconds);
  await run.end('SIGINT');
  const all = [[0, 0], ...samples()];
  return {
    share: (from, to) => (used(all, to) - used(all, from)) / (to - from),
    // Where the next half of a second uses less than half of what it could.
    falls(from) {
      const isSlow = ([at]) => at >= from && used(all, at + 0.5) - used(all, at) < 0.25;
      return all.find(isSlow)?.[0] ?? NaN;
    },
  };
}

/** The CPU seconds used until then, between two samples in proportion. */
function used(samples, at) {
  const next = samples.findIndex(([time]) => time >= at);
  if (next <= 0) return next === 0 ? 0 : samples.at(-1)[1];
  const [[t0, c0], [t1, c1]] = [samples[next - 1], samples[next]];
  return c0 + ((c1 - c0) * (at - t0)) / (t1 - t0);
}
