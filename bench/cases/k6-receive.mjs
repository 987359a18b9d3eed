import { costs, steady } from '../lib/steady.mjs';
import { k6, sonagi } from '../tools/index.mjs';

const SECONDS = 3;
/** In bursts: one speaks, and few listen; what comes is read by the hundred, so that the handler is what costs. */
const BURSTS = { USERS: 6, BURST: 100, EVERY_MS: 20, SECONDS };
/** Singly: everybody speaks once a second, and every message is read alone. */
const SINGLY = { USERS: 200, SECONDS };

/** From when all speak until the first fall silent. Start-up is left out: it would weigh as the run is short. */
const during = steady({ begun: ({ frames_in }) => frames_in > 0, settle_ms: 1000, window_ms: 1500 });

/** `planned` messages of `users`; what a tool never came to count of their copies is no message. */
const figures = ({ users, planned }) => ({ sent, received }, { during: window, target }) => {
  if (!window) throw new Error('the room was never in full voice');
  const due = planned * users;
  // Each connection's first frame says `joined`.
  const counted = Math.min(1, received / (target.stats.frames_out - users));
  const frames = window.frames * counted;
  const short = [sent < planned && `sent ${sent} of ${planned} messages`, received < due && `received ${received} of ${due} copies`];
  return {
    operations: received,
    seconds: SECONDS,
    messages_per_cpu_s: frames / window.cpu_s,
    messages_per_s: frames / window.seconds,
    ...costs({ ...window, frames }),
    falls_short: short.filter(Boolean).join('; ') || undefined,
  };
};

const LOADS = {
  'in bursts': { folder: 'k6-receive', parameters: BURSTS, measure: figures({ users: BURSTS.USERS, planned: (BURSTS.BURST * SECONDS * 1000) / BURSTS.EVERY_MS }), settings: { rounds: 2 } },
  singly: { folder: 'ws-fanout', parameters: SINGLY, measure: figures({ users: SINGLY.USERS, planned: SINGLY.USERS * SECONDS }), settings: { rounds: 1, seconds: SECONDS + 4.2 } },
};

const rows = (module, load) => {
  const { folder, parameters, measure, settings } = LOADS[load];
  const script = [`${folder}/${module.replace('/', '-')}.js`, parameters];
  const own = `sonagi, ${module}, ${load}`;
  return [
    { name: own, beside: own, during, ...settings, ...sonagi.k6(...script), measure },
    { name: `k6, ${module}, ${load}`, beside: own, during, ...settings, ...k6.script(...script), measure },
  ];
};

const claim = (module) => ({ says: `${module}: ≥ 3 × k6’s messages per CPU second`, measure: 'messages_per_cpu_s', of: `sonagi, ${module}, in bursts`, against: `k6, ${module}, in bursts`, atLeast: 3 });

export default {
  name: 'k6-receive',
  title: 'A k6 script: a JavaScript handler for every message',
  about:
    `The same scripts, run by both; a handler counts what comes in a plain variable. *In bursts*: ${BURSTS.USERS} people, one of whom says ${BURSTS.BURST} times 86 bytes every ${BURSTS.EVERY_MS} ms, so that a read brings many messages and the handler is what costs. ` +
    `*Singly*: ${SINGLY.USERS} people who each speak once a second, so that most of it is the kernel’s work of waking up and reading. Not a flood, because k6/websockets keeps what its handlers ` +
    'have not come to and grows by gigabytes. CPU is that of 1.5 s in which all speak, without start-up, divided by the copies the target sent in them, as far as the tool came to count them.',
  operation: 'message',
  seconds: SECONDS + 1.7,
  headline: 'messages_per_cpu_s',
  measures: {
    messages_per_cpu_s: { label: 'messages per CPU s', better: 'higher' },
    messages_per_s: { label: 'messages/s', better: 'higher' },
  },
  contestants: Object.keys(LOADS).flatMap((load) => [...rows('k6/ws', load), ...rows('k6/websockets', load)]),
  claims: [claim('k6/ws'), claim('k6/websockets')],
};
