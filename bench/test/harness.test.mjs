// The parts that touch the machine, on programs that do a known little.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runToEnd } from '../lib/child.mjs';
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
  assert.equal(outcome.code, 'SIGKILL');
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
