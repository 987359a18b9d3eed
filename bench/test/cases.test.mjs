// What the cases make of a tool's report: a run that did not do all it should have must say so.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { maximum } from '../cases/http-open.mjs';
import { CASES, load } from '../cases/index.mjs';
import { scriptPath } from '../lib/scripts.mjs';
import { objections } from '../tools/sonagi.mjs';

const cases = await Promise.all(CASES.map(load));
const row = async (kase, name) => (await load(kase)).contestants.find((one) => one.name === name);
const folder = mkdtempSync(join(tmpdir(), 'sonagi-bench-'));
after(() => rmSync(folder, { recursive: true }));
const addresses = { postgres: 'postgres://sonagi:secret@127.0.0.1:1/postgres', instances: ['http://127.0.0.1:1', 'http://127.0.0.1:2'], pids: {} };
const target = { url: 'http://127.0.0.1:1', port: 1, pid: 1, addresses };
// What calibration found is not at hand here; any figure will do for a command line.
const calibration = new Proxy({}, { get: () => 1 });

/** A summary of Sonagi with nothing to object to. */
const clean = (parts) => ({ verdict: { result: 'pass' }, generator: { findings: [] }, errors: [], ...parts });

test('every rival of a row is a row of its case', () => {
  for (const { name, contestants } of cases) {
    const names = contestants.map((one) => one.name);
    for (const { name: own, beside } of contestants) assert.ok(beside === undefined || names.includes(beside), `${name}, ${own}: ${beside}`);
  }
});

test('every script that a command names is there', () => {
  const scripts = scriptPath('');
  for (const { name, contestants } of cases) {
    for (const contestant of contestants) {
      const { argv } = contestant.command({ target, folder, cache: '/cache', calibration });
      for (const path of argv.map(String).filter((one) => one.startsWith(scripts))) assert.ok(existsSync(path), `${name}, ${contestant.name}: ${path}`);
    }
  }
});

test('a room that lacks one copy does not read as whole', async () => {
  const { measure } = await row('ws-fanout', 'sonagi, N=100');
  const sent = 400;
  const outcome = { during: { frames: 22_000, seconds: 2.2, cpu_s: 0.11 }, target: { stats: { frames_out: 40_100 } } };
  const report = (delivered) => clean({ delivery: { messages: sent, delivered, late: 0, latency_ms: { p99: 1 } } });
  assert.equal(measure(report(40_000), outcome).falls_short, undefined);
  const { received_share, falls_short } = measure(report(39_999), outcome);
  assert.ok(received_share < 1);
  assert.equal(falls_short, 'received 99.9 %');
});

test('copies that a tool never came to count make the others dearer', async () => {
  const { measure } = await row('ws-fanout', 'k6/websockets, N=300');
  const outcome = { during: { frames: 100_000, seconds: 2.2, cpu_s: 1 }, target: { stats: { frames_out: 360_300 } } };
  assert.equal(measure({ sent: 1200, received: 360_000 }, outcome).cpu_us, 10);
  assert.equal(measure({ sent: 1200, received: 180_000 }, outcome).cpu_us, 20);
});

test('the frames that say joined are no copies', async () => {
  const { measure } = await row('ws-fanout', 'sonagi without ledger, N=500');
  const { operations, received_share, cpu_us } = measure(clean({ traffic: { messages_sent: 2000, messages_received: 1_000_500 } }), { during: { frames: 550_000, seconds: 2.2, cpu_s: 1.1 }, target: { stats: { frames_out: 1_000_500 } } });
  assert.deepEqual([operations, received_share, cpu_us], [1_000_000, 1, 2]);
});

test('a tool that counted fewer frames than the target got rid of fell short', async () => {
  const { measure } = await row('ws-flood', 'bare');
  const during = { frames: 1_000_000, seconds: 2, cpu_s: 0.5 };
  // The kernel holds up to 120,000 frames that nobody can count.
  const target = { stats: { frames_out: 1_620_000 } };
  assert.equal(measure({ messages: 1_500_000 }, { during, target }).messages_per_cpu_s, 2_000_000);
  const half = measure({ messages: 750_000 }, { during, target });
  assert.deepEqual([half.messages_per_cpu_s, half.falls_short], [1_000_000, 'counted 750000 of more than 1500000 frames']);
  assert.throws(() => measure({ messages: 0 }, { during: undefined, target }), /no flood/);
});

