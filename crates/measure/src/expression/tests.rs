use serde_json::{Value as Json, json};

use super::*;

/// The variables of the table.
fn variables() -> Json {
    json!({
        "n": 5, "zero": 0, "s": "abc", "num": "12", "t": true, "f": false, "nul": null, "empty": "", "a": 2, "b": 3,
        "list": ["a", "b"], "nums": [1, 2], "obj": { "name": "x", "n": 3, "inner": { "deep": "y" } }, "foo-bar": 7,
    })
}

/// The results of filtrex 2.2.3 for expressions with these variables; `filtrex.rs` of the binary's tests asks the
/// package itself.
const TABLE: &str = include_str!("tests/table.txt");

/// Names are variables; those with signs in them are known as a whole.
struct Variables(Json);

impl Resolve for Variables {
    type Name = String;

    fn resolve(&mut self, name: NameToken<'_>) -> Result<Expression<String>, SyntaxError> {
        match name.text {
            "refused" => Err(SyntaxError::new(name.offset, "refused", None)),
            name => Ok(Expression::Name(name.to_owned())),
        }
    }

    fn known(&self, rest: &[char]) -> Option<usize> {
        let rest: String = rest.iter().collect();
        let known = ["login time", "a/b", "a/b/c", "half"].into_iter();
        known.filter(|name| rest.starts_with(name)).map(str::len).max()
    }
}

impl Lookup<String> for Variables {
    fn value(&mut self, name: &String) -> Value {
        self.0.get(name).cloned().map_or(Value::Undefined, Value::from)
    }

    fn random(&mut self) -> f64 {
        0.5
    }
}

fn evaluated(text: &str) -> String {
    let mut variables = Variables(variables());
    match parse(text, &mut variables) {
        Ok(parsed) => match parsed.expression.evaluate(&mut variables) {
            Ok(value) => value.to_string(),
            Err(error) => error.to_string(),
        },
        Err(error) => format!("{}: {}", error.offset, error.what),
    }
}

#[test]
fn expressions_have_the_values_that_filtrex_gives_them() {
    let mut wrong = String::new();
    for (text, expected) in TABLE.trim().lines().map(|row| row.split_once(" => ").unwrap()) {
        let found = evaluated(text);
        if found != expected {
            wrong.push_str(&format!("{text}\n  got {found}, expected {expected}\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn signs_of_javascript_are_read_and_reported() {
    let foreign = |text: &str| {
        let foreign = parse(text, &mut Variables(variables())).unwrap().foreign;
        foreign.map(|foreign| (foreign.offset, foreign.written, foreign.means))
    };
    for (text, value, expected) in [
        ("n === 5", "1", (2, "===", "==")),
        ("n !== 5", "0", (2, "!==", "!=")),
        ("n && t", "1", (2, "&&", "and")),
        ("n || t", "5", (2, "||", "or")),
        ("!n", "0", (0, "!", "not")),
        ("!n == 3 || t", "1", (0, "!", "not")),
    ] {
        assert_eq!((evaluated(text).as_str(), foreign(text)), (value, Some(expected)), "{text}");
    }
    for text in ["s == \"&&\"", "n != 5", "not(n == 5)"] {
        assert_eq!(foreign(text), None, "{text}");
    }
}

#[test]
fn filtrex_cannot_read_these_and_they_mean_what_they_say() {
    for (text, value) in
        [("not(n == 5)", "0"), (".5 + 1.5e0", "2"), ("1e3 / 1E+2", "10"), ("größe == missing", "1")]
    {
        assert_eq!(evaluated(text), value, "{text}");
    }
}

#[test]
fn a_pattern_that_only_the_run_knows_and_is_none_is_an_error() {
    assert_eq!(evaluated("s ~= (\"(\" + s)"), "not a regular expression: `(abc`");
    assert_eq!(evaluated("s ~= (\"^\" + s)"), "1");
}

#[test]
fn a_name_that_is_known_as_a_whole_is_one_word_where_a_value_may_stand() {
    let names = |text: &str| {
        let parsed = parse(text, &mut Variables(variables())).unwrap();
        parsed.expression.names().into_iter().cloned().collect::<Vec<_>>()
    };
    assert_eq!(names("(login time) in (2, login time)"), ["login time", "login time"]);
    assert_eq!(names("a/b/c + a/b - a / b"), ["a/b/c", "a/b", "a", "b"]);
    assert_eq!(names("halfway"), ["halfway"]);
    assert_eq!(names("1 - half"), ["half"]);
}

#[test]
fn an_expression_that_cannot_be_read_says_where_and_what_to_write() {
    let check = |text: &str, expected: &str| {
        let error = parse(text, &mut Variables(variables())).expect_err(text);
        let hint = error.hint.map(|hint| format!(" | {hint}")).unwrap_or_default();
        assert_eq!(format!("{}: {}{hint}", error.offset, error.what), expected, "{text}");
    };
    let value = "expected a name, a number, a text in double quotes or `(`";
    let operator = "expected an operator (==, <, and, or, in, …) or the end";
    check("", &format!("0: {value}, but the expression ends here"));
    check("n ==", &format!("4: {value}, but the expression ends here"));
    check("n = 5", "2: `=` is not an operator | equality is written `==`");
    check("n & 5", "2: `&` is not an operator | write `and`");
    check("é # b", "2: `#` is not an operator");
    check("n 5", &format!("2: {operator}, got the number 5"));
    check("(n", "2: expected `)`, but the expression ends here");
    check("n ? 1", "5: expected `:`, but the expression ends here");
    check("n not 5", "6: expected `in`, got the number 5");
    check("sqr(4)", "0: there is no function \"sqr\" | did you mean sqrt(…)?");
    check(
        "exists(n)",
        "0: there is no function \"exists\" | the functions are abs, ceil, floor, log, max, min, random, round, sqrt",
    );
    check("s == \"a", "5: `\"` is not closed");
    check(
        "s == \"a\\n\"",
        "5: a backslash stands before a quote or a backslash | write `\\\\` for a backslash, `\\\"` for a quote",
    );
    check(
        "n == 2nd",
        "5: `2nd` is not a number | a name that begins with a digit is written in single quotes: '2nd'",
    );
    check("n < 250ms", "4: `250ms` is not a number | numbers have no unit; latencies are in milliseconds");
    check("s ~= \"(\"", "5: not a regular expression: unclosed group");
    check("n + refused", "4: refused");
    check(&"(".repeat(100), "64: the expression is nested deeper than 64");
    check(&format!("n{}", " + n".repeat(1000)), "2000: an expression has at most 1000 words");
}

#[test]
fn numbers_are_written_as_javascript_writes_them() {
    for (number, text) in [
        (0.0, "0"),
        (-0.0, "0"),
        (-2.5, "-2.5"),
        (1e-6, "0.000001"),
        (1.5e-9, "1.5e-9"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (0.1 + 0.2, "0.30000000000000004"),
        (f64::NAN, "NaN"),
        (f64::NEG_INFINITY, "-Infinity"),
    ] {
        assert_eq!(number_text(number), text);
    }
}
