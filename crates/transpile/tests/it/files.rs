//! The files of a graph that are transformed, and those that Node loads unchanged.

use crate::support::folder;

#[test]
fn plain_javascript_that_node_loads_is_left_alone() {
    let folder = folder(&[
        (
            "entry.js",
            "const own = require('./own'); const { data } = require('./data'); console.log(own.name, data);",
        ),
        ("own.js", "exports.name = 'own';"),
        ("data/index.js", "exports.data = require('../data.json').a;"),
        ("data.json", "{\"a\": 1}"),
        (
            "entry.mjs",
            "import { own } from './own.mjs'; import fs from 'node:fs'; console.log(own, typeof fs.readFileSync);",
        ),
        ("own.mjs", "export const own = 'own';"),
        ("node_modules/a/a.ts", "not even TypeScript ("),
        ("near.js", "require('./node_modules/a/a.ts');"),
    ]);
    assert_eq!(folder.made("entry.js"), [""; 0]);
    assert_eq!(folder.run("entry.mjs"), "own function");
    assert_eq!(folder.made("entry.mjs"), [""; 0]);
    assert_eq!(folder.made("near.js"), [""; 0]);
}

#[test]
fn plain_javascript_imported_without_its_extension_is_only_pointed_to() {
    let folder = folder(&[
        ("entry.ts", "import { own } from './own';\nimport { far } from './far';\nconsole.log(own, far);"),
        ("own.mjs", "export const own = 'own';"),
        ("far/index.cjs", "exports.far = 'far';"),
    ]);
    assert_eq!(folder.run("entry.ts"), "own far");
    assert_eq!(folder.made("entry.ts"), ["entry.ts"]);
}

#[test]
fn javascript_that_node_would_take_for_the_other_kind_is_made_ready() {
    let folder = folder(&[
        (
            "entry.js",
            "import { own } from './own';\nimport { old } from './sub/old.js';\nconsole.log(own, old);",
        ),
        ("own.js", "export const own = 'own';"),
        ("sub/package.json", r#"{"type": "module"}"#),
        ("sub/old.js", "exports.old = require('./older').older;"),
        ("sub/older.cjs", "exports.older = 'old';"),
    ]);
    assert_eq!(folder.run("entry.js"), "own old");
    assert_eq!(folder.made("entry.js"), ["entry.js", "own.js", "sub/old.js (common)"]);
}

#[test]
fn plain_javascript_reaches_typescript_behind_it() {
    let folder = folder(&[
        (
            "entry.js",
            "#!/usr/bin/env node\nconst { typed } = require('./typed'); const odd = 010; console.log(typed, odd);",
        ),
        ("typed.ts", "import { late } from './late.js';\nexport const typed: string = late;"),
        ("late.ts", "export const late = 'late';"),
    ]);
    assert_eq!(folder.run("entry.js"), "late 8");
    assert_eq!(folder.made("entry.js"), ["entry.js (common)", "late.ts (common)", "typed.ts (common)"]);
}

#[test]
fn javascript_made_ready_keeps_its_lines_and_columns_without_a_map() {
    let folder = folder(&[
        (
            "entry.js",
            "#!/usr/bin/env node\n// first\nimport {\n  own,\n} from './own';\nimport { data } from './data.json';\n\n    own(data);\n",
        ),
        ("own.js", "export const own = (a) => { throw new Error(a); };"),
        ("data.json", "{\"data\": \"thrown\"}"),
    ]);
    let (_, error) = folder.try_run("entry.js");
    assert!(error.contains("Error: thrown") && error.contains("/own.js:1"), "{error}");
    assert!(error.contains("/entry.js:8:5"), "{error}");
    assert!(!folder.code("entry.js", "entry.js").contains("sourceMappingURL"));
}

#[test]
fn a_file_reached_through_a_link_is_the_file_it_links_to() {
    let folder = folder(&[
        ("real/state.ts", "export const all: string[] = [];"),
        (
            "entry.ts",
            "import { all } from './linked/state';\nimport { all as same } from './real/state';\nconsole.log(all === same);",
        ),
    ]);
    std::os::unix::fs::symlink(folder.path("real"), folder.path("linked")).unwrap();
    assert_eq!(folder.run("entry.ts"), "true");
    assert_eq!(folder.made("entry.ts"), ["entry.ts", "real/state.ts"]);
}
