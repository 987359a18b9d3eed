use super::*;
use serde_json::json;

fn constants() -> Constants {
    Constants {
        environment: Some("staging".into()),
        target: Some("http://t".into()),
        test_id: "t1".into(),
        dirname: "/scripts".into(),
        script: "/scripts/s.yml".into(),
        odd_names: Default::default(),
        fakes: None,
        env: |name| (name == "PORT").then(|| "8080".to_owned()),
        dotenv: Vec::new(),
    }
}

fn compiled(text: &str) -> Result<Template, Vec<Fault>> {
    parse(text, &constants(), &mut |_, _| {})
}

fn one(text: &str) -> Expression {
    match compiled(text).unwrap().pieces.as_slice() {
        [Piece::Hole(hole)] => hole.clone(),
        pieces => panic!("{text}: {pieces:?}"),
    }
}

fn path(variable: &str, keys: &[Key]) -> Expression {
    Expression::Path { variable: variable.into(), keys: keys.to_vec() }
}

#[test]
fn a_path_reaches_into_a_variable() {
    let (name, index) = (|text: &str| Key::Name(text.into()), Key::Index);
    assert_eq!(one("{{ token }}"), path("token", &[]));
    assert_eq!(one("{{token}}"), path("token", &[]));
    assert_eq!(one("{{ friends[0].id }}"), path("friends", &[index(0), name("id")]));
    assert_eq!(one("{{ a.0.b }}"), path("a", &[index(0), name("b")]));
    assert_eq!(one("{{ a['first name'][\"x\"] }}"), path("a", &[name("first name"), name("x")]));
    assert_eq!(one("{{ 이름.값 }}"), path("이름", &[name("값")]));
    assert_eq!(one("{{ access-token }}"), path("access-token", &[]));
    assert_eq!(one("{{ $loopElement.id }}"), path("$loopElement", &[name("id")]));
}

#[test]
fn a_key_in_braces_is_worked_out_and_three_braces_are_as_good_as_two() {
    let of = |inner: Expression| Key::Of(Box::new(inner));
    let count = Expression::Call { function: Function::LoopCount, arguments: vec![] };
    assert_eq!(one("{{ rows[{{ $loopCount }}].id }}"), path("rows", &[of(count), Key::Name("id".into())]));
    assert_eq!(one("{{ a[{{ b[{{ c }}] }}] }}"), path("a", &[of(path("b", &[of(path("c", &[]))]))]));
    assert_eq!(one("{{{ token }}}"), path("token", &[]));
    let pieces = compiled("{\"a\":{{ b }}}").unwrap().pieces;
    let text = |text: &str| Piece::Text(text.into());
    assert_eq!(pieces, [text("{\"a\":"), Piece::Hole(path("b", &[])), text("}")]);
}

#[test]
fn made_up_data_is_known_by_both_its_names_where_the_script_has_it() {
    let with = Constants { fakes: Some(Fakes::default()), ..constants() };
    let hole = |text: &str| match parse(text, &with, &mut |_, _| {}).unwrap().pieces.as_slice() {
        [Piece::Hole(hole)] => hole.clone(),
        pieces => panic!("{text}: {pieces:?}"),
    };
    assert_eq!(hole("{{ $personFullName() }}"), hole("{{ $randFullName( ) }}"));
    let unknown = parse("{{ $animalCat() }}", &with, &mut |_, _| {}).unwrap_err();
    assert_eq!(unknown[0].what, "there is no template function $animalCat");
    assert!(unknown[0].hint.as_ref().unwrap().starts_with("fake-data here has $personFirstName, "));
    let argument = parse("{{ $numberInt(5) }}", &with, &mut |_, _| {}).unwrap_err();
    assert_eq!(argument[0].what, "$numberInt takes no arguments here");
}

#[test]
fn a_variable_may_be_called_what_looks_like_something_else() {
    let mut known = constants();
    for name in ["user.name", "first name", "$i", "plain"] {
        known.note(name);
    }
    let hole = |constants: &Constants, text: &str| {
        let mut seen = Vec::new();
        let parsed = parse(text, constants, &mut |name, _| seen.push(name.to_owned()));
        let hole = parsed.map_err(|mut faults| faults.remove(0))?.pieces.into_iter().next();
        let Some(Piece::Hole(hole)) = hole else { panic!("{text}") };
        Ok::<_, Fault>((hole, seen))
    };
    for name in ["user.name", "first name", "$i"] {
        assert_eq!(hole(&known, &format!("{{{{ {name} }}}}")), Ok((path(name, &[]), vec![name.to_owned()])));
    }
    assert_eq!(hole(&known, "{{ $i.id }}").unwrap().0, path("$i", &[Key::Name("id".into())]));
    assert_eq!(hole(&known, "{{ user.id }}").unwrap().0, path("user", &[Key::Name("id".into())]));
    assert_eq!(hole(&known, "{{ $token }}").unwrap().0, path("$token", &[]));
    assert!(hole(&known, "{{ $uid }}").is_err(), "$uuid is meant");
    assert!(hole(&known, "{{ $env }}").is_err());
}

#[test]
fn a_text_that_calls_what_is_no_function_is_that_call_alone() {
    let call = |text: &str| {
        let mut seen = Vec::new();
        let parsed = parse(text, &constants(), &mut |name, at| seen.push((name.to_owned(), at)));
        (parsed.unwrap().pieces, seen)
    };
    let alone = vec![Piece::Hole(path("$randomInt(1, 9)", &[]))];
    let (pieces, seen) = call("a {{ x }} b {{ $randomInt(1, 9) }} c");
    assert_eq!(pieces, alone);
    assert_eq!(seen, [("x".to_owned(), 5), ("$randomInt(1, 9)".to_owned(), 15)]);
    let (pieces, _) = call("a {{ $timestamp }}");
    assert_eq!(pieces, [Piece::Text("a ".into()), Piece::Hole(path("$timestamp", &[]))]);
}

