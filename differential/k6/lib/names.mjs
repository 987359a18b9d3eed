// What a script finds in the modules of whoever runs it, asked of itself.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** How an instance of a class is come by; members of others are looked for on their prototypes. */
const MAKES = {
  'k6/metrics': { Counter: "new m.Counter('a_counter')", Gauge: "new m.Gauge('a_gauge')", Rate: "new m.Rate('a_rate')", Trend: "new m.Trend('a_trend')" },
  'k6/http': { CookieJar: 'new m.CookieJar()' },
  'k6/websockets': { Blob: "new m.Blob(['a'])", WebSocket: "new m.WebSocket('ws://127.0.0.1:1/')" },
  'k6/experimental/streams': { ReadableStream: 'new m.ReadableStream()', CountQueuingStrategy: 'new m.CountQueuingStrategy({ highWaterMark: 1 })', ReadableStreamDefaultReader: 'new m.ReadableStream().getReader()' },
  'k6/experimental/csv': { Parser: 'parser' },
};
/** Made in init code, where they can be. */
const IN_INIT = /^k6\/(metrics|experimental\/csv)$/;

/** A script that says which of `wanted`, `{module: [names]}`, it finds, in the same form. */
export function asking(wanted) {
  const modules = Object.keys(wanted);
  const made = (module, at) => Object.entries(MAKES[module] ?? {}).map(([name, how]) => `    ${JSON.stringify(name)}: (m) => ${how},`.replaceAll('m.', `m${at}.`)).join('\n');
  const imports = modules.flatMap((module, at) => [`import * as m${at} from '${module}';`, ...(wanted[module].includes('default') ? [`import d${at} from '${module}';`] : [])]);
  const each = (variable) => modules.map((module, at) => (variable === 'm' || wanted[module].includes('default') ? `${JSON.stringify(module)}: ${variable}${at}` : '')).filter(Boolean).join(', ');
  return `${imports.join('\n')}
${modules.includes('k6/experimental/csv') ? "import { open as opened } from 'k6/experimental/fs';\nimport { Parser } from 'k6/experimental/csv';\nconst parser = new Parser(await opened('a.csv'));" : ''}
const makes = {
${modules.map((module, at) => `  ${JSON.stringify(module)}: {\n${made(module, at)}\n  },`).join('\n')}
};
const modules = { ${each('m')} };
// In k6 a module's object has no member \`default\`.
const defaults = { ${each('d')} };
const wanted = ${JSON.stringify(wanted)};
const isInit = (module) => ${IN_INIT}.test(module);
const has = (object, name) => object !== null && object !== undefined && name in Object(object);
const look = (module) => {
  const instances = {};
  return wanted[module].filter((path) => {
    const [name, member] = path.split('.');
    if (name === 'default') return member === undefined ? defaults[module] !== undefined : has(defaults[module], member);
    if (member === undefined || !has(modules[module], name)) return has(modules[module], name);
    const value = modules[module][name];
    const make = makes[module][name];
    if (make) instances[name] ??= make();
    return has(instances[name] ?? value.prototype, member);
  });
};
const found = Object.fromEntries(Object.keys(wanted).filter(isInit).map((module) => [module, look(module)]));
export function setup() {
  return { ...found, ...Object.fromEntries(Object.keys(wanted).filter((module) => !isInit(module)).map((module) => [module, look(module)])) };
}
export default function () {}
export const handleSummary = ({ setup_data }) => ({ stdout: \`\${JSON.stringify(setup_data)}\\n\` });
`;
}

/** Which of `wanted` the program finds. */
export async function found(program, wanted) {
  const folder = mkdtempSync(join(tmpdir(), 'sonagi-names-'));
  try {
    writeFileSync(join(folder, 'a.csv'), 'a,b\n1,2\n');
    writeFileSync(join(folder, 'names.js'), asking(wanted));
    const { stdout, stderr } = await promisify(execFile)(program, ['run', '--quiet', '--no-usage-report', 'names.js'], { cwd: folder, maxBuffer: 1 << 24 });
    const line = stdout.split('\n').findLast((one) => one.startsWith('{'));
    if (!line) throw new Error(`${program} found no names: ${stderr || stdout}`);
    return JSON.parse(line);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
