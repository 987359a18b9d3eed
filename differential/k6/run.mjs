#!/usr/bin/env node
// Runs the scripts of scripts/ with k6 and with Sonagi against the same target and prints what differs.
//
//     node differential/k6/run.mjs              all of them
//     node differential/k6/run.mjs quick        those marked so
//     node differential/k6/run.mjs http ws/…    groups and scripts; with DETAILS=1 everything that differs is printed
//     node differential/k6/run.mjs twice …      k6 beside itself: what differs then can be compared with nobody
//
// Ends with 1 when something differs that differences.json does not declare, or when a difference declared for one of these
// scripts was not seen.
import { judge, settled } from '../lib/judge.mjs';
import { results, told } from '../lib/table.mjs';
import { cases, read } from './lib/cases.mjs';
import { TIMES, apart, differences, silent } from './lib/compare.mjs';
import { declared } from './lib/declared.mjs';
import { install, run } from './lib/tools.mjs';

const twice = process.argv[2] === 'twice';
const wanted = process.argv.slice(twice ? 3 : 2);
const whole = wanted.length === 0;
const chosen = wanted[0] === 'quick' ? cases().filter((one) => one.quick) : whole ? cases() : wanted.flatMap(named);
// What stands beside k6 in planted/ is k6: of that nothing is declared.
const rows = twice || process.env.PLANTED !== undefined ? [] : declared();

await install().catch(({ message }) => {
  console.error(message);
  process.exit(1);
});
const all = await results(chosen, (one) => settled(TIMES, (again) => compared({ ...one, again: again || twice })));
process.exitCode = told(all, { peer: 'k6', rows, whole: whole && !twice, silent }) ? 0 : 1;

async function compared(one) {
  const peer = await run('k6', one);
  const sonagi = twice ? await run('k6', one) : await run('sonagi', one);
  return { one, peer, sonagi, ...judge(one.name, differences(peer, sonagi, one), rows, apart(peer, sonagi)) };
}

function named(name) {
  const group = cases().filter((one) => one.name.startsWith(`${name}/`));
  return group.length > 0 ? group : [read(name)];
}
