//! All faults of a source are reported at once, each with its place.

use crate::support::folder;
use sonagi_transpile::module;
use std::path::Path;

#[test]
fn every_syntax_error_of_every_file_is_told_with_line_and_column() {
    let folder = folder(&[
        (
            "entry.ts",
            "import './other';\nimport './third';\nconst a: number = 1;\nlet a = 2;\n  let b = 1; let b = 2;\n",
        ),
        ("other.ts", "export const ok = 1;\nexport const = 2;\n"),
        ("third.ts", "export const fine = 3;\n"),
    ]);
    let places: Vec<_> =
        folder.faults("entry.ts").iter().map(|fault| fault.split(' ').next().unwrap().to_owned()).collect();
    // Code after the first fault of a file's grammar cannot be understood; names declared twice are all found.
    assert_eq!(places, ["entry.ts:3:7", "entry.ts:5:7", "other.ts:2:14"]);
}

#[test]
fn a_fault_says_what_is_wrong_in_a_fragment() {
    let faults = module(Path::new("a.ts"), "let a = 1;\nlet a = 2;").unwrap_err();
    assert_eq!((faults[0].line, faults[0].column), (1, 5));
    assert_eq!(faults[0].what, "identifier `a` has already been declared");
}

#[test]
fn a_file_that_is_not_utf8_is_a_fault_and_a_byte_order_mark_is_none() {
    let folder = folder(&[("entry.ts", "import './latin';\nimport './marked';\n")]);
    folder.write("latin.ts", b"// first\nexport const a = 'caf\xe9';\n");
    folder.write("marked.ts", b"\xef\xbb\xbfexport const a: number = 1;\nconsole.log(a);\n");
    assert_eq!(folder.faults("entry.ts"), ["latin.ts:2:22 the file must be UTF-8, byte 0xe9 is not"]);
    assert_eq!(folder.run("marked.ts"), "1");
}

#[test]
fn a_relative_import_that_leads_nowhere_is_a_fault_at_its_place() {
    let folder = folder(&[
        (
            "entry.ts",
            "import { Gone } from './types-gone';\nimport { a } from './gone';\nexport { b } from '../gone';\nconst c = require('./gone.js'), d = import('./sub');\nimport text from './text.sql';\nlet e: Gone = a; try { require('./maybe'); } catch {}\n",
        ),
        ("text.sql", "select 1"),
        ("sub/none.txt", ""),
    ]);
    assert_eq!(
        folder.faults("entry.ts"),
        [
            "entry.ts:2:19 ./gone leads to no file",
            "entry.ts:3:19 ../gone leads to no file",
            "entry.ts:4:19 ./gone.js leads to no file",
            "entry.ts:4:44 ./sub leads to no file",
        ]
    );
}

#[test]
fn a_file_of_another_kind_is_no_module() {
    let folder = folder(&[
        ("entry.ts", "import text from './text.sql';\nconsole.log(text);"),
        ("text.sql", "select 1"),
    ]);
    assert_eq!(folder.faults("entry.ts"), ["entry.ts:1:18 ./text.sql is a .sql file, which is no module"]);
}

#[test]
fn all_names_of_json_cannot_be_exported() {
    let folder =
        folder(&[("entry.ts", "export const a = 1;\nexport * from './data.json';"), ("data.json", "{}")]);
    assert_eq!(folder.faults("entry.ts"), ["entry.ts:2:15 JSON's names cannot all be exported; import it"]);
}

#[test]
fn a_name_that_the_other_file_does_not_export_is_a_fault_where_it_is_named() {
    let folder = folder(&[
        (
            "entry.ts",
            "import { real, nope } from './other';\nimport missing from './other';\nconsole.log(real, nope, missing);\n",
        ),
        ("other.ts", "export const real = 1;\n"),
    ]);
    assert_eq!(
        folder.faults("entry.ts"),
        ["entry.ts:1:16 ./other exports no nope", "entry.ts:2:8 ./other has no default export"]
    );
}

#[test]
fn a_module_that_awaits_at_its_top_cannot_be_required() {
    let folder = folder(&[
        ("entry.ts", "const a = 1;\nconst slow = require('./slow');\n"),
        ("slow.ts", "export const slow = await Promise.resolve(1);\n"),
    ]);
    assert_eq!(
        folder.faults("entry.ts"),
        ["entry.ts:2:22 ./slow cannot be required, it awaits at its top level; import it"]
    );
}

#[test]
fn a_file_that_is_commonjs_by_its_name_cannot_await_at_its_top() {
    let faults = module(Path::new("a.cts"), "export const a = await Promise.resolve(1);").unwrap_err();
    assert_eq!(faults[0].what, "only a module may await at its top level; a .cts or .cjs file is none");
}

#[test]
fn an_entry_that_is_not_there_is_a_fault() {
    let folder = folder(&[]);
    assert_eq!(folder.faults("none.ts"), ["none.ts:1:1 there is no such file"]);
}
