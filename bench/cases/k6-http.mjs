import { costs, steady } from '../lib/steady.mjs';
import { k6, sonagi } from '../tools/index.mjs';

const USERS = 50;
const SECONDS = 3;

/** Once all ask; start-up is left out. The target counts our asking, too. */
const during = steady({ begun: ({ connections }) => connections > 2, count: ({ requests }) => requests, settle_ms: 1200, window_ms: 1500 });

function measure({ requests, failed, p99_ms }, { during: window }) {
  if (!window) throw new Error('it was over too soon');
  return {
    operations: requests,
    seconds: SECONDS,
    requests_per_cpu_s: window.frames / window.cpu_s,
    requests_per_s: window.frames / window.seconds,
    p99_ms,
    ...costs(window),
    falls_short: failed ? `${failed} requests failed` : undefined,
  };
}

const SCRIPT = ['http-closed/k6.js', { USERS, SECONDS }];

export default {
  name: 'k6-http',
  title: 'A k6 script: HTTP keep-alive, closed loop, 50 users',
  about: 'The same script, run by both: each user asks for two things in turn, bodies are discarded, no tags, no checks. Figures are those of a second and a half in the middle, without start-up.',
  operation: 'request',
  seconds: SECONDS,
  headline: 'requests_per_cpu_s',
  measures: {
    requests_per_cpu_s: { label: 'requests per CPU s', better: 'higher' },
    requests_per_s: { label: 'requests/s', better: 'higher' },
    p99_ms: { label: 'its p99, ms', better: 'lower' },
  },
  contestants: [
    { name: 'sonagi', rounds: 3, during, ...sonagi.k6(...SCRIPT), measure },
    { name: 'k6', rounds: 2, during, ...k6.script(...SCRIPT), measure },
  ],
  claims: [{ says: '≥ 4 × k6’s requests per CPU second', measure: 'requests_per_cpu_s', of: 'sonagi', against: 'k6', atLeast: 4 }],
};
