//! Expressions of `ensure`, `ifTrue` and `whileTrue` beside the npm package that Artillery takes them to.

use serde_json::{Value as Json, json};
use sonagi_measure::expression::{Expression, Lookup, NameToken, Resolve, SyntaxError, Value, parse};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// With what filtrex makes of each; the parser's own tests read it, too.
const TABLE: &str = include_str!("../../../measure/src/expression/tests/table.txt");

fn variables() -> Json {
    json!({
        "n": 5, "zero": 0, "s": "abc", "num": "12", "t": true, "f": false, "nul": null, "empty": "", "a": 2, "b": 3,
        "list": ["a", "b"], "nums": [1, 2], "obj": { "name": "x", "n": 3, "inner": { "deep": "y" } }, "foo-bar": 7,
    })
}

struct Variables(Json);

impl Resolve for Variables {
    type Name = String;

    fn resolve(&mut self, name: NameToken<'_>) -> Result<Expression<String>, SyntaxError> {
        Ok(Expression::Name(name.text.to_owned()))
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

fn ours(text: &str) -> String {
    let mut variables = Variables(variables());
    match parse(text, &mut variables) {
        Ok(parsed) => match parsed.expression.evaluate(&mut variables) {
            Ok(value) => value.to_string(),
            Err(_) => "error".to_owned(),
        },
        Err(_) => "unreadable".to_owned(),
    }
}

/// The package's own results, in the expressions' order.
fn theirs(expressions: &[String]) -> Vec<String> {
    let interop = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../interop");
    let package = interop.join("node_modules/filtrex");
    assert!(package.exists(), "{} is not there\nhint: make setup", package.display());
    let mut node = Command::new("node")
        .arg(interop.join("support/filtrex.mjs"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let asked = json!({ "variables": variables(), "expressions": expressions });
    node.stdin.take().unwrap().write_all(asked.to_string().as_bytes()).unwrap();
    let output = node.wait_with_output().unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

#[track_caller]
fn compare(expressions: &[String], expected: impl Fn(usize, &str) -> String) {
    let theirs = theirs(expressions);
    let differences: Vec<String> = (0..expressions.len())
        .filter_map(|at| {
            let (text, theirs) = (&expressions[at], &theirs[at]);
            let ours = expected(at, text);
            (ours != *theirs).then(|| format!("{text}\n  filtrex: {theirs}\n  sonagi:  {ours}"))
        })
        .collect();
    assert!(differences.is_empty(), "{} differ\n{}", differences.len(), differences.join("\n"));
}

#[test]
fn the_table_of_expressions_is_what_filtrex_says() {
    let rows: Vec<(&str, &str)> = TABLE.trim().lines().map(|row| row.split_once(" => ").unwrap()).collect();
    assert!(rows.len() > 200);
    let expressions: Vec<String> = rows.iter().map(|(text, _)| (*text).to_owned()).collect();
    compare(&expressions, |at, _| rows[at].1.to_owned());
}

#[test]
fn random_expressions_have_the_value_that_filtrex_gives_them() {
    for seed in 1..=4 {
        let mut random = fastrand::Rng::with_seed(seed);
        let expressions: Vec<String> = (0..2_000).map(|_| expression(&mut random, 4)).collect();
        compare(&expressions, |_, text| ours(text));
    }
}

/// An expression that filtrex cannot read is either read here as its author meant it, or refused.
#[test]
fn what_filtrex_cannot_read_is_refused_or_means_what_it_says() {
    let read =
        ["n === 5", "n !== 5", "n && t", "n || t", "!n", "not(n == 5)", ".5 < 1e3", "größe == missing"];
    let refused =
        ["n = 5", "n 5", "(n", "n ? 1", "n not 5", "n < 250ms", "s == \"a\\n\"", "n & t", "2nd", ""];
    let all: Vec<String> = read.into_iter().chain(refused).map(str::to_owned).collect();
    compare(&all, |_, _| "unreadable".to_owned());
    for text in read {
        assert_ne!(ours(text), "unreadable", "{text}");
    }
    for text in refused {
        assert_eq!(ours(text), "unreadable", "{text}");
    }
}

/// An expression nested at most this deep. Named lists and objects stand only where members are taken of them: each is
/// equal to itself in JavaScript, and to nothing here.
fn expression(random: &mut fastrand::Rng, depth: usize) -> String {
    const BINARY: [&str; 18] = [
        "or", "and", "in", "not in", "==", "!=", "~=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "==",
        "and",
    ];
    if depth == 0 || random.u8(..6) == 0 {
        return leaf(random);
    }
    let mut inner = || expression(random, depth - 1);
    let (a, b, c) = (inner(), inner(), inner());
    match random.u8(..20) {
        0 => format!("not {a}"),
        1 => format!("- {a}"),
        2 => format!("({a})"),
        3 => format!("({a}, {b})"),
        4 => format!("{a} ? {b} : {c}"),
        // Small numbers only: V8's powers of others may end in another digit than ours.
        5 => format!("{} ^ {}", random.choice(["2", "n", "0.5", "missing"]).unwrap_or("2"), random.u8(..4)),
        6 => format!("length of ({a}, {b})"),
        7 => format!("'1' of {a}"),
        8 => {
            let routine = random.choice(["abs", "ceil", "floor", "round", "max", "min"]).unwrap_or("abs");
            format!("{routine}({a})")
        }
        9 => format!("max({a}, {b}, {c})"),
        10 => format!("({a}) {} ({b})", random.choice(BINARY).unwrap_or("or")),
        _ => format!("{a} {} {b}", random.choice(BINARY).unwrap_or("or")),
    }
}

fn leaf(random: &mut fastrand::Rng) -> String {
    const LEAVES: [&str; 27] = [
        "0",
        "1",
        "2",
        "3",
        "0.5",
        "2.5",
        "10",
        "1000000000000",
        "n",
        "zero",
        "s",
        "num",
        "t",
        "f",
        "nul",
        "empty",
        "missing",
        "a",
        "b",
        "'foo-bar'",
        "\"abc\"",
        "\"10\"",
        "\" 12 \"",
        "\"é\"",
        "name of obj",
        "length of list",
        "deep of inner of obj",
    ];
    random.choice(LEAVES).unwrap_or("n").to_owned()
}