#[test]
fn what_is_random_is_drawn_once_where_there_are_no_users() {
    let number = |value: i64| Expression::Constant(json!(value));
    for _ in 0..50 {
        let drawn = drawn(Function::RandomNumber, &[number(-2), number(2)]).unwrap();
        assert!((-2..=2).contains(&drawn.parse::<i64>().unwrap()), "{drawn}");
    }
    assert_eq!(drawn(Function::RandomString, &[]).unwrap().len(), 10);
    assert_eq!(drawn(Function::RandomString, &[number(3)]).unwrap().len(), 3);
    assert_eq!(drawn(Function::RandomString, &[path("n", &[])]), None);
    assert_eq!(drawn(Function::User, &[]), None);
}

#[test]
fn a_function_has_constants_or_variables_as_arguments() {
    let call = |function, arguments: Vec<Expression>| Expression::Call { function, arguments };
    let number = |number: i64| Expression::Constant(json!(number));
    assert_eq!(one("{{ $randomNumber(1, 9) }}"), call(Function::RandomNumber, vec![number(1), number(9)]));
    assert_eq!(
        one("{{ $randomNumber( -5 , limit ) }}"),
        call(Function::RandomNumber, vec![number(-5), path("limit", &[])])
    );
    assert_eq!(one("{{ $randomString() }}"), call(Function::RandomString, vec![]));
    assert_eq!(one("{{ $randomString('4') }}"), call(Function::RandomString, vec![number(4)]));
    for (text, function) in [
        ("$uuid", Function::Uuid),
        ("$uuid()", Function::Uuid),
        ("$stamp", Function::Stamp),
        ("$now", Function::Now),
        ("$user", Function::User),
        ("$cursor", Function::Cursor),
        ("$loopCount", Function::LoopCount),
        ("$loopElement", Function::LoopElement),
    ] {
        assert_eq!(one(&format!("{{{{ {text} }}}}")), call(function, vec![]), "{text}");
    }
}

#[test]
fn users_are_grouped_by_a_division_and_a_divisor_of_nothing_is_refused() {
    let user = Expression::Call { function: Function::User, arguments: vec![] };
    let ten = Expression::Constant(json!(10));
    let call = |function| Expression::Call { function, arguments: vec![user.clone(), ten.clone()] };
    assert_eq!(one("{{ $quotient($user, 10) }}"), call(Function::Quotient));
    assert_eq!(one("{{ $remainder($user, 10) }}"), call(Function::Remainder));
    let refused = |text: &str| compiled(text).unwrap_err().remove(0);
    assert_eq!(refused("{{ $remainder($user, 0) }}").what, "$remainder wants a divisor from 1 on; got 0");
    for (text, instead) in [("{{ $user / 10 }}", "$quotient($user"), ("{{ $user % 10 }}", "$remainder($user")]
    {
        assert!(refused(text).hint.unwrap().contains(instead), "{text}");
    }
}

#[test]
fn what_is_known_before_the_run_is_filled_in() {
    let check =
        |text, expected: &str| assert_eq!(compiled(text).unwrap(), Template::constant(expected), "{text}");
    check("{{ target }}/x", "http://t/x");
    check("{{ $env.PORT }}", "8080");
    check("{{ $processEnvironment.PORT }}", "8080");
    check("{{ $environment }}-{{ $testId }}-{{ $dirname }}", "staging-t1-/scripts");
    check("no } holes { here }}", "no } holes { here }}");
}

#[test]
fn text_and_holes_alternate() {
    let template = compiled("a{{ b }}c{{ d }}").unwrap();
    let hole = |name| Piece::Hole(path(name, &[]));
    assert_eq!(template.pieces, [Piece::Text("a".into()), hole("b"), Piece::Text("c".into()), hole("d")]);
    assert_eq!(compiled("").unwrap(), Template::default());
}

#[test]
fn variables_are_heard_of_with_their_place_in_characters() {
    let mut seen = Vec::new();
    parse("é{{ a }} {{b.c}} {{ $loopCount }}", &constants(), &mut |name, at| {
        seen.push((name.to_owned(), at));
    })
    .unwrap();
    assert_eq!(seen, [("a".into(), 4), ("b".into(), 11), ("$loopCount".into(), 20)]);
}

#[test]
fn every_hole_is_judged_and_a_bad_one_does_not_hide_the_variables_of_others() {
    let mut seen = Vec::new();
    let faults = parse("{{ a + 1 }}{{ b }}{{ $uid  }} {{ c", &constants(), &mut |name, at| {
        seen.push((name.to_owned(), at));
    })
    .unwrap_err();
    assert_eq!(faults.iter().map(|fault| fault.offset).collect::<Vec<_>>(), [3, 21, 30]);
    assert_eq!(seen, [("b".into(), 14)]);
}

#[test]
fn no_text_makes_it_panic() {
    let pieces = [
        "{{",
        "}}",
        "'",
        "\"",
        "$",
        "(",
        ")",
        "[",
        "]",
        ".",
        ",",
        "é",
        "a",
        " ",
        "||",
        "-",
        "1",
        "$env.",
        "$randomNumber(",
    ];
    let mut rng = 0x9e37_79b9_u32;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..8 {
            rng = rng.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            text.push_str(pieces[(rng >> 8) as usize % pieces.len()]);
        }
        for fault in compiled(&text).err().unwrap_or_default() {
            assert!(fault.offset <= text.chars().count(), "{text}: {fault:?}");
        }
    }
}
