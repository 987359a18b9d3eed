import { artillery, bare, k6, sonagi } from '../tools/index.mjs';
import { objections } from '../tools/sonagi.mjs';

const SECONDS = 4;

const flood = (received, seconds = SECONDS, falls_short = undefined) => ({
  operations: received,
  seconds,
  messages_per_s: received / seconds,
  falls_short: received > 0 ? falls_short : 'nothing was received',
});
/** Figures with the rate per CPU second, which is what the target names. */
const perCpu = (measures, { cpu_s }) => ({ ...measures, messages_per_cpu_s: measures.operations / cpu_s });

export default {
  name: 'ws-flood',
  title: 'Batched flood: one connection, frames of 86 bytes as fast as they come',
  about:
    `The target writes the same frames over and over for ${SECONDS} s, many to a write. Sonagi's run is tracked: every frame is searched for stamps, though the flood holds none. ` +
    'k6 and Artillery count in a plain variable. Messages per CPU second include the start-up of the tool; messages/s do not.',
  operation: 'message',
  seconds: SECONDS + 1,
  headline: 'messages_per_cpu_s',
  measures: {
    messages_per_cpu_s: { label: 'messages per CPU s', better: 'higher' },
    messages_per_s: { label: 'messages/s', better: 'higher' },
  },
  contestants: [
    {
      name: 'sonagi',
      ...sonagi.script('ws-flood/sonagi.yml', { SECONDS }),
      measure: (summary, outcome) => perCpu(flood(summary.traffic.messages_received, SECONDS, objections(summary)), outcome),
    },
    {
      name: 'bare',
      ...bare.run('flood', ['/ws/flood?bytes=86&batch=64', '--connections', 1, '--seconds', SECONDS]),
      measure: (line, outcome) => perCpu(flood(line.messages, line.seconds), outcome),
    },
    {
      name: 'k6/ws',
      ...k6.script('ws-flood/k6-ws.js', { SECONDS }),
      measure: (line, outcome) => perCpu(flood(line.received), outcome),
    },
    {
      name: 'artillery',
      ...artillery.script('ws-flood/artillery.yml', { SECONDS }),
      measure: (aggregate, outcome) => perCpu(flood(aggregate.counters.heard ?? 0, SECONDS, artillery.errors(aggregate)), outcome),
    },
  ],
  claims: [{ says: 'at least 5 M messages/s per core', measure: 'messages_per_cpu_s', of: 'sonagi', atLeast: 5e6 }],
};
