// The tables of docs/from-artillery.md, made of the declared differences and of what the scripts say that they show.
import { readFileSync } from 'node:fs';
import { cases } from './cases.mjs';
import { declared } from './declared.mjs';

const GUIDE = new URL('../../../docs/from-artillery.md', import.meta.url);

/** What stands between `<!-- name -->` and `<!-- end -->`. */
const tables = () => {
  const rows = declared();
  const known = new Set(rows.flatMap((row) => (row.shown_by ?? []).map(({ script }) => script)));
  return {
    better: table(rows.filter(({ kind }) => kind === 'better')),
    other: table(rows.filter(({ kind }) => kind === 'other')),
    missing: table(rows.filter(({ kind }) => kind === 'missing')),
    same: cases().filter(({ name }) => !known.has(name)).map(({ name, shows }) => `| ${cell(shows)} | [${name}](../differential/artillery/scripts/${name}.yml) |`).join('\n'),
  };
};

const table = (rows) => rows.map((row) => `| ${[row.about, row.artillery, row.sonagi, evidence(row)].map(cell).join(' | ')} |`).join('\n');

const cell = (text) => text.replaceAll('|', '\\|');

function evidence({ shown_by = [], tests = [] }) {
  const scripts = [...new Set(shown_by.map(({ script }) => script))];
  const named = scripts.includes('*') ? ['all scripts'] : scripts.map((script) => `[${script}](../differential/artillery/scripts/${script}.yml)`);
  return [...named, ...tests.map(proof)].join(', ');
}

function proof(test) {
  const [file, name] = test.split('::');
  return `\`${name}\` in [${file.split('/').at(-1)}](../${file})`;
}

/** The guide as it should be, and as it is. */
export function guide() {
  const is = readFileSync(GUIDE, 'utf8');
  let should = is;
  for (const [name, lines] of Object.entries(tables())) {
    const mark = new RegExp(`(<!-- ${name} -->\\n(?:\\|.*\\n){2})(?:\\|.*\\n)*(<!-- end -->)`);
    if (!mark.test(should)) throw new Error(`docs/from-artillery.md has no table ${name}`);
    should = should.replace(mark, (_, head, end) => `${head}${lines && `${lines}\n`}${end}`);
  }
  return { is, should, file: GUIDE };
}
