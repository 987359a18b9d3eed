//! Requests and what is made of their responses: the right use of every key.

use sonagi_artillery::plan::Step;

use crate::sketch::sketch;
use crate::support::{load_text, load_with, notices};

const HEAD: &str =
    "config:\n  target: http://t\n  phases: [{duration: 1, arrivalRate: 1}]\n  variables: {v: 7}\n";

fn script(config: &str, request: &str) -> String {
    format!("{HEAD}{config}scenarios:\n  - flow:\n      - post: {{url: /, {request}}}\n")
}

/// A request with these members sends this; with lines of `config`.
#[track_caller]
fn check_with(config: &str, request: &str, expected: &str) {
    let loaded = load_text(&script(config, request)).unwrap_or_else(|problems| panic!("{problems}"));
    let sketch = sketch(&loaded.plan);
    let line = sketch.lines().find(|line| line.contains("POST /")).unwrap().to_owned();
    let (_, rest) = line.split_once(" POST /").unwrap();
    assert_eq!(rest.trim(), expected, "{request}");
}

#[track_caller]
fn check(request: &str, expected: &str) {
    check_with("  plugins: {expect: {}}\n", request, expected);
}

#[test]
fn what_is_sent_may_be_a_form_with_lists_or_of_several_parts() {
    check("form: {a: 1, b: [x, \"{{ v }}\", true], c: null}", "form (a=1 b=x,<v>,true c=) 10s");
    check("qs: {a: [x, \"{{ v }}\"], b: ''}", "query (a=x a=<v> b=) 10s");
    check(
        "formData: {a: \"{{ v }}\", b: {value: 5, contentType: text/x}, c: {value: {d: [\"{{ v }}\"]}}}",
        "parts [a: <v>, b: 5 (text/x), c: {\"d\":[\"<v>\"]}] 10s",
    );
    check(
        "formData: {f: {fromFile: ./users.csv}, g: {fromFile: users.csv, contentType: x/y}}, setContentLengthHeader: true",
        "parts [f: file users.csv of 37 bytes (text/csv), g: file users.csv of 37 bytes (x/y)] 10s",
    );
    check("gzip: true", "10s");
    check("gzip: false", "10s uncompressed");
}

#[test]
fn default_headers_and_cookies_of_http_take_the_place_of_the_older_ones() {
    let with = |http: &str| {
        let defaults = "  defaults: {headers: {a: 1, b: 2}, cookie: {c: 3}}\n";
        let config = format!("{defaults}  http: {{defaults: {http}}}\n");
        let loaded = load_text(&script(&config, "cookie: {own: 4}")).unwrap();
        let sketch = sketch(&loaded.plan);
        let line = |start: &str| sketch.lines().find(|line| line.contains(start)).unwrap().to_owned();
        (line("http 10s"), line(" POST /"))
    };
    let (http, request) = with("{headers: {d: 5}, cookie: {e: 6}}");
    assert!(http.ends_with("(d=5)") && request.contains("cookies (e=6 own=4)"), "{http} {request}");
    let (http, request) = with("{strictCapture: true}");
    assert!(http.ends_with("(a=1 b=2)") && request.contains("cookies (c=3 own=4)"), "{http} {request}");
}

#[test]
fn values_are_captured_wherever_they_are() {
    let capture = |what: &str, expected: &str| {
        check(&format!("capture: {{{what}, as: x}}"), &format!("10s capture {expected} as x"));
    };
    capture("json: $.a", "$.a");
    capture("json: \"$.a[*].b\", multiple: false", "all $.a[*].b");
    capture("json: $.a.length", "length of $.a");
    capture("json: \"$.a[{{ v }}].b\"", "open $.a[<v>].b");
    capture("regexp: 'id=(\\d+)'", "/id=(\\d+)/0");
    capture("regexp: 'id=(\\d+)', group: 1, flags: gi", "/id=(\\d+)/1");
    capture("regexp: '(?<n>x)', group: n", "/(?<n>x)/1");
    capture("regexp: '{{ v }}=(x)', group: 1", "open <v>=(x)");
    capture("header: X-Id", "header x-id");
    check("capture: {json: $.a, as: user.id}, name: \"x\"", "10s capture $.a as user.id");
    for (index, debugged) in [
        ("0", "Number(0)"),
        ("first", "Number(0)"),
        ("3", "Number(3)"),
        ("last", "Last"),
        ("random", "Random"),
    ] {
        capture(
            &format!("selector: a.b, attr: href, index: {index}"),
            &format!("Selector {{ selector: \"a.b\", attr: Some(\"href\"), index: {debugged} }}"),
        );
    }
    capture("xpath: //a/@b", "XPath { expression: \"//a/@b\" }");
    check(
        "match: [{selector: a, attr: b, value: 1, strict: false}, {xpath: //c, value: 2}]",
        "10s match Selector { selector: \"a\", attr: Some(\"b\"), index: Number(0) } = 1 lenient \
         match XPath { expression: \"//c\" } = 2",
    );
}

