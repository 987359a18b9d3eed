// The kinds of kills, and what a run during which one happened came to. Judging is pure: figures in, verdicts out.
import { setTimeout as delay } from 'node:timers/promises';
import { metricsOf } from '../../../bench/lib/metrics.mjs';

export const TRANSPORTS = ['poll', 'longpoll', 'sse', 'ws', 'stomp', 'socketio'];

/** What of an instance says whom a kill hits, and that the others noticed. */
const LOOKED_AT = {
  longPolls: 'chat_connections{transport="longpoll"}',
  emptyPolls: 'chat_polls_empty_total',
  busUp: 'chat_bus_up',
  filled: 'chat_bus_filled_total',
};
/** Between two looks at an instance before its kill: who polls ten times a second is seen (ms). */
const BETWEEN_LOOKS_MS = 500;
/** How long a store or bus stays away before it is started again (ms). */
const AWAY_MS = 1_500;
/** A killed PostgreSQL starts once its own processes have noticed: it is tried for so long, with such pauses (ms). */
const STARTING_MS = 10_000;
const BETWEEN_STARTS_MS = 250;
/** How long instances may take to say that the bus is gone (ms). */
const NOTICED_MS = 3_000;

const anInstance = (round, instances) => `instance-${(round % instances) + 1}`;
const asked = { signal: 'SIGTERM', ends: 0 };
const shot = { signal: 'SIGKILL', ends: 'SIGKILL' };
const instance = { part: anInstance, act: withoutInstance, missed: missedInstance };
const redis = { part: () => 'redis', act: withoutRedis, missed: missedRedis };
const postgres = { part: () => 'postgres', act: withoutPostgres, missed: missedPostgres };

/**
 * `part(round, instances)`: what is killed, by its name in the stack; `signal`; `ends`: how its process must end;
 * `act(stack, part, signal)`: kills it, starts it again, and says what there was to see; `missed(transport, figures,
 * seen)`: why that was beside what went on, or undefined.
 */
export const KINDS = [
  { name: 'drain', says: 'an instance drains (SIGTERM)', ...asked, ...instance },
  { name: 'instance', says: 'an instance, SIGKILL', ...shot, ...instance },
  { name: 'redis', says: 'Redis, SIGKILL', ...shot, ...redis },
  { name: 'postgres', says: 'PostgreSQL, SIGKILL', ...shot, ...postgres },
];

/** Kills the part and starts it again: `{ part, pids: [before, after], ended, down_ms }`, and what there was to see. */
export async function killed(stack, kind, round) {
  const part = kind.part(round, stack.instances.length);
  const before = stack.addresses.pids[part];
  const seen = await kind.act(stack, part, kind.signal);
  return { part, ...seen, pids: [before, stack.addresses.pids[part]] };
}

/** Ends it and starts it again; `meanwhile` is what is done before it is started. */
async function restart(stack, part, signal, meanwhile = async () => ({})) {
  const from = performance.now();
  const ended = await stack.stop(part, signal);
  const seen = await meanwhile();
  for (const until = performance.now() + STARTING_MS; ; await delay(BETWEEN_STARTS_MS)) {
    const problem = await stack.again(part).then(() => undefined, (error) => error);
    if (!problem) break;
    if (part !== 'postgres' || performance.now() > until) throw problem;
  }
  return { ended, ...seen, down_ms: performance.now() - from };
}

async function withoutInstance(stack, part, signal) {
  const url = stack.instances[Number(part.split('-')[1]) - 1];
  const first = await look(url);
  await delay(BETWEEN_LOOKS_MS);
  const { longPolls, emptyPolls } = await look(url);
  return { longPolls, emptyPolls: emptyPolls - first.emptyPolls, ...(await restart(stack, part, signal)) };
}

