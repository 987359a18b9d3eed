// A stack comes up in one command, says where it is, and leaves nothing, whatever ends it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const COMMAND = fileURLToPath(new URL('../stack.mjs', import.meta.url));
const PATIENCE_MS = 60_000;

/** Runs the command; `said` grows with its standard output. */
function stack(...words) {
  const child = spawn(process.execPath, [COMMAND, ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
  const started = { child, said: '', ended: once(child, 'close').then(([code, signal]) => code ?? signal) };
  child.stdout.setEncoding('utf8').on('data', (text) => (started.said += text));
  return started;
}

async function until(what, found) {
  for (const end = Date.now() + PATIENCE_MS; ; await delay(50)) {
    const result = found();
    if (result) return result;
    assert.ok(Date.now() < end, `${what}: not within ${PATIENCE_MS / 1_000} s`);
  }
}

/** Processes whose command line or environment names the folder. */
function processesOf(folder) {
  const names = (pid, file) => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, 'utf8').includes(folder);
    } catch {
      return false;
    }
  };
  return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid && (names(pid, 'cmdline') || names(pid, 'environ')));
}

async function assertNothingIsLeft(folder) {
  assert.match(folder, /sonagi-stack-/);
  await until(`the end of all in ${folder}`, () => processesOf(folder).length === 0 && !existsSync(folder));
}

/** A command in the stack that says where it is and stays. */
const STAYS = ['sh', '-c', 'echo "at $STACK_FOLDER and $STACK_URL"; exec sleep 1000'];

async function staying() {
  const running = stack('run', '--', ...STAYS);
  const [, folder, url] = await until('the command', () => running.said.match(/^at (\S+) and (\S+)$/m));
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
  assert.ok(processesOf(folder).length >= 3, 'the command, nginx and an instance at least');
  return { running, folder };
}

test('a command runs beside it, its exit code is passed on, and nothing is left', { timeout: 120_000 }, async () => {
  const health = 'fetch(process.env.STACK_URL + "/healthz").then((answer) => console.log(process.env.STACK_FOLDER, answer.status)).then(() => process.exit(7))';
  const running = stack('run', '--', process.execPath, '-e', health);
  assert.equal(await running.ended, 7);
  const [, folder, status] = running.said.match(/^(\S+) (\d+)$/m);
  assert.equal(status, '200');
  await assertNothingIsLeft(folder);
});

test('interrupted or killed, it takes all down', { timeout: 180_000 }, async () => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGKILL']) {
    const { running, folder } = await staying();
    running.child.kill(signal);
    assert.equal(await running.ended, { SIGINT: 130, SIGTERM: 143, SIGKILL: 'SIGKILL' }[signal]);
    await assertNothingIsLeft(folder);
  }
});

test('one that stays is taken down by its name, and is up only once', { timeout: 120_000 }, async () => {
  const name = `test-${process.pid}`;
  const up = stack('up', '--name', name, '--json');
  assert.equal(await up.ended, 0);
  const { url, folder, instances, pids } = JSON.parse(up.said);
  try {
    assert.equal((await fetch(`${url}/healthz`)).status, 200);
    assert.ok(instances.length >= 1 && pids.nginx > 0);
    assert.equal(await stack('up', '--name', name, '--json').ended, 1, 'a second one of that name');
  } finally {
    assert.equal(await stack('down', '--name', name).ended, 0);
  }
  await assertNothingIsLeft(folder);
  const again = stack('down', '--name', name);
  assert.equal(await again.ended, 0);
  assert.match(again.said, /^no stack of the name test-\d+ is up\n$/);
});
