import { artillery, bare, k6, sonagi } from '../tools/index.mjs';
import { costs, steady } from '../lib/steady.mjs';
import { objections } from '../tools/sonagi.mjs';

const SECONDS = 3;
/**
 * Start-up is left out, because what a tool can take in is asked here, and Artillery would spend longer starting than
 * receiving.
 */
const watch = steady({ begun: ({ frames_out }) => frames_out > 0, settle_ms: 300, window_ms: 2000 });

/** Frames that the kernel holds on their way when the flood ends: 6 MB to be read and 4 MB to be sent are the most it keeps. */
const UNDER_WAY = 120_000;
/** A tool that counts less than this share of what the target got rid of fell short. */
const WHOLE = 0.98;

/** `received` is what the tool itself counted over all SECONDS; what the target got rid of and nobody counted is no message. */
function figures(received, { during, target }, objection) {
  if (!during) throw new Error('there was no flood');
  const due = target.stats.frames_out - UNDER_WAY;
  const counted = due > 0 ? Math.min(1, received / due) : 1;
  const { seconds, cpu_s } = during;
  const frames = during.frames * counted;
  const short = [objection, counted < WHOLE && `counted ${received} of more than ${due} frames`];
  return {
    operations: frames,
    seconds: SECONDS,
    messages_per_cpu_s: frames / cpu_s,
    messages_per_s: frames / seconds,
    ...costs({ ...during, frames }),
    falls_short: short.filter(Boolean).join('; ') || undefined,
  };
}

const row = (name, contestant, measure, more) => ({ name, during: watch, ...contestant, ...more, measure });
const yaml = [sonagi.script('ws-flood/sonagi.yml', { SECONDS }), (summary, outcome) => figures(summary.traffic.messages_received, outcome, objections(summary, { saturating: true }))];
const loop = [bare.run('flood', ['/ws/flood?bytes=86&batch=64', '--connections', 1, '--seconds', SECONDS]), (line, outcome) => figures(line.messages, outcome)];

export default {
  name: 'ws-flood',
  title: 'Batched flood: one connection, frames of 86 bytes as fast as they come',
  about:
    `The target writes the same frames over and over for ${SECONDS} s, 64 to a write (on *bun* as Bun’s cork has it). Sonagi's run is tracked: every frame is searched for stamps, though the flood holds none. ` +
    'k6 and Artillery count in a plain variable. CPU is that of two seconds in the middle of the flood, without start-up, divided by the frames the target got rid of in them, as far as the tool came to count them.',
  operation: 'message',
  seconds: SECONDS + 0.4,
  headline: 'messages_per_cpu_s',
  measures: {
    messages_per_cpu_s: { label: 'messages per CPU s', better: 'higher' },
    messages_per_s: { label: 'messages/s', better: 'higher' },
  },
  contestants: [
    row('sonagi', ...yaml),
    row('bare', ...loop),
    row('k6/ws', k6.script('ws-flood/k6-ws.js', { SECONDS }), (line, outcome) => figures(line.received, outcome), { rounds: 2 }),
    row('sonagi on bun', ...yaml, { target: 'bun', rounds: 2 }),
    row('bare on bun', ...loop, { target: 'bun', slow: true }),
    row('artillery', artillery.script('ws-flood/artillery.yml', { SECONDS }), (aggregate, outcome) => figures(aggregate.counters.heard ?? 0, outcome, artillery.errors(aggregate)), { seconds: SECONDS + 8, slow: true }),
  ],
  claims: [{ says: 'at least 5 M messages/s per core', measure: 'messages_per_cpu_s', of: 'sonagi', atLeast: 5e6 }],
};
