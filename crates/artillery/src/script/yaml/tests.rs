use super::*;
use serde_json::json;

fn tree(text: &str) -> Node {
    let mut faults = Vec::new();
    let root = parse(text, &mut faults);
    assert!(faults.is_empty(), "{faults:?}");
    root.unwrap()
}

fn at(node: &Node) -> (usize, usize) {
    (node.place.line, node.place.column)
}

#[test]
fn plain_scalars_have_the_types_of_the_core_schema() {
    let check = |text: &str, expected: Value| {
        assert_eq!(tree(&format!("v: {text}")).to_value()["v"], expected, "{text}");
    };
    check("1", json!(1));
    check("-17", json!(-17));
    check("+3", json!(3));
    check("1.0", json!(1));
    check("1.5e3", json!(1500));
    check("0.25", json!(0.25));
    check(".5", json!(0.5));
    check("0x1F", json!(31));
    check("0o17", json!(15));
    check("18446744073709551615", json!(18_446_744_073_709_551_615_u64));
    check("true", json!(true));
    check("False", json!(false));
    check("~", json!(null));
    check("", json!(null));
    for text in ["yes", "1m", "1.2.3", "e5", "2024-01-01", "1_000", ".inf", "12:30"] {
        check(text, json!(text));
    }
    check("'1'", json!("1"));
    check("\"true\"", json!("true"));
    check("!!str 5", json!("5"));
}

#[test]
fn a_template_without_quotes_in_braces_is_to_be_quoted() {
    let hint = |text: &str| {
        let mut faults = Vec::new();
        parse(text, &mut faults);
        faults[0].hint.clone()
    };
    let quoted = |value: &str, line: u32| Some(format!("quote it: \"{value}\" (line {line})"));
    assert_eq!(hint("a: 1\nget: { url: /x/{{ id }} }\n"), quoted("/x/{{ id }}", 2));
    assert_eq!(hint("get: { url: /x/{{ id }}/y, name: n }\n"), quoted("/x/{{ id }}/y", 1));
    assert_eq!(hint("get: { name: \"a, {{ b }}\", url: a-{{ id }} }\n"), quoted("a-{{ id }}", 1));
    assert_eq!(hint("emit: [say, room-{{ id }}]\n"), quoted("room-{{ id }}", 1));
    assert_eq!(hint("get: { url: \"/x/{{ id }}\", name: n\n"), None);
}

#[test]
fn places_count_characters_from_one() {
    let root = tree("키: 값\nlist:\n  - {a: \"é{{ x }}\", b: 2}\n  -   3\nempty:\n");
    let entries = root.entries();
    assert_eq!((entries[0].place.line, entries[0].place.column), (1, 1));
    assert_eq!(at(&entries[0].value), (1, 4));
    let Kind::List(items) = &entries[1].value.kind else { panic!() };
    assert_eq!(at(&items[0]), (3, 5));
    assert_eq!(at(items[0].get("b").unwrap()), (3, 24));
    assert_eq!(items[0].get("a").unwrap().place_at(4).column, 14);
    assert_eq!(at(&items[1]), (4, 7));
    assert_eq!(at(&entries[2].value), (5, 1), "an empty value is where its key is");
}

#[test]
fn a_place_inside_an_escaped_or_folded_text_is_its_beginning() {
    let root = tree("a: \"\\u00e9{{ x }}\"\nb: >\n  some {{ x }}\n");
    assert_eq!(root.get("a").unwrap().place_at(4).column, 4);
    assert_eq!(
        at(root.get("b").unwrap()),
        (root.get("b").unwrap().place_at(9).line, root.get("b").unwrap().place_at(9).column)
    );
}

#[test]
fn anchors_and_merge_keys_fill_in_what_is_not_there() {
    let root =
        tree("base: &b {x: 1, y: 2}\nother: &o {y: 3, z: 4}\none: {<<: *b, y: 9}\ntwo: {<<: [*b, *o]}\n");
    let value = root.to_value();
    assert_eq!(value["one"], json!({"y": 9, "x": 1}));
    assert_eq!(value["two"], json!({"x": 1, "y": 2, "z": 4}));
}

#[test]
fn windows_line_ends_and_a_byte_order_mark_change_nothing() {
    let root = tree("\u{feff}a: 1\r\nb: two\r\n");
    assert_eq!(root.to_value(), json!({"a": 1, "b": "two"}));
    assert_eq!(at(root.get("b").unwrap()), (2, 4));
}
