// The network between: latency and bandwidth as asked, and very many connections. The client is this process and not
// the run's load, so that the same client measures with the proxy and without it.
import { readFileSync } from 'node:fs';
import { percent } from '../../../bench/lib/markdown.mjs';
import { median } from '../../../bench/lib/statistics.mjs';
import { sum } from '../../lib/matrix.mjs';
import { quietest } from '../../lib/stolen.mjs';
import { Echoes, carried, farewell, openings, quantile } from '../lib/client.mjs';
import { launched } from '../lib/launched.mjs';

/** A message is late by what was asked plus a fraction of a millisecond. */
const NEAR_MS = 1;
const NEAR_SHARE = 0.05;
/**
 * How often each is measured: pauses of the machine spoil a single p99. More turns are made, so many at most, while
 * other virtual machines take this one's time. They do it in waves of tens of seconds, so a turn is short; and one tick
 * of 10 ms makes ten of two thousand messages late, half of their slowest hundredth, so not even one may be stolen.
 */
const TURNS = { wanted: 9, at_most: 90, share: 0.001 };
/** How often a bandwidth is measured until the machine was left alone, and the many connections: half a minute each. */
const TRIES = { wanted: 1, at_most: 20 };
const CROWDS = { wanted: 1, at_most: 4 };
const MANY = 10_000;
/** Files that a process has open beside its connections. */
const OTHERS = 100;
const MBIT = 1e6;

const plus = (ms) => `${ms < 0 ? '' : '+'}${ms.toFixed(2)} ms`;
const behind = (network) => ({ limits: { network } });

/** Which turns a figure is of: "9 of 34 turns, at most 0.2 % stolen". */
function among({ chosen, all }) {
  return `${chosen.length} of ${all.length} turns, at most ${percent(chosen.at(-1).stolen)} stolen`;
}

export async function* latency(started) {
  for (const asked of [0, 20, 100]) {
    const run = await launched(started, { kind: 'line', launch: behind({ latency: `${asked}ms` }), seconds: 900 });
    for (const connections of [1, 100]) {
      const load = { connections, rounds: connections === 1 ? 400 : 20, a_second: connections === 1 ? 200 : 1_000 };
      yield* added(run, load, asked, `${asked} ms, ${connections} connections`);
    }
    yield await opening(run, asked);
    yield await last(run, asked);
    await run.end('SIGINT');
  }
}

/** A connection is opened without the latency: the proxy is near. */
async function opening(run, asked) {
  const [direct, late] = [await openings(run.port, 100), await openings(run.address, 100)];
  const more = quantile(late, 0.5) - quantile(direct, 0.5);
  const what = `latency ${asked} ms: opening a connection, p50`;
  return { what, asked: '+0 ms', got: plus(more), isHeld: Math.abs(more) <= NEAR_MS };
}

/** What a service says last arrives, however late, although its client goes on speaking. */
async function last(run, asked) {
  const [direct, late] = [await farewell(run.port), await farewell(run.address)];
  const what = `latency ${asked} ms: a service's last word to a client that goes on speaking`;
  return { what, asked: `"bye", as without a network (${direct})`, got: late, isHeld: late === 'bye' };
}

/**
 * How much longer bytes take through the proxy than without it: the median of the turns in which least time was stolen
 * from the machine. Both ways are measured at the same time, so that a pause of the client is in both and goes out of
 * the difference; but whoever wakes up more often, as bytes do that wait in the proxy, meets more of the machine's own.
 */
async function* added(run, load, asked, name) {
  const both = () => Promise.all([run.port, run.address].map((port) => times(port, load)));
  const turns = await quietest(both, TURNS);
  const missing = sum(turns.all.flatMap(({ result }) => result.map(({ missing }) => missing)));
  const isWhole = missing === 0;
  const row = (what, share) => {
    const more = turns.chosen.map(({ result }) => {
      const [direct, late] = result.map(({ ms }) => quantile(ms, share));
      return late - direct;
    });
    const [middle, least, greatest] = [median(more), Math.min(...more), Math.max(...more)];
    return {
      what: `latency ${name}: ${what}`,
      asked: `+${asked} ms`,
      got: `${plus(middle)} (${among(turns)}: ${plus(least)} to ${plus(greatest)})`,
      isHeld: isWhole && Math.abs(middle - asked) <= NEAR_MS,
    };
  };
  yield row('p50', 0.5);
  yield row('p99', 0.99);
  yield { what: `latency ${name}: messages not back`, asked: '0', got: `${missing}`, isHeld: isWhole };
}

