use super::*;
use crate::plan::{Payload, ValueTemplate};
use serde_json::json;
use sonagi_measure::stamp;

pub(super) fn values(variables: Vec<(&str, Vec<Value>)>, payloads: Vec<Payload>, arrival: u64) -> Values {
    let variables = variables.into_iter().map(|(name, choices)| (name.to_owned(), choices)).collect();
    let plan = Plan { variables, payloads, ..Plan::empty() };
    let common = RunValues::new(Arc::new(plan), vec![("token".into(), json!("t-1"))], 7);
    Values::new(Rc::new(common), 3, arrival, fastrand::Rng::with_seed(1))
}

fn path(variable: &str, keys: Vec<Key>) -> Expression {
    Expression::Path { variable: variable.to_owned(), keys }
}

fn call(function: Function, arguments: &[i64]) -> Expression {
    let arguments = arguments.iter().map(|n| Expression::Constant(json!(n))).collect();
    Expression::Call { function, arguments }
}

fn text(values: &mut Values, hole: Expression) -> Result<String, Unfilled> {
    values
        .text(&Template { pieces: vec![Piece::Text("<".into()), Piece::Hole(hole), Piece::Text(">".into())] })
}

#[test]
fn a_users_own_value_hides_the_plans_and_that_a_rows_and_that_the_before_flows() {
    let row = |name: &str| Payload {
        fields: vec![name.into()],
        rows: vec![vec![json!("row")]],
        order: RowOrder::Random,
        all_as: None,
    };
    let token = |variables, payloads| {
        let mut values = values(variables, payloads, 0);
        let plain = text(&mut values, path("token", vec![])).unwrap();
        let mut seen = values.common.shared();
        seen.extend(values.all());
        assert_eq!(seen["token"], json!(plain.trim_matches(['<', '>'])), "functions see the same");
        plain
    };
    assert_eq!(token(vec![], vec![]), "<t-1>");
    assert_eq!(token(vec![], vec![row("token")]), "<row>");
    assert_eq!(token(vec![("token", vec![json!("plan")])], vec![row("token")]), "<plan>");
    let mut values = values(vec![("token", vec![json!("plan")])], vec![row("token")], 0);
    values.set("token", json!("mine"));
    assert_eq!(text(&mut values, path("token", vec![])).unwrap(), "<mine>");
}

/// Acquainted with a processor, as users are that have called a function.
fn acquainted(variables: Vec<(&str, Vec<Value>)>, payloads: Vec<Payload>) -> Values {
    Values { acquaintance: Some(Box::default()), ..values(variables, payloads, 0) }
}

#[test]
fn what_a_function_deletes_is_gone_whoever_had_set_it_until_it_is_set_again() {
    let row = Payload {
        fields: vec!["email".into()],
        rows: vec![vec![json!("a@x")]],
        order: RowOrder::Sequence,
        all_as: None,
    };
    let mut values = acquainted(vec![("word", vec![json!("plan")])], vec![row]);
    values.set("own", json!("mine"));
    for name in ["word", "email", "token", "own"] {
        assert!(values.is_set_and_true(name), "{name}");
        values.unset(name);
        assert!(!values.is_set_and_true(name), "{name}");
        assert!(text(&mut values, path(name, vec![])).is_err(), "{name}");
    }
    values.unset("word");
    values.set("word", json!("again"));
    assert_eq!(text(&mut values, path("word", vec![])).unwrap(), "<again>");
    values.unset("word");
    assert!(text(&mut values, path("word", vec![])).is_err());
}

#[test]
fn a_member_is_added_to_what_the_config_has_set_and_an_index_makes_a_list() {
    let user = json!({"name": "ada", "roles": ["a"]});
    let mut values = values(vec![("user", vec![user]), ("list", vec![json!(["x", "y"])])], vec![], 0);
    for (name, value) in [
        ("user.id", json!(7)),
        ("user.roles.2", json!("c")),
        ("list.0", json!("z")),
        ("made.0.id", json!(1)),
        ("made.0.7", json!(2)),
        ("list.size", json!(3)),
        ("made.2.99999", json!(4)),
        ("pet[id]", json!(5)),
        ("pet[tags][1].name", json!("x")),
    ] {
        values.set_at(name, value);
    }
    let user = json!({"name": "ada", "roles": ["a", null, "c"], "id": 7});
    assert_eq!(values.own_value("user"), Some(user));
    assert_eq!(values.own_value("list"), Some(json!({"size": 3})), "a list has no members of other names");
    assert_eq!(values.own_value("pet"), Some(json!({"id": 5, "tags": [null, {"name": "x"}]})));
    assert_eq!(values.own_value("made"), Some(json!([{"id": 1, "7": 2}, null, {"99999": 4}])));
}