test('a cycle costs what its share of the window’s frames cost', async () => {
  const { measure } = await row('socketio-cycle', 'k6, hand-written frames');
  const outcome = { during: { frames: 3000, seconds: 1.5, cpu_s: 0.15, target_cpu_s: 0.3 }, target: { stats: { frames_in: 8000 } } };
  const { cycles_per_s, cpu_us, target_cpu } = measure({ cycles: 4000 }, outcome);
  assert.deepEqual([cycles_per_s, Math.round(cpu_us), target_cpu], [1000, 100, 0.3 / 1.5]);
});

test('a saturated loop is no objection, whatever else is', () => {
  const busy = 'shard 0 used more than 90 % of its core for 6 s on end, until second 6 (limit: 5 s)';
  const lost = '990 of 1000 planned arrivals were started (at least 99 % must start)';
  const summary = clean({ verdict: { result: 'invalid' }, generator: { findings: [busy, lost] } });
  assert.equal(objections(summary), `${busy}; ${lost}`);
  assert.equal(objections(summary, { saturating: true }), lost);
});

test('idle users that were never all there at once are told', async () => {
  const { measure } = await row('idle', 'bare, 10k');
  const { falls_short } = measure({ messages: 20_000 }, { during: { most: 9_000 }, latest: () => undefined });
  assert.equal(falls_short, 'at most 9000 of 10000 were connected at once');
});

test('idle users that left before they were looked at are told, and words that are missing', async () => {
  const { measure } = await row('idle', 'sonagi, 10k');
  const during = { most: 10_000, first_s: 0.1, all_s: 1.2, still: 9_990, rss_mb: 50, held_cpu: 0.1 };
  const latest = (name) => (name === 'sonagi, 1k' ? { held_mb: 14 } : undefined);
  const found = measure(clean({ traffic: { messages_received: 19_999 } }), { during, latest });
  assert.equal(found.falls_short, '9990 of 10000 were still there at the end of the five seconds; 19999 of 20000 words came back');
  assert.equal(found.kb_per_user, 4.096);
});

test('a tool’s maximum is bracketed to five per cent, from below', async () => {
  const tried = [];
  const { carried, failed } = await maximum({ begin: 1000 }, async (rate) => (tried.push(rate), rate <= 2500));
  assert.ok(carried <= 2500 && failed > 2500 && failed <= carried * 1.05, `${carried} to ${failed}`);
  assert.ok(Math.max(...tried) <= 2500 * 1.4);
  assert.equal((await maximum({ begin: 1000 }, async (rate) => rate <= 400)).carried <= 400, true);
  await assert.rejects(maximum({ begin: 1000 }, async () => false), /carried no rate/);
  const moments = new Set([1000]);
  assert.ok((await maximum({ begin: 1000 }, async (rate) => !moments.delete(rate) && rate <= 2500)).carried > 2300);
});

test('memory of an idle connection is the growth between two sizes', async () => {
  const { measure } = await row('service-idle', 'Bun');
  const report = (max) => clean({ operations: [{ name: 'connect', count: 5000, failed: 0, response_ms: { max } }] });
  const during = { few: { rss_mb: 30 }, many: { rss_mb: 50 } };
  assert.equal(measure(report(10), { during }).kb_per_connection, 5.12);
  const { kb_per_connection, generator_kb } = measure(report(10), { during: { few: { rss_mb: 30, generator_mb: 20 }, many: { rss_mb: 50, generator_mb: 30 } } });
  assert.deepEqual([kb_per_connection, generator_kb], [5.12, 2.56]);
  assert.match(measure(report(1500), { during }).falls_short, /took 1500 ms/);
});

test('who polls is connected when its subscription is answered', async () => {
  const { measure } = await row('service-idle', 'sonagi serve, long polling');
  const during = { few: { rss_mb: 30, generator_mb: 20 }, many: { rss_mb: 50, generator_mb: 30 } };
  const report = (failed) => clean({ operations: [{ name: 'subscribe', count: 5000, failed, response_ms: { max: 10 } }] });
  assert.equal(measure(report(0), { during }).falls_short, undefined);
  assert.equal(measure(report(7), { during }).falls_short, '4993 of 5000 connected');
});

