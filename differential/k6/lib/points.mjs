// The lines of `--out json`: which metrics there are, and which samples with which tags, as often as they come.
import { order } from '../../lib/judge.mjs';
import { MEASURED, sorted } from './summary.mjs';

/** Samples that come by the clock or by the packet: which tags they have is compared, not how many there are. */
const CLOCKED = /^(vus|vus_max|data_sent|data_received)(\{.*\})?$/;

/** `{metric, points}`, by the name of the metric. */
export function points(text) {
  const metric = {};
  const samples = {};
  for (const line of text.split('\n').filter(Boolean)) {
    const { type, metric: name, data, ...rest } = JSON.parse(line);
    if (type === 'Metric') metric[name] = sorted({ ...data, submetrics: (data.submetrics ?? []).map(submetric).sort((a, b) => order(a.name, b.name)), ...rest, named: data.name === name });
    else if (type === 'Point') put((samples[name] ??= {}), name, data);
    else (metric[`line ${type}`] ??= sorted(rest));
  }
  return { metric, points: Object.fromEntries(Object.entries(samples).map(([name, sets]) => [name, told(name, sets)])) };
}

const submetric = ({ name, suffix, tags }) => ({ name, suffix, tags: tags ?? null });

function put(sets, name, { time, value, tags, ...rest }) {
  const key = JSON.stringify(sorted({ ...tags, ...rest }));
  const set = (sets[key] ??= { count: 0, values: [] });
  set.count += 1;
  if (!MEASURED.test(name)) set.values.push(value);
  if (typeof time !== 'string' || Number.isNaN(Date.parse(time))) set.time = time;
}

/** `{tags: count}` or, where values are the script's, `{tags: [values]}`, in the order of tags and values. */
function told(name, sets) {
  const all = Object.entries(sets).sort(([a], [b]) => order(a, b));
  if (CLOCKED.test(name)) return Object.fromEntries(all.map(([tags]) => [tags, 'some']));
  return Object.fromEntries(all.map(([tags, { count, values, ...rest }]) => [tags, { count, ...(values.length > 0 && { values: tally(values) }), ...rest }]));
}

/** Each value and how often it came. */
function tally(values) {
  const seen = {};
  for (const value of values.sort((a, b) => a - b)) seen[value] = (seen[value] ?? 0) + 1;
  return Object.entries(seen).map(([value, count]) => (count === 1 ? value : `${count} × ${value}`)).join(', ');
}
