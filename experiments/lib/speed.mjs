// How fast this machine is now, so that work which is meant to take a time takes it anywhere.
import { pbkdf2Sync } from 'node:crypto';
import { performance } from 'node:perf_hooks';

/** Rounds of one attempt, and attempts: the quickest one was disturbed least. */
const ROUNDS = 5_000;
const ATTEMPTS = 25;
let roundsPerMs;

/** Rounds of PBKDF2 with SHA-512 that take so many milliseconds of one core here. */
export function hashRounds(ms) {
  roundsPerMs ??= ROUNDS / Math.min(...Array.from({ length: ATTEMPTS }, attempt));
  return Math.round(ms * roundsPerMs);
}

/** How long one attempt takes (ms). */
function attempt() {
  const began = performance.now();
  pbkdf2Sync('password', 'salt', ROUNDS, 32, 'sha512');
  return performance.now() - began;
}
