use super::*;
use proptest::prelude::*;

#[test]
fn each_kind_keeps_what_its_summary_says() {
    let registry = registry();
    let mut sampler = sampler(&registry);
    let tags = sampler.tags();
    let mut see = |name, values: &[f64]| {
        for (value, at) in values.iter().zip(0..) {
            sampler.observe(registry.get(name).unwrap(), *value, &tags, At(at));
        }
    };
    see("cc", &[1.0, 2.5]);
    see("gg", &[7.25, 2.0, 5.0]);
    see("rr", &[1.0, 0.0, 0.5]);
    see("tt", &[1.0, 2.0, 6.0]);
    let mut store = MetricStore::new(registry.clone());
    store.absorb(&sampler.take());
    let mut value = |name, aggregation| value(&mut store, name, aggregation, 2 * SECOND).unwrap();
    assert_eq!((value("cc", Aggregation::Count), value("cc", Aggregation::Rate)), (3.5, 1.75));
    assert_eq!(
        [Aggregation::Value, Aggregation::Min, Aggregation::Max].map(|of| value("gg", of)),
        [5.0, 2.0, 7.25]
    );
    assert_eq!(value("rr", Aggregation::Rate), 2.0 / 3.0);
    assert_eq!((value("tt", Aggregation::Avg), value("tt", Aggregation::Med)), (3.0, 2.0));
}

#[test]
fn what_was_taken_is_not_taken_again() {
    let registry = registry();
    let mut sampler = sampler(&registry);
    let mut store = MetricStore::new(registry.clone());
    for _ in 0..3 {
        sampler.observe(registry.get("tt").unwrap(), 4.0, &sampler.tags(), At(0));
        store.absorb(&sampler.take());
    }
    store.absorb(&sampler.take());
    assert_eq!(value(&mut store, "tt", Aggregation::Count, SECOND), Some(3.0));
}

#[test]
fn checks_are_counted_by_group_and_name_those_made_first_at_the_front() {
    let registry = registry();
    let (mut early, mut late) = (sampler(&registry), sampler(&registry));
    let check = |sampler: &mut Sampler, group: &str, name: &str, value, at| {
        let tags = sampler.tags().with_all(&[("group", group), ("check", name), ("other", "s")]);
        sampler.observe(CHECKS, value, &tags, At(at));
    };
    check(&mut late, "", "root", 1.0, 20);
    check(&mut late, "::a", "is", 0.0, 30);
    check(&mut early, "::a", "is", 1.0, 10);
    check(&mut early, "::a::b", "is", 1.0, 15);
    let mut store = MetricStore::new(registry);
    store.absorb(&late.take());
    store.absorb(&early.take());
    let told = |tags: &str, passes, fails| (tags.to_owned(), passes, fails);
    assert_eq!(checks(&mut store), [told("is|::a", 1, 1), told("is|::a::b", 1, 0), told("root|", 1, 0)]);
}

/// An observation: shard, whether the shard's interval ends after it, metric, tag, value.
type Seen = (usize, bool, &'static str, u8, f64);

fn seen() -> impl Strategy<Value = Vec<Seen>> {
    let metric = prop::sample::select(&["cc", "gg", "rr", "tt", "checks"][..]);
    prop::collection::vec((0..3usize, any::<bool>(), metric, 0..3u8, (-4..4i32).prop_map(f64::from)), 0..120)
}

proptest! {
    #[test]
    fn shards_and_intervals_change_nothing(seen in seen()) {
        let registry = registry();
        let names = ["cc", "cc{t:1}", "gg", "gg{t:1}", "rr", "tt", "tt{t:2}", "checks"];
        let values = |shards: usize| {
            let mut store = MetricStore::new(registry.clone());
            names.iter().for_each(|name| store.watch(name).unwrap());
            let mut samplers: Vec<Sampler> = (0..shards).map(|_| sampler(&registry)).collect();
            for ((shard, ends, metric, tag, value), at) in seen.iter().zip(0..) {
                let sampler = &mut samplers[shard % shards];
                let tags = sampler.tags().with_all(&[("t", &tag.to_string()), ("check", "c"), ("group", "")]);
                sampler.observe(registry.get(metric).unwrap(), *value, &tags, At(at));
                if *ends && shards > 1 {
                    store.absorb(&sampler.take());
                }
            }
            samplers.iter_mut().rev().for_each(|sampler| store.absorb(&sampler.take()));
            let of = [Aggregation::Count, Aggregation::Rate, Aggregation::Value, Aggregation::Min, Aggregation::Max,
                Aggregation::Avg, Aggregation::Percentile(90.0)];
            let wanted = names.iter().flat_map(|name| of.map(|of| (name, of)));
            let all: Vec<Option<f64>> =
                wanted.map(|(name, of)| value(&mut store, name, of, SECOND)).collect();
            (all, checks(&mut store))
        };
        prop_assert_eq!(values(1), values(3));
    }
}
