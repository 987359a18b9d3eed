// Gatling: Scala on Netty, scripts in Java. Its log and reports, which cost it, are off; what it did is read from the terminal.
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { installed, patiently, quietly } from '../lib/cache.mjs';
import { scriptPath, variables } from '../lib/scripts.mjs';

export const name = 'gatling';
const SETTINGS = new URL('./gatling/', import.meta.url).pathname;
const SOURCE = `${SETTINGS}pom.xml`;
const VERSION = readFileSync(SOURCE, 'utf8').match(/highcharts<\/artifactId>\s*<version>([\d.]+)/)[1];
const SCRIPTS = ['http-closed/Gatling.java'];
const sources = SCRIPTS.map((path) => readFileSync(scriptPath(path), 'utf8'));
export const version = () => VERSION;

/** The scripts are compiled here: compiling is no part of a run. */
export const install = (cache) =>
  installed(cache, name, [VERSION, ...sources].join('\n'), async (folder) => {
    await patiently(['mvn', '-q', '-B', '-f', SOURCE, 'dependency:copy-dependencies', `-DoutputDirectory=${join(folder, 'lib')}`]);
    for (const path of SCRIPTS) await quietly(['javac', '-cp', join(folder, 'lib/*'), '-d', join(folder, 'classes', path), scriptPath(path)]);
  });

/** A Java script of scripts/, listed above. */
export const script = (path, parameters = {}) => ({
  tool: name,
  command: ({ target, cache, folder, ...context }) => {
    const home = join(cache, name);
    const classes = join(home, 'classes', path);
    return {
      argv: ['java', '-Xmx1g', '-XX:+UseParallelGC', '--add-opens=java.base/java.lang=ALL-UNNAMED', '-cp', `${SETTINGS}:${classes}:${home}/lib/*`, 'io.gatling.app.Gatling', '-s', basename(path, '.java'), '-nr', '-rf', folder],
      env: variables(target, parameters, { folder, ...context }),
      cwd: folder,
    };
  },
  report,
});

/** `{ requests, failed }` of the last table on the terminal: total, OK, KO. */
export function report({ stdout }) {
  const rows = [...stdout.matchAll(/^> Global +\| +([\d,]+) \| +([\d,]+) \| +([\d,]+)/gm)];
  if (rows.length === 0) throw new Error('no summary of Gatling');
  const [requests, , failed] = rows.at(-1).slice(1).map((text) => Number(text.replaceAll(',', '')));
  return { requests, failed };
}
