import { cpuOf, used } from '../lib/parts.mjs';
import { pgbench, sonagi } from '../tools/index.mjs';
import { objections } from '../tools/sonagi.mjs';

const SECONDS = 6;
/** So many are waited for at once: as many messages as a batch can have. */
const USERS = 64;
/** 100 bytes as they are stored, in JSON. */
const CONTENT = '.'.repeat(98);
/** What `sonagi serve` keeps of a room by default: then the statement prunes as often. */
const KEPT = 100_000;

/** How often the service is asked whether the load has begun; what is left out of its beginning; the window, in ms. */
const ASK_MS = 20;
const SETTLE_MS = 1500;
const WINDOW_MS = 3000;

const ON = { target: 'serve-postgres-apart', fresh: true };

const OURS = 'sonagi serve';
const LIMIT = 'pgbench, one writer';
const FOUR = 'pgbench, four writers';

/** The statement that the service sends for a batch: crates/chat/src/store/postgres/append.rs. */
const STATEMENT = `SELECT o_key, o_seq, o_repeated, o_oldest
  FROM append_messages(:ids, :a, :b, :above, :room, :sender, :client, :content, :at, :kept);
`;

/** Its parameters for a batch of messages of one account without ids, each in a room of its own: arrays as text. */
function batchOf(size, writer) {
  const list = (of) => `{${Array.from({ length: size }, (_, index) => of(index)).join(',')}}`;
  return {
    ids: list((index) => `location:append-${writer}-${index}`),
    a: list(() => 'NULL'),
    b: list(() => 'NULL'),
    above: list(() => 0),
    room: list((index) => index + 1),
    sender: list(() => 1),
    client: list(() => 'NULL'),
    content: list(() => `"\\"${CONTENT}\\""`),
    at: list(() => 1_700_000_000_000),
    kept: KEPT,
  };
}

/**
 * What the database used over a window in the middle, and what `stats(probe)` tells of the service in it; undefined
 * when it was over too soon.
 */
const watched = (isBegun, stats) => async (probe) => {
  const first = await stats(probe);
  while (!isBegun(await stats(probe), first)) if (!(await probe.wait(ASK_MS))) return undefined;
  if (!(await probe.wait(SETTLE_MS))) return undefined;
  const cpu = () => cpuOf(probe.target, ['postgres', 'instance']);
  const now = async () => ({ at_ms: performance.now(), cpu: cpu(), ...(await stats(probe)) });
  const before = await now();
  if (!(await probe.wait(WINDOW_MS))) return undefined;
  const after = await now();
  const seconds = (after.at_ms - before.at_ms) / 1000;
  const { postgres, instance } = used(before.cpu, after.cpu);
  return {
    seconds,
    postgres_cpu: postgres / seconds,
    service_cpu: instance / seconds,
    messages: after.messages - before.messages,
    commits: after.commits - before.commits,
  };
};

const ours = {
  name: OURS,
  ...sonagi.script('postgres-appends/sonagi.yml', { USERS, SECONDS, CONTENT }),
  during: watched(({ messages }, first) => messages > first.messages, (probe) => probe.stats()),
  measure: (summary, { during: window }) => {
    if (!window) throw new Error('it was over before it could be looked at');
    const { seconds, messages, commits, postgres_cpu, service_cpu } = window;
    const { response_ms } = summary.operations.find(({ name }) => name === 'send');
    return {
      operations: messages,
      seconds,
      appends_per_s: messages / seconds,
      batch: messages / commits,
      statement_ms: (seconds * 1000) / commits,
      p99_ms: response_ms.p99,
      postgres_cpu,
      service_cpu,
      falls_short: objections(summary, { saturating: true }),
    };
  },
};

const theirs = (name, writers, { rounds } = {}) => ({
  name,
  beside: OURS,
  rounds,
  ...pgbench.prepared(STATEMENT, {
    writers,
    seconds: SECONDS,
    variables: (writer, { calibration }) => batchOf(calibration.batch, writer),
  }),
  during: watched(() => true, async () => ({})),
  measure: ({ transactions, per_s, latency_ms }, { during: window, calibration: { batch } }) => {
    if (!window) throw new Error('it was over before it could be looked at');
    return {
      operations: transactions * batch,
      seconds: SECONDS,
      appends_per_s: per_s * batch,
      batch,
      statement_ms: latency_ms,
      postgres_cpu: window.postgres_cpu,
    };
  },
});

export default {
  name: 'postgres-appends',
  title: 'The service: appends to PostgreSQL',
  about:
    `${USERS} people, each alone in a group, say 100 bytes over WebSocket, wait until they are stored and say ` +
    'them again; what comes while a batch is being stored is the next batch. *pgbench* sends the same statement, ' +
    'prepared, for batches of the size that the service was found to make (the nearest whole number, kept in the ' +
    'results), each message in a room of its own: one writer is what the service is, four write to rooms of their ' +
    'own. PostgreSQL is as Debian has it, each run begins with an empty database, and it has one core for itself ' +
    'in all rows; service and generator share the other, as pgbench has it. A statement of the service lasts from ' +
    'commit to commit: what it does between two of them is in it.',
  operation: 'append',
  seconds: SECONDS + 6,
  /** The run that says how large the service's batches are. */
  calibration_s: SECONDS + 6,
  headline: 'appends_per_s',
  measures: {
    appends_per_s: { label: 'appends/s', better: 'higher' },
    batch: { label: 'in a statement' },
    statement_ms: { label: 'ms per statement', better: 'lower' },
    p99_ms: { label: 'p99 until stored, ms', better: 'lower' },
    postgres_cpu: { label: 'PostgreSQL’s CPU', unit: 'share' },
    service_cpu: { label: 'service’s CPU', unit: 'share' },
    cpu_us: false,
    cpu_share: false,
    peak_mb: false,
    target_cpu: false,
  },
  contestants: [ours, theirs(LIMIT, 1), theirs(FOUR, 4, { rounds: 2 })].map((contestant) => ({ ...contestant, ...ON })),

  /** The size of a batch, found once by ours, is that of the others. */
  async calibrate({ name }, execute, found) {
    if (name !== OURS) {
      const { batch, error } = found.get(OURS) ?? {};
      if (!batch) throw new Error(`how large a batch is, ${OURS} was to say: ${error ?? 'it did not run'}`);
      return { batch };
    }
    const { measures } = await execute(this.contestants[0], {});
    return { batch: Math.max(1, Math.round(measures.batch)) };
  },

  claims: [],
};
