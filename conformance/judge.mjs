// Reads a report of the Autobahn test suite and says whether it passed: judge.mjs <side> <index.json>.
// A report without cases fails: it proves nothing.
import { readFileSync } from 'node:fs';

const PASSING = new Set(['OK', 'NON-STRICT', 'INFORMATIONAL']);
const [side, path] = process.argv.slice(2);
const cases = Object.values(JSON.parse(readFileSync(path, 'utf8'))).flatMap((agent) => Object.entries(agent));

const counts = {};
const failed = [];
for (const [name, { behavior, behaviorClose, duration }] of cases) {
  counts[behavior] = (counts[behavior] ?? 0) + 1;
  if (!PASSING.has(behavior) || !PASSING.has(behaviorClose)) {
    failed.push(`${name}: ${behavior}, close ${behaviorClose}, ${duration} ms`);
  }
}
const list = Object.entries(counts).sort().map(([behavior, count]) => `${count} ${behavior}`).join(', ');
console.log(`conformance: autobahn ${side}: ${cases.length} cases: ${list || 'none ran'}`);
for (const line of failed) console.error(`  ${line}`);
process.exitCode = failed.length > 0 || cases.length === 0 ? 1 : 0;
