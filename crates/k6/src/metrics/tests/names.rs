use super::*;

#[test]
fn a_metrics_name_is_two_to_129_ascii_letters_digits_and_underscores_and_begins_with_no_digit() {
    let registry = Registry::new();
    for name in ["aa", "_9", "A_b", &"a".repeat(129)] {
        assert!(registry.add(name, Kind::Counter, Contains::Default).is_ok(), "{name}");
    }
    for name in ["", "a", "9a", "a-b", "ä1", "a b", &"a".repeat(130)] {
        let refused = registry.add(name, Kind::Counter, Contains::Default);
        assert_eq!(refused, Err(Refused::Name(name.to_owned())));
    }
}

#[test]
fn a_metric_asked_for_again_is_the_same_one_and_must_count_the_same() {
    let registry = Registry::new();
    let first = registry.add("aa", Kind::Trend, Contains::Default).unwrap();
    assert_eq!(registry.add("aa", Kind::Trend, Contains::Default), Ok(first));
    assert_eq!(registry.add("http_reqs", Kind::Counter, Contains::Default), Ok(builtin::HTTP_REQS));
    let other = registry.add("aa", Kind::Counter, Contains::Default).unwrap_err();
    assert_eq!(other.to_string(), "metric 'aa' already exists, as a trend, and cannot be a counter as well");
    let other = registry.add("aa", Kind::Trend, Contains::Time).unwrap_err();
    assert_eq!(
        other.to_string(),
        "metric 'aa' already exists, with values of type default, and cannot have values of type time"
    );
}

#[test]
fn built_in_metrics_stand_at_their_numbers() {
    let registry = Registry::new();
    for (id, name) in [
        (builtin::VUS, "vus"),
        (builtin::CHECKS, "checks"),
        (builtin::HTTP_REQ_DURATION, "http_req_duration"),
        (builtin::WS_PING, "ws_ping"),
        (builtin::DATA_RECEIVED, "data_received"),
    ] {
        assert_eq!(registry.get(name), Some(id), "{name}");
        assert_eq!(&*registry.metric(id).name, name);
    }
    assert_eq!(registry.metrics().len(), 25);
}

#[test]
fn a_part_of_a_metric_is_named_by_tags_in_braces() {
    let registry = registry();
    let tags = |name: &str| {
        let place = registry.submetric(name).map_err(|why| why.to_string())?;
        let one = &registry.submetrics()[place];
        Ok::<_, String>(format!("{} {:?}", one.name, one.tags))
    };
    assert_eq!(tags("tt{a:b}").unwrap(), r#"tt{a:b} [("a", "b")]"#);
    assert_eq!(tags("tt{ a : b }").unwrap(), r#"tt{a:b} [("a", "b")]"#, "the same one");
    assert_eq!(tags("tt{a:b:c}").unwrap(), r#"tt{a:b:c} [("a", "b:c")]"#);
    assert_eq!(tags(r#"tt{"x":'y z', w:v}"#).unwrap(), r#"tt{"x":'y z', w:v} [("x", "y z"), ("w", "v")]"#);
    assert_eq!(tags("tt{w:v,x:y z}").unwrap(), r#"tt{"x":'y z', w:v} [("x", "y z"), ("w", "v")]"#);
    assert_eq!(registry.submetrics()[0].name.as_ref(), builtin::EXPECTED_DURATION);
    for (name, why) in [
        ("nope{a:b}", r#"there is no metric named "nope{a:b}""#),
        ("{a:b}", r#"there is no metric named "{a:b}""#),
        ("tt{", r#""tt{" has one curly brace without the other"#),
        ("tt{a:b}x", r#""tt{a:b}x" does not end with its closing curly brace"#),
        ("tt{}", r#""" in "tt{}" is no tag: write name:value, with commas between"#),
        ("tt{a}", r#""a" in "tt{a}" is no tag: write name:value, with commas between"#),
        ("tt{a:b,}", r#""" in "tt{a:b,}" is no tag: write name:value, with commas between"#),
        ("tt{a:}", r#""a:" in "tt{a:}" is no tag: write name:value, with commas between"#),
    ] {
        assert_eq!(tags(name).unwrap_err(), why);
    }
}
