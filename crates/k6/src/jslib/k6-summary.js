// What scripts import from jslib.k6.io/k6-summary: the end's summary as text, and as a JUnit report.
const COLORS = { cyan: '36', green: '32', red: '31', faint: '2' };
const TIMES = { s: [1e-3, 's'], ms: [1, 'ms'], us: [1e3, 'µs'] };

const painter = (enabled) => (text, color) => (enabled && color ? `\u001b[${COLORS[color]}m${text}\u001b[0m` : text);

// At most so many decimals, none that are zero.
const brief = (number, decimals) => String(Number(number.toFixed(decimals)));

function bytes(value) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB'];
  if (value < 10) return `${brief(value, 2)} B`;
  const at = Math.min(Math.floor(Math.log10(value) / 3), units.length - 1);
  const scaled = Math.floor((value / 1000 ** at) * 10 + 0.5) / 10;
  return `${scaled.toFixed(scaled < 10 ? 1 : 0)} ${units[at]}`;
}

function duration(ms, unit) {
  if (TIMES[unit] !== undefined) return (ms * TIMES[unit][0]).toFixed(2) + TIMES[unit][1];
  if (ms === 0) return '0s';
  if (ms < 0.001) return `${brief(ms * 1e6, 0)}ns`;
  if (ms < 1) return `${brief(ms * 1e3, 2)}µs`;
  if (ms < 1000) return `${brief(ms, 2)}ms`;
  if (ms < 60000) return `${brief(ms / 1000, 2)}s`;
  const minutes = Math.floor(ms / 60000);
  const seconds = Math.floor(ms / 1000) % 60;
  return minutes < 60 ? `${minutes}m${seconds}s` : `${Math.floor(minutes / 60)}h${minutes % 60}m${seconds}s`;
}

export function humanizeValue(value, metric, timeUnit) {
  if (metric.type === 'rate') return `${(Math.trunc(value * 10000) / 100).toFixed(2)}%`;
  if (metric.contains === 'data') return bytes(value);
  if (metric.contains === 'time') return duration(value, timeUnit);
  return brief(value, 6);
}

// The values of a metric that is no trend, the most important one first.
function columns(metric, timeUnit) {
  const { values } = metric;
  const human = (value) => humanizeValue(value, metric, timeUnit);
  switch (metric.type) {
    case 'counter':
      return [human(values.count), `${human(values.rate)}/s`];
    case 'gauge':
      return [human(values.value), `min=${human(values.min)}`, `max=${human(values.max)}`];
    default:
      return [human(values.rate), `✓ ${values.passes}`, `✗ ${values.fails}`];
  }
}

const byName = (one, other) => (one.name < other.name ? -1 : Number(one.name > other.name));
const listed = (of) => (Array.isArray(of) ? of : Object.entries(of ?? {}).map(([name, value]) => ({ name, ...value })));

function checkLines(check, indent, paint) {
  if (check.fails === 0) return [`${indent}${paint(`✓ ${check.name}`, 'green')}`];
  const percent = Math.floor((100 * check.passes) / (check.passes + check.fails));
  const counts = `${indent} ↳  ${percent}% — ✓ ${check.passes} / ✗ ${check.fails}`;
  return [paint(`${indent}✗ ${check.name}`, 'red'), paint(counts, 'red')];
}

function groupLines(group, indent, paint) {
  const isRoot = group.name === '';
  const inner = isRoot ? indent : `${indent}  `;
  const lines = isRoot ? [] : [`${indent}█ ${group.name}`, ''];
  for (const check of listed(group.checks)) lines.push(...checkLines(check, inner, paint));
  if (listed(group.checks).length > 0) lines.push('');
  for (const one of listed(group.groups)) lines.push(...groupLines(one, inner, paint));
  return lines;
}

const isCrossed = (metric) => Object.values(metric.thresholds ?? {}).some((threshold) => !threshold.ok);
const mark = (metric) => (metric.thresholds === undefined ? ' ' : isCrossed(metric) ? '✗' : '✓');
const padded = (cells, widths) => cells.map((cell, at) => cell.padEnd(widths[at])).join(' ').trimEnd();

function metricLines(data, indent, options, paint) {
  const { summaryTrendStats: stats, summaryTimeUnit } = { summaryTrendStats: ['avg', 'min', 'med', 'max', 'p(90)', 'p(95)'], ...data.options };
  const unit = options.summaryTimeUnit ?? summaryTimeUnit;
  const rows = Object.entries(data.metrics).map(([name, metric]) => {
    const isPart = name.includes('{');
    const shown = isPart ? `  { ${name.slice(name.indexOf('{') + 1, -1)} }` : name;
    const cells = metric.type === 'trend' ? stats.map((stat) => `${stat}=${humanizeValue(metric.values[stat] ?? 0, metric, unit)}`) : columns(metric, unit);
    return { name, metric, shown, cells };
  });
  rows.sort(byName);
  const width = Math.max(0, ...rows.map(({ shown }) => shown.length)) + 1;
  const widths = (isTrend) => {
    const cells = rows.filter(({ metric }) => (metric.type === 'trend') === isTrend).map((row) => row.cells);
    const count = Math.max(0, ...cells.map((row) => row.length));
    return Array.from({ length: count }, (_, at) => Math.max(...cells.map((row) => (row[at] ?? '').length)));
  };
  const of = { true: widths(true), false: widths(false) };
  return rows.map(({ metric, shown, cells }) => {
    const sign = mark(metric);
    const dots = '.'.repeat(Math.max(0, width - shown.length + 2));
    const values = padded(cells, of[metric.type === 'trend']);
    return `${indent}${paint(sign, sign === '✗' ? 'red' : 'green')} ${shown}${paint(dots, 'faint')}: ${paint(values, 'cyan')}`;
  });
}

export function textSummary(data, options = {}) {
  const { indent = ' ', enableColors = true } = options;
  const paint = painter(enableColors);
  const groups = groupLines(data.root_group ?? { name: '' }, `${indent}    `, paint);
  const before = groups.length > 0 && groups.at(-1) !== '' ? [...groups, ''] : groups;
  return [...before, ...metricLines(data, `${indent}  `, options, paint)].join('\n');
}

const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };
const escaped = (text) => Array.from(text, (letter) => ESCAPES[letter] ?? letter).join('');

// Each threshold is a test case.
export function jUnit(data, options = {}) {
  const { name = 'k6 thresholds', classname = 'Unnamed folder' } = options;
  const cases = Object.entries(data.metrics).flatMap(([metric, { thresholds }]) =>
    Object.entries(thresholds ?? {}).map(([source, { ok }]) => ({ title: `${metric} - ${source}`, ok })),
  );
  const failures = cases.filter(({ ok }) => !ok).length;
  const body = cases.map(({ title, ok }) => {
    const failure = ok ? '' : '<failure message="failed" />';
    return `    <testcase name="${escaped(title)}" classname="${escaped(classname)}">${failure}</testcase>`;
  });
  const counts = `tests="${cases.length}" failures="${failures}"`;
  return ['<?xml version="1.0"?>', `<testsuites ${counts}>`, `  <testsuite name="${escaped(name)}" ${counts}>`, ...body, '  </testsuite>', '</testsuites>'].join('\n');
}