#[test]
fn what_changed_since_the_last_call_is_noted_once() {
    let mut values = acquainted(vec![], vec![]);
    for turn in 0..100 {
        values.set("a", json!(turn));
        values.set("b", json!(turn));
    }
    let changed: Vec<_> = values.acquaintance.as_mut().unwrap().take_changed();
    assert_eq!(changed, ["a", "b"]);
}

fn turns(count: u64, element: Option<Value>) -> LoopValues {
    LoopValues { count, element: element.map(Box::new) }
}

#[test]
fn an_element_is_the_innermost_lists_by_name_and_by_path_and_what_a_function_makes_of_it() {
    let mut values = values(vec![], vec![], 0);
    let said = |values: &mut Values| {
        let whole = values.value(&call(Function::LoopElement, &[])).unwrap();
        let member = text(values, path("$loopElement", vec![Key::Name("id".into())])).ok();
        (whole["id"].clone(), member)
    };
    values.loops.push(turns(0, Some(json!({"id": "outer"}))));
    values.loops.push(turns(1, Some(json!({"id": "inner"}))));
    assert_eq!(said(&mut values), (json!("inner"), Some("<inner>".into())));
    values.loops.pop();
    assert_eq!(said(&mut values), (json!("outer"), Some("<outer>".into())), "an inner loop leaves nothing");
    values.loops.push(turns(4, None));
    assert_eq!(said(&mut values), (json!("outer"), Some("<outer>".into())), "a loop that counts has none");
    assert_eq!(values.innermost(), Some(turns(4, Some(json!({"id": "outer"})))));
    values.take_over("$loopElement", json!({"id": "changed"}));
    values.take_over("$loopCount", json!(9));
    assert_eq!(said(&mut values), (json!("changed"), Some("<changed>".into())));
    assert_eq!(values.loops, [turns(0, Some(json!({"id": "changed"}))), turns(9, None)]);
    values.loops.clear();
    assert_eq!(said(&mut values), (json!(null), None));
}

#[test]
fn a_key_may_be_worked_out_and_lists_and_texts_have_a_length() {
    let friends = json!([{"id": 4, "name": "é!"}, {"id": 5, "10": "ten"}]);
    let mut values = values(
        vec![("friends", vec![friends]), ("n", vec![json!("1")]), ("key", vec![json!("id")])],
        vec![],
        0,
    );
    let of = |name: &str| Key::Of(Box::new(path(name, vec![])));
    let name = |name: &str| Key::Name(name.to_owned());
    let mut at = |keys| text(&mut values, path("friends", keys)).unwrap();
    assert_eq!(at(vec![of("n"), of("key")]), "<5>");
    assert_eq!(at(vec![Key::Index(1), Key::Index(10)]), "<ten>");
    assert_eq!(at(vec![name("length")]), "<2>");
    assert_eq!(at(vec![Key::Index(0), name("name"), name("length")]), "<2>");
    assert!(text(&mut values, path("friends", vec![Key::Index(1), name("length")])).is_err());
}

/// The values of a user whose functions may set any variable.
fn lenient() -> Values {
    let plan = Plan { unset_fails: false, ..Plan::empty() };
    let common = RunValues::new(Arc::new(plan), vec![("token".into(), json!("t-1"))], 7);
    Values::new(Rc::new(common), 3, 0, fastrand::Rng::with_seed(1))
}

