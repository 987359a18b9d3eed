use crate::plan::formula::Lookup;
use crate::plan::template::Key;
use serde_json::{Value, json};

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

struct Known(Value);

impl Lookup for Known {
    fn value(&mut self, expression: &Expression) -> Option<Value> {
        match expression {
            Expression::Constant(value) => Some(value.clone()),
            Expression::Path { variable, keys } => {
                let found = keys.iter().try_fold(self.0.get(variable)?, |value, key| match key {
                    Key::Name(name) => value.get(name.as_str()),
                    Key::Index(index) => value.get(index),
                    Key::Of(_) => None,
                });
                found.cloned()
            }
            other => panic!("{other:?} is no part of the table"),
        }
    }

    fn random(&mut self) -> f64 {
        0.5
    }
}

fn worth(text: &str) -> String {
    let mut known = Known(json!({
        "n": 5, "zero": 0, "s": "abc", "num": "12", "t": true, "f": false, "nul": null, "empty": "",
        "list": ["a", "b"], "nums": [1, 2], "obj": { "name": "x", "n": 3, "inner": { "deep": "y" } }, "foo-bar": 7,
    }));
    match parse(text, &constants(), &mut |_, _| {}) {
        Ok(parsed) => {
            parsed.formula.worth(&mut known).map_or("nothing".to_owned(), |worth| worth.to_string())
        }
        Err(fault) => format!("{}: {}", fault.offset, fault.what),
    }
}

/// What filtrex 2.2.3, which Artillery 2.0.34 takes conditions to, makes of them with these variables.
const TABLE: &str = r##"
n == 5 => 1
n == "5" => 1
n != 5 => 0
n != "6" => 1
s == "abc" => 1
s == "ABC" => 0
s != "abc" => 0
n < 6 => 1
n <= 5 => 1
n > 5 => 0
n >= 5 => 1
num > 5 => 1
num > n => 1
s > "abb" => 1
s < "abd" => 1
"10" < "9" => 1
10 < "9" => 0
s < 5 => 0
t => true
f => false
t == 1 => 1
t == "1" => 1
t == "true" => 0
f == 0 => 1
f == "" => 1
nul == 0 => 0
nul == missing => 1
missing => undefined
missing == missing => 1
missing != "x" => 1
missing < 5 => 0
not missing => 1
not t => 0
not s => 0
not empty => 1
not n == 1 => 0
not n == 0 => 1
not (n == 5) => 0
n == 5 and t => 1
n == 5 and f => 0
n == 4 or t => 1
s and t => 1
t and s => NaN
s and empty => 0
s or t => NaN
zero or num => 12
zero or s => NaN
missing or zero => 0
nul and n => 0
n == 4 or n == 5 and s == "x" => 0
(n == 4 or n == 5) and s == "abc" => 1
not f and t => 1
n + 2 => 7
n + num => "512"
num + n => "125"
s + n => "abc5"
s + t => "abctrue"
n + t => 6
n + nul => 5
n + missing => NaN
num - 2 => 10
num * "2" => 24
n / 2 => 2.5
n / 0 => Infinity
-n / 0 => -Infinity
0 / 0 => NaN
n % 3 => 2
-n % 3 => -2
n % 0 => NaN
2 ^ 10 => 1024
2 ^ 3 ^ 2 => 64
-2 ^ 2 => 4
2 * 3 + 4 * 5 => 26
2 + 3 * 4 ^ 2 => 50
10 - 4 - 3 => 3
100 / 10 / 2 => 5
- - n => 5
-s => NaN
n > 3 ? "big" : "small" => "big"
n > 9 ? "big" : "small" => "small"
n > 9 ? 1 : n > 3 ? 2 : 3 => 2
n > 3 ? n > 4 ? 1 : 2 : 3 => 1
s in ("abc", "def") => 1
s in ("x", "y") => 0
s not in ("abc", "def") => 0
s not in ("x", "y") => 1
s in ("abc") => 1
n in (1, 5) => 1
n in ("5", "6") => 0
num in ("12") => 1
list in ("a", "b", "c") => 1
list in ("a") => 0
"a" in list => 1
("a", "b") in list => 1
("a", "c") in list => 0
("a", "c") not in list => 1
t in (1, 2) => 0
missing in (1, 2) => 0
missing in (nul, missing) => 1
nums in (1, 2, 3) => 1
n in (1, 2) or t => 1
n == 5 in (1, 2) => 1
n in (1, 2) == 0 => 0
n + 1 not in (6, 7) => 6
s ~= "^a" => 1
s ~= "^b" => 0
s ~= "A" => 0
n ~= "^[0-9]+$" => 1
missing ~= "undef" => 1
s ~= missing => 1
num ~= "1" and t => 1
name of obj => "x"
n of obj => 3
deep of inner of obj => "y"
missing of obj => undefined
name of missing => undefined
length of s => 3
length of list => 2
'1' of list => "b"
'0' of s => "a"
'foo-bar' => 7
'foo-bar' + 1 => 8
'foo-bar' == 7 => 1
'it\'s' == missing => 1
"say \"hi\"" => "say \"hi\""
abs(-3) => 3
abs(n - 9) => 4
ceil(1.2) => 2
floor(1.8) => 1
round(2.5) => 3
round(-2.5) => -2
round(1.4) => 1
sqrt(16) => 4
sqrt(-1) => NaN
log(1) => 0
max(1, n, 3) => 5
min(4, n, "3") => 3
max() => -Infinity
min() => Infinity
max(1, s) => NaN
abs(s) => NaN
abs(missing) => NaN
abs(num) => 12
abs(nul) => 0
random() < 1 => 1
random() >= 0 => 1
floor(random() * 1) => 0
obj => {"name":"x","n":3,"inner":{"deep":"y"}}
list => ["a","b"]
list == "a,b" => 1
nums == "1,2" => 1
obj == "[object Object]" => 1
list + 1 => "a,b1"
obj + 1 => "[object Object]1"
1.5 + 1.5 => 3
0.1 + 0.2 => 0.30000000000000004
1 / 3 => 0.3333333333333333
123456789 * 1000 => 123456789000
"a" < "B" => 0
"Z" < "a" => 1
empty == 0 => 1
empty == f => 1
"0" == f => 1
" 12 " == 12 => 1
"1e3" == 1000 => 1
"0x10" == 16 => 1
nul >= 0 => 1
nul > 0 => 0
t + t => 2
t > f => 1
list > "a" => 1
n==5 => 1
n>=5 and n<=5 => 1
n  ==   5 => 1
(((n))) => 5
length of (1, 2, 3) => 3
(1, 2) => [1,2]
1 == 1 == 1 => 1
3 > 2 > 1 => 0
1 < 2 == 1 => 1
1 + 2 == 3 => 1
-1 + 2 => 1
not 0 + 1 => 2
not n + 1 => 1
10 % 4 * 2 => 4
"##;

