import { cpuOf, used } from '../lib/parts.mjs';
import { sonagi } from '../tools/index.mjs';
import { objections } from '../tools/sonagi.mjs';

const SECONDS = 4;
/** As the script has it. */
const ROOMS = 10;
const PEOPLE = 500;
const MEMBERS = PEOPLE / ROOMS;
/** The window in which all speak and the servers are warm, in ms of the generator's age; its CPU is compared. */
const FROM_MS = 3200;
const WINDOW_MS = 1800;
/** The same seed sends the same people to the same instances. */
const SEED = '7';

const PARTS = ['instance', 'redis', 'postgres'];

async function watch(probe) {
  const now = () => ({ at_ms: performance.now(), cpu: cpuOf(probe.target, PARTS) });
  await probe.wait(FROM_MS);
  const before = now();
  await probe.wait(WINDOW_MS);
  const after = now();
  return { seconds: (after.at_ms - before.at_ms) / 1000, cpu: used(before.cpu, after.cpu) };
}

/** Everybody's instance is drawn among those of the target. */
function spread({ target: { addresses } }) {
  const at = addresses.instances.map((url) => url.replace(/^http/, 'ws'));
  return JSON.stringify({ config: { variables: { at } } });
}

function served(name, target, { beside, rounds } = {}) {
  const flags = { flags: ['--seed', SEED] };
  const { command, ...script } = sonagi.script('redis-bus/sonagi.yml', { PEOPLE, SECONDS }, flags);
  return {
    name,
    target,
    beside,
    rounds,
    // What was said in the run before would be history, and memory, of this one.
    fresh: true,
    during: watch,
    ...script,
    command: (context) => {
      const invocation = command(context);
      return { ...invocation, argv: [...invocation.argv, '--overrides', spread(context)] };
    },
    measure: (summary, { during: { cpu, seconds } }) => {
      const { messages, owed, delivered, late, duplicate, latency_ms } = summary.delivery;
      const arrived = delivered + late;
      const short = [
        objections(summary),
        owed !== messages * MEMBERS && `${owed} copies were owed, not ${messages * MEMBERS}`,
        arrived < owed && `${owed - arrived} of ${owed} copies did not arrive`,
        late > 0 && `${late} of ${owed} copies were over a second late`,
        duplicate > 0 && `${duplicate} copies came twice`,
      ];
      // Everybody speaks at a constant pace, and what fell behind is told as such.
      const deliveries_per_s = (messages * MEMBERS) / SECONDS;
      const received_share = owed > 0 ? arrived / owed : 0;
      const cpu_s = PARTS.reduce((sum, part) => sum + cpu[part], 0);
      return {
        operations: arrived,
        seconds: SECONDS,
        // What did not arrive was not delivered.
        deliveries_per_cpu_s: (deliveries_per_s * seconds * Math.min(1, received_share)) / cpu_s,
        deliveries_per_s,
        received_share,
        p50_ms: latency_ms.p50,
        p99_ms: latency_ms.p99,
        instances_cpu: cpu.instance / seconds,
        redis_cpu: cpu.redis / seconds,
        postgres_cpu: cpu.postgres / seconds,
        target_cpu: cpu_s / seconds,
        falls_short: short.filter(Boolean).join('; ') || undefined,
      };
    },
  };
}

const whole = (says, of) => ({ says, measure: 'received_share', of, atLeast: 1, worst: true });

const ONE = '1 instance';
const THREE = '3 instances over Redis';

export default {
  name: 'redis-bus',
  title: 'The service: instances over Redis',
  about:
    `${ROOMS} location groups of ${MEMBERS}, who each say a word a second over WebSocket, to one instance or to ` +
    'three that hear each other over Redis; who is at which instance is drawn, so that each group is spread over ' +
    'all. Sonagi is the client, with the ledger on. Messages are stored in PostgreSQL in all rows. All servers ' +
    'share one core, so what is compared is what they cost: their CPU together, instances, Redis and PostgreSQL, ' +
    'in 1.8 s in the middle. It does not say what three instances carry on cores of their own. *1 instance over ' +
    'Redis* tells whom nobody hears, and shows what of the difference is the bus, and what is three smaller rooms ' +
    'for one. Load is equal; latencies stand beside it.',
  operation: 'delivery',
  seconds: SECONDS + 8,
  headline: 'deliveries_per_cpu_s',
  advantage: '1 instance is better by',
  measures: {
    deliveries_per_cpu_s: { label: 'deliveries per server CPU s', better: 'higher' },
    deliveries_per_s: { label: 'deliveries/s', better: 'higher' },
    received_share: { label: 'received', unit: 'share', better: 'higher' },
    p50_ms: { label: 'p50, ms', better: 'lower' },
    p99_ms: { label: 'p99, ms', better: 'lower' },
    instances_cpu: { label: 'instances’ CPU', unit: 'share' },
    redis_cpu: { label: 'Redis’ CPU', unit: 'share' },
    postgres_cpu: { label: 'PostgreSQL’s CPU', unit: 'share' },
    cpu_us: { label: 'generator’s CPU µs per delivery', better: 'lower' },
    cpu_share: false,
    peak_mb: false,
  },
  contestants: [
    served(ONE, 'serve-postgres'),
    served(THREE, 'serve-postgres-redis-3', { beside: ONE }),
    served('1 instance over Redis', 'serve-postgres-redis', { beside: ONE, rounds: 2 }),
  ],
  claims: [
    whole('1 instance: everything received in every run', ONE),
    whole('3 instances: everything received in every run', THREE),
  ],
};
