// Which metrics the page has panels for. Everything else becomes a lane of its own.

import type { Run } from './run';

/** Timed metrics with a name of their own in the page's language. */
export const TIMED = {
  'delivery.latency': 'delivery',
  response_time: 'response',
  service_time: 'service',
  first_byte: 'firstByte',
  'delivery.replay_latency': 'replay',
  'http.response_time': 'tagged',
  'session.length': 'session',
  'function.time': 'functions',
} as const;

const SHOWN = new Set([
  ...Object.keys(TIMED),
  'arrivals.planned',
  'arrivals.started',
  'arrivals.missed',
  'users.created',
  'users.skipped',
  'users.active',
  'users.completed',
  'users.failed',
  'users.stopped',
  'connections.open',
  'http.requests',
  'messages.sent',
  'messages.received',
  'operations.failed',
  'operations.unanswered',
  'operations.answers',
  'operations.cut',
  'http.codes',
  'errors',
  'delivery.messages',
  'delivery.owed',
  'delivery.delivered',
  'delivery.late',
  'delivery.replayed',
  'delivery.lost',
  'delivery.duplicate',
  'delivery.reordered',
  'delivery.leaked',
  'delivery.unknown',
  'delivery.outstanding',
  'generator.lag',
  'generator.hiccup',
  'generator.cpu',
  'generator.memory',
  'generator.open_files',
  'generator.ports_used',
  'checks',
  'http_req_duration',
  'http_req_failed',
  'kinds.http.failed',
  'vus',
  'vus_max',
  'iterations',
  'dropped_iterations',
  'http_reqs',
]);

/** Metrics of the target whose lanes are drawn at once, in this order; what is there of services comes behind them. */
const TARGET = [
  'target.cpu',
  'target.cpu.thread',
  'target.throttled',
  'target.memory',
  'target.open_files',
  'target.accept_queue',
  'target.processes',
  'host.cpu',
  'host.pressure.cpu',
  'host.memory.available',
];
const SERVICES = ['postgres.', 'redis.', 'nginx.', 'pool.', 'runtime.'];
const PROBED = ['target.', 'host.', 'watch.', ...SERVICES];

/** Whether a probe measured it, beside the load. */
export function isProbed(metric: string): boolean {
  return PROBED.some(prefix => metric.startsWith(prefix));
}

/** Metrics without a panel: those of scripts and of the target first, the run's own counts after them. */
export function others(run: Run): { own: string[]; known: string[] } {
  const metrics = run.metrics.filter(metric => !SHOWN.has(metric));
  const ofServices = (metric: string) => SERVICES.some(prefix => metric.startsWith(prefix));
  const isOwn = (metric: string) => !isProbed(metric) && run.series(metric)[0].about === undefined;
  const target = [...TARGET.filter(metric => metrics.includes(metric)), ...metrics.filter(ofServices)];
  const own = [...metrics.filter(isOwn), ...target];
  // The counts of a load that there was not are all zero.
  const isTold = (metric: string) => !isWatch(run) || isProbed(metric);
  return { own, known: metrics.filter(metric => !own.includes(metric) && isTold(metric)) };
}

/** Whether there was no load: only what probes saw. */
export function isWatch(run: Run): boolean {
  return run.head?.language === 'watch';
}

/** Whether the run is of a k6 script; folders of older versions do not say so themselves. */
export function isK6(run: Run): boolean {
  return run.head?.language === 'k6' || run.series('vus').length > 0 || run.series('iterations').length > 0;
}

export function isTime(unit: string): boolean {
  return unit === 'ms' || unit === 'milliseconds';
}

/** Trends of times, the page's own before those of scripts. */
export function timedMetrics(run: Run): string[] {
  const timed = run.metrics.filter(metric => {
    const [first] = run.series(metric);
    return first.kind === 'trend' && isTime(first.unit) && !metric.startsWith('generator.');
  });
  const rank = (metric: string) => {
    const place = order(run).indexOf(metric);
    return place < 0 ? 99 : place;
  };
  return timed.sort((a, b) => rank(a) - rank(b));
}

function order(run: Run): string[] {
  const own = Object.keys(TIMED);
  return isK6(run) ? [...own.slice(0, 1), 'http_req_duration', ...own.slice(1)] : own;
}
