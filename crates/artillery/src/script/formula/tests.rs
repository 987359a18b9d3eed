use crate::plan::template::Key;
use serde_json::{Value as Json, json};
use sonagi_measure::expression::{Lookup, Value};

use super::*;

fn constants() -> Constants {
    Constants {
        environment: None,
        target: Some("http://t".to_owned()),
        test_id: String::new(),
        dirname: String::new(),
        script: String::new(),
        odd_names: Default::default(),
        fakes: None,
        env: |_| None,
        dotenv: Vec::new(),
    }
}

struct Known(Json);

impl Lookup<Expression> for Known {
    fn value(&mut self, expression: &Expression) -> Value {
        let found = match expression {
            Expression::Constant(value) => Some(value),
            Expression::Path { variable, keys } => self.0.get(variable).and_then(|value| {
                keys.iter().try_fold(value, |value, key| match key {
                    Key::Name(name) => value.get(name.as_str()),
                    Key::Index(index) => value.get(index),
                    Key::Of(_) => None,
                })
            }),
            other => panic!("{other:?} is no part of the table"),
        };
        found.cloned().map_or(Value::Undefined, Value::from)
    }

    fn random(&mut self) -> f64 {
        0.5
    }
}

fn evaluated(text: &str) -> String {
    let mut known =
        Known(json!({ "n": 5, "t": true, "f": false, "obj": { "name": "x", "inner": { "deep": "y" } } }));
    let parsed = parse(text, &constants(), &mut |_, _| {}).unwrap_or_else(|error| panic!("{text}: {error}"));
    parsed.formula.evaluate(&mut known).unwrap().to_string()
}

#[test]
fn names_in_conditions_are_variables_and_what_templates_know() {
    let rows = [
        ("n == 5", "1"),
        ("'n' + 1", "6"),
        ("t == true", "1"),
        ("f == false and not (t == false)", "1"),
        ("'true' == t", "0"),
        ("obj.name == \"x\"", "1"),
        ("obj.inner.deep", "\"y\""),
        ("target", "\"http://t\""),
    ];
    for (text, expected) in rows {
        assert_eq!(evaluated(text), *expected, "{text}");
    }
}

#[test]
fn a_condition_that_cannot_be_read_says_where_and_what_to_write() {
    let check = |text: &str, expected: &str| {
        let error = parse(text, &constants(), &mut |_, _| {}).err().expect(text);
        let hint = error.hint.map(|hint| format!(" | {hint}")).unwrap_or_default();
        assert_eq!(format!("{}: {}{hint}", error.offset, error.what), expected, "{text}");
    };
    check("n = 5", "2: `=` is not an operator | equality is written `==`");
    check(
        "é && b",
        "0: Artillery reads no name with other letters than a to z: `é` | write it in single quotes: 'é'",
    );
    check(
        "n + $randmString == 1",
        "4: there is no template function $randmString | did you mean {{ $randomString(10) }}?",
    );
}

#[test]
fn the_variables_of_a_condition_are_seen_with_their_places() {
    let mut seen = Vec::new();
    parse("a == \"é\" and (b.c in 'd e')", &constants(), &mut |name, at| seen.push((name.to_owned(), at)))
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(seen, [("a".to_owned(), 0), ("b".to_owned(), 14), ("d e".to_owned(), 21)]);
}
