// A whole stack in one command: `node stack.mjs up|down|run -- COMMAND…` (README.md). Plain Node, without packages.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { endWhenInterrupted } from './lib/interrupted.mjs';
import { DEFAULTS, Stack } from './lib/stack.mjs';

const USAGE = `usage: node stack.mjs run [OPTIONS] -- COMMAND…   start a stack, run the command beside it, take all down
       node stack.mjs up [OPTIONS]                start one that stays
       node stack.mjs down [--name NAME]          take that one down

  --instances N          instances of the service (${DEFAULTS.instances})
  --users N              seeded users (${DEFAULTS.users})
  --grace TIME           how long an instance drains (${DEFAULTS.grace})
  --serve FLAG           a further flag of every instance, as --serve=--recovery=60s; repeatable
  --postgres SETTING     a setting of PostgreSQL, as --postgres fsync=off; repeatable
  --name NAME            of a stack that stays; each name is another one (default)
  --json                 addresses as JSON alone

A command finds STACK_URL, STACK_INSTANCES, STACK_POSTGRES, STACK_REDIS, STACK_FOLDER and SONAGI_BIN in its environment.`;

/** How long a stack may take to come up, and to be taken down (ms). */
const UP_MS = 120_000;
const DOWN_MS = 60_000;

function read(argv) {
  const at = argv.indexOf('--');
  const [own, command] = at < 0 ? [argv, []] : [argv.slice(0, at), argv.slice(at + 1)];
  const text = { type: 'string' };
  const { values, positionals } = parseArgs({
    args: own,
    allowPositionals: true,
    options: {
      instances: text, users: text, grace: text, name: { ...text, default: 'default' },
      serve: { ...text, multiple: true, default: [] }, postgres: { ...text, multiple: true, default: [] },
      json: { type: 'boolean', default: false }, help: { type: 'boolean', default: false },
    },
  });
  const number = (name) => {
    const value = Number(values[name] ?? DEFAULTS[name]);
    if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} is a number from 1, got ${values[name]}`);
    return value;
  };
  if (!/^[\w-]{1,40}$/.test(values.name)) throw new Error(`--name has letters, digits, - and _, got ${values.name}`);
  const { grace = DEFAULTS.grace, serve, postgres, name, json, help } = values;
  const options = { instances: number('instances'), users: number('users'), grace, serve, postgres };
  return { verb: positionals[0], rest: positionals.slice(1), options, command, name, json, help };
}

/** Where a stack of this name is; its socket there takes it down. */
const folderOf = (name) => join(tmpdir(), `sonagi-stack-${process.getuid()}-${name}`);
const socketOf = (folder) => join(folder, 'control');

function print({ pids, watch, ...addresses }, json) {
  if (json) return console.log(JSON.stringify({ ...addresses, watch, pids }));
  const lines = { ...addresses, instances: addresses.instances.join(' '), watch: watch.map((what) => `--watch '${what}'`).join(' ') };
  for (const [name, value] of Object.entries(lines)) if (value) console.log(`${name.padEnd(10)} ${value}`);
}

async function run({ options, command, json }) {
  if (command.length === 0) throw new Error(`run takes a command behind --\n\n${USAGE}`);
  let child;
  let stack;
  let isOver = false;
  const starting = Stack.start(options);
  endWhenInterrupted(async () => {
    isOver = true;
    // Ctrl-C has reached it as well; SIGTERM has not.
    child?.kill('SIGTERM');
    if (child) await Promise.race([once(child, 'exit'), new Promise((resolve) => setTimeout(resolve, 10_000))]);
    stack ??= await starting.catch(() => undefined);
    await stack?.end();
  });
  stack = await starting;
  if (isOver) return 130;
  try {
    // To standard error: what comes out of standard output is the command's.
    if (!json) console.error(`stack: ${stack.url} → ${stack.instances.join(' ')}`);
    child = spawn('setpriv', ['--pdeathsig=KILL', '--', ...command], { stdio: 'inherit', env: { ...process.env, ...stack.environment } });
    const [code, signal] = await once(child, 'exit');
    return code ?? 128 + constants.signals[signal];
  } finally {
    if (!isOver) await stack.end();
    else await new Promise(() => {});
  }
}

/** Starts a process that keeps the stack, and returns once that says where it is. */
async function up({ argv, name, json }) {
  const folder = folderOf(name);
  if (await isThere(folder)) throw new Error(`a stack of the name ${name} is up\nhint: node stack.mjs down --name ${name}, or another --name`);
  rmSync(folder, { recursive: true, force: true });
  const keeper = spawn(process.execPath, [fileURLToPath(import.meta.url), 'keep', ...argv], { detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  const overdue = setTimeout(() => keeper.kill('SIGTERM'), UP_MS);
  let said = '';
  keeper.stdout.setEncoding('utf8').on('data', (text) => (said += text));
  await once(keeper.stdout, 'end');
  clearTimeout(overdue);
  if (!said.endsWith('\n')) return 1;
  print(JSON.parse(said), json);
  keeper.unref();
  return 0;
}

/** The process behind `up`: keeps a stack until somebody asks for its end at its socket. */
async function keep({ options, name }) {
  const folder = folderOf(name);
  const starting = Stack.start({ ...options, folder });
  endWhenInterrupted(async () => (await starting.catch(() => undefined))?.end());
  const stack = await starting;
  const server = createServer((asker) => {
    // It hears of the end by the end of its connection.
    asker.on('error', () => {}).once('data', () => stack.end().finally(() => process.exit(0)));
  });
  server.listen(socketOf(folder));
  await once(server, 'listening');
  process.stdout.end(`${JSON.stringify(stack.addresses)}\n`);
  process.stdout.on('error', () => {});
  return new Promise(() => {});
}

async function isThere(folder) {
  const socket = connect(socketOf(folder));
  return new Promise((resolve) => socket.once('connect', () => (socket.destroy(), resolve(true))).once('error', () => resolve(false)));
}

async function down({ name }) {
  const folder = folderOf(name);
  if (!(await isThere(folder))) {
    rmSync(folder, { recursive: true, force: true });
    console.log(`no stack of the name ${name} is up`);
    return 0;
  }
  const socket = connect(socketOf(folder));
  socket.write('down\n');
  const overdue = setTimeout(() => socket.destroy(), DOWN_MS);
  await new Promise((resolve) => socket.on('error', () => {}).once('close', resolve).resume());
  clearTimeout(overdue);
  if (existsSync(folder)) throw new Error(`${folder} is still there after ${DOWN_MS / 1_000} s`);
  return 0;
}

const VERBS = { run, up, down, keep };

async function main(argv) {
  const asked = read(argv);
  if (asked.help) return console.log(USAGE), 0;
  if (!VERBS[asked.verb] || asked.rest.length > 0) throw new Error(`up, down and run is what there is\n\n${USAGE}`);
  return VERBS[asked.verb]({ ...asked, argv: argv.filter((word, at) => at !== argv.indexOf(asked.verb)) });
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(`stack: ${error.message}`);
  process.exitCode = 1;
}
