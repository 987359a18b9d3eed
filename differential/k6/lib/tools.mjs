// Both tools, run on one script against a fresh target each; and where k6 and what it talks to come from.
import { createHash } from 'node:crypto';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../interop/support/ports.mjs';
import { SONAGI, serve } from '../../../interop/support/process.mjs';
import { installed, patiently, quietly } from '../../../bench/lib/cache.mjs';
import * as peer from '../../../bench/tools/k6.mjs';
import { CACHE, kept } from '../../lib/kept.mjs';
import { SCRIPTS } from './cases.mjs';
import { told } from './told.mjs';
import { start } from './target.mjs';

const HTTPBIN = '2.25.0';
/** Whose `serve` is talked to; SONAGI_BIN may be any program that takes k6's command line. */
const SERVICE = process.env.SONAGI_SERVE ?? SONAGI;
const tls = { key: join(CACHE, 'tls/key.pem'), cert: join(CACHE, 'tls/cert.pem') };
/** A client that has a name. */
const client = { key: join(CACHE, 'tls/client-key.pem'), cert: join(CACHE, 'tls/client.pem') };

/** Builds k6 and httpbin into .cache/, once for each version, and makes certificates. */
export async function install() {
  for (const [program, arguments_, where] of [['go', ['version'], 'Go 1.26 or newer, https://go.dev/dl'], ['openssl', ['version'], 'OpenSSL, e.g. apt-get install openssl']]) {
    await quietly([program, ...arguments_]).catch(() => {
      throw new Error(`${program} was not found: k6 and what it is tried on are built here\nhint: install ${where}`);
    });
  }
  await peer.install(CACHE);
  await installed(CACHE, 'httpbin', HTTPBIN, (folder) => patiently(['go', 'install', `github.com/mccutchen/go-httpbin/v2/cmd/go-httpbin@v${HTTPBIN}`], { env: { GOBIN: folder, GOFLAGS: '' } }));
  const named = (name, { key, cert }, more) => quietly(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '36500', '-subj', `/CN=${name}`, '-keyout', key, '-out', cert, ...more]);
  await installed(CACHE, 'tls', '2', async () => {
    await named('127.0.0.1', tls, ['-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost']);
    await named('the client', client, []);
  });
}

export const K6 = join(CACHE, 'k6/k6');

/** What a tool did with a case, put so that it can be compared (told.mjs). What k6 did is kept. */
export async function run(tool, one) {
  const file = join(CACHE, 'differential-k6', `${one.name.replace('/', '.')}.json`);
  const raw = tool === 'k6' ? await kept({ file, key: sum(one), again: one.again }, () => fresh([K6], one)) : await fresh([SONAGI], one);
  return { ...told(raw, one), output: `${raw.stdout}\n${raw.stderr}` };
}

/** Where it is decided how a tool is run, against what, and what is kept of it. */
const DECIDING = ['tools.mjs', 'target.mjs', 'routes.mjs', 'sockets.mjs'].map((path) => new URL(path, import.meta.url).pathname);

/** A checksum of all that decides what a run of the case does: its script, what it may import or open, the target, the harness. */
export function sum({ path }, read = readFileSync) {
  const hash = createHash('sha256').update(`${peer.version()} ${HTTPBIN}`);
  const beside = readdirSync(SCRIPTS, { recursive: true }).filter((path) => path.startsWith('_') && statSync(join(SCRIPTS, path)).isFile()).sort();
  for (const file of [...[path, ...beside].map((path) => join(SCRIPTS, path)), ...DECIDING]) hash.update(read(file));
  return hash.digest('hex');
}

