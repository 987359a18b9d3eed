import { repeated } from '../lib/repeated.mjs';
import { median } from '../lib/statistics.mjs';
import { artillery, k6, oha, sonagi } from '../tools/index.mjs';

/** Starts in one run; the slow start once. */
const TIMES = 10;

const figures = (times_ms, { peak_below_mb }) => ({ operations: times_ms.length, start_ms: median(times_ms), peak_mb: peak_below_mb });
const started = (contestant, times = TIMES) => ({ ...repeated(times, contestant), measure: figures });

export default {
  name: 'cold-start',
  title: 'Cold start: one user, one request, from the command to its end',
  about:
    'The program is started ten times in a row (Artillery once) and timed by the shell; a run’s figure is the median of its starts. Memory is the kernel’s high-water mark, read every 2 ms: what comes in the last instant may be missed.',
  operation: 'start',
  seconds: 0.5,
  headline: 'start_ms',
  measures: { start_ms: { label: 'start to end, ms', better: 'lower' }, cpu_share: false, target_cpu: false },
  contestants: [
    { name: 'sonagi', ...started(sonagi.script('cold-start/sonagi.yml')) },
    { name: 'oha', ...started(oha.once('/rooms')) },
    { name: 'k6', ...started(k6.script('cold-start/k6.js')) },
    { name: 'artillery', slow: true, ...started(artillery.script('cold-start/artillery.yml'), 1) },
  ],
  claims: [
    { says: '≤ 15 ms', measure: 'start_ms', of: 'sonagi', atMost: 15 },
    { says: '≤ 20 MB', measure: 'peak_mb', of: 'sonagi', atMost: 20 },
  ],
};
