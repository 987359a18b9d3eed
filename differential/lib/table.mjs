// Runs cases two at a time and prints the table of what differs.
import { availableParallelism } from 'node:os';
import { nowhere } from './judge.mjs';

/** What `compared(one)` says of each case: `{one, peer, sonagi, open, known, stale}`. */
export async function results(cases, compared) {
  const done = [];
  const queue = [...cases];
  const worker = async () => {
    for (let one = queue.shift(); one; one = queue.shift()) done.push(await compared(one));
  };
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, worker));
  return done.sort((a, b) => (a.one.name < b.one.name ? -1 : 1));
}

/**
 * Prints the table and what is open; true when all is as declared. `whole` says that these are all cases, `silent(run)` that a tool
 * did nothing: then what it said last is printed.
 */
export function told(results, { peer, rows, whole, silent }) {
  const width = Math.max(...results.map(({ one }) => one.name.length));
  for (const { one, open, known } of results) {
    const ids = [...new Set(known.filter(({ row }) => !everywhere(row)).map(({ row }) => row.id))];
    const verdict = open.length > 0 ? `DIFFERS: ${open.map(({ aspect }) => aspect).join(', ')}` : ids.length > 0 ? `as declared: ${ids.join(', ')}` : 'same';
    console.log(`${one.name.padEnd(width)}  ${verdict}`);
  }
  const open = results.filter((result) => result.open.length > 0);
  for (const result of open) detail(result, peer, silent);
  const unseen = [...results.flatMap(({ one, stale }) => stale.map((claim) => ({ ...claim, where: one.name }))), ...(whole ? nowhere(results, rows) : [])];
  for (const { row, aspect, where = 'all scripts' } of unseen) console.log(`\ndeclared and not seen: ${row.id} (${row.about}): ${aspect} of ${where}`);
  const same = results.filter((result) => result.open.length + result.known.filter(({ row }) => !everywhere(row)).length === 0);
  console.log(`\ndifferential: ${results.length} scripts, ${same.length} the same, ${results.length - same.length - open.length} as declared, ${open.length} otherwise`);
  return open.length + unseen.length === 0;
}

function everywhere(row) {
  return (row.shown_by ?? []).some(({ script }) => script === '*');
}

function detail({ one, peer: a, sonagi: b, open }, peer, silent) {
  const width = Math.max(peer.length, 6) + 1;
  console.log(`\n── ${one.name}: ${one.shows}`);
  for (const { aspect, peer: left, sonagi: right } of open) {
    console.log(`   ${aspect}\n     ${`${peer}:`.padEnd(width)} ${shown(left)}\n     ${'sonagi:'.padEnd(width)} ${shown(right)}`);
  }
  if (silent(a)) console.log(`   ${peer} said: ${tail(a.output)}`);
  if (silent(b)) console.log(`   sonagi said: ${tail(b.output)}`);
}

function shown(value) {
  const text = Array.isArray(value) && typeof value[0] === 'string' ? `\n       ${value.map((lines) => lines.replaceAll('\n', '\n       ')).join('\n       ·\n       ')}` : JSON.stringify(value) ?? 'not there';
  return process.env.DETAILS ? text : text.slice(0, 1200);
}

function tail(output) {
  return output.trim().split('\n').slice(-12).join('\n     ').slice(-1200);
}
