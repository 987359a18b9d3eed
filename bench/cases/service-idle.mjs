import { sonagi } from '../tools/index.mjs';
import { objections } from '../tools/sonagi.mjs';

const [FEW, MANY] = [1000, 5000];
/** When the script has that many connected and quiet: at the end of its pause, and shortly before the first leave, in ms. */
const FEW_AT_MS = 1180;
const MANY_AT_MS = 4000;
/** A connection that took longer than this may have been missed by the second look. */
const LATE_MS = 800;

/** For rows that no claim is about: memory is much the same in every run. */
const ASIDE = { rounds: 2 };

async function watch(probe) {
  await probe.wait(FEW_AT_MS);
  const few = probe.target_sample();
  await probe.wait(MANY_AT_MS - FEW_AT_MS);
  return { few, many: probe.target_sample() };
}

const held = (name, target, { script = 'websocket', many: most = MANY, rounds } = {}) => ({
  name,
  target,
  beside: name === 'sonagi serve' ? undefined : 'sonagi serve',
  fresh: true,
  rounds,
  during: watch,
  ...sonagi.script(`service/idle-${script}.yml`, { MORE: most - FEW }),
  measure: (summary, { during: { few, many } }) => {
    const connects = summary.operations.find(({ name: operation }) => operation === 'connect');
    const slowest = connects.response_ms.max;
    const short = [
      objections(summary),
      connects.count - connects.failed < most && `${connects.count - connects.failed} of ${most} connected`,
      slowest > LATE_MS && `the slowest connection took ${Math.round(slowest)} ms, so that some may be missing`,
    ];
    return {
      operations: most,
      kb_per_connection: ((many.rss_mb - few.rss_mb) * 1024) / (most - FEW),
      few_mb: few.rss_mb,
      many_mb: many.rss_mb,
      falls_short: short.filter(Boolean).join('; ') || undefined,
    };
  },
});

export default {
  name: 'service-idle',
  title: 'The service: idle connections',
  about:
    `Sonagi holds ${FEW.toLocaleString('en-US')} and then ${MANY.toLocaleString('en-US')} members of a room, of whom nobody speaks. KB per connection is the growth of the server’s resident memory between the two sizes; what the kernel keeps for a socket is not in it.`,
  operation: 'connection',
  seconds: 7.3,
  headline: 'kb_per_connection',
  advantage: 'sonagi serve is better by',
  measures: {
    kb_per_connection: { label: 'KB per connection', better: 'lower' },
    few_mb: { label: 'MB at 1,000', better: 'lower' },
    many_mb: { label: 'MB at the end', better: 'lower' },
    cpu_us: false,
    cpu_share: false,
    peak_mb: false,
  },
  contestants: [
    held('sonagi serve', 'serve'),
    held('sonagi serve, Socket.IO', 'serve', { script: 'socketio', ...ASIDE }),
    held('Bun', 'bun-service', ASIDE),
    held('ws on Node', 'ws-node', ASIDE),
    held('Socket.IO on Node', 'socketio-node', { script: 'socketio', ...ASIDE }),
    held('socketioxide', 'socketioxide', { script: 'socketio', ...ASIDE }),
    // It takes in some thousand connections a second: more would not be there in time.
    held('FastAPI, to 3,000', 'fastapi', { many: 3000, ...ASIDE }),
  ],
  claims: [{ says: 'an idle connection takes at most 8 KB', measure: 'kb_per_connection', of: 'sonagi serve', atMost: 8 }],
};
