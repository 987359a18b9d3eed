use super::*;

#[test]
fn a_metric_asked_for_again_is_the_same_one_and_must_count_the_same() {
    let registry = Registry::default();
    let first = registry.add("aa", Kind::Trend, Unit::Number).unwrap();
    assert_eq!(registry.add("aa", Kind::Trend, Unit::Number), Ok(first));
    let other = registry.add("aa", Kind::Counter, Unit::Number).unwrap_err();
    assert_eq!(other.to_string(), "metric 'aa' already exists, as a trend, and cannot be a counter as well");
    let other = registry.add("aa", Kind::Trend, Unit::Bytes).unwrap_err();
    let (exists, wanted) = (Unit::Number, Unit::Bytes);
    assert_eq!(other, Conflict::Unit { name: "aa".to_owned(), exists, wanted });
}

#[test]
fn a_run_has_a_limited_number_of_metrics() {
    let registry = Registry::default();
    for n in 0..METRICS_MAX {
        registry.add(&n.to_string(), Kind::Counter, Unit::Number).unwrap();
    }
    let refused = registry.add("one more", Kind::Counter, Unit::Number);
    assert_eq!(refused, Err(Conflict::TooMany("one more".to_owned())));
    assert!(registry.add("7", Kind::Counter, Unit::Number).is_ok(), "it is known");
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
