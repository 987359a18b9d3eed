// @types/k6 and the compiler that reads it.
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { installed, patiently } from '../../../bench/lib/cache.mjs';
import { CACHE } from '../../lib/kept.mjs';
import { SCRIPTS } from './cases.mjs';

/** The last with the compiler's interface in JavaScript. */
const TYPESCRIPT = '6.0.3';
const TYPES = '2.2.1';
const ROOT = new URL('../../../', import.meta.url).pathname;
const MODULES = join(CACHE, 'k6-types/node_modules');

/** What does not run here, and says so (docs/from-k6.md). */
const LEFT_OUT = /^k6\/(browser|net\/grpc|experimental\/(redis|tracing|browser))(\/|$)/;

/** What @types/k6 has and k6 2.2.0 itself has not. */
const NOT_IN_K6 = /^(k6\/experimental\/fs (default\.)?File(\.|$)|k6\/html NodeType$|k6\/http (default\.)?SSL_3_0$|k6\/websockets WebSocket\.(CONNECTING|OPEN|CLOSING|CLOSED)$)/;

async function compiler() {
  await installed(CACHE, 'k6-types', `${TYPES} ${TYPESCRIPT}`, async (folder) => {
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
    await patiently(['npm', 'install', '--silent', '--no-audit', '--no-fund', '--ignore-scripts', `@types/k6@${TYPES}`, `typescript@${TYPESCRIPT}`], { cwd: folder });
  });
  return createRequire(join(MODULES, 'x'))('typescript');
}

/** Scripts that must type-check: the examples, and those of the comparison that use nothing wrongly. */
export function examples() {
  const folder = join(ROOT, 'examples/k6');
  const all = existsSync(folder) ? readdirSync(folder, { recursive: true }).filter((name) => /\.(js|ts)$/.test(name)) : [];
  const typed = readdirSync(SCRIPTS, { recursive: true }).filter((name) => name.endsWith('.ts') && !name.startsWith('_'));
  return [...all.map((name) => join(folder, name)), ...typed.map((name) => join(SCRIPTS, name))].sort();
}

/** What the compiler has to say of these files, a line for each. */
export async function check(files) {
  const ts = await compiler();
  const program = ts.createProgram(files, settings(ts));
  return ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) => {
    const { line, character } = file ? file.getLineAndCharacterOfPosition(start) : { line: 0, character: 0 };
    return `${file ? relative(ROOT, file.fileName) : '-'}:${line + 1}:${character + 1}: ${ts.flattenDiagnosticMessageText(messageText, '\n  ')}`;
  });
}

const settings = (ts) => ({
  allowJs: true,
  checkJs: true,
  noEmit: true,
  strict: false,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  target: ts.ScriptTarget.ES2022,
  experimentalDecorators: true,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  // Where a script finds `console`, @types/k6 leaves to the types of browsers.
  lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
  types: ['k6'],
  typeRoots: [join(MODULES, '@types')],
  paths: { k6: [join(MODULES, '@types/k6/index.d.ts')], 'k6/*': [join(MODULES, '@types/k6/*')] },
});

/** `{module: [names]}` of @types/k6, but for what is left out and what k6 has not. */
export async function names() {
  const ts = await compiler();
  const types = join(MODULES, '@types/k6');
  const files = readdirSync(types, { recursive: true }).filter((name) => name.endsWith('index.d.ts'));
  const program = ts.createProgram(files.map((name) => join(types, name)), settings(ts));
  const checker = program.getTypeChecker();
  const found = {};
  for (const name of files) {
    const module = join('k6', name).replace(/\/index\.d\.ts$/, '');
    const symbol = checker.getSymbolAtLocation(program.getSourceFile(join(types, name)));
    if (symbol && !LEFT_OUT.test(module)) found[module] = reached(ts, checker, symbol).filter((one) => !NOT_IN_K6.test(`${module} ${one}`));
  }
  return Object.fromEntries(Object.entries(found).filter(([, names]) => names.length > 0).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function reached(ts, checker, module) {
  const all = new Set();
  for (const exported of checker.getExportsOfModule(module)) {
    const of = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
    if (!(of.flags & ts.SymbolFlags.Value) || onlyAType(ts, of)) continue;
    all.add(exported.name);
    for (const member of members(ts, checker, exported.name, of)) all.add(`${exported.name}.${member}`);
  }
  return [...all].sort();
}

/** A class that nobody can make: a script gets its instances from elsewhere and never meets its name. */
const onlyAType = (ts, symbol) =>
  (symbol.declarations ?? []).some((one) => ts.isClassDeclaration(one) && (one.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.AbstractKeyword) || one.members.some((member) => ts.isConstructorDeclaration(member) && member.modifiers?.some(({ kind }) => kind !== ts.SyntaxKind.PublicKeyword))));

/** Members of a default export, and those that an instance of a class has. */
function members(ts, checker, name, symbol) {
  if (!(symbol.flags & ts.SymbolFlags.Class) && name !== 'default') return [];
  const type = symbol.flags & ts.SymbolFlags.Class ? checker.getDeclaredTypeOfSymbol(symbol) : checker.getTypeOfSymbol(symbol);
  return checker.getPropertiesOfType(type).filter((one) => !onlyAType(ts, one.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(one) : one)).map(({ name }) => name).filter((name) => !['prototype', 'default'].includes(name) && !name.startsWith('__'));
}

/** Names that @types/k6 has and the list has not. */
export const missing = (provided, ours) => Object.entries(provided).flatMap(([module, names]) => names.filter((name) => !ours[module]?.includes(name)).map((name) => `${module} ${name}`));

