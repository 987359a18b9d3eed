//! Scripts of several files: what names are seen from, and names that are not there.

use super::*;

/// A folder with these files, and what the script in it does as a user that comes behind the first one.
fn seen(files: &[(&str, &str)], script: &str) -> Seen {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    run_as(folder.path(), script, How { is_later: true, ..How::default() })
}

const FOLDERS: &[(&str, &str)] = &[
    ("x.txt", "beside the script"),
    ("lib/x.txt", "lib"),
    ("lib/deep/x.txt", "deep"),
    (
        "lib/top.js",
        "export const top = open('x.txt'); export const load = (name) => open(name); export const need = (name) => require(name);",
    ),
    (
        "lib/deep/common.cjs",
        "module.exports = { top: open('x.txt'), up: require('../up.js').up, load: (name) => open(name), need: (name) => require(name) };",
    ),
    ("lib/up.js", "import './deep/silent.js'; export const up = ['x.txt'].map((name) => open(name)).join();"),
    ("lib/deep/silent.js", "open('x.txt');"),
    ("lib/typed.ts", "export const text: string = open('./x.txt');"),
];

#[test]
fn open_looks_from_the_file_that_runs() {
    let seen = seen(
        FOLDERS,
        "import { top, load } from './lib/top.js'; import { text } from './lib/typed.ts'; const common = require('./lib/deep/common.cjs');
         const all = [top, text, common.top, common.up, load('x.txt'), common.load('x.txt')];
         export default () => console.log(all.join(' | '));",
    );
    let warned = "is resolved against";
    let (warnings, lines): (Vec<_>, Vec<_>) = seen.lines.iter().partition(|line| line.contains(warned));
    assert_eq!(
        lines,
        ["lib | lib | deep | lib | beside the script | beside the script"],
        "{:?}",
        seen.outcome
    );
    // The first user to read the script is warned where another file calls.
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(
        warnings[0].starts_with("open(\"x.txt\"), written in ")
            && warnings[0].contains("/lib/top.js, is resolved against ")
    );
}

#[test]
fn require_looks_from_the_file_it_is_written_in() {
    let seen = seen(
        FOLDERS,
        "import { need } from './lib/top.js'; const common = require('./lib/deep/common.cjs');
         const own = (name) => require(name);
         const all = [need('./deep/common.cjs') === common, common.need('../up.js').up, own('./lib/up.js').up];
         try { need('./lib/up.js'); } catch (e) { all.push(e.name); }
         export default () => console.log(all.join(' | '));",
    );
    assert_eq!(seen.lines, ["true | lib | lib | GoError"], "{:?}", seen.outcome);
}

/// k6 2.2 has undefined of modules that are one object, null of the others.
#[test]
fn a_name_that_a_module_lacks_has_no_value() {
    let seen = seen(
        &[
            ("plain.cjs", "exports.word = 'w';"),
            ("through.js", "export { nope } from 'k6/http'; export { word, none } from './plain.cjs';"),
        ],
        "import ws, { WebSocketError } from 'k6/ws';
         import { check, nothing } from 'k6';
         import { sha3 as renamed } from 'k6/crypto';
         import * as all from 'k6/ws';
         import plain, { word, other } from './plain.cjs';
         import { nope, none } from './through.js';
         export default () => {
           console.log(typeof ws.connect, WebSocketError, typeof check, nothing, renamed);
           console.log(plain.word === word, other, nope, none);
         }",
    );
    assert_eq!(
        seen.lines,
        ["function undefined function null null", "true undefined undefined undefined"],
        "{:?}",
        seen.outcome
    );
}

#[test]
fn a_name_that_a_module_of_ones_own_lacks_ends_the_init_code() {
    let seen = seen_first(
        &[("a.js", "export const a = 1;")],
        "import { b } from './a.js'; export default () => {};",
    );
    assert!(matches!(&seen.outcome, Err(Thrown::Error(text)) if text.contains("'b'")), "{:?}", seen.outcome);
}

const NEVER: &[(&str, &str)] =
    &[("waits.js", "export const a = 1; await new Promise(() => {}); export const b = 2;")];

/// The same as in k6 2.2: its user goes on, and is put away in the end as any other.
#[test]
fn a_required_file_that_awaits_is_there_as_far_as_it_came() {
    let seen = seen_first(
        NEVER,
        "const it = require('./waits.js'); let why; try { it.b; } catch (e) { why = e.name; }
         export default () => console.log(it.a, why, require === undefined);",
    );
    assert_eq!(seen.lines, ["1 ReferenceError false"], "{:?}", seen.outcome);
    let settles = &[("waits.js", "await new Promise((done) => setTimeout(done, 10)); export const b = 2;")];
    let seen =
        seen_first(settles, "const it = require('./waits.js'); export default () => console.log(it.b);");
    assert_eq!(seen.lines, ["2"], "{:?}", seen.outcome);
}

/// Nothing of it keeps the test from its end.
#[test]
fn an_import_that_never_settles_ends_with_its_iteration() {
    for script in [
        "import('./waits.js').then(() => console.log('settled')); export default () => console.log('on');",
        "export default async () => { console.log('on'); await import('./waits.js'); console.log('settled'); }",
    ] {
        let seen = seen_first(NEVER, script);
        assert_eq!((&seen.lines[..], seen.outcome), (&["on".to_owned()][..], Ok(None)), "{script}");
    }
}

fn seen_first(files: &[(&str, &str)], script: &str) -> Seen {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    run_as(folder.path(), script, How::default())
}

#[test]
fn extensions_of_k6_are_refused_in_words() {
    for name in ["k6/x/faker", "k6/x/sql"] {
        let seen = seen_first(&[], &format!("import it from '{name}'; export default () => {{}};"));
        let Err(Thrown::Unloaded(why)) = &seen.outcome else { panic!("{:?}", seen.outcome) };
        assert_eq!(
            *why,
            format!(
                "{name} is an extension of k6 (xk6), which Sonagi does not support: they are written in Go\nhint: built in are k6/x/sse, k6/x/socketio, k6/x/stomp, k6/x/sonagi; anything else must come from a JavaScript file beside the script"
            )
        );
    }
}
