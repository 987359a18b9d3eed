// What runs of locations.yml came to, as rows. Pure.
import { number } from '../../../bench/lib/markdown.mjs';
import { median } from '../../../bench/lib/statistics.mjs';
import { counted, isSound, measuredOn, ms, short, sum } from '../../lib/matrix.mjs';

/** In the order of their rows. Socket.IO is of `sonagi serve` alone. */
const TRANSPORTS = ['poll', 'longpoll', 'sse', 'ws', 'stomp', 'socketio'];
const SERVICES = ['spring', 'sonagi'];
/** The scripts with this conversation. Of the second one only `sonagi serve` is the service. */
const SCRIPTS = ['locations', 'groups-of-ten'];

const COST = ['CPU s', 'CPU µs/copy', 'MB', 'heap MB', 'at the end', 'after a collection'];
const MEASURED = ['delivered', 'failed users', 'p50', 'p99', ...COST];
/** A row for each transport, service and number of users. */
export const LOCATIONS = {
  head: ['users', 'transport', 'service', ...MEASURED, 'measured'],
  right: ['users', ...MEASURED],
  keyOf: ([users, transport, service]) => `${users} ${transport} ${service}`,
};

const MB = 1e6;
const arrivedOf = ({ delivery }) => delivery.delivered + delivery.late + delivery.replayed;

/** A figure of a JVM's heap in MB: its `level` of the run; undefined of a service that has none. */
function heapOf({ watched }, metric, level) {
  const bytes = watched[metric]?.level?.[level];
  return bytes === undefined ? undefined : bytes / MB;
}

/** The rows of a finished matrix (`matrix.json`): medians over the sound runs of each combination. */
export function locationRows(matrix) {
  const { name } = matrix;
  if (!SCRIPTS.includes(name)) {
    throw new Error(`the table is of ${SCRIPTS.join('.yml and ')}.yml; got a run of ${name}\nhint: leave out --name`);
  }
  const rows = new Map();
  for (const { combination, summary } of counted(matrix)) {
    const { users, transport, service = 'sonagi' } = combination;
    const first = [number(users), transport, service];
    const key = LOCATIONS.keyOf(first);
    if (!rows.has(key)) rows.set(key, { first, made: [] });
    rows.get(key).made.push(summary);
  }
  return [...rows.values()].map(({ first, made }) => {
    const sound = made.filter((summary) => isSound(summary) && summary.delivery);
    return [...first, ...cells(sound), measuredOn(matrix, sound, made)];
  });
}

function cells(summaries) {
  if (summaries.length === 0) return MEASURED.map(() => '-');
  const total = (of) => sum(summaries.map(of));
  const middle = (of, shown) => {
    const values = summaries.map(of).filter(Number.isFinite);
    return values.length === 0 ? '-' : shown(median(values));
  };
  const heap = (metric, level) => middle((summary) => heapOf(summary, metric, level), number);
  return [
    share(total(arrivedOf), total(({ delivery }) => delivery.owed)),
    `${number(total(({ users }) => users.failed))} of ${number(total(({ users }) => users.started))}`,
    middle(({ delivery }) => delivery.latency_ms.p50, ms),
    middle(({ delivery }) => delivery.latency_ms.p99, ms),
    middle(({ service }) => service?.cpu_s, short),
    middle((summary) => (summary.service?.cpu_s * 1e6) / arrivedOf(summary), short),
    middle(({ service }) => service?.resident_peak_mb, short),
    heap('jvm_memory_used_bytes', 'max'),
    heap('jvm_memory_used_bytes', 'value'),
    heap('jvm_memory_used_after_gc_bytes', 'max'),
  ];
}

/** A share as a percentage that is 100 only where nothing is missing. */
function share(count, of) {
  if (of === 0) return '-';
  return count === of ? '100 %' : `${(Math.floor((1000 * count) / of) / 10).toFixed(1)} %`;
}

/** Rows by users, then in the order of the transports, a transport's services beside each other. */
export function ordered(rows) {
  const place = ([users, transport, service]) => [
    Number(users.replaceAll(',', '')),
    TRANSPORTS.indexOf(transport),
    SERVICES.indexOf(service),
  ];
  return rows.toSorted((one, other) => {
    const [a, b] = [place(one), place(other)];
    const at = a.findIndex((value, index) => value !== b[index]);
    return at < 0 ? 0 : a[at] - b[at];
  });
}
