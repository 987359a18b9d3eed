// What a run did, put so that two runs of one script can be compared: the log of the target, the lines of the tool, its summaries and
// its samples, without what differs from run to run.
import { order } from '../../lib/judge.mjs';
import { durations, users } from './clock.mjs';
import { points } from './points.mjs';
import { lines } from './lines.mjs';
import { left, summary } from './summary.mjs';

/** A function that puts names for what differs from run to run: addresses, folders, and what the case masks. */
export const masked = (hosts, masks) => (text) => {
  let told = text;
  for (const [name, value] of Object.entries(hosts).sort(([, a], [, b]) => b.length - a.length)) told = told.replaceAll(value, name);
  for (const [name, value] of Object.entries(hosts)) if (/:\d+$/.test(value)) told = told.replaceAll(new RegExp(`(:|%3A)${value.slice(value.lastIndexOf(':') + 1)}\\b`, 'g'), `$1${name}`);
  for (const mask of masks) told = told.replace(mask, '<masked>');
  return told;
};

/** `{code, requests, spelling, agents, console, thrown, log, plan, ended, text, summary, metric, points, durations, users, left, lasted_ms}`. */
export function told(raw, one) {
  const mask = masked(raw.hosts, one.masks);
  const measured = raw.summary === null ? undefined : JSON.parse(raw.summary);
  return {
    code: raw.code,
    lasted_ms: raw.lasted_ms,
    ...requests(raw.log, mask, one.order),
    ...lines(mask(raw.stdout), mask(raw.stderr), one.order !== 'strict'),
    summary: raw.summary === null ? {} : summary(JSON.parse(mask(raw.summary))),
    ...(raw.points === null ? { metric: {}, points: {} } : points(mask(raw.points))),
    durations: durations({ ...raw, summary: measured }),
    users: users(raw.points, measured),
    left: Object.fromEntries(Object.entries(raw.left).map(([name, text]) => [name, text === null ? null : left(name, mask(text))])),
  };
}

/** Drawn anew for each connection, and meaningless to a script. */
const NOISE = new Set(['sec-websocket-key']);
const OWN_AGENT = /^(Grafana k6|Sonagi)\/[\w.+-]+$/;
const BOUNDARY = /(multipart\/form-data; *boundary=).*/;

/**
 * `{requests, spelling, agents}`. Requests are told connection by connection, in the order in which connections came: between two
 * of them a target sees no order that means anything. `order` is the case's.
 */
function requests(log, mask, sorting) {
  const connections = new Map();
  const spelling = new Set();
  const agents = new Set();
  for (const { connection, headers, ...entry } of log) {
    // k6 sends the parts of a form in any order.
    const told = { ...entry, ...(entry.parts && { parts: entry.parts.toSorted((a, b) => order(a.name, b.name)) }) };
    if (headers) {
      told.headers = Object.fromEntries(Object.entries(headers).filter(([name]) => !NOISE.has(name.toLowerCase())).map(([name, values]) => [name.toLowerCase(), said(name, values, agents)]).sort(([a], [b]) => order(a, b)));
      for (const name of Object.keys(headers)) spelling.add(`${entry.kind} ${entry.version ?? ''} ${name}`);
    }
    if (!connections.has(connection)) connections.set(connection, []);
    connections.get(connection).push(mask(JSON.stringify(told)));
  }
  const all = [...connections.values()];
  const groups = sorting === 'any' ? [all.flat().sort(order)] : sorting === 'connections' ? all.sort((a, b) => order(a.join('\n'), b.join('\n'))) : all;
  return { requests: groups, spelling: [...spelling].sort(order), agents: [...agents].sort(order) };
}

function said(name, values, agents) {
  const told = values.map((value) => {
    if (name.toLowerCase() !== 'user-agent' || !OWN_AGENT.test(value)) return value.replace(BOUNDARY, '$1…');
    agents.add(value.replace(/^Sonagi\/.*/, 'Sonagi/VERSION'));
    return "<the tool's own>";
  });
  return told.length === 1 ? told[0] : told;
}
