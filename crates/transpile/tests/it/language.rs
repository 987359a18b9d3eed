//! Constructs of TypeScript and JSX that JavaScript lacks.

use crate::support::folder;
use sonagi_transpile::module;
use std::path::Path;

fn prints(name: &str, source: &str) -> String {
    folder(&[(name, source)]).run(name)
}

#[test]
fn enums_const_enums_and_namespaces_have_their_values() {
    let source = "enum Level { Low, High = 5, Higher }
        const enum Way { Up = 'up', Down = 'down' }
        export enum Mask { Read = 1 << 0, Write = 1 << 1, Both = Read | Write }
        namespace Shape { export const sides = 4; export namespace Inner { export function area(a: number) { return a * sides; } } }
        namespace Shape { export const more = Shape.sides + 1; }
        namespace OnlyTypes { export interface A { a: number } }
        import area = Shape.Inner.area;
        console.log(Level.High, Level[6], Way.Down, Mask.Both, area(2), Shape.more);";
    assert_eq!(prints("entry.ts", source), "5 Higher down 3 8 5");
}

#[test]
fn an_enum_of_another_file_is_there_when_that_is_const_too() {
    let folder = folder(&[
        ("enums.ts", "export const enum Colour { Red = 'red' }\nexport enum Size { Small = 1 }"),
        ("entry.ts", "import { Colour, Size } from './enums';\nconsole.log(Colour.Red, Size[1]);"),
    ]);
    assert_eq!(folder.run("entry.ts"), "red Small");
}

#[test]
fn classes_may_have_parameter_properties_abstract_members_and_overloads() {
    let source = "abstract class Base { abstract name: string; constructor(protected readonly id: number, public tag = 'tag') {} }
        class User extends Base {
          declare ignored: string;
          name = 'user'; empty?: string;
          get(): string; get(a: number): string;
          get(a?: number) { return `${this.name} ${this.id} ${this.tag} ${a!}`; }
        }
        const user = new User(7) satisfies Base;
        console.log(user.get(1), 'empty' in user, 'ignored' in user, (<any>user).id);";
    assert_eq!(prints("entry.ts", source), "user 7 tag 1 true false 7");
}

#[test]
fn legacy_decorators_run_on_classes_methods_fields_and_parameters() {
    let source = "const log: string[] = [];
        const say = (what: string): any => (...given: any[]) => { log.push(`${what}:${given.length}:${typeof given[2]}`); };
        const twice = (_: any, __: string, at: PropertyDescriptor) => { const before = at.value; at.value = (n: number) => before(n) * 2; return at; };
        const named = (name: string) => (target: any) => { target.called = name; return target; };
        @named('other') @say('class')
        class Some {
          @say('field') field = 1;
          @say('static') static shared = 2;
          @twice @say('method') method(@say('parameter') n: number) { return n + 1; }
          @say('getter') get got() { return 1; }
        }
        console.log((Some as any).called, new Some().method(2), Some.shared, new Some().got, log.join(' '));";
    let printed = "other 6 2 1 field:3:undefined method:3:object parameter:3:number getter:3:object static:3:undefined class:1:undefined";
    let mut got: Vec<_> = prints("entry.ts", source).split(' ').map(str::to_owned).collect();
    let mut wanted: Vec<_> = printed.split(' ').map(str::to_owned).collect();
    got.sort();
    wanted.sort();
    assert_eq!(got, wanted);
}

#[test]
fn a_module_may_await_at_its_top() {
    let source = "const value = await Promise.resolve('waited');\nfor await (const one of [1]) console.log(value, one);";
    assert_eq!(prints("entry.ts", source), "waited 1");
}

#[test]
fn what_is_used_is_given_back_although_node_18_does_not_know_how() {
    let source = "const log: string[] = [];
        const held = (name: string) => ({ name, [Symbol.dispose]() { log.push(name); } });
        const slow = (name: string) => ({ async [Symbol.asyncDispose]() { log.push(name); } });
        async function work() { using a = held('a'); using b = held('b'); await using c = slow('c'); using none = null; log.push(a.name + b.name); throw new Error('thrown'); }
        function fails() { using a = { [Symbol.dispose]() { throw new Error('second'); } }; throw new Error('first'); }
        try { await work(); } catch (error) { log.push((error as Error).message); }
        try { fails(); } catch (error: any) { log.push(error.name, error.error.message, error.suppressed.message); }
        console.log(log.join(' '));";
    assert_eq!(prints("entry.ts", source), "ab c b a thrown SuppressedError second first");
    assert!(!module(Path::new("a.ts"), source).unwrap().code.contains("using a ="));
}

#[test]
fn jsx_calls_what_react_calls() {
    let source =
        "const React = { createElement: (...all: unknown[]) => JSON.stringify(all), Fragment: 'fragment' };
        console.log(<a href=\"b\">text{1}</a>, <></>);";
    assert_eq!(prints("entry.tsx", source), r#"["a",{"href":"b"},"text",1] ["fragment",null]"#);
    assert_eq!(
        prints("entry.jsx", &source.replace(": unknown[]", "")),
        r#"["a",{"href":"b"},"text",1] ["fragment",null]"#
    );
}

#[test]
fn an_error_says_the_line_and_column_of_the_source() {
    let folder = folder(&[
        (
            "entry.ts",
            "interface A {\n  a: number;\n}\nimport { chunk } from 'lodash';\nimport { fail } from './deep';\n\ntype B = A;\nfail({ a: 1 } as B, chunk);\n",
        ),
        (
            "deep.ts",
            "/* one\ntwo */\nimport { B } from './b';\nexport function fail(a: B, b: unknown): never {\n  throw new Error('deep');\n}\n",
        ),
        ("node_modules/lodash/index.js", "module.exports = { chunk: 1 };"),
    ]);
    let (_, error) = folder.try_run("entry.ts");
    let at = |name: &str, place: &str| error.contains(&format!("{}:{place}", folder.path(name).display()));
    assert!(at("deep.ts", "5:9") && at("entry.ts", "8:1"), "{error}");
}
