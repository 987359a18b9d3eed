#!/usr/bin/env node
// Runs the scripts of scripts/ with Artillery and with Sonagi against the same target and prints what differs.
//
//     node differential/artillery/run.mjs             all of them
//     node differential/artillery/run.mjs quick       those marked so, as `make test` does
//     node differential/artillery/run.mjs NAME …      some; with DETAILS=1 everything that differs is printed
//
// Ends with 1 when something differs that differences.json does not declare, or when a difference declared for one of these
// scripts was not seen.
import { judge, settled } from '../lib/judge.mjs';
import { results, told } from '../lib/table.mjs';
import { cases, read } from './lib/cases.mjs';
import { apart, differences } from './lib/compare.mjs';
import { declared } from './lib/declared.mjs';
import { install, run } from './lib/tools.mjs';

const [, , ...wanted] = process.argv;
const whole = wanted.length === 0;
const chosen = wanted[0] === 'quick' ? cases().filter((one) => one.quick) : whole ? cases() : wanted.map(read);
const rows = declared();

await install();
const all = await results(chosen, (one) => settled(/^(times|rate) /, (again) => compared({ ...one, again })));
process.exitCode = told(all, { peer: 'artillery', rows, whole, silent: ({ users }) => users.length === 0 }) ? 0 : 1;

async function compared(one) {
  const peer = await run('artillery', one);
  const sonagi = await run('sonagi', one);
  return { one, peer, sonagi, ...judge(one.name, differences(peer, sonagi, one), rows, apart(peer, sonagi)) };
}
