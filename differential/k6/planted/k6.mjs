#!/usr/bin/env node
// k6 with one difference, which PLANTED names: what the comparison must see (planted.test.mjs). Any other program in Sonagi's place
// would be run like this one.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { K6 } from '../lib/tools.mjs';

const given = process.argv.slice(2);
const script = given.at(-1);
const named = (flag) => given[given.indexOf(flag) + 1];
const files = { summary: named('--summary-export'), points: named('--out').replace('json=', ''), script };
const planted = process.env.PLANTED ?? '';

/** Changes a file, and fails when there is nothing to change: a fault that is not planted proves nothing. */
function change(file, how) {
  const before = readFileSync(file, 'utf8');
  const after = how(before);
  if (after === before) throw new Error(`nothing to change in ${file}`);
  writeFileSync(file, after);
}

const summary = (how) => change(files.summary, (text) => {
  const value = JSON.parse(text);
  how(value);
  return JSON.stringify(value);
});
const without = (pattern) => (text) => text.split('\n').filter((line, at, all) => at !== all.findIndex((one) => pattern.test(one))).join('\n');

const lines = (text, keep) => text.split('\n').filter(keep).join('\n');
const isCount = (line) => line.includes('"metric":"vus","type":"Point"');
const isZero = (line) => isCount(line) && line.includes('"value":0,');

/** What is done before and behind k6, by the name of the fault; `env` and `flags` go to k6. */
const FAULTS = {
  '': {},
  'a header is lost': { before: () => change(script, (text) => text.replace("'x-own': '1', ", '')) },
  'a body is another': { before: () => change(script, (text) => text.replace("'of the script'", "'of another'")) },
  'a request is lost': { before: () => change(script, (text) => text.replace(/^ *http\.get\(.*\n/m, '')) },
  'connections are not kept': { env: { K6_NO_CONNECTION_REUSE: 'true' } },
  'it calls itself otherwise': { env: { K6_USER_AGENT: 'Sonagi/0.0.0' } },
  'the exit code is another': { code: 7 },
  'a check is lost': { behind: () => summary(({ root_group }) => delete root_group.checks['the first']) },
  'a check failed': { behind: () => summary(({ root_group }) => (root_group.checks['the first'].fails += 1)) },
  'a count is off by one': { behind: () => summary(({ metrics }) => (metrics.http_reqs.count += 1)) },
  'a percentile is wrong': { behind: () => summary(({ metrics }) => (metrics.own['p(95)'] += 0.1)) },
  'a metric is lost': { behind: () => summary(({ metrics }) => delete metrics.http_req_waiting) },
  'a threshold is not told': { behind: () => summary(({ metrics }) => delete metrics.own.thresholds) },
  'a sample is lost': { behind: () => change(files.points, without(/"metric":"own","type":"Point"/)) },
  'a tag is lost': { behind: () => change(files.points, (text) => text.replace(/"method":"POST",/, '')) },
  'a metric is of another kind': { behind: () => change(files.points, (text) => text.replace('"type":"trend","contains":"time"', '"type":"trend","contains":"default"')) },
  'a line of the console is lost': { stderr: without(/source=console/) },
  'an exception says otherwise': { stderr: (text) => text.replace('Error: on purpose', 'Error: of itself') },
  'a warning is lost': { stderr: without(/level=warning msg="Request Failed"/) },
  'the plan says otherwise': { stdout: (text) => text.replace('gracefulStop: 30s', 'gracefulStop: 31s') },
  'an iteration is not told': { stdout: (text) => text.replace(/\d+ complete and/, '99 complete and') },
  'a line of the summary is lost': { stdout: without(/http_req_failed/) },
  'the layout is another': { stdout: (text) => text.replace('http_reqs...', 'http_reqs..') },
  'a file is not left': { behind: () => rmSync('left.csv') },
  'it takes its time': { behind: () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4000) },
  'setup takes a second more': { before: () => change(script, (text) => text.replace('sleep(1.4)', 'sleep(2.4)')) },
  'teardown is not counted': { behind: () => change('state.json', (text) => text.replace(/("testRunDurationMs":)[\d.]+/, '$13500')) },
  'a rate leaves out setup': { behind: () => summary(({ metrics }) => (metrics.iterations.rate = 15 / 2.2)) },
  'users are not counted in setup': { behind: () => change(files.points, (text) => lines(text, (line, at, all) => !isZero(line) || all.slice(0, at).some((before) => isCount(before) && !isZero(before)))) },
  'users are counted once too often': { behind: () => change(files.points, (text) => `${text}{"metric":"vus","type":"Point","data":{"time":"2026-01-01T00:00:00Z","value":1,"tags":{}}}\n`) },
  'the fewest users are others': { behind: () => summary(({ metrics }) => (metrics.vus.min = 1)) },
  'a host loses its capitals': { before: () => change(script, (text) => text.replace("'Other.Host:80'", "'other.host:80'")) },
  'a host loses its port': { before: () => change(script, (text) => text.replace("'Mine:80'", "'Mine'")) },
  'an address is not named': { stderr: (text) => text.replace('dial tcp 127.0.0.1:1: connect', 'dial tcp localhost:1: connect') },
  'it does nothing': { instead: true },
};

const { before, behind, env, code, stdout = (text) => text, stderr = (text) => text, instead } = FAULTS[planted];
if (instead) process.exit(0);
before?.();
const ran = spawnSync(K6, given, { env: { ...process.env, ...env }, encoding: 'utf8' });
if (existsSync(files.summary)) behind?.();
for (const [stream, change] of [['stdout', stdout], ['stderr', stderr]]) process[stream].write(change(ran[stream]));
process.exitCode = code ?? ran.status;
