// What a tool printed: lines of the console, what was thrown, other lines of its log, the plan, how scenarios ended, and the summary.
import { order } from '../../lib/judge.mjs';

/** `{console, thrown, log, plan, ended, text}` of the two streams; `unordered` when lines come from several users. */
export function lines(stdout, stderr, unordered) {
  const records = stderr.split('\n').map(record).filter(Boolean);
  const said = records.filter(({ source }) => source === 'console').map(({ level, msg }) => `${level}: ${msg}`);
  const rest = records.filter(({ source }) => source !== 'console');
  const thrown = rest.filter(isThrown).map(({ level, msg, source, hint, executor, scenario }) => `${level}: ${msg.split('\n')[0]}${words({ source, hint, executor, scenario })}`);
  const log = {};
  for (const { level } of [...rest.filter((one) => !isThrown(one)), ...refusals(stderr)]) log[level] = (log[level] ?? 0) + 1;
  const sorted = (list) => (unordered ? list.sort(order) : list);
  return { console: sorted(said), thrown: sorted(thrown), log, ...printed(stdout) };
}

const words = (fields) => Object.entries(fields).filter(([, value]) => value !== undefined).map(([name, value]) => ` ${name}=${value}`).join('');

/** An exception of the script: its own text, and so worth comparing. Other lines are in the tool's words. */
const isThrown = ({ source, msg, level }) => level === 'error' && (source === 'stacktrace' || /^(Uncaught \(in promise\)|\w*Error\b)/.test(msg));

/** k6 refuses a test with one line of its log, Sonagi with its own form of errors, all problems in one. */
const refusals = (stderr) => stderr.split('\n').filter((line) => line.startsWith('error: ')).map(() => ({ level: 'error' }));

/** A line of the log as its fields; undefined for any other. */
export function record(line) {
  if (!/^time=\S+ level=/.test(line)) return undefined;
  const fields = {};
  for (const [, name, quoted, bare] of line.matchAll(/([\w.]+)=(?:("(?:[^"\\]|\\.)*")|(\S*))/g)) fields[name] ??= quoted === undefined ? bare : unquoted(quoted);
  return fields;
}

/** Go's quoting differs from JSON's in a few escapes. */
function unquoted(text) {
  try {
    return JSON.parse(text.replace(/\\x([0-9a-f]{2})/g, '\\u00$1').replace(/\\a/g, '\\u0007').replace(/\\v/g, '\\u000b'));
  } catch {
    return text;
  }
}

/** What stands on the standard output: before the run, at its end, and what a script's own summary printed. */
function printed(stdout) {
  const all = stdout.split('\n').map((line) => line.trimEnd());
  const plan = all.filter((line) => /^ +(scenarios: \(|\* [\w-]+: )/.test(line)).map((line) => line.trim());
  const told = all.filter((line) => /^running \(.*\), .* complete and .* interrupted iterations/.test(line)).at(-1);
  const ended = told ? [told.replace(/\(.*?\)/, '(#)').replace(/, \d+\/\d+ VUs/, ', # VUs')] : [];
  // The last bar of each scenario: whether it came to its end, and how far.
  const bars = new Map();
  for (const line of all) {
    // What k6 draws while `setup` runs is no end.
    if (line.startsWith('running (')) for (const name of ['Init', 'Run']) bars.delete(name);
    const [, name, mark, rest] = line.match(/^([\w-]+) +([✓✗•↓↑ ]) \[.*?\] (.*)$/) ?? [];
    if (name) bars.set(name, `${name} ${mark} ${rest.replace(/[\d.hms]+s\b/g, '#t').replace(/ +/g, ' ').replace(/\d+(?=\/\d+ VUs)/, '#')}`);
  }
  return { plan, ended: [...ended, ...[...bars.values()].sort(order)], text: text(all) };
}

/** k6's, which stands before anything else: also where it then runs nothing. */
const LOGO = /^ *\/.*\/?\\.*(‾|\/ {2}\/|\|).*$/;

/** The summary, with its figures masked; of a line that is none of the tool's own, the line. */
function text(all) {
  const from = all.findLastIndex((line) => /^ +(scenarios: \(|\* [\w-]+: )/.test(line)) + 1;
  const own = all.slice(from).filter((line) => line !== '' && !LOGO.test(line) && !/^(running \(|[\w-]+ +[✓✗•↓↑ ] \[|default |\s*$)/.test(line) && !/^\S+ +\[[ =>-]*\]/.test(line));
  return own.map(figureless);
}

/**
 * Figures by what they are: times, shares, sizes, rates, counts. What stands before them has its place, and so its blanks and dots; theirs
 * depend on how long they are.
 */
export function figureless(line) {
  const [, head, tail] = line.match(/^(.*?(?:\.*: |[✓✗] '.*' |↳ +))(.*)$/) ?? [undefined, line, ''];
  if (/↳/.test(head)) return line;
  const told = tail
    .replace(/(?<![\w(])-?\d[\d.]*(ns|µs|ms|h\d+m[\d.]+s|m[\d.]+s|s)(?!\w)/g, '#t')
    .replace(/(?<![\w(])-?[\d.]+%/g, '#%')
    .replace(/(?<![\w(])-?[\d.]+ ?([kMGT]?B)(?=\/s|\b)/g, '#B')
    .replace(/(?<![\w(#])-?\d[\d.]*(e[+-]?\d+)?(k|M)?(?![\w(#])/g, '#');
  return `${head}${told.replace(/ +/g, ' ')}`.trimEnd();
}