async function times(port, { connections, rounds, a_second }) {
  const echoes = await Echoes.to(port, connections);
  try {
    // Both sides' code is warm before it is measured.
    await echoes.ping(Math.ceil(rounds / 10), a_second);
    const { ms, missing } = await echoes.ping(rounds, a_second);
    return { ms, missing: missing + echoes.refused * rounds };
  } finally {
    echoes.close();
  }
}

export async function* bandwidth(started) {
  for (const [mbit, network] of [[5, {}], [60, {}], [60, { latency: '20ms' }], [200, { latency: '20ms' }]]) {
    const launch = behind({ bandwidth: `${mbit}mbit`, ...network });
    const run = await launched(started, { kind: 'line', launch, seconds: 300 });
    const name = `bandwidth ${mbit}mbit${network.latency ? ` with ${network.latency}` : ''}`;
    // Two seconds of it.
    const bytes = (mbit * MBIT * 2) / 8;
    for (const [way, connections] of [['down', 1], ['up', 1], ['down', 10]]) {
      const tries = await quietest(() => carried(run.address, way, bytes, connections), TRIES);
      yield rate(`${name}: ${way}, ${connections} connections`, mbit, tries);
    }
    const both = () => Promise.all(['down', 'up'].map((way) => carried(run.address, way, bytes)));
    const tries = await quietest(async () => Math.min(...(await both())), TRIES);
    yield rate(`${name}: both ways at a time, the slower one`, mbit, tries);
    await run.end('SIGINT');
  }
}

function rate(what, asked, tries) {
  const got = tries.chosen[0].result / MBIT;
  const isHeld = Math.abs(got - asked) <= NEAR_SHARE * asked;
  return { what, asked: `${asked} Mbit/s`, got: `${got.toFixed(1)} Mbit/s (${among(tries)})`, isHeld };
}

/** Ten thousand connections, or as many as the proxy may have files for: it needs two for each. */
export async function* connections(started) {
  const asked = 20;
  const run = await launched(started, { kind: 'line', launch: behind({ latency: `${asked}ms` }), seconds: 300 });
  const most = Math.min(MANY, Math.floor((files(run.pid) - OTHERS) / 2), files('self') - OTHERS);
  const why = most < MANY ? ` (${MANY} need more than the ${files(run.pid)} files a process may have here)` : '';
  const crowds = await quietest(async () => [await crowd(run.port, most), await crowd(run.address, most)], CROWDS);
  await run.end('SIGINT');
  const [direct, late] = crowds.chosen[0].result;
  const through = crowds.all.map(({ result }) => result[1]);
  const [refused, missing] = ['refused', 'missing'].map((what) => sum(through.map((crowd) => crowd[what])));
  const more = (share) => quantile(late.ms, share) - quantile(direct.ms, share);
  const added = (share) => `${plus(more(share))} (${among(crowds)})`;
  const name = `${most} connections, latency ${asked} ms`;
  yield {
    what: 'connections through the proxy',
    asked: `${most}${why}`,
    got: `${most - late.refused}, opened in ${late.took_s.toFixed(1)} s (without it ${direct.took_s.toFixed(1)} s)`,
    isHeld: refused === 0,
  };
  yield { what: `${name}: messages not back`, asked: '0', got: `${missing}`, isHeld: missing === 0 };
  const isHeld = Math.abs(more(0.5) - asked) <= NEAR_MS;
  yield { what: `${name}: p50`, asked: `+${asked} ms`, got: added(0.5), isHeld };
  // Nothing is promised of the slowest of so many beside what the machine itself does to them.
  yield { what: `${name}: p99`, asked: `+${asked} ms`, got: added(0.99) };
}

/** So many connections, all open at the same time; each has two messages, of which the second is measured. */
async function crowd(port, count) {
  const began = performance.now();
  const echoes = await Echoes.to(port, count);
  const took_s = (performance.now() - began) / 1e3;
  try {
    const first = await echoes.ping(1, 2_000);
    const second = await echoes.ping(1, 2_000);
    return { took_s, refused: echoes.refused, missing: first.missing + second.missing, ms: second.ms };
  } finally {
    echoes.close();
  }
}

/** How many files a process may have open. */
const files = (pid) => Number(readFileSync(`/proc/${pid}/limits`, 'utf8').match(/^Max open files\s+(\d+)/m)[1]);
