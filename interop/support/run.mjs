// `sonagi run`, and the summary it prints.
import assert from 'node:assert/strict';
import { finish, SONAGI } from './process.mjs';

/**
 * Runs a script of servers/scripts against a target: its exit code and summary.
 * `overrides` are laid over the script, e.g. `{ config: { socketio: { transports: ['polling'] } } }`.
 */
export async function run(script, target, overrides = {}) {
  const path = new URL(`../servers/scripts/${script}`, import.meta.url).pathname;
  const args = ['run', path, '--target', target, '--json', '--no-folder', '--overrides', JSON.stringify(overrides)];
  const { code, stdout, stderr } = await finish(SONAGI, args);
  assert.ok(stdout.startsWith('{'), `no summary (exit code ${code}): ${stdout}${stderr}`);
  return { code, stderr, ...JSON.parse(stdout) };
}

/** The run passed, every user did all it had to, and nothing at all went wrong. */
export function assertClean(summary, users) {
  assert.deepEqual(summary.errors, [], summary.stderr);
  assert.equal(summary.verdict.result, 'pass', JSON.stringify(summary.verdict));
  assert.equal(summary.code, 0);
  assert.equal(summary.users.completed, users);
  assert.equal(summary.users.failed, 0);
}

/** Every owed copy came once, in time and in order, and nobody heard what was not for it. */
export function assertAllDelivered({ delivery }, owed) {
  const { delivered, late, replayed, duplicate, reordered, lost, leaked, unknown } = delivery;
  const counted = { owed: delivery.owed, delivered, late, replayed, duplicate, reordered, lost, leaked, unknown };
  const none = { late: 0, replayed: 0, duplicate: 0, reordered: 0, lost: 0, leaked: 0, unknown: 0 };
  assert.deepEqual(counted, { owed, delivered: owed, ...none });
  assert.equal(delivery.ratio, 1);
}

/** One operation of the summary, by its name. */
export function operation(summary, name) {
  const found = summary.operations.find((one) => one.name === name);
  assert.ok(found, `no operation ${name} among ${summary.operations.map((one) => one.name).join(', ')}`);
  return found;
}

/** Errors as `{ code: count }`. */
export function errorCounts({ errors }) {
  const counts = {};
  for (const { code, count } of errors) counts[code] = (counts[code] ?? 0) + count;
  return counts;
}
