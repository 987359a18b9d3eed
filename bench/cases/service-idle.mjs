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
  const now = () => ({ ...probe.target_sample(), generator_mb: probe.sample().rss_mb });
  await probe.wait(FEW_AT_MS);
  const few = now();
  await probe.wait(MANY_AT_MS - FEW_AT_MS);
  return { few, many: now() };
}

const held = (name, target, { script = 'websocket', many: most = MANY, rounds, ...contestant } = {}) => ({
  name,
  target,
  beside: name === 'sonagi serve' ? undefined : 'sonagi serve',
  fresh: true,
  rounds,
  during: watch,
  ...sonagi.script(`service/idle-${script}.yml`, { MORE: most - FEW }),
  ...contestant,
  measure: (summary, { during: { few, many } }) => {
    const kb_each = (of) => ((of(many) - of(few)) * 1024) / (most - FEW);
    // Over polls and event streams subscribing is connecting.
    const operation = (wanted) => summary.operations.find(({ name: found }) => found === wanted);
    const connects = operation('connect') ?? operation('subscribe');
    const slowest = connects.response_ms.max;
    const short = [
      objections(summary),
      connects.count - connects.failed < most && `${connects.count - connects.failed} of ${most} connected`,
      slowest > LATE_MS && `the slowest connection took ${Math.round(slowest)} ms, so that some may be missing`,
    ];
    return {
      operations: most,
      kb_per_connection: kb_each(({ rss_mb }) => rss_mb),
      few_mb: few.rss_mb,
      many_mb: many.rss_mb,
      generator_kb: kb_each(({ generator_mb }) => generator_mb),
      falls_short: short.filter(Boolean).join('; ') || undefined,
    };
  },
});

/** The time table of the scripts above, for one in which people listen over any transport. */
const PHASES = [{ duration: '600ms', arrivalCount: FEW }, { pause: '600ms' }, { duration: '2000ms', arrivalCount: MANY - FEW }];
/** A poll so seldom: the connection is idle in between, and stays open. */
const POLL_EVERY_S = 30;

/** Members of a location group who listen over `transport`. */
function listening(title, transport, { sockjs = false } = {}) {
  const overrides = { config: { phases: PHASES, ...(transport === 'poll' && { poll: { every: POLL_EVERY_S } }) } };
  const parameters = { TRANSPORT: transport, SOCKJS: sockjs, USERS: MANY, LISTENING: 1, SPEAKING: 0, SECONDS: 1, STAY: 4.1 };
  return held(`sonagi serve, ${title}`, 'serve', { rounds: 1, ...sonagi.script('transports/talk.yml', parameters, { flags: ['--overrides', JSON.stringify(overrides)] }) });
}

export default {
  name: 'service-idle',
  title: 'The service: idle connections',
  about:
    `Sonagi holds ${FEW.toLocaleString('en-US')} and then ${MANY.toLocaleString('en-US')} members of a room, of whom nobody speaks, by WebSocket where no other transport is named. KB per connection is the growth of the server’s resident memory between the two sizes; what the kernel keeps for a socket is not in it. ` +
    `The generator’s is that of Sonagi over the same transport. Who polls asks every ${POLL_EVERY_S} s and keeps the connection; a long poll is held, an event stream open.`,
  operation: 'connection',
  seconds: 7.3,
  headline: 'kb_per_connection',
  advantage: 'sonagi serve is better by',
  measures: {
    kb_per_connection: { label: 'KB per connection', better: 'lower' },
    few_mb: { label: 'MB at 1,000', better: 'lower' },
    many_mb: { label: 'MB at the end', better: 'lower' },
    generator_kb: { label: 'generator’s KB per connection', better: 'lower' },
    cpu_us: false,
    cpu_share: false,
    peak_mb: false,
  },
  contestants: [
    held('sonagi serve', 'serve'),
    held('sonagi serve, Socket.IO', 'serve', { script: 'socketio', ...ASIDE }),
    listening('polling', 'poll'),
    listening('long polling', 'longpoll'),
    listening('event stream', 'sse'),
    listening('STOMP', 'stomp'),
    listening('STOMP in SockJS', 'stomp', { sockjs: true }),
    held('Bun', 'bun-service', ASIDE),
    held('ws on Node', 'ws-node', ASIDE),
    held('Socket.IO on Node', 'socketio-node', { script: 'socketio', ...ASIDE }),
    held('socketioxide', 'socketioxide', { script: 'socketio', ...ASIDE }),
    // It takes in some thousand connections a second: more would not be there in time.
    held('FastAPI, to 3,000', 'fastapi', { many: 3000, ...ASIDE }),
  ],
  claims: [{ says: 'an idle connection takes at most 8 KB', measure: 'kb_per_connection', of: 'sonagi serve', atMost: 8 }],
};
