use super::*;
use crate::plan::Payload;
use serde_json::json;
use sonagi_measure::stamp;

fn values(variables: Vec<(&str, Vec<Value>)>, payloads: Vec<Payload>, arrival: u64) -> Values {
    let variables = variables.into_iter().map(|(name, choices)| (name.to_owned(), choices)).collect();
    let plan = Plan { variables, payloads, ..Plan::empty() };
    let common = Common { plan: Arc::new(plan), before: vec![("token".into(), json!("t-1"))], run: 7 };
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
fn a_users_own_value_hides_the_before_flows_and_the_plans() {
    let mut values = values(vec![("token", vec![json!("plan")]), ("base", vec![json!(5)])], vec![], 0);
    assert_eq!(text(&mut values, path("token", vec![])).unwrap(), "<t-1>");
    values.set("token", json!("mine"));
    assert_eq!(text(&mut values, path("token", vec![])).unwrap(), "<mine>");
    assert_eq!(text(&mut values, path("base", vec![])).unwrap(), "<5>");
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
    values.room = Some(crate::rooms::Rooms::default().named("general"));
    let text = values.text(&twice).unwrap();
    let found: Vec<Stamp> = stamp::find(text.as_bytes()).collect();
    let drawn = values.take_stamp().unwrap();
    assert_eq!(found, [drawn, drawn]);
    assert_eq!((drawn.run, drawn.sender, drawn.number), (7, 3, 0));
    values.text(&twice).unwrap();
    assert_eq!(values.take_stamp().unwrap().number, 1);
}
