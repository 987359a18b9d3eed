// Whom the protocol cases are run against: our service, and the reference implementation, which proves the cases right.
import { serve } from '../support/process.mjs';
import { startService } from '../support/service.mjs';
import { CONNECT_MS, INTERVAL_3_MS, INTERVAL_MS, TIMEOUT_3_MS, TIMEOUT_MS } from './limits.mjs';

async function ours(interval = INTERVAL_MS, timeout = TIMEOUT_MS) {
  const times = { 'ping-interval': interval, 'ping-timeout': timeout, 'connect-timeout': CONNECT_MS };
  const flags = Object.entries(times).flatMap(([name, ms]) => [`--${name}`, `${ms}ms`]);
  const service = await startService('--protocol-suite', ...flags);
  return { origin: service.url, stop: service.stop };
}

async function reference(...flags) {
  const program = new URL('reference.mjs', import.meta.url).pathname;
  const { match, stop } = await serve(process.execPath, [program, ...flags], /listening on (\S+)/);
  return { origin: match[1], stop };
}

/** Names and starters; each starter resolves to `{ origin, stop }`. */
export const OURS = 'our service';
export const TARGETS = { [OURS]: () => ours(), 'the reference implementation': () => reference() };
/** Those that speak Engine.IO 3 as well. */
export const TARGETS_3 = { [OURS]: () => ours(INTERVAL_3_MS, TIMEOUT_3_MS), 'the reference implementation': () => reference('--eio3') };
