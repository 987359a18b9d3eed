import { costs, steady } from '../lib/steady.mjs';
import { artillery, bare, gatling, k6, oha, sonagi, tsung, wrk } from '../tools/index.mjs';

const USERS = 50;
const SECONDS = 3;

/** Artillery starts for seconds and is warm only after some more; its users go round a fixed number of times. */
const ARTILLERY_ROUNDS = 400;

/** Once all ask; start-up is left out, because it would weigh as the run is short. The target counts our asking, too. */
const during = steady({ begun: ({ connections }) => connections > 2, count: ({ requests }) => requests, settle_ms: 1200, window_ms: 1500 });
const long = steady({ begun: ({ connections }) => connections > 2, count: ({ requests }) => requests, settle_ms: 3000, window_ms: 4000 });

/** Bun answers the paths of this case without telling its statistics; there all is of the whole run. */
function figures({ requests, seconds = SECONDS, p99_ms, falls_short }, { during: window, target }) {
  const counted = target.stats?.requests > 0;
  if (counted && !window) throw new Error('it was over too soon');
  const requests_per_s = counted ? window.frames / window.seconds : requests / seconds;
  return { operations: requests, seconds, requests_per_s, p99_ms, ...(counted && costs(window)), falls_short };
}

// Tools with a language ask for two named paths in turn; wrk, oha and bare ask for one, which is all they can.
const oursIn = (summary, outcome) =>
  figures(
    {
      requests: summary.traffic.http_responses,
      seconds: summary.duration_s,
      p99_ms: summary.kinds.find(({ kind }) => kind === 'http').response_ms.p99,
      falls_short: summary.errors.map(({ code, count }) => `${count} × ${code}`).join('; ') || undefined,
    },
    outcome,
  );
const lineOf = ({ requests, seconds, p99_ms, p99_us, errors, failed }, outcome) =>
  figures({ requests, seconds, p99_ms: p99_ms ?? (p99_us && p99_us / 1000), falls_short: errors || (failed ? `${failed} requests failed` : undefined) }, outcome);
const artillerys = (aggregate, outcome) =>
  figures({ requests: aggregate.counters['http.responses'], seconds: (aggregate.lastCounterAt - aggregate.firstCounterAt) / 1000, p99_ms: aggregate.summaries['http.response_time'].p99, falls_short: artillery.errors(aggregate) }, outcome);

const PARAMETERS = { USERS, SECONDS };
const LENGTH = { connections: USERS, seconds: SECONDS };
const yaml = { ...sonagi.script('http-closed/sonagi.yml', PARAMETERS), measure: oursIn };
const loop = { ...bare.run('http', ['/rooms', '--connections', USERS, '--seconds', SECONDS]), measure: lineOf };
const byWrk = { ...wrk.closed('/rooms', LENGTH), measure: lineOf };
const byOha = { ...oha.closed('/rooms', LENGTH), measure: lineOf };
const byK6 = { ...k6.script('http-closed/k6.js', PARAMETERS), measure: lineOf };
const byTsung = { ...tsung.script('http-closed/tsung.xml', PARAMETERS), measure: (totals, outcome) => figures({ requests: totals[200] }, outcome) };
const byGatling = { ...gatling.script('http-closed/Gatling.java', PARAMETERS), measure: lineOf };
const byArtillery = { ...artillery.script('http-closed/artillery.yml', { USERS, ROUNDS: ARTILLERY_ROUNDS }), measure: artillerys };

export default {
  name: 'http-closed',
  title: 'HTTP keep-alive, closed loop, 50 connections',
  about:
    'Each of 50 users asks, waits for the answer of two bytes, and asks again. Sonagi runs a YAML scenario of two named steps, with a histogram for each; ' +
    'k6 and Artillery run the same two steps; wrk, oha and bare ask for one path. The rows with another target are there so that no tool is judged against our own server alone. Rate and CPU are those of a second and a half in the middle, without start-up (on Bun: of the whole run); Artillery, which has no closed model, has users of 800 requests each and a window of four seconds once it is warm.',
  operation: 'request',
  seconds: SECONDS,
  headline: 'requests_per_s',
  measures: { requests_per_s: { label: 'requests/s', better: 'higher' }, p99_ms: { label: 'its p99, ms', better: 'lower' } },
  contestants: [
    { name: 'sonagi', during, ...yaml },
    { name: 'bare', during, ...loop },
    { name: 'wrk', during, ...byWrk },
    { name: 'oha', during, ...byOha },
    { name: 'k6', during, ...byK6 },
    { name: 'artillery', during: long, ...byArtillery, seconds: 14, rounds: 2 },
    { name: 'tsung', during, ...byTsung, slow: true },
    { name: 'gatling', during, ...byGatling, slow: true },
    { name: 'sonagi on bun', ...yaml, target: 'bun', rounds: 2 },
    { name: 'wrk on bun', ...byWrk, target: 'bun', slow: true },
    { name: 'oha on bun', ...byOha, target: 'bun', rounds: 2 },
    { name: 'k6 on bun', ...byK6, target: 'bun', slow: true },
  ],
  claims: [
    { says: '≥ 1.0 × oha', measure: 'requests_per_s', of: 'sonagi', against: 'oha', atLeast: 1 },
    { says: '≥ 5 × k6', measure: 'requests_per_s', of: 'sonagi', against: 'k6', atLeast: 5 },
    { says: '≥ 28 × Artillery', measure: 'requests_per_s', of: 'sonagi', against: 'artillery', atLeast: 28 },
  ],
};