test('copies that came late are told, and the rate is that of the sends', async () => {
  const { measure } = await row('service-fanout', 'Bun, all speak');
  const delivery = { messages: 840, owed: 420_000, delivered: 419_000, late: 1000, duplicate: 0, latency_ms: { p99: 3 } };
  const found = measure(clean({ delivery }), { during: { cpu_s: 0.25, seconds: 2 } });
  assert.deepEqual([found.deliveries_per_s, found.deliveries_per_cpu_s, found.target_cpu], [140_000, 1_120_000, 0.125]);
  assert.equal(found.falls_short, '1000 of 420000 copies were over a second late');
});

test('a copy that was handed out and never counted makes the others dearer, and is told', async () => {
  const { measure } = await row('stomp-receive', 'k6/ws, hand-written frames');
  const outcome = { during: { frames: 40_000, seconds: 2, cpu_s: 0.4, target_cpu_s: 0.2 }, target: { stats: { copies: 100_000 } } };
  const whole = measure({ received: 100_000 }, outcome);
  assert.deepEqual([whole.cpu_us, whole.deliveries_per_s, whole.received_share, whole.falls_short], [10, 20_000, 1, undefined]);
  const half = measure({ received: 50_000 }, outcome);
  assert.deepEqual([half.cpu_us, half.received_share, half.falls_short], [20, 0.5, 'counted 50000 of 100000 copies']);
  assert.equal(measure({ received: 0 }, { ...outcome, target: { stats: { copies: 0 } } }).falls_short, 'counted 0 of 0 copies');
  assert.throws(() => measure({ received: 1 }, { ...outcome, during: undefined }), /before all listened/);
});

test('a copy that the ledger misses is told, whatever was counted', async () => {
  const { measure } = await row('longpoll-receive', 'sonagi');
  const outcome = { during: { frames: 4000, seconds: 2, cpu_s: 0.02, target_cpu_s: 0.1 }, target: { stats: { copies: 6000 } } };
  const found = (parts) => measure(clean({ delivery: { owed: 6000, delivered: 6000, late: 0, duplicate: 0, latency_ms: { p99: 2 }, ...parts } }), outcome);
  assert.deepEqual([found({}).cpu_us, found({}).p99_ms, found({}).falls_short], [5, 2, undefined]);
  assert.equal(found({ delivered: 5999 }).falls_short, '1 of 6000 copies did not arrive');
  assert.ok(found({ delivered: 5999 }).received_share < 1);
  assert.equal(found({ duplicate: 2 }).falls_short, '2 copies came twice');
  assert.equal(found({ owed: 0, delivered: 0 }).falls_short, 'nobody was owed anything');
});

test('what a k6 script costs is counted in the window, and requests that failed are told', async () => {
  const { measure } = await row('k6-http', 'sonagi');
  const window = { frames: 30_000, seconds: 1.5, cpu_s: 1.2, target_cpu_s: 0.6 };
  const found = measure({ requests: 60_000, failed: 0, p99_ms: 2 }, { during: window });
  assert.deepEqual([found.requests_per_cpu_s, found.requests_per_s, Math.round(found.cpu_us), found.falls_short], [25_000, 20_000, 40, undefined]);
  assert.equal(measure({ requests: 60_000, failed: 3, p99_ms: 2 }, { during: window }).falls_short, '3 requests failed');
  assert.throws(() => measure({ requests: 1 }, {}), /too soon/);
});

test('messages that a handler never saw make the others dearer', async () => {
  const { measure } = await row('k6-receive', 'sonagi, k6/websockets, singly');
  const during = { frames: 60_000, seconds: 1.5, cpu_s: 0.3, target_cpu_s: 1 };
  const outcome = { during, target: { stats: { frames_out: 120_200 } } };
  const whole = measure({ sent: 600, received: 120_000 }, outcome);
  assert.deepEqual([whole.messages_per_cpu_s, whole.messages_per_s, whole.falls_short], [200_000, 40_000, undefined]);
  const half = measure({ sent: 599, received: 60_000 }, outcome);
  assert.deepEqual([half.messages_per_cpu_s, half.falls_short], [100_000, 'sent 599 of 600 messages; received 60000 of 120000 copies']);
  assert.throws(() => measure({ sent: 0, received: 0 }, { ...outcome, during: undefined }), /full voice/);
});

