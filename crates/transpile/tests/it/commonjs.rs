//! `require`, `module.exports` and their like, in files that import and in files that do not.

use crate::support::folder;
use sonagi_transpile::{Format, module};
use std::path::Path;

#[test]
fn a_file_that_imports_may_also_require_export_and_ask_where_it_is() {
    let folder = folder(&[
        (
            "sub/processor.ts",
            "import { join, basename } from 'path';
             import * as other from './other';
             const dep = require('dep');
             const data = require('./data');
             module.exports = { where: () => basename(__dirname) + '/' + basename(__filename), dep, data, other: other.value };
             module.exports.joined = join('a', 'b');",
        ),
        ("sub/other.ts", "export const value = 'other';"),
        ("sub/data.json", "{\"a\": 1}"),
        ("node_modules/dep/index.js", "module.exports = 'dep';"),
        ("entry.ts", "import got, { where } from './sub/processor';\nconsole.log(where(), got);"),
    ]);
    let printed = "sub/processor.ts { where: [Function: where], dep: 'dep', data: { a: 1 }, other: 'other', joined: 'a/b' }";
    let flat = folder.run("entry.ts").split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(flat, printed);
    assert_eq!(folder.made("entry.ts"), ["entry.ts", "sub/other.ts", "sub/processor.ts"]);
}

#[test]
fn exports_of_both_kinds_in_one_file_are_all_there() {
    let folder = folder(&[
        ("both.ts", "import 'node:fs';\nexports.old = 'old';\nexport const now = 'now';"),
        ("entry.ts", "import { old, now } from './both';\nconsole.log(old, now);"),
    ]);
    assert_eq!(folder.run("entry.ts"), "old now");
}

#[test]
fn typescripts_own_forms_of_require_and_export_work() {
    let folder = folder(&[
        (
            "entry.ts",
            "import dep = require('dep');\nimport own = require('./own');\nimport type Unused = require('./none');\nimport { Shape } from './types';\nconst shape: Shape = { a: 1 };\nconsole.log(dep.name, own.twice(4), shape.a, __filename.endsWith('entry.ts'));\nexport = { dep };\n",
        ),
        (
            "own.ts",
            "const own = { twice: (n: number) => n * 2 };\nnamespace own { export type A = number }\nexport = own;\n",
        ),
        ("types.ts", "export type Shape = { a: number };"),
        ("node_modules/dep/index.js", "exports.name = 'dep';"),
    ]);
    assert_eq!(folder.run("entry.ts"), "dep 8 1 true");
    assert_eq!(folder.made("entry.ts"), ["entry.ts (common)", "own.ts (common)"]);
}

#[test]
fn the_name_of_a_file_decides_before_its_syntax_does() {
    let format = |name: &str, source: &str| module(Path::new(name), source).unwrap().format;
    assert_eq!(format("/none/a.ts", "export const a: number = 1;"), Format::Esm);
    assert_eq!(format("/none/a.ts", "module.exports = { a: 1 as number };"), Format::CommonJs);
    assert_eq!(format("/none/a.ts", "const a: number = 1;"), Format::CommonJs);
    assert_eq!(format("/none/a.ts", "export type A = number;"), Format::Esm);
    assert_eq!(format("/none/a.ts", "import type { A } from './a'; exports.a = 1 as A;"), Format::CommonJs);
    assert_eq!(format("/none/a.cts", "export const a: number = 1;"), Format::CommonJs);
    assert_eq!(format("/none/a.mts", "const a: number = 1;"), Format::Esm);
    assert_eq!(format("/none/a.ts", "await 1; module.exports = {};"), Format::Esm);
}

