// The scripts of scripts/, and what their first comments say of them.
//
//     # What it shows, in a line that the table of the guide can print.
//     # flags: -e load --variables '{"a":1}'
//     # files: two.yml files/three.yml    what `run` is given in place of the script itself
//     # env: NAME=value
//     # mask: a regular expression; what it finds differs from run to run and only its shape is compared
//     # order: any        steps may come in any order and over any connection: only what was asked for counts, not by whom
//     # evenly            requests come evenly, so that rates can be compared
//     # patience: 15      a tool that has not ended after so many seconds hangs, and is ended
//     # quick             also run by `make test`
import { readFileSync, readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { words } from '../../lib/words.mjs';

export const SCRIPTS = new URL('../scripts/', import.meta.url).pathname;

/** All cases, by name. */
export const cases = () =>
  readdirSync(SCRIPTS).filter((name) => name.endsWith('.yml') && !name.startsWith('_')).sort().map((name) => read(basename(name, '.yml')));

/** One case: `{name, shows, files, flags, env, masks, anyOrder, evenly, patience, quick}`. */
export function read(name) {
  const text = readFileSync(`${SCRIPTS}${name}.yml`, 'utf8');
  return { name, files: [`${name}.yml`], ...said(text.split('\n')) };
}

/** What the comments at the top say. */
export function said(lines) {
  const until = lines.findIndex((line) => !line.startsWith('#'));
  const [shows, ...rest] = lines.slice(0, until < 0 ? lines.length : until).map((line) => line.slice(1).trim());
  const found = { shows, flags: [], env: {}, masks: [], anyOrder: false, evenly: false, patience: 90, quick: false };
  for (const line of rest) {
    const [, word, value] = line.match(/^(\w+)(?:: *(.*))?$/) ?? [undefined, line, undefined];
    if (word === 'flags') found.flags = words(value);
    else if (word === 'files') found.files = words(value);
    else if (word === 'env') found.env = { ...found.env, ...Object.fromEntries(words(value).map((pair) => pair.split('='))) };
    else if (word === 'mask') found.masks.push(new RegExp(value, 'g'));
    else if (word === 'order' && value === 'any') found.anyOrder = true;
    else if (word === 'evenly') found.evenly = true;
    else if (word === 'patience') found.patience = Number(value);
    else if (word === 'quick') found.quick = true;
    else throw new Error(`a case's comment says \`${line}\`, which means nothing (lib/cases.mjs has what does)`);
  }
  return found;
}