test('a held user of a k6 script weighs what nine thousand more add, divided by them', async () => {
  const { measure } = await row('k6-held', 'sonagi, 10k');
  const during = { most: 10_000, first_s: 1, all_s: 2.5, still: 10_000, rss_mb: 930, held_cpu: 0.2 };
  const latest = (name) => (name === 'sonagi, 1k' ? { held_mb: 120 } : undefined);
  const found = measure({ users: 10_000, received: 20_000 }, { during, latest });
  assert.deepEqual([found.kb_per_user, found.connecting_s, found.falls_short], [(810 * 1024) / 9000, 1.5, undefined]);
  assert.match(measure({ users: 10_001, received: 19_999 }, { during, latest }).falls_short, /^1 more sessions than users; 19999 of 20000/);
  assert.equal(measure({ users: 10_000, received: 20_000 }, { during, latest: () => undefined }).kb_per_user, undefined);
});

test('messages a second over PostgreSQL are statements by messages of each, on either side', async () => {
  const ours = await row('postgres-appends', 'sonagi serve');
  const window = { seconds: 3, messages: 30_000, commits: 1000, postgres_cpu: 0.9, service_cpu: 0.4 };
  const summary = clean({ operations: [{ name: 'send', response_ms: { p99: 8 } }] });
  const found = ours.measure(summary, { during: window });
  assert.deepEqual([found.appends_per_s, found.batch, found.statement_ms, found.p99_ms, found.falls_short], [10_000, 30, 3, 8, undefined]);
  assert.throws(() => ours.measure(summary, {}), /over before/);
  const limit = await row('postgres-appends', 'pgbench, four writers');
  const told = (tps) => `number of transactions actually processed: ${tps * 6}\nnumber of failed transactions: 0 (0.000%)\nlatency average = 10.000 ms\ntps = ${tps} (without initial connection time)\n`;
  const report = limit.report({ stdout: told(100).repeat(4), stderr: '' });
  const { appends_per_s, operations, statement_ms } = limit.measure(report, { during: window, calibration: { batch: 30 } });
  assert.deepEqual([appends_per_s, operations, statement_ms], [12_000, 72_000, 10]);
  assert.throws(() => limit.report({ stdout: told(100).repeat(3), stderr: 'gone' }), /3 of 4 writers came to an end.*gone/);
});

test('a batch is as large as ours were, and one that ours could not tell is none', async () => {
  const kase = await load('postgres-appends');
  const [ours, limit] = kase.contestants;
  const execute = async () => ({ measures: { batch: 31.6 } });
  const known = await kase.calibrate(ours, execute, new Map());
  assert.deepEqual(await kase.calibrate(limit, execute, new Map([[ours.name, known]])), { batch: 32 });
  await assert.rejects(kase.calibrate(limit, execute, new Map([[ours.name, { error: 'no PostgreSQL' }]])), /no PostgreSQL/);
  await assert.rejects(kase.calibrate(limit, execute, new Map()), /did not run/);
});

test('what instances cost is all of their servers’ CPU, and a copy that was never owed is told', async () => {
  const { measure } = await row('redis-bus', '3 instances over Redis');
  const during = { seconds: 2, cpu: { instance: 0.3, redis: 0.1, postgres: 0.1 } };
  const delivery = { messages: 2000, owed: 100_000, delivered: 100_000, late: 0, duplicate: 0, latency_ms: { p50: 1, p99: 3 } };
  const found = measure(clean({ delivery }), { during });
  assert.deepEqual([found.deliveries_per_s, found.deliveries_per_cpu_s, found.redis_cpu, found.falls_short], [25_000, 100_000, 0.05, undefined]);
  assert.equal(measure(clean({ delivery: { ...delivery, owed: 99_000, delivered: 99_000 } }), { during }).falls_short, '99000 copies were owed, not 100000');
});

test('each member of a group over Redis goes to an instance of the target', async () => {
  const { command } = await row('redis-bus', '3 instances over Redis');
  const { argv } = command({ target, folder, cache: '/cache' });
  const { config } = JSON.parse(argv[argv.indexOf('--overrides') + 1]);
  assert.deepEqual(config.variables.at, ['ws://127.0.0.1:1', 'ws://127.0.0.1:2']);
});

test('no command that results show has the password of a database', async () => {
  for (const { command } of (await load('postgres-appends')).contestants) {
    const { argv, env } = command({ target, folder, cache: '/cache', calibration: { batch: 3 } });
    assert.doesNotMatch(JSON.stringify([argv, env]), /secret/);
  }
});
