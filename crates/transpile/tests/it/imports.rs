//! The imports that stay, and the meaning of the names they bind.

use crate::support::folder;
use sonagi_transpile::{Format, Import, module};
use std::path::Path;

/// CommonJS whose names Node's lexer cannot see.
const HIDDEN: (&str, &str) = (
    "node_modules/hidden/index.js",
    "for (const name of ['one', 'two', 'three']) module.exports[name] = () => name;
     const whole = module.exports;
     Object.defineProperty(whole, 'quiet', { value: 'quiet' });",
);

/// A compiler's output for a module with a default.
const ONCE: (&str, &str) = (
    "node_modules/once/index.js",
    "Object.defineProperty(exports, '__esModule', { value: true });
     exports.default = class Once { say() { return 'once'; } };
     exports.named = 'named';",
);

/// A package that is a module.
const MODERN: &[(&str, &str)] = &[
    (
        "node_modules/modern/package.json",
        r#"{ "name": "modern", "type": "module", "exports": "./index.js" }"#,
    ),
    (
        "node_modules/modern/index.js",
        "export let count = 0; export const more = () => { count += 1; }; export default { other: 'other' };",
    ),
];

#[test]
fn imports_that_nothing_or_only_types_use_vanish_with_their_packages() {
    let source = "import { readFileSync } from 'fs';
import axios from 'axios';
import { DoneCallback } from 'passport';
import type { Server } from 'socket.io';
import { type Socket, type Packet } from 'socket.io-client';
import unused from 'unused';
import * as types from './types';
interface User { id: number }
export async function load(context: types.Context, done: DoneCallback, socket?: Socket): Promise<void> {
  const users: User[] = JSON.parse(readFileSync('users.json', 'utf8'));
  console.log(users.length, await axios.get('/'));
  done(null);
}
await load({ vars: {} }, () => {});
";
    let folder = folder(&[
        ("processor.ts", source),
        ("users.json", "[{}, {}]"),
        ("node_modules/axios/index.js", "module.exports = { get: async (path) => 'got ' + path };"),
    ]);
    assert_eq!(folder.run("processor.ts"), "2 got /");
    let made = module(Path::new("processor.ts"), source).unwrap();
    let import = |specifier: &str, line, column| Import { specifier: specifier.into(), line, column };
    assert_eq!(made.imports, [import("fs", 1, 30), import("axios", 2, 19)]);
    assert_eq!(made.format, Format::Esm);
}

#[test]
fn names_that_nodes_lexer_cannot_see_are_found_however_they_are_imported() {
    let folder = folder(&[
        HIDDEN,
        (
            "entry.ts",
            "import { one, two as second } from 'hidden';
             import * as all from 'hidden';
             import whole, { three } from 'hidden';
             import { three as again, everything } from './again';
             const late = await import('hidden');
             console.log(one(), second(), all.three(), whole.two(), three(), again(), late.one(), everything.two());
             console.log(all.quiet, Object.keys(all).filter((name) => name === 'one' || name === 'quiet').join());",
        ),
        ("again.ts", "export { three } from 'hidden'; export * as everything from 'hidden';"),
    ]);
    assert_eq!(folder.run("entry.ts"), "one two three two three three one two\nquiet one");
}