async function withoutRedis(stack, part, signal) {
  const before = await Promise.all(stack.instances.map(look));
  const away = async () => {
    const from = performance.now();
    const noticed = new Set();
    while (noticed.size < stack.instances.length && performance.now() < from + NOTICED_MS) {
      for (const url of stack.instances) if ((await look(url)).busUp === 0) noticed.add(url);
      await delay(20);
    }
    await delay(Math.max(0, from + AWAY_MS - performance.now()));
    const after = await Promise.all(stack.instances.map(look));
    return { noticed: noticed.size, filled: after.map(({ filled }, at) => filled - before[at].filled) };
  };
  return restart(stack, part, signal, away);
}

async function withoutPostgres(stack, part, signal) {
  return restart(stack, part, signal, () => delay(AWAY_MS, {}));
}

async function look(url) {
  const answer = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(5_000) });
  return metricsOf(await answer.text(), LOOKED_AT);
}

/** Polls are not lost: nginx takes a dead instance's to the next. There the instance must have had some. */
function missedInstance(transport, { connectionsLost, reconnects, replayed }, { longPolls, emptyPolls }) {
  if (transport === 'poll') return emptyPolls > 0 ? undefined : 'the instance was not polled right before';
  if (transport === 'longpoll') return longPolls > 0 ? undefined : 'the instance held no long poll';
  if (connectionsLost === 0 || reconnects === 0) return 'nobody lost a connection and came back';
  return replayed > 0 ? undefined : 'nothing was said while somebody was away';
}

function missedRedis(transport, figures, { noticed, filled }) {
  if (filled.length !== noticed) return `${noticed} of ${filled.length} instances noticed`;
  return filled.every((count) => count > 0) ? undefined : 'an instance had nothing to read from the store instead';
}

/** Sends wait for a store that comes back in time; one in its transaction is refused. */
function missedPostgres(transport, { refused, slowestSend_ms }) {
  return refused > 0 || slowestSend_ms > AWAY_MS / 2 ? undefined : 'no send waited or was refused';
}

/** The figures of a transport's run, from its summary; of a run that has none, zeros. */
export function figuresOf(summary) {
  const { delivery = {}, traffic = {}, operations = [], complete = false, interrupted } = summary ?? {};
  const of = (name) => operations.find((one) => one.name === name) ?? { count: 0, failed: 0 };
  const [say, stayed] = [of('say'), of('stayed')];
  return {
    isWhole: complete && !interrupted,
    acknowledged: say.count - say.failed,
    refused: say.failed,
    slowestSend_ms: say.service_ms?.max ?? 0,
    stayed: stayed.count - stayed.failed,
    connectionsLost: traffic.connections_lost ?? 0,
    reconnects: traffic.reconnects ?? 0,
    ...Object.fromEntries(JUDGED.map((name) => [name, delivery[name] ?? 0])),
  };
}

const BREACHES = ['lost', 'duplicate', 'reordered', 'leaked'];
const JUDGED = ['owed', 'replayed', 'unknown', ...BREACHES];

/**
 * `{ verdict, why }` of a transport's run: `failed` when the service broke its word, `void` when the run could not have
 * shown it, else `passed`. `seen` is what `killed` gave, or undefined when it failed.
 */
export function judged(kind, transport, figures, seen, listeners) {
  if (!figures.isWhole) return { verdict: 'void', why: 'the run did not come to its end' };
  const broken = BREACHES.filter((name) => figures[name] > 0).map((name) => `${figures[name]} ${name}`);
  if (figures.stayed < listeners) broken.push(`${listeners - figures.stayed} of ${listeners} listeners did not stay`);
  if (seen && seen.ended !== kind.ends) broken.push(`${seen.part} ended with ${seen.ended}, not ${kind.ends}`);
  if (broken.length > 0) return { verdict: 'failed', why: broken.join(', ') };
  const missing = nothingShown(kind, transport, figures, seen);
  return missing ? { verdict: 'void', why: missing } : { verdict: 'passed' };
}

function nothingShown(kind, transport, figures, seen) {
  if (!seen) return 'the part was not killed and started again';
  if (seen.pids[0] === seen.pids[1]) return `${seen.part} is the same process as before`;
  if (figures.acknowledged === 0 || figures.owed === 0) return 'nothing was said';
  return kind.missed(transport, figures, seen);
}
