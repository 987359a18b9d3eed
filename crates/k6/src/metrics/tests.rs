use super::*;
use sonagi_measure::At;

#[test]
fn a_metrics_name_is_two_to_129_ascii_letters_digits_and_underscores_and_begins_with_no_digit() {
    let registry = registry();
    for name in ["aa", "_9", "A_b", &"a".repeat(129)] {
        assert!(add(&registry, name, Kind::Counter, Unit::Number).is_ok(), "{name}");
    }
    for name in ["", "a", "9a", "a-b", "ä1", "a b", &"a".repeat(130)] {
        let refused = add(&registry, name, Kind::Counter, Unit::Number);
        assert_eq!(refused, Err(Refused::Name(name.to_owned())));
    }
}

#[test]
fn a_metric_asked_for_again_must_have_the_same_values() {
    let registry = registry();
    assert_eq!(add(&registry, "http_reqs", Kind::Counter, Unit::Number), Ok(builtin::HTTP_REQS));
    add(&registry, "aa", Kind::Trend, Unit::Number).unwrap();
    let why = |kind, unit| add(&registry, "aa", kind, unit).unwrap_err().to_string();
    assert_eq!(
        why(Kind::Counter, Unit::Number),
        "metric 'aa' already exists, as a trend, and cannot be a counter as well"
    );
    assert_eq!(
        why(Kind::Trend, Unit::Milliseconds),
        "metric 'aa' already exists, with values of type default, and cannot have values of type time"
    );
}

#[test]
fn built_in_metrics_stand_at_their_numbers() {
    let registry = registry();
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
fn checks_are_told_apart_by_group_and_name_and_in_the_full_summary_by_scenario() {
    let told = |detail| {
        let registry = Arc::new(registry());
        let mut sampler = sampler(&registry, detail, SystemTags::default(), false);
        for scenario in ["s", "t"] {
            let tags = sampler.tags().with_all(&[("group", "::a"), ("check", "is"), ("scenario", scenario)]);
            sampler.observe(builtin::CHECKS, 1.0, &tags, At(0));
            sampler.observe(builtin::HTTP_REQS, 1.0, &tags, At(0));
        }
        let mut store = MetricStore::new(registry);
        store.absorb(&sampler.take());
        let told = |tags: &TagSet| tags.iter().map(|(_, value)| value).collect::<Vec<_>>().join(" ");
        let tagged: Vec<_> = store.tagged().iter().map(|one| (one.metric, told(&one.tags))).collect();
        tagged
    };
    let checks = |tags: &str| (builtin::CHECKS, tags.to_owned());
    let requests = |tags: &str| (builtin::HTTP_REQS, tags.to_owned());
    assert_eq!(told(Detail::Total), [checks("is ::a")]);
    assert_eq!(
        told(Detail::Scopes),
        [checks("is ::a s"), requests("::a s"), checks("is ::a t"), requests("::a t")]
    );
}

#[test]
fn every_metric_of_k6_is_explained() {
    for (name, ..) in builtin::ALL.iter().copied().chain(delivery::all()) {
        assert!(about(name).is_some(), "{name}");
    }
}
