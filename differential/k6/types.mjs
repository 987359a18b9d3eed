#!/usr/bin/env node
// What @types/k6 says of k6's modules, held against our examples and against the names that we provide.
//
//     node differential/k6/types.mjs              type-checks the examples and asks `sonagi` for every name
//     node differential/k6/types.mjs PROGRAM      asks another program that takes k6's command line
//     node differential/k6/types.mjs --print      prints what @types/k6 has, `{"k6/http": ["get", "CookieJar", "CookieJar.set", …], …}`
//
// A name stands for what a script can reach: an export, `CLASS.member` of a class, `default.member` of a default export. Types
// have no names here: they do nothing at run time. Ends with 1 when an example does not type-check or a name is missing.
import { SONAGI } from '../../interop/support/process.mjs';
import { found } from './lib/names.mjs';
import { check, examples, missing, names } from './lib/types.mjs';

const [, , asked] = process.argv;
const provided = await names();
if (asked === '--print') console.log(JSON.stringify(provided, null, 2));
else {
  const files = examples();
  const wrong = await check(files);
  for (const text of wrong) console.log(text);
  console.log(`types: ${files.length} scripts, ${wrong.length} errors`);
  const absent = missing(provided, await found(asked ?? SONAGI, provided));
  for (const name of absent) console.log(`missing: ${name}`);
  console.log(`names: ${Object.values(provided).flat().length} in @types/k6, ${absent.length} missing here`);
  process.exitCode = wrong.length + absent.length === 0 ? 0 : 1;
}
