// Children of a test: every one ends with it, by its own handle.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

export const SONAGI = process.env.SONAGI_BIN ?? new URL('../../target/debug/sonagi', import.meta.url).pathname;
export const PYTHON = process.env.SONAGI_PYTHON ?? new URL('../../.cache/python/bin/python', import.meta.url).pathname;

/** Runs a program to its end: `{ code, stdout, stderr }`. A program that hangs is killed after `timeout` ms. */
export async function finish(program, args, { timeout = 60_000, cwd, env } = {}) {
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const overdue = setTimeout(() => child.kill('SIGKILL'), timeout);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  const [code, signal] = await once(child, 'close');
  clearTimeout(overdue);
  return { code: code ?? signal, stdout, stderr };
}

/**
 * Starts a program that prints a line matching `ready` and then serves: `{ match, stop }`. The program must stop when its
 * standard input ends, so that none outlives a test that was killed.
 */
export async function serve(program, args, ready, { timeout = 30_000 } = {}) {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  let said = '';
  const match = await new Promise((resolve, reject) => {
    const overdue = setTimeout(() => reject(new Error(`${program} said within ${timeout} ms only: ${said}`)), timeout);
    const settle = (outcome, value) => (clearTimeout(overdue), outcome(value));
    const hear = (text) => {
      said += text;
      const match = said.match(ready);
      if (match) settle(resolve, match);
    };
    child.stdout.setEncoding('utf8').on('data', hear);
    child.stderr.setEncoding('utf8').on('data', hear);
    child.on('error', (error) => settle(reject, error));
    child.on('exit', (code) => settle(reject, new Error(`${program} ended with ${code}: ${said}`)));
  }).catch((error) => {
    child.kill('SIGKILL');
    throw error;
  });
  const stop = async () => {
    child.stdin.end();
    const overdue = setTimeout(() => child.kill('SIGKILL'), 15_000);
    const [code] = await ended;
    clearTimeout(overdue);
    return code;
  };
  return { match, stop };
}