async function fresh([program, ...before], one) {
  const folder = mkdtempSync(join(tmpdir(), 'sonagi-differential-'));
  const scripts = join(folder, 'scripts');
  for (const path of ['_files', one.path]) cpSync(join(SCRIPTS, path), join(scripts, path), { recursive: true });
  const target = await start(tls);
  const beside = one.target === 'recorder' ? undefined : await BESIDE[one.target]();
  const hosts = { ...target.hosts, ...(beside && { [one.target.toUpperCase()]: beside.host }) };
  try {
    const summary = join(folder, 'summary.json');
    const points = join(folder, 'points.json');
    const given = [...before, 'run', '--summary-export', summary, '--out', `json=${points}`, ...one.flags, one.input ? '-' : one.path];
    const { code, stdout, stderr, lasted_ms } = await ended(program, given, { cwd: scripts, env: environment(folder, hosts, one), one });
    // Connections that end with the process are seen ended a moment later.
    await new Promise((done) => setTimeout(done, 30));
    const left = Object.fromEntries(one.leaves.map((name) => [name, text(join(scripts, name))]));
    return { code, stdout, stderr, lasted_ms, log: target.log, hosts: { ...hosts, SCRIPTS: scripts, FOLDER: folder }, summary: text(summary), points: text(points), left };
  } finally {
    await beside?.stop();
    await target.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const text = (file) => (existsSync(file) ? readFileSync(file, 'utf8') : null);

/** Services that a case may ask for: `{host, stop()}`. */
const BESIDE = {
  httpbin: async () => {
    // It takes no port 0. One that was free a moment ago is free.
    const port = await freePort();
    const host = `127.0.0.1:${port}`;
    const child = spawn(join(CACHE, 'httpbin/go-httpbin'), ['-host', '127.0.0.1', '-port', String(port)], { stdio: 'ignore' });
    await answered(`http://${host}/status/200`, child);
    return { host, stop: () => (child.kill(), once(child, 'close')) };
  },
  serve: async () => {
    const { match, stop } = await serve(SERVICE, ['serve', '--listen', '127.0.0.1:0', '--seed-users', '3'], /listening on http:\/\/(\S+)/);
    return { host: match[1], stop };
  },
};

async function answered(url, child) {
  for (let tries = 0; child.exitCode === null; tries += 1) {
    if (await fetch(url).then(({ ok }) => ok, () => false)) return;
    if (tries > 200) break;
    await new Promise((done) => setTimeout(done, 25));
  }
  throw new Error(`nothing answers at ${url}`);
}

/** What the tools find in their environment: nothing of this machine's k6 or proxies. */
function environment(folder, hosts, { env }) {
  const kept = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(K6_|SONAGI_|https?_proxy$|all_proxy$|no_proxy$)/i.test(name)));
  const urls = Object.fromEntries(Object.entries(hosts).flatMap(([name, host]) => [[name, `${name === 'TLS' ? 'https' : 'http'}://${host}`], [`${name}_HOST`, host], [`${name}_WS`, `${name === 'TLS' ? 'wss' : 'ws'}://${host}`]]));
  return { ...kept, HOME: folder, XDG_CONFIG_HOME: folder, K6_NO_USAGE_REPORT: 'true', K6_AUTO_EXTENSION_RESOLUTION: 'false', NO_COLOR: 'true', CLIENT_CERT: client.cert, CLIENT_KEY: client.key, ...urls, ...env };
}

async function ended(program, given, { cwd, env, one }) {
  const since = performance.now();
  const child = spawn(program, given, { cwd, env, stdio: [one.input ? 'pipe' : 'ignore', 'pipe', 'pipe'] });
  if (one.input) createReadStream(join(SCRIPTS, one.path)).pipe(child.stdin);
  const timers = [setTimeout(() => child.kill('SIGKILL'), one.patience * 1000)];
  if (one.signal) timers.push(setTimeout(() => child.kill(one.signal.name), one.signal.after_ms));
  const said = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr']) child[stream].setEncoding('utf8').on('data', (text) => (said[stream] += text));
  const [code, signal] = await once(child, 'close');
  for (const timer of timers) clearTimeout(timer);
  return { ...said, code: code ?? signal, lasted_ms: Math.round(performance.now() - since) };
}