#[test]
fn everything_can_be_expected_in_a_mapping_or_a_list() {
    check(
        "expect: {statusCode: 200, hasProperty: a.b}",
        "10s expect [statusCode status [200]; hasProperty property a.b]",
    );
    let all = "expect: [{statusCode: [200, \"{{ v }}\"]}, {notStatusCode: 500}, {contentType: json}, \
        {hasProperty: \"a.{{ v }}\"}, {notHasProperty: error}, {equals: [\"{{ v }}\", 7]}, {hasHeader: x-a}, \
        {headerEquals: [x-a, \"{{ v }}\"]}, {matchesRegexp: '^a'}, {cdnHit: true}, {jmespath: a.b}, \
        {jpath: c, description: has c}]";
    check(
        all,
        "10s expect [statusCode status [200]<v>; notStatusCode not status [500]; contentType type json; \
         hasProperty property a.<v>; notHasProperty no property error; equals <v> = 7; hasHeader header x-a; \
         headerEquals header x-a: <v>; matchesRegexp a match of ^a at /^a/0; cdnHit cache hit true; \
         jmespath a value of a.b at Jmespath { expression: \"a.b\" }; jpath has c at Jmespath { expression: \"c\" }]",
    );
}

#[test]
fn the_plugin_says_what_expectations_come_to() {
    let plugin = "  plugins: {expect: {expectDefault200: true, reportFailuresAsErrors: true, \
        useOnlyRequestNames: true, formatter: silent, outputFormat: json}}\n";
    check_with(plugin, "name: x", "10s expect or fail [statusCode status [200]]");
    check_with(plugin, "expect: {statusCode: 201}", "10s expect or fail [statusCode status [201]]");
    let text = format!("{}before: {{flow: [{{post: {{url: /}}}}]}}\n", script(plugin, "name: x"));
    let loaded = load_text(&text).unwrap();
    let Step::Http(before) = &loaded.plan.before[0] else { panic!("a request") };
    assert!(before.expect.is_none(), "what runs once before is no scenario");
}

#[test]
fn what_artillery_does_otherwise_is_told_once() {
    let text = script("", "expect: {statusCode: 200}}\n      - get: {url: /, expect: {statusCode: 200}");
    let expected = "7:24: expect is checked; Artillery does so only with `plugins: {expect: {}}` in config";
    assert_eq!(notices(&load_text(&text).unwrap()), [expected]);
    let text = script("", "capture: {json: $.a, group: 1, as: b}}\n      - get: {url: '/?a=1', qs: {b: 2}");
    assert_eq!(
        notices(&load_text(&text).unwrap()),
        [
            "7:45: group: no effect; it is of a `regexp`",
            "8:29: qs is added to the parameters in the address; Artillery sends qs alone",
        ]
    );
}

#[test]
fn a_file_of_an_environment_that_is_not_chosen_need_not_be_there() {
    let environments = "  environments: {other: {variables: {v: 8}}}\n";
    let text = script(environments, "formData: {f: {fromFile: \"{{ v }}.csv\"}}");
    let problems = load_with(&text, &Default::default()).unwrap_err().to_string();
    assert!(problems.contains("cannot read the file 7.csv"), "{problems}");
    assert!(!problems.contains("8.csv"), "{problems}");
}

#[test]
fn a_variable_may_be_made_of_those_with_one_value() {
    let text =
        script("", "body: \"{{ one }}\"").replace("{v: 7}", "{one: \"{{ two }}-{{ v }}\", two: 5, v: 7}");
    let loaded = load_text(&text).unwrap_or_else(|problems| panic!("{problems}"));
    let one = &loaded.plan.variables.iter().find(|(name, _)| name == "one").unwrap().1;
    assert_eq!(one[..], [serde_json::json!("5-7")]);
}
