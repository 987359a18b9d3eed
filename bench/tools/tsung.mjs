// tsung: Erlang, XML. Unpacked from Debian's packages and told where it now lives; its web page is off.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { debian, debianVersion, installed, quietly, within } from '../lib/cache.mjs';
import { scriptPath, variables } from '../lib/scripts.mjs';

export const name = 'tsung';
const VERSION = '1.7.0';
const ERLANG = ['asn1', 'base', 'crypto', 'eldap', 'ftp', 'inets', 'mnesia', 'os-mon', 'public-key', 'runtime-tools', 'snmp', 'ssl', 'tftp', 'xmerl'];
export const version = (cache) => `${VERSION} (Debian ${debianVersion(join(cache, name), name)})`;

export const install = (cache) =>
  installed(cache, name, `${VERSION} in ${cache}, packages noted`, async (folder) => {
    await debian(folder, [`tsung=${VERSION}*`, ...ERLANG.map((part) => `erlang-${part}`)]);
    const erlang = join(folder, 'usr/lib/erlang');
    await quietly(['sed', '-i', `s#/usr/lib/erlang#${erlang}#g`, join(erlang, 'bin/erl')]);
    const places = `s#^INSTALL_DIR=.*#INSTALL_DIR=${within(join(folder, 'usr/lib'), /-linux-gnu/)}/tsung#; s#^ERL=.*#ERL=${erlang}/bin/erl#`;
    await quietly(['sed', '-i', places, join(folder, 'usr/bin/tsung')]);
  });

/** Erlang's port mapper is started with the run and ended with it; left to itself it would stay. Its folder is named by Erlang's version: the shell finds it. */
const WITH_PORT_MAPPER = '$1 & mapper=$!; "$2" -n -f "$3" -l "$4" start; kill $mapper; wait';

/** An XML script of scripts/; `${NAME}` in it is filled in: PORT, DTD and the case's parameters. */
export const script = (path, parameters = {}) => ({
  tool: name,
  command: ({ target, cache, folder, ...context }) => {
    const home = join(cache, name);
    const values = { ...variables(target, parameters, { folder, ...context }), PORT: target.port, DTD: join(home, 'usr/share/tsung/tsung-1.0.dtd') };
    const plan = join(folder, 'tsung.xml');
    writeFileSync(plan, readFileSync(scriptPath(path), 'utf8').replaceAll(/\$\{(\w+)\}/g, (_, key) => values[key]));
    const erlang = join(home, 'usr/lib/erlang');
    return {
      argv: ['sh', '-c', WITH_PORT_MAPPER, 'sh', join(erlang, 'erts-*/bin/epmd'), join(home, 'usr/bin/tsung'), plan, join(folder, 'log')],
      env: { ERL_ROOTDIR: erlang, HOME: folder },
    };
  },
  report,
});

/** The totals of its last dump, by name: `{ 200: 25045, … }`. */
function report({ folder }) {
  const [run] = readdirSync(join(folder, 'log'));
  const log = readFileSync(join(folder, 'log', run, 'tsung.log'), 'utf8');
  return Object.fromEntries([...log.matchAll(/^stats: (\w+) (\d+) (\d+)$/gm)].map(([, key, , total]) => [key, Number(total)]));
}
