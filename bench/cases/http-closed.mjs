import { artillery, bare, gatling, k6, oha, sonagi, tsung, wrk } from '../tools/index.mjs';

const USERS = 50;
const SECONDS = 3;

// Tools with a language ask for two named paths in turn; wrk, oha and bare ask for one, which is all they can.
const oursIn = (summary) => ({
  operations: summary.traffic.http_responses,
  seconds: summary.duration_s,
  requests_per_s: summary.traffic.http_responses / summary.duration_s,
  p99_ms: summary.kinds.find(({ kind }) => kind === 'http').response_ms.p99,
  falls_short: summary.errors.map(({ code, count }) => `${count} × ${code}`).join('; ') || undefined,
});
const lineOf = ({ requests, seconds = SECONDS, p99_ms, p99_us, errors, failed }) => ({
  operations: requests,
  seconds,
  requests_per_s: requests / seconds,
  p99_ms: p99_ms ?? (p99_us && p99_us / 1000),
  falls_short: errors || (failed ? `${failed} requests failed` : undefined),
});
const artillerys = (aggregate) => ({
  operations: aggregate.counters['http.responses'],
  seconds: SECONDS,
  requests_per_s: aggregate.counters['http.responses'] / SECONDS,
  p99_ms: aggregate.summaries['http.response_time'].p99,
  falls_short: artillery.errors(aggregate),
});

const yaml = { ...sonagi.script('http-closed/sonagi.yml', { USERS, SECONDS }), measure: oursIn };
const loop = { ...bare.run('http', ['/rooms', '--connections', USERS, '--seconds', SECONDS]), measure: lineOf };
const byWrk = { ...wrk.closed('/rooms', { connections: USERS, seconds: SECONDS }), measure: lineOf };
const byOha = { ...oha.closed('/rooms', { connections: USERS, seconds: SECONDS }), measure: lineOf };
const byK6 = { ...k6.script('http-closed/k6.js', { USERS, SECONDS }), measure: lineOf };
const byTsung = {
  ...tsung.script('http-closed/tsung.xml', { USERS, SECONDS }),
  measure: (totals) => ({ operations: totals[200], seconds: SECONDS, requests_per_s: totals[200] / SECONDS }),
};
const byGatling = { ...gatling.script('http-closed/Gatling.java', { USERS, SECONDS }), measure: lineOf };
const byArtillery = { ...artillery.script('http-closed/artillery.yml', { USERS, SECONDS }), measure: artillerys };

export default {
  name: 'http-closed',
  title: 'HTTP keep-alive, closed loop, 50 connections',
  about:
    'Each of 50 users asks, waits for the answer of two bytes, and asks again. Sonagi runs a YAML scenario of two named steps, with a histogram for each; ' +
    'k6 and Artillery run the same two steps; wrk, oha and bare ask for one path. The rows with another target are there so that no tool is judged against our own server alone.',
  operation: 'request',
  seconds: SECONDS,
  headline: 'requests_per_s',
  measures: { requests_per_s: { label: 'requests/s', better: 'higher' }, p99_ms: { label: 'its p99, ms', better: 'lower' } },
  contestants: [
    { name: 'sonagi', ...yaml },
    { name: 'bare', ...loop },
    { name: 'wrk', ...byWrk },
    { name: 'oha', ...byOha },
    { name: 'k6', ...byK6 },
    { name: 'artillery', ...byArtillery },
    { name: 'tsung', ...byTsung, slow: true },
    { name: 'gatling', ...byGatling, slow: true },
    { name: 'sonagi on bun', ...yaml, target: 'bun' },
    { name: 'wrk on bun', ...byWrk, target: 'bun' },
    { name: 'oha on bun', ...byOha, target: 'bun' },
    { name: 'k6 on bun', ...byK6, target: 'bun' },
  ],
  claims: [
    { says: '≥ 1.0 × oha', measure: 'requests_per_s', of: 'sonagi', against: 'oha', atLeast: 1 },
    { says: '≥ 5 × k6', measure: 'requests_per_s', of: 'sonagi', against: 'k6', atLeast: 5 },
    { says: '≥ 28 × Artillery', measure: 'requests_per_s', of: 'sonagi', against: 'artillery', atLeast: 28 },
  ],
};
