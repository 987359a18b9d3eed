import { costs, steady } from '../lib/steady.mjs';
import { k6, sonagi } from '../tools/index.mjs';

const SECONDS = 3;
/** Start-up is left out: what a handler costs is asked here. */
const during = steady({ begun: ({ frames_out }) => frames_out > 0, settle_ms: 500, window_ms: 2000 });

/** Frames that the kernel holds on their way when the flood ends, as in the case ws-flood. */
const UNDER_WAY = 120_000;
/** A tool that counts less than this share of what the target got rid of fell short. */
const WHOLE = 0.98;

function measure({ received }, { during: window, target }) {
  if (!window) throw new Error('there was no flood');
  const due = target.stats.frames_out - UNDER_WAY;
  const counted = due > 0 ? Math.min(1, received / due) : 1;
  const frames = window.frames * counted;
  return {
    operations: frames,
    seconds: SECONDS,
    messages_per_cpu_s: frames / window.cpu_s,
    messages_per_s: frames / window.seconds,
    ...costs({ ...window, frames }),
    falls_short: counted < WHOLE ? `counted ${received} of more than ${due} frames` : undefined,
  };
}

const rows = (module) => {
  const script = [`ws-flood/${module.replace('/', '-')}.js`, { SECONDS }];
  const own = `sonagi, ${module}`;
  return [
    { name: own, rounds: 3, during, ...sonagi.k6(...script), measure },
    { name: `k6, ${module}`, beside: own, rounds: 2, during, ...k6.script(...script), measure },
  ];
};

const claim = (module) => ({ says: `${module}: ≥ 3 × k6’s messages per CPU second`, measure: 'messages_per_cpu_s', of: `sonagi, ${module}`, against: `k6, ${module}`, atLeast: 3 });

export default {
  name: 'k6-receive',
  title: 'A k6 script: a JavaScript handler for every message, as fast as they come',
  about:
    `The same scripts, run by both: one connection, a handler that counts in a plain variable. The target writes frames of 86 bytes for ${SECONDS} s, 64 to a write. CPU is that of two seconds in the middle of the flood, ` +
    'divided by the frames the target got rid of in them, as far as the tool came to count them.',
  operation: 'message',
  seconds: SECONDS + 0.4,
  headline: 'messages_per_cpu_s',
  measures: {
    messages_per_cpu_s: { label: 'messages per CPU s', better: 'higher' },
    messages_per_s: { label: 'messages/s', better: 'higher' },
  },
  contestants: [...rows('k6/ws'), ...rows('k6/websockets')],
  claims: [claim('k6/ws'), claim('k6/websockets')],
};
