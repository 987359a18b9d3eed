// The parts that touch the machine, on programs that do a known little.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { runToEnd } from '../lib/child.mjs';
import { Contest } from '../lib/contest.mjs';
import { listed } from '../lib/cores.mjs';
import { kill, sampleTree } from '../lib/processes.mjs';
import { CASES, load } from '../cases/index.mjs';
import { columns } from '../lib/measures.mjs';
import { TOOLS } from '../tools/index.mjs';
import { report as wrkReport } from '../tools/wrk.mjs';

const settings = { cores: '0', timeout_s: 20, sample_ms: 20 };

test('the CPU of a child’s children is the child’s', async () => {
  // The shell's own children burn; the shell itself does nothing.
  const burn = "process.stdout.write('x'); const end = process.cpuUsage().user + 150000; while (process.cpuUsage().user < end);";
  const outcome = await runToEnd({ argv: ['sh', '-c', `'${process.execPath}' -e "${burn}"; exit 3`] }, settings);
  assert.equal(outcome.stdout, 'x');
  assert.equal(outcome.code, 3);
  assert.ok(outcome.cpu_s >= 0.14, `${outcome.cpu_s} s`);
  assert.ok(outcome.peak_mb > 20, `${outcome.peak_mb} MB`);
});

test('a program that does not end is ended with all it started', async () => {
  const outcome = await runToEnd({ argv: ['sh', '-c', 'sleep 1000; true'] }, { ...settings, timeout_s: 0.2 });
  assert.deepEqual([outcome.code, outcome.overdue], ['SIGKILL', true]);
});

test('what runs beside a program is told when it has ended', async () => {
  const beside = async ({ wait }) => {
    let rounds = 0;
    while (rounds < 1000 && (await wait(10))) rounds += 1;
    return rounds;
  };
  const { during } = await runToEnd({ argv: ['true'] }, { ...settings, beside });
  assert.ok(during < 1000);
});

test('a watcher that fails at once fails the run, and nothing else', async () => {
  const beside = async () => {
    throw new Error('nobody there');
  };
  await assert.rejects(runToEnd({ argv: ['sleep', '0.1'] }, { ...settings, beside }), /nobody there/);
});

test('an interrupted bench leaves no process and no folder behind', async () => {
  const started = new URL('../lib/started.mjs', import.meta.url).href;
  const code = `
    import { spawn } from 'node:child_process';
    import { mkdtempSync } from 'node:fs';
    import { remember, rememberFolder, endAllWhenInterrupted } from '${started}';
    endAllWhenInterrupted();
    const child = spawn('sh', ['-c', 'sleep 1000; true']);
    remember(child.pid);
    const folder = mkdtempSync('/tmp/sonagi-bench-');
    rememberFolder(folder);
    console.log(JSON.stringify({ pid: child.pid, folder }));
    setInterval(() => {}, 1000);`;
  const bench = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  const { pid, folder } = JSON.parse(String((await once(bench.stdout, 'data'))[0]));
  bench.kill('SIGINT');
  const [exit] = await once(bench, 'close');
  assert.equal(exit, 130);
  assert.equal(existsSync(folder), false);
  assert.equal(sampleTree(pid).rss_mb, 0);
});

test('a keeper is killed alone: what it keeps ends in its own way', async () => {
  const keeper = spawn('sh', ['-c', 'sleep 1000 & echo $!; wait'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const kept = Number(String((await once(keeper.stdout, 'data'))[0]));
  kill(keeper.pid);
  await once(keeper, 'exit');
  const { rss_mb } = sampleTree(kept);
  kill(kept);
  assert.ok(rss_mb > 0, 'it was ended as well');
});

test('CPU is seen in steps finer than a tick', () => {
  const before = sampleTree(process.pid).cpu_s;
  const end = process.cpuUsage().user + 25_000;
  while (process.cpuUsage().user < end);
  const burnt = sampleTree(process.pid).cpu_s - before;
  assert.ok(burnt > 0.01, `${burnt} s`);
  assert.notEqual(Math.round(burnt * 1e7) % 1e5, 0);
});

test('a list of cores is read with its ranges', () => {
  assert.deepEqual(listed('0-2,8'), [0, 1, 2, 8]);
  assert.deepEqual(listed('3'), [3]);
});

test('every case names known tools, unique rows, and claims about rows and measures it has', async () => {
  for (const name of CASES) {
    const kase = await load(name);
    assert.equal(kase.name, name);
    const rows = kase.contestants.map((one) => one.name);
    assert.equal(new Set(rows).size, rows.length, `${name}: rows ${rows}`);
    for (const { tool, name: row } of kase.contestants) assert.ok(TOOLS[tool], `${name}: ${row} has no tool`);
    const known = columns(kase);
    assert.ok(known[kase.headline], `${name}: headline ${kase.headline}`);
    for (const claim of kase.claims ?? []) {
      for (const row of [claim.of, claim.against ?? []].flat()) assert.ok(rows.includes(row), `${name}: ${claim.says}: no row ${row}`);
      assert.ok(known[claim.measure], `${name}: ${claim.says}: no measure ${claim.measure}`);
      assert.equal((claim.atLeast === undefined) + (claim.atMost === undefined), 1, `${name}: ${claim.says}: one bound`);
    }
  }
});

test('wrk’s text is read with its units', () => {
  const stdout = 'Running\n  Latency Distribution\n     50%  315.00us\n     99%    1.25ms\n  601234 requests in 4.00s, 1.00MB read\nRequests/sec: 1\n';
  assert.deepEqual(wrkReport({ stdout }), { requests: 601234, seconds: 4, p50_ms: 0.315, p99_ms: 1.25, errors: undefined });
});

test('a run in which others took the machine’s time is made again, four times at most, and the least disturbed counts', async () => {
  const shares = [0.05, 0.002, 0.2, 0.03, 0.04, 0.06, 0.001];
  const measured = async (call) => ({ result: await call(), stolen: shares.shift() });
  const said = [];
  const contest = new Contest({}, {}, (record) => said.push(record), measured);
  // There is no target, and a run that fails is a run as any other.
  const { records } = await contest.run([{ name: 'sonagi' }], 3);
  assert.deepEqual(records.map(({ stolen, again }) => [stolen, again]), [[0.002, 1], [0.03, 3], [0.001, undefined]]);
  assert.deepEqual(said, records);
});
