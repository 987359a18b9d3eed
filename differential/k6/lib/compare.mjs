// The differences between two runs, each with the aspect it is of: `exit`, `requests`, `spelling`, `agents`, `console`, `thrown`,
// `log LEVEL`, `plan`, `ended`, `text`, `summary NAME`, `metric NAME`, `points NAME`, `left FILE`, `rate NAME`, `duration FILE`, `users NAME`, `lasted`.
import { each, finding, onlyIn } from '../../lib/judge.mjs';
import { asLongAs, asMany } from './clock.mjs';

/** What an aspect may be called. */
export const ASPECTS = /^(exit|requests|spelling|agents|console|thrown|plan|ended|text|lasted|(log|summary|metric|points|left|rate|duration|users) .+)$/;

/** What may be the machine's doing. */
export const TIMES = /^(lasted|plan|ended|console|requests|summary|points|text|rate|duration|users)/;

/** A run is as told.mjs puts it; `[{aspect, peer, sonagi}]`, without the aspects in which the case is not compared. */
export function differences(whole, other, { without = [] } = {}) {
  const { found, put } = finding();
  const [peer, sonagi] = bothLong(whole, other) ? [whole, other] : [whole, other].map(withoutUsers);
  put('exit', peer.code, sonagi.code);
  const [onlyA, onlyB] = onlyIn(lines(peer), lines(sonagi));
  if (onlyA.length + onlyB.length > 0) found.push({ aspect: 'requests', peer: onlyA, sonagi: onlyB });
  else put('requests', lines(peer), lines(sonagi));
  for (const name of ['spelling', 'agents', 'console', 'thrown', 'plan', 'ended', 'text']) list(name, peer[name], sonagi[name], found);
  for (const kind of ['log', 'summary', 'metric', 'points', 'left']) each(kind, peer[kind], sonagi[kind], put);
  within('', peer.durations, sonagi.durations, asLongAs, found);
  if (bothLong(whole, other)) within('users ', peer.users, sonagi.users, asMany, found);
  if (!asLong(peer.lasted_ms, sonagi.lasted_ms)) put('lasted', peer.lasted_ms, sonagi.lasted_ms);
  return found.filter(({ aspect }) => !without.some((name) => (name.endsWith('*') ? aspect.startsWith(name.slice(0, -1)) : aspect === name)));
}

/** Members of two records that are not the same by `same`. */
function within(kind, a, b, same, found) {
  for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) if (!same(a[name], b[name])) found.push({ aspect: `${kind}${name}`, peer: a[name], sonagi: b[name] });
}

/** `vus` and `vus_max` are told once a second: of a run that may or may not last so long they are no difference. */
const bothLong = (a, b) => Math.min(a.lasted_ms, b.lasted_ms) > 1600;

function withoutUsers(run) {
  const rest = (record) => Object.fromEntries(Object.entries(record).filter(([name]) => !/^vus(_max)?(\{|$)/.test(name)));
  return { ...run, summary: rest(run.summary), metric: rest(run.metric), points: rest(run.points), text: run.text.filter((line) => !/^ *vus(_max)?\b/.test(line)) };
}

const lines = ({ requests }) => requests.map((connection) => connection.join('\n'));

/** Lists that differ, each without what both have; where only the order differs, both whole. */
function list(aspect, a, b, found) {
  if (JSON.stringify(a) === JSON.stringify(b)) return;
  const [peer, sonagi] = onlyIn(a, b);
  found.push(peer.length + sonagi.length > 0 ? { aspect, peer, sonagi } : { aspect, peer: a, sonagi: b });
}

/** What a busy machine may add to a run, in milliseconds. */
const SLACK_MS = 1500;

/** Runs of which neither is more than half as long again as the other. */
export const asLong = (a, b) => Math.abs(a - b) <= SLACK_MS || Math.max(a, b) <= 1.5 * Math.min(a, b);

/** Whether a run did nothing that could be compared. */
export const silent = ({ requests, console, points }) => requests.length + console.length + Object.keys(points).length === 0;

/** True when one tool did nothing or had to be ended: only then may a script differ in whatever it likes. */
export const apart = (peer, sonagi) => silent(peer) !== silent(sonagi) || [peer, sonagi].some(({ code }) => typeof code === 'string');
