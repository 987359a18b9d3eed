// What the churn over a stack makes of what it sees: growth of each process, what is left behind, and who is who.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { census, roleOf } from '../lib/census.mjs';
import { grownTexts, growths, HELD } from '../lib/growths.mjs';
import { left, metric } from '../lib/holdings.mjs';

const SETTLED_S = 120;

/** A census every ten seconds for ten minutes; `of(at_s)` gives the processes of a moment. */
const moments = (of) => Array.from({ length: 60 }, (_, at) => ({ at_s: (at + 1) * 10, processes: of((at + 1) * 10) }));
const one = (parts) => ({ key: 'instance-1 7', role: 'instance-1', mb: 20, descriptors: 30, threads: 4, ...parts });
const session = (pid, parts) => {
  const role = 'postgres session';
  return { key: `${role} ${pid}`, role, mb: 5, descriptors: 9, threads: 1, ...parts };
};

test('a process that leaks memory, descriptors or threads is named with what it leaks', () => {
  const leaks = {
    mb: (at_s) => 20 + at_s / 100,
    descriptors: (at_s) => 30 + at_s / 20,
    threads: (at_s) => 4 + Math.floor(at_s / 120),
  };
  for (const [name, of] of Object.entries(leaks)) {
    const found = growths(moments((at_s) => [one({ [name]: of(at_s) })]), SETTLED_S);
    const [text, ...others] = grownTexts(found);
    assert.match(text, new RegExp(`^instance-1 7 grew from .* ${HELD[name]}$`));
    assert.deepEqual([others, grownTexts(found, ({ role }) => role === 'instance-1')], [[], []]);
  }
});

test('what grows in the first two minutes of a process only has not grown, whenever it came', () => {
  const late = (at_s) => session('8', { mb: 4 + Math.min(at_s - 200, 100) / 10 });
  const of = (at_s) => [one({ mb: Math.min(at_s, 110) }), ...(at_s >= 200 ? [late(at_s)] : [])];
  const found = growths(moments(of), SETTLED_S);
  assert.deepEqual([grownTexts(found), found.rows.length], [[], 2]);
  assert.ok(found.rows.every(({ held }) => !held.mb.grew));
});

test('processes that come and go are not judged each, and their number is', () => {
  const found = growths(moments((at_s) => [one(), session(at_s)]), SETTLED_S);
  const keys = found.rows.map(({ key }) => key);
  assert.deepEqual([keys, found.short.length, grownTexts(found)], [['instance-1 7'], 60, []]);
  const more = (at_s) => Array.from({ length: Math.ceil(at_s / 100) }, (_, n) => session(`${at_s} ${n}`));
  assert.match(grownTexts(growths(moments(more), SETTLED_S))[0], /^postgres session grew from .* processes$/);
});

test('what is more than at first is left behind, what is less is not', () => {
  assert.deepEqual(left({ a: 0, b: 6, c: 2 }, { a: 1, b: 5, c: 2 }), ['a: 1, at first 0']);
});

test('a metric with labels is summed, and one that is not told is an error', () => {
  const lines = ['{transport="sse"} 2', '{transport="poll"} 1', '_more 9'].map((line) => `chat_connections${line}`);
  const text = ['# TYPE chat_connections gauge', ...lines, ''].join('\n');
  assert.equal(metric(text, 'chat_connections'), 3);
  assert.throws(() => metric(text, 'chat_sockets_open'), /tells no chat_sockets_open/);
});

test('processes are told apart by what they do, not by whom they do it for', () => {
  const roles = {
    'postgres: sonagi postgres 127.0.0.1(40418) idle': 'postgres session',
    'postgres: sonagi postgres 127.0.0.1(40420) SELECT': 'postgres session',
    'postgres: checkpointer ': 'postgres checkpointer',
    'postgres: autovacuum worker postgres': 'postgres autovacuum worker',
    '/usr/lib/postgresql/15/bin/postgres -D /tmp/x': 'postgres',
    'nginx: worker process': 'nginx worker',
    'nginx: master process /usr/sbin/nginx': 'nginx master',
  };
  for (const [title, role] of Object.entries(roles)) assert.equal(roleOf('postgres', title), role);
  assert.equal(roleOf('instance-2', '/x/sonagi serve'), 'instance-2');
});

test('a census has what a process and those below it hold', async () => {
  const below_it = "require('child_process').spawn('sleep', ['30'])";
  const code = `require('fs').openSync('/dev/null'); ${below_it}; console.log('ready')`;
  const before = census({ me: process.pid });
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  const found = census({ part: child.pid });
  const [root, below] = found;
  for (const { pid } of found.toReversed()) process.kill(pid, 'SIGKILL');
  assert.equal(before[0].pid, process.pid);
  assert.deepEqual([found.length, root.role, root.pid, below.threads], [2, 'part', child.pid, 1]);
  assert.ok(root.mb > 20 && root.threads > 1 && root.descriptors >= 4, JSON.stringify(root));
  assert.ok(below.mb < 20 && below.mb > 0.1, JSON.stringify(below));
  await once(child, 'close');
  assert.deepEqual(census({ part: child.pid }), []);
});