#[test]
fn conditions_are_worth_what_they_are_to_artillery() {
    let mut wrong = String::new();
    let rows = TABLE.trim().lines().map(|row| row.split_once(" => ").unwrap());
    for (text, expected) in rows {
        let found = worth(text);
        if found != expected {
            wrong.push_str(&format!("{text}\n  got {found}, expected {expected}\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn what_artillery_does_not_have_does_what_it_says() {
    let rows = [
        ("t == true", "1"),
        ("f == false and not (t == false)", "1"),
        ("obj.name == \"x\"", "1"),
        ("obj.inner.deep", "\"y\""),
        ("target", "\"http://t\""),
        ("not(n == 5)", "0"),
    ];
    for (text, expected) in rows {
        assert_eq!(worth(text), *expected, "{text}");
    }
}

#[test]
fn a_pattern_that_only_a_user_knows_and_is_none_cannot_be_worked_out() {
    assert_eq!(worth("s ~= (\"(\" + s)"), "nothing");
    assert_eq!(worth("s ~= (\"^\" + s)"), "1");
}

#[test]
fn signs_of_javascript_are_read_and_told() {
    for (text, told) in
        [("n === 5", "=== =="), ("n !== 5", "!== !="), ("n && t", "&& and"), ("n || t", "|| or")]
    {
        let Ok(Parsed { javascript: Some(found), .. }) = parse(text, &constants(), &mut |_, _| {}) else {
            panic!("{text}");
        };
        assert_eq!(
            (found.offset, format!("{} {}", found.theirs, found.ours)),
            (2, told.to_owned()),
            "{text}"
        );
    }
    assert!(
        parse("s == \"&&\"", &constants(), &mut |_, _| {}).is_ok_and(|parsed| parsed.javascript.is_none())
    );
}

#[test]
fn a_condition_that_cannot_be_read_says_where_and_what_to_write() {
    let check = |text: &str, expected: &str| {
        let fault = parse(text, &constants(), &mut |_, _| {}).err().expect(text);
        let hint = fault.hint.map(|hint| format!(" | {hint}")).unwrap_or_default();
        assert_eq!(format!("{}: {}{hint}", fault.offset, fault.what), expected, "{text}");
    };
    let value = "a variable, a number, a text in double quotes or `(`";
    let operator = "an operator (==, <, and, or, in, …) or the end";
    check("", &format!("0: a condition wants {value} here; got its end"));
    check("n ==", &format!("4: a condition wants {value} here; got its end"));
    check("n = 5", "2: conditions have no `=` | write `==`");
    check("é && b", "0: conditions have no `é`");
    check("!n", "0: conditions have no `!` | write `not`");
    check("n 5", &format!("2: a condition wants {operator} here; got the number 5"));
    check("(n", "2: a condition wants `)` here; got its end");
    check("n ? 1", "5: a condition wants `:` here; got its end");
    check("n not 5", "6: a condition wants `in` here; got the number 5");
    check("sqr(4)", "0: conditions have no function \"sqr\" | did you mean sqrt(…)?");
    check(
        "exists(n)",
        "0: conditions have no function \"exists\" | conditions know abs, ceil, floor, log, max, min, random, round, sqrt",
    );
    check("s == \"a", "5: `\"` is not closed");
    check(
        "s == \"a\\n\"",
        "5: a backslash that stands for nothing | write `\\\\` for a backslash, `\\\"` for a quote",
    );
    check(
        "n == 2nd",
        "5: `2n…` is neither a number nor a name | a name with a digit or another sign in front is written in single quotes: '2nd'",
    );
    check("s ~= \"(\"", "5: not a regular expression: unclosed group");
    check(
        "$randmString == 1",
        "0: there is no template function $randmString | did you mean {{ $randomString(10) }}?",
    );
}

#[test]
fn the_variables_of_a_condition_are_seen_with_their_places() {
    let mut seen = Vec::new();
    parse("a == \"é\" and (b.c in 'd e')", &constants(), &mut |name, at| seen.push((name.to_owned(), at)))
        .unwrap_or_else(|fault| panic!("{fault:?}"));
    assert_eq!(seen, [("a".to_owned(), 0), ("b".to_owned(), 14), ("d e".to_owned(), 21)]);
}
