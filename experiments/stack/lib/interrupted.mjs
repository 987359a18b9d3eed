// Signals that end a program: what it has started ends first.
import { constants } from 'node:os';

/**
 * Waits for `ends(signal)` before a signal ends this process; a second one is not waited for. Returns whether one has
 * come, for who sees things end meanwhile.
 */
export function endWhenInterrupted(ends) {
  let asked = 0;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      asked += 1;
      if (asked > 1) process.exit(128 + constants.signals[signal]);
      void Promise.resolve(ends(signal)).finally(() => process.exit(128 + constants.signals[signal]));
    });
  }
  return () => asked > 0;
}
