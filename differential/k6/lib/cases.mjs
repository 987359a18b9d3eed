// The scripts of scripts/, and what their first comments say of them.
//
//     // What it shows, in a line that the table of the guide can print.
//     // flags: --vus 2 --tag a=b       given to both tools
//     // env: NAME=value                variables of the process
//     // target: httpbin | serve        what it talks to beside the recorder (target.mjs): __ENV.HTTPBIN, __ENV.SERVE
//     // order: connections             several virtual users: connections have no order among each other, nor have lines of the console
//     // order: any                     nor have requests, by whichever connection they came
//     // input                          the script is given on the standard input
//     // signal: SIGINT 1500            what the tool is sent, and when, in milliseconds
//     // leaves: report.csv             a file that the run leaves and that is compared
//     // mask: a regular expression     what it finds differs from run to run and only its shape is compared
//     // without ASPECT: why            an aspect (compare.mjs) in which two runs of k6 itself differ, and why; NAME* are all that begin so
//     // patience: 15                   a tool that has not ended after so many seconds hangs, and is ended
//     // quick                          few, short, and of every group: for the gate
import { readFileSync, readdirSync } from 'node:fs';
import { words } from '../../lib/words.mjs';

export const SCRIPTS = new URL('../scripts/', import.meta.url).pathname;

/** All cases, by name: `group/name`. What begins with an underscore is imported by others. */
export const cases = () =>
  readdirSync(SCRIPTS, { recursive: true }).filter((path) => /^[a-z0-9-]+\/[a-z0-9][^/]*\.(js|ts|mjs|cjs)$/.test(path)).sort().map(read);

/** One case, by its path in scripts/ or by that without its ending. */
export function read(name) {
  const path = [name, ...['js', 'ts', 'mjs', 'cjs'].map((ending) => `${name}.${ending}`)].find((path) => readdirSync(SCRIPTS, { recursive: true }).includes(path));
  if (!path) throw new Error(`there is no script ${name}`);
  return { name: path.replace(/\.js$/, ''), path, ...said(readFileSync(`${SCRIPTS}${path}`, 'utf8').split('\n')) };
}

/** What the comments at the top say. */
export function said(lines) {
  const until = lines.findIndex((line) => !line.startsWith('//'));
  const [shows, ...rest] = lines.slice(0, until < 0 ? lines.length : until).map((line) => line.slice(2).trim());
  const found = { shows, flags: [], env: {}, target: 'recorder', order: 'strict', input: false, leaves: [], masks: [], without: [], patience: 40, quick: false };
  for (const line of rest) {
    const [, word, value = ''] = line.match(/^(\w+)(?::? +(.*))?$/) ?? [undefined, line];
    const read = SAYINGS[word];
    if (!read) throw new Error(`a case's comment says \`${line}\`, which means nothing (lib/cases.mjs has what does)`);
    read(found, value);
  }
  return found;
}

const SAYINGS = {
  flags: (found, value) => found.flags.push(...words(value)),
  env: (found, value) => Object.assign(found.env, Object.fromEntries(words(value).map((pair) => pair.split(/=(.*)/s).slice(0, 2)))),
  target: (found, value) => (found.target = one(value, ['httpbin', 'serve'])),
  order: (found, value) => (found.order = one(value, ['connections', 'any'])),
  input: (found) => (found.input = true),
  signal: (found, value) => (found.signal = { name: value.split(' ')[0], after_ms: Number(value.split(' ')[1]) }),
  leaves: (found, value) => found.leaves.push(...words(value)),
  mask: (found, value) => found.masks.push(new RegExp(value, 'g')),
  without: (found, value) => {
    const [, aspect, why] = value.match(/^(.+?): +(.+)$/) ?? [];
    if (!why) throw new Error(`\`without ${value}\` does not say why`);
    found.without.push(aspect);
  },
  patience: (found, value) => (found.patience = Number(value)),
  quick: (found) => (found.quick = true),
};

function one(value, of) {
  if (!of.includes(value)) throw new Error(`a case's comment says ${value}, and may say ${of.join(', ')}`);
  return value;
}