/// Modules of every form, and a file that requires them.
const REQUIRED: &[(&str, &str)] = &[
    (
        "entry.ts",
        "const m = require('./module');
         const { default: made, count, more, Kind, nested, star, dep, shown, data, where } = m;
         more();
         console.log(new made().name(), count, m.count, Kind.A, nested.b, star, dep(), shown(), data.a, where, m.__esModule);
         console.log(Object.keys(m).sort().join(' '));",
    ),
    (
        "module.ts",
        "import first, { named, live as alive } from './first';
         import * as all from './first';
         import { dep } from 'hidden';
         import data from './data.json';
         import { Shape } from './first';
         export * from './star';
         export * as nested from './star';
         export { dep, Shape };
         export let count = 0;
         export function more() { count += 1; }
         export enum Kind { A = 'kind a' }
         export const shown = () => [first(), named, alive, { named }.named, all.named, dep(), dep``, `${named}`].join('-');
         export const where = import.meta.url.endsWith('/module.ts') && import.meta.dirname.length > 0;
         export { data };
         export default class { name() { return 'default'; } }",
    ),
    (
        "first.ts",
        "export interface Shape { a: number }
         export let live = 'early'; live = 'late';
         export const named = 'named'; export default () => 'first';",
    ),
    ("star.ts", "export const star = 'star';\nexport const b = 'b';\nexport default 'not this';"),
    ("data.json", "{\"a\": 1}"),
    ("node_modules/hidden/index.js", "'use strict'; for (const name of ['dep']) exports[name] = function () { return this === undefined ? 'dep' : 'called on'; };"),
];

#[test]
fn a_module_that_is_required_is_made_commonjs_with_all_it_imports() {
    let folder = folder(REQUIRED);
    let printed = "default 0 1 kind a b star dep first-named-late-named-named-dep-dep-named 1 true true\nKind b count data default dep more nested shown star where";
    assert_eq!(folder.run("entry.ts"), printed);
    assert_eq!(
        folder.made("entry.ts"),
        ["entry.ts (common)", "first.ts (common)", "module.ts (common)", "star.ts (common)"]
    );
}

#[test]
fn a_module_both_imported_and_required_is_one_module() {
    let folder = folder(&[
        (
            "entry.ts",
            "import { add, all } from './state';\nconst state = require('./state');\nadd('a'); state.add('b');\nconsole.log(all, state.all === all);",
        ),
        (
            "state.ts",
            "export const all: string[] = [];\nexport const add = (one: string) => { all.push(one); };",
        ),
    ]);
    assert_eq!(folder.run("entry.ts"), "[ 'a', 'b' ] true");
}

#[test]
fn required_modules_in_a_circle_see_each_others_live_bindings() {
    let folder = folder(&[
        ("entry.ts", "console.log(require('./a').both());"),
        (
            "a.ts",
            "import { b } from './b';\nexport const a = 'a';\nexport function both() { return a + b(); }",
        ),
        ("b.ts", "import { a, both } from './a';\nexport const b = () => 'b' + a + typeof both;"),
    ]);
    assert_eq!(folder.run("entry.ts"), "abafunction");
}

#[test]
fn commonjs_may_import_dynamically_what_it_likes() {
    let folder = folder(&[
        (
            "entry.ts",
            "const load = async () => {
               const { dep } = await import('hidden');
               const { default: data, a } = await import('./data.json');
               const { slow } = await import('./slow');
               console.log(dep(), data.a, a, slow);
             };
             module.exports = { load: load() };",
        ),
        ("slow.ts", "export const slow: string = await Promise.resolve('slow');"),
        ("data.json", "{\"a\": 1}"),
        ("node_modules/hidden/index.js", "for (const name of ['dep']) exports[name] = () => 'dep';"),
    ]);
    assert_eq!(folder.run("entry.ts"), "dep 1 1 slow");
    assert_eq!(folder.made("entry.ts"), ["entry.ts (common)", "slow.ts"]);
}

#[test]
fn a_required_module_may_make_its_own_require_and_dirname() {
    let folder = folder(&[
        ("entry.ts", "console.log(require('./own').all().join(' '));"),
        (
            "own.ts",
            "import { createRequire } from 'node:module';
             import { fileURLToPath } from 'node:url';
             import { basename, dirname } from 'node:path';
             const require = createRequire(import.meta.url);
             const __dirname = dirname(fileURLToPath(import.meta.url));
             const module = 'module';
             export { exports as kept };
             const exports = 'exports';
             export function all() { return [require('dep'), basename(__dirname) !== '', module, exports]; }",
        ),
        ("node_modules/dep/index.js", "module.exports = 'dep';"),
    ]);
    assert_eq!(folder.run("entry.ts"), "dep true module exports");
}
