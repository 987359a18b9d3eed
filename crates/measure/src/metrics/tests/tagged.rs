use super::*;
use crate::metrics::tags::KEPT;
use std::rc::Rc;

#[test]
fn the_same_tags_are_the_same_set_in_whatever_order_they_come() {
    let sampler = sampler(&registry());
    let tags = sampler.tags();
    let one = tags.with("a", "1").with("b", "2");
    let other = tags.with_all(&[("b", "2"), ("a", "0"), ("a", "1")]);
    assert!(Rc::ptr_eq(&one.node, &other.node));
    assert!(Rc::ptr_eq(&one.without("b").node, &tags.with("a", "1").node));
    assert!(Rc::ptr_eq(&one.with("a", "9").with("a", "1").node, &one.node));
    assert!(!Rc::ptr_eq(&one.node, &tags.with_all(&[("a", "2"), ("b", "1")]).node));
    assert_eq!(one.set().iter().collect::<Vec<_>>(), [("a", "1"), ("b", "2")]);
    assert_eq!(one.with("a", "9").get("a"), Some("9"));
}

#[test]
fn of_automatic_tags_only_those_the_test_wants_are_set() {
    let wanted = AutomaticTags::default().and(Automatic::Url).and(Automatic::User);
    let sampler = Sampler::new(registry(), series_tags, wanted, false);
    let tags = sampler.tags().with_automatic(&[
        (Automatic::Url, "http://x"),
        (Automatic::Method, "GET"),
        (Automatic::User, "7"),
    ]);
    assert_eq!(tags.set().iter().collect::<Vec<_>>(), [("url", "http://x")]);
    assert!(tags.wants(Automatic::User) && !tags.wants(Automatic::Method));
}

#[test]
fn sets_nobody_holds_are_dropped() {
    let sampler = sampler(&registry());
    let held: Vec<Tags> = (0..10).map(|n| sampler.tags().with("held", &n.to_string())).collect();
    for n in 0..3 * KEPT {
        sampler.tags().with("url", &n.to_string());
    }
    assert!(held[0].node.interner_count() <= KEPT + 1);
    assert!(Rc::ptr_eq(&held[3].node, &sampler.tags().with("held", "3").node));
}

#[test]
fn a_sample_counts_in_its_metric_and_in_every_part_whose_tags_it_has() {
    let registry = registry();
    let mut store = MetricStore::new(registry.clone());
    for name in ["cc{a:1}", "cc{a:1,b:2}", "cc{b:9}", "tt{a:1}"] {
        store.watch(name).unwrap();
    }
    let mut sampler = sampler(&registry);
    let cc = registry.get("cc").unwrap();
    let one = sampler.tags().with("a", "1");
    sampler.observe(cc, 1.0, &sampler.tags(), At(0));
    sampler.observe(cc, 10.0, &one, At(1));
    sampler.observe(cc, 100.0, &one.with("b", "2"), At(2));
    sampler.observe(cc, 1000.0, &one.with("b", "2").with("c", "3"), At(2));
    sampler.observe(cc, 10000.0, &one, At(3));
    store.absorb(&sampler.take());
    let mut count = |name| value(&mut store, name, Aggregation::Count, SECOND);
    assert_eq!(count("cc"), Some(11111.0));
    assert_eq!(count("cc{a:1}"), Some(11110.0));
    assert_eq!(count("cc{a:1,b:2}"), Some(1100.0));
    assert_eq!(count("cc{b:9}"), Some(0.0));
    assert_eq!(count("tt{a:1}"), Some(0.0));
}

#[test]
fn a_metric_made_after_a_set_of_tags_counts_with_it() {
    let registry = registry();
    let mut sampler = sampler(&registry);
    let tags = sampler.tags().with("a", "1");
    sampler.observe(registry.get("cc").unwrap(), 1.0, &tags, At(0));
    let late = registry.add("late", Kind::Counter, Unit::Number).unwrap();
    sampler.observe(late, 5.0, &tags, At(1));
    let mut store = MetricStore::new(registry);
    store.absorb(&sampler.take());
    assert_eq!(value(&mut store, "late", Aggregation::Count, SECOND), Some(5.0));
    assert_eq!(value(&mut store, "cc", Aggregation::Count, SECOND), Some(1.0));
}

#[test]
fn single_samples_are_kept_only_when_outputs_ask_for_them() {
    let registry = registry();
    let cc = registry.get("cc").unwrap();
    let mut silent = sampler(&registry);
    silent.observe(cc, 1.0, &silent.tags(), At(0));
    assert!(silent.take().samples.is_empty());

    let mut telling = Sampler::new(registry, series_tags, AutomaticTags::default(), true);
    let metadata = Arc::new(Metadata(vec![("vu".to_owned(), "3".to_owned())]));
    let tags = telling.tags().with("a", "1").with_metadata(Some(metadata.clone()));
    telling.observe(cc, 1.5, &tags, At(7));
    let samples = telling.take().samples;
    assert_eq!(samples.len(), 1);
    assert_eq!((samples[0].metric, samples[0].value, samples[0].at), (cc, 1.5, At(7)));
    assert_eq!(samples[0].tags.iter().collect::<Vec<_>>(), [("a", "1")]);
    assert_eq!(samples[0].metadata, Some(metadata));
    assert!(telling.take().samples.is_empty(), "they are taken once");
}

#[test]
fn what_is_too_much_to_be_told_apart_still_counts_in_its_metric() {
    let registry = registry();
    let mut store = MetricStore::new(registry.clone());
    let mut sampler = sampler(&registry);
    for n in (0..SERIES_MAX + 50).chain(0..10) {
        let tags = sampler.tags().with("check", &n.to_string());
        sampler.observe(CHECKS, 1.0, &tags, At(n as i64));
        sampler.observe(CHECKS, 0.0, &tags, At(n as i64));
    }
    store.absorb(&sampler.take());
    assert_eq!((checks(&mut store).len(), store.untold()), (SERIES_MAX, 50));
    assert_eq!(value(&mut store, "checks", Aggregation::Rate, SECOND), Some(0.5));
    let Some(Aggregate::Rate(rated)) = store.aggregate(Target::Metric(CHECKS)) else {
        panic!("checks are a rate")
    };
    assert_eq!(rated.total, 2 * (SERIES_MAX as u64 + 60));
}
