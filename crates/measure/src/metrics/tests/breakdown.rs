//! Metrics that are broken down by tags which no summary tells apart.

use super::*;
use std::collections::BTreeSet;

const TT: MetricId = MetricId::new(4);

const BY_PAGE: Breakdown = Breakdown { metrics: &[TT], without: &["url"], name: "page", coarse: &["status"] };

fn sampler(registry: &Arc<Registry>) -> Sampler {
    super::sampler(registry).breaking_down(BY_PAGE)
}

/// The tags of each series of `tt` in an interval, with how many values it has.
fn told(interval: &Interval) -> Vec<(String, u64)> {
    let of = |one: &&Observed| one.series.metric == TT;
    let tags = |one: &Observed| {
        let tags: Vec<String> =
            one.series.breakdown.iter().map(|(name, value)| format!("{name}:{value}")).collect();
        (tags.join(","), one.aggregate.samples())
    };
    interval.series.iter().filter(of).map(tags).collect()
}

#[test]
fn a_metric_is_broken_down_by_all_tags_that_have_a_value_and_its_store_sees_the_whole() {
    let registry = registry();
    let mut sampler = sampler(&registry);
    for (page, status, value) in [("list", "200", 1.0), ("list", "500", 3.0), ("item", "200", 5.0)] {
        let tags = [("page", page), ("status", status), ("url", "http://a/1"), ("group", "")];
        let tags = sampler.tags().with_all(&tags);
        sampler.observe(TT, value, &tags, At(0));
        sampler.observe(registry.get("cc").unwrap(), 1.0, &tags, At(0));
    }
    let interval = sampler.take();
    let list = |status: &str| (format!("page:list,status:{status}"), 1);
    assert_eq!(told(&interval), [list("200"), list("500"), ("page:item,status:200".to_owned(), 1)]);
    assert_eq!(interval.series.len(), 4);
    let mut store = MetricStore::new(registry);
    store.absorb(&interval);
    assert_eq!(store.tagged().len(), 0);
    assert_eq!(value(&mut store, "tt", Aggregation::Avg, SECOND), Some(3.0));
}

#[test]
fn beyond_a_hundred_values_of_a_tag_the_rest_is_told_together_and_all_threads_tell_the_same_apart() {
    let registry = registry();
    let mut threads = [sampler(&registry), sampler(&registry)];
    for n in 0..VALUES_MAX + 50 {
        for thread in &mut threads {
            let tags = thread.tags().with("page", &n.to_string());
            thread.observe(TT, 1.0, &tags, At(0));
        }
    }
    let [one, two] = threads.map(|mut thread| told(&thread.take()));
    assert_eq!((one.len(), &one), (VALUES_MAX + 1, &two));
    assert_eq!(one.last(), Some(&(format!("page:{OTHER}"), 50)));
}

#[test]
fn beyond_the_most_sets_of_tags_only_coarse_ones_are_kept() {
    let registry = registry();
    let mut sampler = sampler(&registry);
    for n in 0..SETS_MAX + 40 {
        let (page, user) = (format!("p{}", n / 50), format!("u{}", n % 50));
        let status = if n % 2 == 0 { "200" } else { "500" };
        let tags = sampler.tags().with_all(&[("page", &*page), ("user", &*user), ("status", status)]);
        sampler.observe(TT, 1.0, &tags, At(0));
    }
    let told = told(&sampler.take());
    let coarse = |status: &str| (format!("page:{OTHER},status:{status}"), 20);
    assert_eq!((told.len(), &told[SETS_MAX..]), (SETS_MAX + 2, &[coarse("200"), coarse("500")][..]));
    assert_eq!(told.iter().map(|(_, count)| count).sum::<u64>(), SETS_MAX as u64 + 40);
}

#[test]
fn no_tag_of_a_breakdown_shows_a_secret() {
    let registry = registry();
    registry.keep_secret("planted-one");
    let mut sampler = sampler(&registry);
    for n in 0..3 {
        let page = format!("http://a/planted-one/x?access_token=planted-two{n}");
        let tags = sampler.tags().with_all(&[("page", &*page), ("session", "planted-three")]);
        sampler.observe(TT, 1.0, &tags, At(0));
    }
    let told: BTreeSet<String> = told(&sampler.take()).into_iter().map(|(tags, _)| tags).collect();
    let masked = "page:http://a/***/x?access_token=***,session:***".to_owned();
    assert_eq!(told, BTreeSet::from([masked]));
}
