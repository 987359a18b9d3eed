import { artillery, bare, k6, sonagi } from '../tools/index.mjs';
import { objections } from '../tools/sonagi.mjs';

const EVERY_S = 5;
const SIZES = { '1k': 1000, '5k': 5000, '10k': 10_000 };

/** How long a tool may take to start before nobody is connected for certain, in ms. */
const START_LIMIT_MS = 60_000;

/**
 * Watches a run from beside: when the first and the last of `users` are connected, as the target counts them, and what the tool costs
 * over one whole period of EVERY_S from then on, in which each of them says one word.
 */
const watch = (users) => async (probe) => {
  const connected = async () => (await probe.stats()).connections;
  // The connection that asks counts, too.
  const first_s = await until(probe, async () => (await connected()) > 1);
  const all_s = await until(probe, async () => (await connected()) >= users);
  if (all_s === undefined) return { most: await connected() };
  const before = probe.sample();
  await probe.wait(EVERY_S * 1000);
  const after = probe.sample();
  return { connected_s: all_s - first_s, started_s: all_s, rss_mb: after.rss_mb, held_cpu: (after.cpu_s - before.cpu_s) / (after.at_s - before.at_s) };
};

/** The tool's age in seconds when `holds` first does; undefined when the tool has ended before. */
async function until(probe, holds) {
  for (let waited = 0; waited < START_LIMIT_MS; waited += 10) {
    if (await holds()) return probe.sample().at_s;
    if (!(await probe.wait(10))) return undefined;
  }
  return undefined;
}