#[test]
fn a_default_is_all_of_a_commonjs_package_or_the_default_it_had_as_a_module() {
    let plain = ("node_modules/plain/index.js", "module.exports = function plain() { return 'plain'; };");
    let source = "import plain from 'plain';
         import Once, { named } from 'once';
         import { default as Again } from 'once';
         import * as once from 'once';
         console.log(plain(), new Once().say(), named, Again === Once, once.default === Once);";
    let files = folder(&[plain, ONCE, ("entry.ts", source)]);
    assert_eq!(files.run("entry.ts"), "plain once named true true");

    let by_rule = "import Once from 'once'; console.log(typeof Once, new Once.default().say());";
    let files = folder(&[
        ONCE,
        ("entry.mts", by_rule),
        ("sub/package.json", r#"{"type": "module"}"#),
        ("sub/entry.ts", by_rule),
    ]);
    assert_eq!(files.run("entry.mts"), "object once");
    assert_eq!(files.run("sub/entry.ts"), "object once");
}

#[test]
fn packages_that_are_modules_give_their_own_names_and_a_missing_default_is_said() {
    let mut files = MODERN.to_vec();
    files.push((
        "node_modules/bare/package.json",
        r#"{ "name": "bare", "type": "module", "exports": "./index.js" }"#,
    ));
    files.push(("node_modules/bare/index.js", "export const a = 1;"));
    files.push((
        "entry.ts",
        "import modern, { count, more, other } from 'modern';
         import * as all from 'modern';
         more();
         console.log(modern.other, count, other, all.count, all.default === modern);",
    ));
    files.push(("wrong.ts", "import bare from 'bare'; console.log(bare);"));
    let folder = folder(&files);
    assert_eq!(folder.run("entry.ts"), "other 0 other 1 true");
    let (_, error) = folder.try_run("wrong.ts");
    assert!(error.contains("SyntaxError: bare has no default export"), "{error}");
}

#[test]
fn nodes_own_modules_are_imported_as_they_are() {
    let made = module(
        Path::new("a.ts"),
        "import fs, { readFile } from 'node:fs';\nimport os from 'os';\nfs; readFile; os;",
    )
    .unwrap();
    assert!(
        made.code.starts_with("import fs, { readFile } from \"node:fs\";\nimport os from \"os\";\n"),
        "{}",
        made.code
    );
}

#[test]
fn json_needs_no_ceremony() {
    let folder = folder(&[
        ("data.json", r#"{ "name": "data", "list": [1, 2] }"#),
        ("called.ts", "export { name as called } from './data.json';"),
        ("node_modules/packed/package.json", r#"{ "name": "packed", "version": "1.2.3" }"#),
        (
            "entry.ts",
            "import data, { list } from './data.json';
             import same from './data';
             import said from './data.json' with { type: 'json' };
             import * as whole from './data.json';
             import { version } from 'packed/package.json';
             import { called } from './called';
             const late = await import('./data.json');
             console.log(data.name, list, same === data, said.name, whole.name, whole.default.name, version, late.default.name);
             console.log(called);",
        ),
    ]);
    assert_eq!(folder.run("entry.ts"), "data [ 1, 2 ] true data data data 1.2.3 data\ndata");
}

#[test]
fn modules_in_a_circle_see_each_others_live_bindings() {
    let folder = folder(&[
        (
            "entry.ts",
            "import { b, seen } from './b';
             export let a = 'early'; export function hello() { return 'hello'; }
             a = 'late';
             console.log(b(), seen);",
        ),
        (
            "b.ts",
            "import { a, hello } from './entry';\nexport const b = () => a;\nexport const seen = hello();",
        ),
    ]);
    assert_eq!(folder.run("entry.ts"), "late hello");
}

#[test]
fn a_type_that_is_exported_again_without_saying_so_is_left_out() {
    let folder = folder(&[
        (
            "types.ts",
            "export interface User { id: number }\nexport type Id = number;\nexport const real = 'real';",
        ),
        (
            "index.ts",
            "export { User, real } from './types';\nimport { Id } from './types';\nexport { Id };\nexport * from './more';",
        ),
        (
            "more.ts",
            "export { Id as Other } from './types';\nexport const more = 'more';\nexport * from './index';",
        ),
        (
            "entry.ts",
            "import { User, real, more } from './index';\nexport { User, Other } from './index';\nconst user: User = { id: 1 };\nconsole.log(user.id, real, more);",
        ),
    ]);
    assert_eq!(folder.run("entry.ts"), "1 real more");
}

#[test]
fn commonjs_beside_the_entry_gives_its_names_too() {
    let folder = folder(&[
        ("old.js", "Object.assign(exports, { hidden: () => 'hidden' });"),
        ("typed.ts", "class Typed { name = 'typed'; }\nexport = Typed;"),
        (
            "entry.ts",
            "import { hidden } from './old';
             import Typed from './typed';
             import * as old from './old.js';
             console.log(hidden(), new Typed().name, old.hidden === hidden);",
        ),
    ]);
    assert_eq!(folder.run("entry.ts"), "hidden typed true");
}
