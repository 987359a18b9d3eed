// A window in the middle of a run, seen from beside it: what the tool costs while it does what is asked, without its start-up.

/** How often the null target is asked whether the load has begun: a question costs it some 10 µs. */
const ASK_MS = 20;

/**
 * A contestant's `during`: from `settle_ms` after `begun(stats)` first holds, for `window_ms`, the frames the null target got
 * rid of (or what else `count(stats)` says), the tool's CPU and the target's: `{ frames, seconds, cpu_s, target_cpu_s }`; undefined when the tool ended
 * before.
 */
export const steady = ({ begun, count = ({ frames_out }) => frames_out, settle_ms, window_ms }) => async (probe) => {
  while (!begun(await probe.stats())) if (!(await probe.wait(ASK_MS))) return undefined;
  const now = async () => ({ ...probe.sample(), target_cpu_s: probe.target_sample().cpu_s, frames: count(await probe.stats()) });
  if (!(await probe.wait(settle_ms))) return undefined;
  const before = await now();
  if (!(await probe.wait(window_ms))) return undefined;
  const after = await now();
  return { frames: after.frames - before.frames, seconds: after.at_s - before.at_s, cpu_s: after.cpu_s - before.cpu_s, target_cpu_s: after.target_cpu_s - before.target_cpu_s };
};

/** The standard figures of such a window in place of those of the whole run. */
export function costs({ frames, seconds, cpu_s, target_cpu_s }) {
  return { cpu_us: (cpu_s * 1e6) / frames, cpu_share: cpu_s / seconds, target_cpu: target_cpu_s / seconds };
}
