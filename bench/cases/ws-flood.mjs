import { artillery, bare, k6, sonagi } from '../tools/index.mjs';
import { costs, steady } from '../lib/steady.mjs';
import { objections } from '../tools/sonagi.mjs';

const SECONDS = 3;
/**
 * Start-up is left out, because what a tool can take in is asked here, and Artillery would spend longer starting than
 * receiving.
 */
const watch = steady({ begun: ({ frames_out }) => frames_out > 0, settle_ms: 300, window_ms: 2000 });

/** `received` is what the tool itself counted over all SECONDS: it must have seen at least what left in the window. */
function figures(received, { during }, objection) {
  if (!during) throw new Error('there was no flood');
  const { frames, seconds, cpu_s } = during;
  const short = [objection, received < frames && `counted ${received} of more than ${frames} frames`];
  return {
    operations: frames,
    seconds: SECONDS,
    messages_per_cpu_s: frames / cpu_s,
    messages_per_s: frames / seconds,
    ...costs(during),
    falls_short: short.filter(Boolean).join('; ') || undefined,
  };
}

const row = (name, contestant, measure, seconds) => ({ name, seconds, during: watch, ...contestant, measure });

export default {
  name: 'ws-flood',
  title: 'Batched flood: one connection, frames of 86 bytes as fast as they come',
  about:
    `The target writes the same frames over and over for ${SECONDS} s, many to a write. Sonagi's run is tracked: every frame is searched for stamps, though the flood holds none. ` +
    'k6 and Artillery count in a plain variable. CPU is that of two seconds in the middle of the flood, without start-up.',
  operation: 'message',
  seconds: SECONDS + 1,
  headline: 'messages_per_cpu_s',
  measures: {
    messages_per_cpu_s: { label: 'messages per CPU s', better: 'higher' },
    messages_per_s: { label: 'messages/s', better: 'higher' },
  },
  contestants: [
    row('sonagi', sonagi.script('ws-flood/sonagi.yml', { SECONDS }), (summary, outcome) => figures(summary.traffic.messages_received, outcome, objections(summary))),
    row('bare', bare.run('flood', ['/ws/flood?bytes=86&batch=64', '--connections', 1, '--seconds', SECONDS]), (line, outcome) => figures(line.messages, outcome)),
    row('k6/ws', k6.script('ws-flood/k6-ws.js', { SECONDS }), (line, outcome) => figures(line.received, outcome)),
    { slow: true, ...row('artillery', artillery.script('ws-flood/artillery.yml', { SECONDS }), (aggregate, outcome) => figures(aggregate.counters.heard ?? 0, outcome, artillery.errors(aggregate)), SECONDS + 8) },
  ],
  claims: [{ says: 'at least 5 M messages/s per core', measure: 'messages_per_cpu_s', of: 'sonagi', atLeast: 5e6 }],
};
