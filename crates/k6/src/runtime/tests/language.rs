//! The language as k6's engine has it: k6 2.2 was asked.

use super::*;

/// For the user that reads the script and for one that comes behind it.
#[track_caller]
fn check(script: &str, said: &[&str]) {
    expect(&run(script), said);
    expect(&run_later(script), said);
}

#[test]
fn an_errors_stack_begins_with_the_error() {
    check(
        "class Own extends Error { constructor(message) { super(message); this.name = 'Own'; } }
         function thrower() { throw new RangeError('thrown'); }
         const lines = (error) => error.stack.split('\\n').join('|');
         export default () => {
           console.log(lines(new Error('a\\nb')));
           console.log(lines(new Error()).split('|')[0], lines(new Own('own')).split('|')[0]);
           try { thrower(); } catch (e) { console.log(lines(e)); }
           const later = new Error('a'); later.name = 'B'; later.message = 'c'; console.log(lines(later).split('|')[0]);
           later.message = 'd'; console.log(lines(later).split('|')[0]);
           later.stack = 'mine'; console.log(later.stack, typeof Error.prepareStackTrace, Object.keys(later).join());
         }",
        &[
            "Error: a|b|\tat default (file:///test/script.js:5:34)|",
            "Error Own: own",
            "RangeError: thrown|\tat thrower (file:///test/script.js:2:41)|\tat default (file:///test/script.js:7:18)|",
            "B: c",
            "B: c",
            "mine undefined name",
        ],
    );
}

#[test]
fn an_error_that_nobody_catches_is_told_once() {
    let seen = run("export default () => { const e = new Error('once'); e.stack; throw e; }");
    assert_eq!(
        seen.outcome,
        Err(Thrown::Error("Error: once\n\tat default (/test/script.js:1:37)".to_owned()))
    );
}

#[test]
fn dates_are_told_with_their_zone_and_by_24_hours() {
    let seen = run_later(
        "export default () => {
           const date = new Date(0);
           console.log(`${date}`.split(' ').length, String(date) === date.toString(), date.toString().endsWith(date.toTimeString()));
           console.log(/^\\d\\d:\\d\\d:\\d\\d GMT[+-]\\d{4} \\([^)]+\\)$/.test(date.toTimeString()), /^\\d\\d\\/\\d\\d\\/\\d{4}, \\d\\d:\\d\\d:\\d\\d$/.test(date.toLocaleString()));
           console.log(date.toLocaleTimeString().length, new Date(NaN) + '', new Date(NaN).toLocaleTimeString(), Date.parse(String(date)));
         }",
    );
    expect(&seen, &["7 true true", "true true", "8 Invalid Date Invalid Date 0"]);
}

#[test]
fn texts_compare_as_in_a_dictionary() {
    check(
        "export default () => console.log(['b', 'B', 'ä', 'a', 'z', 'A'].sort((one, other) => one.localeCompare(other)).join(), 'é'.localeCompare('e\\u0301'));",
        &["a,A,ä,b,B,z 0"],
    );
}

#[test]
fn functions_tell_their_source_to_scripts_that_may_say_anything() {
    check(
        "function named(a, b) { return a + b; /* kept */ } globalThis;
         const arrow = async (x) => x ** 2;
         class Kind { constructor(x) { this.x = x; } method(a) { return a; } static of() { return 1; } get g() { return 1; } }
         class Bare { field = 1; }
         export default () => {
           const own = { short(a) { return a; } };
           const getter = Object.getOwnPropertyDescriptor(Kind.prototype, 'g').get;
           for (const one of [named, arrow, Kind, Bare, new Kind().method, Kind.of, getter, own.short, function* made() { yield 1; }]) console.log(one.toString());
           console.log(String(named) === `${named}`, Math.max.toString().includes('[native code]'), (7).toString(2));
         }",
        &[
            "function named(a, b) { return a + b; /* kept */ }",
            "async (x) => x ** 2",
            "class Kind { constructor(x) { this.x = x; } method(a) { return a; } static of() { return 1; } get g() { return 1; } }",
            "class Bare { field = 1; }",
            "method(a) { return a; }",
            "of() { return 1; }",
            "get g() { return 1; }",
            "short(a) { return a; }",
            "function* made() { yield 1; }",
            "true true 111",
        ],
    );
}

#[test]
fn decorators_of_typescript_work() {
    let folder = tempfile::tempdir().unwrap();
    let source = "const twice = (target: object, name: string, of: PropertyDescriptor): PropertyDescriptor => ({ ...of, value: (x: number) => 2 * of.value(x) });
        export class Flow { @twice next(step: number): number { return step + 1; } }\n
        export function broken(): never { throw new Error('odd'); }";
    std::fs::write(folder.path().join("flow.ts"), source).unwrap();
    let script = "import { Flow, broken } from './flow.ts'; export default () => { console.log(new Flow().next(1)); broken(); };";
    let seen = run_with(folder.path(), script, None);
    assert_eq!(seen.lines, ["4"], "{:?}", seen.outcome);
    let Err(Thrown::Error(text)) = seen.outcome else { panic!() };
    assert!(text.contains("/flow.ts:4:"), "the helpers move no line: {text}");
}
