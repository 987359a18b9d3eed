// jslib.k6.io/k6-summary: the end's summary as text, and as a JUnit report.
const COLORS = { cyan: '36', green: '32', red: '31', faint: '2', 'faint cyan': '36;2' };
const TIMES = { s: [1e-3, 's'], ms: [1, 'ms'], us: [1e3, 'µs'] };

const painter = (enabled) => (text, color) => (enabled && color ? `\u001b[${COLORS[color]}m${text}\u001b[0m` : text);

// At most so many decimals, none that are zero.
const brief = (number, decimals) => String(Number(number.toFixed(decimals)));
const cut = (number, decimals) => brief(Math.trunc(number * 10 ** decimals) / 10 ** decimals, decimals);
// Letters as a terminal shows them.
const width = (text) => Array.from(text.normalize('NFKC')).length;

function bytes(value) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB', 'ZB', 'YB'];
  if (value < 10) return `${value} B`;
  const at = Math.min(Math.floor(Math.log(value) / Math.log(1000)), units.length - 1);
  const scaled = Math.floor((value / 1000 ** at) * 10 + 0.5) / 10;
  return `${scaled.toFixed(scaled < 10 ? 1 : 0)} ${units[at]}`;
}

function duration(ms, unit) {
  if (TIMES[unit] !== undefined) return (ms * TIMES[unit][0]).toFixed(2) + TIMES[unit][1];
  if (ms === 0) return '0s';
  if (ms < 0.001) return `${Math.trunc(ms * 1e6)}ns`;
  if (ms < 1) return `${cut(ms * 1e3, 2)}µs`;
  if (ms < 1000) return `${cut(ms, 2)}ms`;
  const seconds = `${cut((ms % 60000) / 1000, ms > 60000 ? 0 : 2)}s`;
  const minutes = Math.trunc(ms / 60000);
  if (minutes === 0) return seconds;
  return minutes < 60 ? `${minutes}m${seconds}` : `${Math.trunc(minutes / 60)}h${minutes % 60}m${seconds}`;
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
    case 'rate':
      return [human(values.rate), `✓ ${values.passes}`, `✗ ${values.fails}`];
    default:
      return ['[no data]'];
  }
}

// The order of dictionaries: case counts last, `_` comes first; the parts of a metric stand behind it.
const byCode = (one, other) => (one < other ? -1 : Number(one > other));
const inDictionary = (one, other) => {
  const [first, second] = [one, other].map((name) => name.split('_').join(' ').toLowerCase());
  return byCode(first, second) || byCode(other, one);
};
const byName = (one, other) => inDictionary(one.of, other.of) || inDictionary(one.part, other.part);
const listed = (of) => (Array.isArray(of) ? of : Object.entries(of ?? {}).map(([name, value]) => ({ name, ...value })));

