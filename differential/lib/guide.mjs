// The tables of a guide (docs/from-PEER.md), made of the declared differences and of what the scripts say that they show.
import { readFileSync } from 'node:fs';

/**
 * The guide as it should be, and as it is: `{is, should, file}`. `file` is the guide's, `peer` the rows' member for what the peer
 * does, `link(name)` where a script lies as seen from the guide.
 */
export function guide({ file, peer, rows, cases, link }) {
  const is = readFileSync(file, 'utf8');
  let should = is;
  for (const [name, lines] of Object.entries(tables({ peer, rows, cases, link }))) {
    const mark = new RegExp(`(<!-- ${name} -->\\n(?:\\|.*\\n){2})(?:\\|.*\\n)*(<!-- end -->)`);
    if (!mark.test(should)) throw new Error(`${file} has no table ${name}`);
    should = should.replace(mark, (_, head, end) => `${head}${lines && `${lines}\n`}${end}`);
  }
  return { is, should, file };
}

/** What stands between `<!-- name -->` and `<!-- end -->`. */
function tables({ peer, rows, cases, link }) {
  const known = new Set(rows.flatMap((row) => (row.shown_by ?? []).map(({ script }) => script)));
  const table = (kind) => rows.filter((row) => row.kind === kind).map((row) => `| ${[row.about, row[peer], row.sonagi, evidence(row, link)].map(cell).join(' | ')} |`).join('\n');
  return {
    better: table('better'),
    other: table('other'),
    missing: table('missing'),
    same: cases.filter(({ name }) => !known.has(name)).map(({ name, shows }) => `| ${cell(shows)} | [${name}](${link(name)}) |`).join('\n'),
  };
}

const cell = (text) => text.replaceAll('|', '\\|');

function evidence({ shown_by = [], tests = [] }, link) {
  const scripts = [...new Set(shown_by.map(({ script }) => script))];
  const named = scripts.includes('*') ? ['all scripts'] : scripts.map((script) => `[${script}](${link(script)})`);
  return [...named, ...tests.map(proof)].join(', ');
}

function proof(test) {
  const [file, name] = test.split('::');
  return `\`${name}\` in [${file.split('/').at(-1)}](../${file})`;
}
