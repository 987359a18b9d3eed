// How fast this machine is now, so that work which is meant to take a time takes it anywhere.
import { pbkdf2Sync } from 'node:crypto';
import { performance } from 'node:perf_hooks';

const TRIED = 5_000;
const TRIES = 25;
let perMs;

/** Rounds of PBKDF2 with SHA-512 that take so many milliseconds of one core here. */
export function hashRounds(ms) {
  perMs ??= TRIED / Math.min(...Array.from({ length: TRIES }, took));
  return Math.round(ms * perMs);
}

function took() {
  const began = performance.now();
  pbkdf2Sync('password', 'salt', TRIED, 32, 'sha512');
  return performance.now() - began;
}