function checkLines(check, indent, paint) {
  if (check.fails === 0) return [paint(`${indent}✓ ${check.name}`, 'green')];
  const percent = Math.floor((100 * check.passes) / (check.passes + check.fails));
  const counts = `${indent} ↳  ${percent}% — ✓ ${check.passes} / ✗ ${check.fails}`;
  return [paint(`${indent}✗ ${check.name}\n${counts}`, 'red')];
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

function mark(metric, paint) {
  if (metric.thresholds === undefined) return ' ';
  return isCrossed(metric) ? paint('✗', 'red') : paint('✓', 'green');
}

// The cells of a metric's line: `{ name, text, color }`. A statistic that was not asked for is not known.
function cells(metric, stats, unit) {
  if (metric.type !== 'trend') return columns(metric, unit).map((text, at) => ({ name: '', text, color: at === 0 ? 'cyan' : 'faint cyan' }));
  return stats.map((stat) => {
    const value = metric.values[stat];
    const text = value === undefined ? '-' : stat === 'count' ? String(value) : humanizeValue(value, metric, unit);
    return { name: `${stat}=`, text, color: 'cyan' };
  });
}

function row(name, metric, { summaryTrendStats, summaryTimeUnit }) {
  const at = name.includes('{') ? name.indexOf('{') : name.length;
  const part = name.slice(at);
  const [margin, shown] = part === '' ? ['', name] : ['  ', `{ ${part.slice(1, -1)} }`];
  return { of: name.slice(0, at), part, metric, margin, shown, isTrend: metric.type === 'trend', cells: cells(metric, summaryTrendStats, summaryTimeUnit) };
}

// The widest text of each column.
function widths(rows) {
  const count = Math.max(0, ...rows.map((row) => row.cells.length));
  return Array.from({ length: count }, (_, at) => Math.max(...rows.map((row) => (at < row.cells.length ? width(row.cells[at].text) : 0))));
}

function metricLines(data, indent, options, paint) {
  const rows = Object.entries(data.metrics).map(([name, metric]) => row(name, metric, options)).sort(byName);
  const widest = Math.max(0, ...rows.map(({ margin, shown }) => width(margin + shown)));
  const of = { true: widths(rows.filter((row) => row.isTrend)), false: widths(rows.filter((row) => !row.isTrend)) };
  return rows.map(({ metric, margin, shown, isTrend, cells }) => {
    const dots = '.'.repeat(widest - width(margin + shown) + 3);
    const told = cells.map(({ name, text, color }, at) => {
      // A counter's rate ends its line.
      const room = !isTrend && at === 1 && cells.length === 2 ? 0 : of[isTrend][at] - width(text);
      return `${name}${paint(text, color)}${' '.repeat(room)}`;
    });
    return `${indent}${margin}${mark(metric, paint)} ${shown}${paint(`${dots}:`, 'faint')} ${told.join(' ')}`;
  });
}

export function textSummary(data, options = {}) {
  const usual = { indent: ' ', enableColors: true, summaryTrendStats: ['avg', 'min', 'med', 'max', 'p(90)', 'p(95)'] };
  const wanted = { ...usual, ...data.options, ...options };
  const paint = painter(wanted.enableColors);
  const groups = groupLines(data.root_group ?? { name: '' }, `${wanted.indent}    `, paint);
  return [...groups, ...metricLines(data, `${wanted.indent}  `, wanted, paint)].join('\n');
}

const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };
const escaped = (text) => Array.from(text, (letter) => ESCAPES[letter] ?? letter).join('');

const failed = (message) => `<failure message="${escaped(message)}" />`;

// Each threshold is a test case.
export function jUnit(data, options = {}) {
  const { name = 'k6 thresholds', classname = 'Unnamed folder' } = options;
  const cases = Object.entries(data.metrics).flatMap(([metric, { type, values, thresholds }]) => {
    const why = `${type} threshold failed: ${Object.entries(values).map(([name, value]) => `${name} value: ${value}`).join(', ')}`;
    return Object.entries(thresholds ?? {}).map(([source, { ok }]) => ({ title: `${metric} - ${source}`, ok, why }));
  });
  const failures = cases.filter(({ ok }) => !ok).length;
  const body = cases.map(({ title, ok, why }) => {
    return `    <testcase name="${escaped(title)}" classname="${escaped(classname)}">${ok ? '' : failed(why)}</testcase>`;
  });
  const counts = `tests="${cases.length}" failures="${failures}"`;
  return ['<?xml version="1.0"?>', `<testsuites ${counts}>`, `  <testsuite name="${escaped(name)}" ${counts}>`, ...body, '  </testsuite>', '</testsuites>'].join('\n');
}

// Each check outside of groups is a test case. The original takes a check that holds more than once for failed; here it has to
// fail for that.
export function jUnitForChecks(data, suiteName) {
  const checks = listed(data.root_group?.checks);
  const time = data.metrics.iteration_duration?.values.max ?? 0;
  const counts = `tests="${checks.length}" failures="${checks.filter(({ fails }) => fails > 0).length}" time="${time}"`;
  const body = checks.map(({ name, fails }) => `    <testcase name="${escaped(name)}">${fails > 0 ? failed('failed') : ''}</testcase>`);
  const suite = `  <testsuite name="${escaped(suiteName || 'k6 checks')}" ${counts} timestamp="${new Date().toISOString()}">`;
  return ['<?xml version="1.0" encoding="UTF-8" ?>', `<testsuites ${counts}>`, suite, ...body, '  </testsuite>', '</testsuites>'].join('\n');
}
