#!/usr/bin/env node
// Runs the scripts of scripts/ with Artillery and with Sonagi against the same target and prints what differs.
//
//     node differential/artillery/run.mjs             all of them
//     node differential/artillery/run.mjs quick       those marked so, as `make test` does
//     node differential/artillery/run.mjs NAME …      some; with DETAILS=1 everything that differs is printed
//
// Ends with 1 when something differs that differences.json does not declare, or when a difference declared for one of these
// scripts was not seen.
import { availableParallelism } from 'node:os';
import { cases, read } from './lib/cases.mjs';
import { apart, differences, judge, nowhere, settled } from './lib/compare.mjs';
import { declared } from './lib/declared.mjs';
import { install, run } from './lib/tools.mjs';

const [, , ...wanted] = process.argv;
const all = wanted.length === 0;
const chosen = wanted[0] === 'quick' ? cases().filter((one) => one.quick) : all ? cases() : wanted.map(read);
const rows = declared();

await install();
const results = [];
const queue = [...chosen];
await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, worker));
process.exitCode = told(results) ? 0 : 1;

async function worker() {
  for (let one = queue.shift(); one; one = queue.shift()) results.push(await settled((again) => compared({ ...one, again })));
}

async function compared(one) {
  const artillery = await run('artillery', one);
  const sonagi = await run('sonagi', one);
  return { one, artillery, sonagi, ...judge(one.name, differences(artillery, sonagi, one), rows, apart(artillery, sonagi)) };
}

/** Prints the table and what is open; true when all is as declared. */
function told(results) {
  results.sort((a, b) => (a.one.name < b.one.name ? -1 : 1));
  const width = Math.max(...results.map(({ one }) => one.name.length));
  for (const { one, open, known } of results) {
    const ids = [...new Set(known.filter(({ row }) => !everywhere(row)).map(({ row }) => row.id))];
    const verdict = open.length > 0 ? `DIFFERS: ${open.map(({ aspect }) => aspect).join(', ')}` : ids.length > 0 ? `as declared: ${ids.join(', ')}` : 'same';
    console.log(`${one.name.padEnd(width)}  ${verdict}`);
  }
  const open = results.filter((result) => result.open.length > 0);
  for (const result of open) detail(result);
  const unseen = [...results.flatMap(({ one, stale }) => stale.map((claim) => ({ ...claim, where: one.name }))), ...(all ? nowhere(results, rows) : [])];
  for (const { row, aspect, where = 'all scripts' } of unseen) console.log(`\ndeclared and not seen: ${row.id} (${row.about}): ${aspect} of ${where}`);
  const same = results.filter((result) => result.open.length + result.known.filter(({ row }) => !everywhere(row)).length === 0);
  console.log(`\ndifferential: ${results.length} scripts, ${same.length} the same, ${results.length - same.length - open.length} as declared, ${open.length} otherwise`);
  return open.length + unseen.length === 0;
}

function everywhere(row) {
  return (row.shown_by ?? []).some(({ script }) => script === '*');
}

function detail({ one, artillery, sonagi, open }) {
  console.log(`\n── ${one.name}: ${one.shows}`);
  for (const { aspect, artillery: a, sonagi: b } of open) {
    console.log(`   ${aspect}\n     artillery: ${shown(a)}\n     sonagi:    ${shown(b)}`);
  }
  if (artillery.users.length === 0) console.log(`   artillery said: ${tail(artillery.output)}`);
  if (sonagi.users.length === 0) console.log(`   sonagi said: ${tail(sonagi.output)}`);
}

function shown(value) {
  const text = Array.isArray(value) && typeof value[0] === 'string' ? `\n       ${value.map((lines) => lines.replaceAll('\n', '\n       ')).join('\n       ·\n       ')}` : JSON.stringify(value) ?? 'not there';
  return process.env.DETAILS ? text : text.slice(0, 1200);
}

function tail(output) {
  return output.trim().split('\n').slice(-12).join('\n     ').slice(-1200);
}