#[test]
fn what_nothing_can_set_is_undefined_and_any_other_variable_without_a_value_fails_its_user() {
    let plan = Plan { undefined: ["absent".to_owned()].into(), ..Plan::empty() };
    let common = RunValues::new(Arc::new(plan), Vec::new(), 7);
    let mut values = Values::new(Rc::new(common), 3, 0, fastrand::Rng::with_seed(1));
    assert_eq!(text(&mut values, path("absent", vec![])).unwrap(), "<undefined>");
    assert!(text(&mut values, path("captured", vec![])).is_err());
    let alone = |name: &str| Template { pieces: vec![Piece::Hole(path(name, vec![]))] };
    assert_eq!(values.given(&alone("absent")), Ok(None));
    assert!(values.given(&alone("captured")).is_err());
}

#[test]
fn where_nothing_need_be_set_a_text_says_undefined_and_an_object_leaves_it_out() {
    let mut values = lenient();
    assert_eq!(text(&mut values, path("none", vec![])).unwrap(), "<undefined>");
    assert_eq!(text(&mut values, path("token", vec![Key::Index(0)])).unwrap(), "<undefined>");
    assert_eq!(text(&mut values, path("token", vec![])).unwrap(), "<t-1>");
    let mut json = |written: Value| {
        let mut parse = |text: &str| {
            let hole = text.strip_prefix('$').map(|name| Piece::Hole(path(name, vec![])));
            Ok::<_, ()>(Template { pieces: vec![hole.unwrap_or_else(|| Piece::Text(text.to_owned()))] })
        };
        let json = values.json(&JsonTemplate::compile(&written, &mut parse).unwrap()).unwrap();
        let template = ValueTemplate::compile(&written, &mut parse).unwrap();
        let value = values.filled(&template).unwrap().map(Cow::into_owned);
        assert_eq!(value, serde_json::from_str(&json).ok(), "what is sent and what is compared are the same");
        json
    };
    let written = json!({"z": "$none", "a": {"b": "$none", "c": 1}, "l": ["$none", "$token"], "t": "$token"});
    assert_eq!(json(written), r#"{"a":{"c":1},"l":[null,"t-1"],"t":"t-1"}"#);
    assert_eq!(json(json!("$none")), "");
    assert_eq!(json(json!({"$token": "$none", "$token2": 1})), r#"{"undefined":1}"#);
}

#[test]
fn a_text_that_is_one_unset_variable_is_not_given() {
    let mut values = lenient();
    let hole = |name: &str| Piece::Hole(path(name, vec![]));
    let mut given = |pieces| values.given(&Template { pieces }).unwrap();
    assert_eq!(given(vec![hole("none")]), None);
    assert_eq!(given(vec![Piece::Text("Bearer ".into()), hole("none")]), Some("Bearer undefined".to_owned()));
    assert_eq!(given(vec![hole("token")]), Some("t-1".to_owned()));
}

#[test]
fn what_a_function_of_templates_gives_is_a_text_in_json() {
    let mut values = values(vec![("n", vec![json!(5)])], vec![], 0);
    let template = JsonTemplate::compile(&json!(["$n", "$r"]), &mut |text: &str| {
        let hole = if text == "$n" { path("n", vec![]) } else { call(Function::RandomNumber, &[7, 7]) };
        Ok::<_, ()>(Template { pieces: vec![Piece::Hole(hole)] })
    });
    assert_eq!(values.json(&template.unwrap()).unwrap(), r#"[5,"7"]"#);
}

#[test]
fn a_path_reaches_into_lists_and_objects_and_says_what_is_missing() {
    let mut values = values(vec![("friends", vec![json!([{"id": 4}])])], vec![], 0);
    let keys = |last: &str| vec![Key::Index(0), Key::Name(last.to_owned())];
    assert_eq!(text(&mut values, path("friends", keys("id"))).unwrap(), "<4>");
    let missing = text(&mut values, path("friends", keys("name"))).unwrap_err();
    assert_eq!(missing.0, "the variable `friends` has no value at `[0].name`");
    let absent = text(&mut values, path("frends", vec![])).unwrap_err();
    assert_eq!(absent.0, "the variable `frends` has no value for this user");
}

#[test]
fn users_take_rows_in_sequence_and_start_over_after_the_last() {
    let rows = vec![vec![json!("a@x")], vec![json!("b@x")]];
    let payload = Payload { fields: vec!["email".into()], rows, order: RowOrder::Sequence, all_as: None };
    let emails: Vec<String> = (0..3)
        .map(|arrival| {
            text(&mut values(vec![], vec![payload.clone()], arrival), path("email", vec![])).unwrap()
        })
        .collect();
    assert_eq!(emails, ["<a@x>", "<b@x>", "<a@x>"]);
    let all = Payload { all_as: Some("people".into()), ..payload };
    let second = path("people", vec![Key::Index(1), Key::Name("email".into())]);
    assert_eq!(text(&mut values(vec![], vec![all], 0), second).unwrap(), "<b@x>");
}

#[test]
fn json_keeps_a_holes_type_and_escapes_inside_strings() {
    let mut values = values(vec![("n", vec![json!(5)]), ("quote", vec![json!("say \"hi\"\n")])], vec![], 0);
    let holes = JsonTemplate {
        pieces: vec![
            JsonPiece::Raw("{\"n\":".into()),
            JsonPiece::Value(path("n", vec![])),
            JsonPiece::Raw(",\"text\":\"I ".into()),
            JsonPiece::InString(path("quote", vec![])),
            JsonPiece::Raw("\"}".into()),
        ],
    };
    assert_eq!(values.json(&holes).unwrap(), r#"{"n":5,"text":"I say \"hi\"\n"}"#);
}

#[test]
fn random_numbers_stay_in_their_inclusive_range_and_strings_have_their_length() {
    let mut values = values(vec![], vec![], 0);
    let mut seen = [false; 3];
    for _ in 0..200 {
        let number = values.value(&call(Function::RandomNumber, &[4, 6])).unwrap().as_i64().unwrap();
        seen[usize::try_from(number - 4).unwrap()] = true;
    }
    assert_eq!(seen, [true; 3]);
    let drawn = values.value(&call(Function::RandomString, &[12])).unwrap();
    assert_eq!(drawn.as_str().unwrap().len(), 12);
    assert!(drawn.as_str().unwrap().bytes().all(|byte| byte.is_ascii_alphanumeric()));
}

#[test]
fn a_division_gives_whole_numbers_and_what_is_left_and_refuses_a_divisor_of_nothing() {
    let mut values = values(vec![("none", vec![json!(0)])], vec![], 0);
    let mut divided = |function, a, b| values.value(&call(function, &[a, b])).unwrap().as_i64().unwrap();
    let users = [0, 9, 10, 9_999];
    assert_eq!(users.map(|user| divided(Function::Quotient, user, 10)), [0, 0, 1, 999]);
    assert_eq!(users.map(|user| divided(Function::Remainder, user, 10)), [0, 9, 0, 9]);
    let by_none = Expression::Call {
        function: Function::Quotient,
        arguments: vec![Expression::Constant(json!(7)), path("none", vec![])],
    };
    let refused = text(&mut values, by_none).unwrap_err();
    assert_eq!(refused.0, "a divisor is a whole number from 1 on, got 0");
}

#[test]
fn a_uuid_is_version_4_and_stays_the_users() {
    let mut values = values(vec![], vec![], 0);
    let first = values.value(&call(Function::Uuid, &[])).unwrap();
    assert_eq!(first, values.value(&call(Function::Uuid, &[])).unwrap());
    let text = first.as_str().unwrap();
    assert_eq!((text.len(), &text[14..15]), (36, "4"));
    assert!("89ab".contains(&text[19..20]), "{text}");
}

#[test]
fn one_message_has_one_stamp_and_the_next_has_the_next_number() {
    let mut values = values(vec![], vec![], 0);
    let twice = Template {
        pieces: vec![
            Piece::Hole(call(Function::Stamp, &[])),
            Piece::Text(" ".into()),
            Piece::Hole(call(Function::Stamp, &[])),
        ],
    };
    let unfilled = values.text(&twice).unwrap_err();
    assert_eq!(unfilled.0, "a stamped message needs a room, and this user has joined none");
    values.room = Some(sonagi_engine::delivery::Rooms::default().named("general"));
    let text = values.text(&twice).unwrap();
    let found: Vec<Stamp> = stamp::find(text.as_bytes()).collect();
    let drawn = values.take_stamp().unwrap();
    assert_eq!(found, [drawn, drawn]);
    assert_eq!((drawn.run, drawn.sender, drawn.number), (7, 3, 0));
    values.text(&twice).unwrap();
    assert_eq!(values.take_stamp().unwrap().number, 1);
}
