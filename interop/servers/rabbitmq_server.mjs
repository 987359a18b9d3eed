// RabbitMQ with its STOMP over WebSocket, as a process of its own: own data, own ports, own cookie. Run as a program it starts
// one, says where, and stops it when standard input ends.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts } from '../support/ports.mjs';
import { serve } from '../support/process.mjs';

// Not the one on the path: that changes to a user of its own.
const SERVER = process.env.SONAGI_RABBITMQ ?? '/usr/lib/rabbitmq/bin/rabbitmq-server';
const READY_MS = 90_000;
const STOP_MS = 10_000;

/** Starts it on a free port: `{ url, stop }`. */
export async function startRabbitmq() {
  if (!existsSync(SERVER)) throw new Error(`${SERVER} is not installed; hint: make setup`);
  const { match, stop } = await serve(process.execPath, [fileURLToPath(import.meta.url)], /listening on (http:\S+)/, {
    timeout: READY_MS + 10_000,
  });
  return { url: match[1], stop };
}

async function main() {
  const folder = mkdtempSync(join(tmpdir(), 'sonagi-rabbitmq-'));
  const children = [];
  // Each in a group of its own: RabbitMQ's script starts others.
  const start = (program, args, env) => {
    const child = spawn(program, args, { env, detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
    child.on('error', (error) => console.error(`${program}: ${error.message}`));
    children.push({ child, ended: once(child, 'close') });
    return child;
  };
  const stop = async () => {
    for (const { child, ended } of children.reverse()) await end(child, ended);
    rmSync(folder, { recursive: true, force: true });
  };
  process.stdin.resume().on('end', () => stop().then(() => process.exit(0)));

  try {
    const [stomp, distribution, epmd] = await freePorts(3);
    const env = environment(folder, { distribution, epmd });
    writeFileSync(env.RABBITMQ_ENABLED_PLUGINS_FILE, '[rabbitmq_web_stomp].\n');
    writeFileSync(`${folder}/rabbitmq.conf`, configuration(stomp));
    // A node starts this daemon if there is none, and leaves it behind: ours ends with us.
    start('epmd', ['-port', `${epmd}`, '-address', '127.0.0.1', '-relaxed_command_check'], env);
    const server = start(SERVER, [], env);
    server.stdout.resume();
    await listening(stomp, server);
    console.log(`listening on http://127.0.0.1:${stomp}`);
  } catch (error) {
    console.error(error.message);
    await stop();
    process.exit(1);
  }
}

function environment(folder, { distribution, epmd }) {
  for (const name of ['data', 'log', 'home']) mkdirSync(`${folder}/${name}`);
  return {
    ...process.env,
    HOME: `${folder}/home`,
    ERL_EPMD_ADDRESS: '127.0.0.1',
    ERL_EPMD_PORT: `${epmd}`,
    RABBITMQ_CONFIG_FILE: `${folder}/rabbitmq`,
    RABBITMQ_CONF_ENV_FILE: `${folder}/none.conf`,
    RABBITMQ_DIST_PORT: `${distribution}`,
    RABBITMQ_ENABLED_PLUGINS_FILE: `${folder}/enabled_plugins`,
    RABBITMQ_LOGS: `${folder}/log/rabbitmq.log`,
    RABBITMQ_LOG_BASE: `${folder}/log`,
    RABBITMQ_MNESIA_BASE: `${folder}/data`,
    RABBITMQ_NODENAME: `sonagi-${process.pid}@localhost`,
    RABBITMQ_PID_FILE: `${folder}/pid`,
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '+S 2:2 +sbwt none',
  };
}

function configuration(stomp) {
  return [
    'listeners.tcp = none',
    'stomp.listeners.tcp = none',
    'web_stomp.tcp.ip = 127.0.0.1',
    `web_stomp.tcp.port = ${stomp}`,
    'log.console = false',
    '',
  ].join('\n');
}

async function end(child, ended) {
  const signal = (name) => {
    try {
      process.kill(-child.pid, name);
    } catch {
      // It has ended already.
    }
  };
  signal('SIGTERM');
  const overdue = setTimeout(() => signal('SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(overdue);
}

/** Waits until the upgrade is answered: the port is open before the broker behind it is. */
async function listening(port, server) {
  const deadline = Date.now() + READY_MS;
  while (Date.now() < deadline) {
    if (server.exitCode !== null) throw new Error(`RabbitMQ ended with ${server.exitCode}`);
    const answered = await fetch(`http://127.0.0.1:${port}/ws`).then((response) => response.status > 0, () => false);
    if (answered) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`RabbitMQ was not ready within ${READY_MS} ms`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
