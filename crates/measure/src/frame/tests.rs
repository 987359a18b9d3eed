use super::*;
use crate::at::At;
use crate::histogram::Histogram;
use crate::ledger::Counts;
use crate::metrics::{AutomaticTags, MetricId, Registry, Sampler};
use crate::outcome::{Operation, OperationKind};
use crate::recorder::{Counter, Gauges, Timings};
use crate::totals::{Header, Snapshot};
use proptest::prelude::*;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

fn buckets(values: &[f64]) -> Buckets {
    let mut buckets = Buckets::default();
    values.iter().for_each(|value| buckets.add(*value, 1));
    buckets
}

/// The values of all series of a trend that are asked for, of the frames that begin within `seconds`.
fn over<'f>(
    frames: impl IntoIterator<Item = &'f Frame>,
    seconds: &RangeInclusive<u64>,
    is_asked: impl Fn(&Name) -> bool,
) -> Buckets {
    let mut asked = BTreeSet::new();
    let mut all = Buckets::default();
    for frame in frames {
        asked.extend(frame.names.iter().filter(|(_, name)| is_asked(name)).map(|(number, _)| *number));
        for (number, value) in frame.values.iter().filter(|_| seconds.contains(&frame.s)) {
            if let (Value::Trend(buckets), true) = (value, asked.contains(number)) {
                all.merge(buckets);
            }
        }
    }
    all
}

fn framer(header: Header) -> Framer {
    Framer::new(Arc::new(header), Arc::default(), |_| None)
}

/// Values, their buckets and quantiles, as the page's tests read them too.
fn vectors() -> Json {
    let mut random = fastrand::Rng::with_seed(1);
    let many: Vec<f64> = (0..500).map(|_| (random.f64() * 12.0 - 3.0).exp2()).collect();
    let many: Vec<f64> = many.iter().map(|value| (value * 1e3).round() / 1e3).collect();
    let lists: [&[f64]; 7] = [
        &[],
        &[0.0],
        &[1.0, 2.0, 4.0],
        &[-3.0, -0.5, 0.0, 0.5, 3.0],
        &[0.001, 3_600_000.0],
        &[5.0, 5.1, 5.2, 5.3, 1000.0],
        &many,
    ];
    let vector = |values: &&[f64]| {
        let buckets = buckets(values);
        let shares = [0.0, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1.0];
        let quantiles: Vec<(f64, f64)> = shares.map(|share| (share, buckets.quantile(share))).to_vec();
        json!({ "values": values, "trend": buckets, "quantiles": quantiles })
    };
    json!({ "scale": SCALE, "vectors": lists.iter().map(vector).collect::<Vec<_>>() })
}

#[test]
fn the_page_is_tested_with_the_same_vectors() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/test/vectors.json");
    let text = format!("{}\n", vectors());
    if std::env::var_os("SONAGI_WRITE_DOCS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &text).unwrap();
    }
    let told = std::fs::read_to_string(&path).unwrap();
    assert!(
        told == text,
        "SONAGI_WRITE_DOCS=1 cargo test -p sonagi-measure vectors writes web/test/vectors.json"
    );
}

#[test]
fn a_bucket_ends_at_its_upper_bound_and_keys_are_in_the_order_of_values() {
    let keys = |values: &[f64]| serde_json::to_value(buckets(values)).unwrap()["b"].clone();
    assert_eq!(keys(&[1.0]), json!([1 << 20, 1]));
    assert_eq!(keys(&[2.0, 2.0]), json!([(1 << 20) + 16, 2]));
    assert_eq!(keys(&[2.01]), json!([(1 << 20) + 17, 1]));
    assert_eq!(keys(&[0.5, -2.0, 0.0]), json!([-((1 << 20) + 16), 1, (1 << 20) + 16, 1, (1 << 20) - 16, 1]));
    assert_eq!(
        serde_json::to_value(buckets(&[])).unwrap(),
        json!({"n": 0, "sum": 0, "min": 0, "max": 0, "b": []})
    );
}

proptest! {
    #[test]
    fn a_quantile_is_within_half_a_bucket_of_the_exact_one(
        mut values in prop::collection::vec(0.001..1e6f64, 1..300), share in 0.0..=1.0f64,
    ) {
        let told = buckets(&values).quantile(share);
        values.sort_by(f64::total_cmp);
        let rank = (share * values.len() as f64).ceil().max(1.0) as usize;
        let exact = values[rank - 1];
        let half = (0.5f64 / 16.0).exp2() * (1.0 + 1e-9);
        prop_assert!(told <= exact * half && told >= exact / half, "{told} for {exact}");
    }

    #[test]
    fn buckets_merge_in_any_order_to_those_of_all_values(
        one in prop::collection::vec(-1e3..1e3f64, 0..50), two in prop::collection::vec(-1e3..1e3f64, 0..50),
    ) {
        let all = buckets(&[one.as_slice(), &two].concat());
        for (first, second) in [(&one, &two), (&two, &one)] {
            let mut merged = buckets(first);
            merged.merge(&buckets(second));
            let same = (merged.count(), merged.min(), merged.max()) == (all.count(), all.min(), all.max());
            prop_assert!(same && [0.0, 0.3, 0.5, 0.99, 1.0].iter().all(|q| merged.quantile(*q) == all.quantile(*q)));
        }
    }
}

fn header() -> Header {
    let operation = |name: &str| Operation { name: name.to_owned(), kind: OperationKind::Http };
    Header {
        operations: vec![operation("GET /rooms"), operation("send")],
        tracked: true,
        ..Header::default()
    }
}

fn second(second: u64) -> Snapshot {
    let mut snapshot = Snapshot {
        second,
        at: At((second as i64 + 1) * 1_000_000_000),
        interval_ns: 1_000_000_000,
        operations: vec![Timings::default(), Timings::default()],
        ledger: Counts { owed: 10 * (second + 1), lost: second, ..Counts::default() },
        shards: vec![Gauges { users: 3, connections: 2, cpu_ns: 250_000_000, ..Gauges::default() }],
        ..Snapshot::default()
    };
    snapshot.counters.add(Counter::ArrivalsPlanned, 2 + second);
    let mut response = Histogram::new();
    [1_000_000, 2_000_000, 4_000_000].iter().for_each(|ns| response.record_ns(ns * (second as i64 + 1)));
    snapshot.operations[0].response = Some(Box::new(response));
    snapshot
}

#[test]
fn a_second_is_told_as_series_whose_names_come_once() {
    let mut framer = framer(header());
    let first = serde_json::to_value(framer.frame(&second(0))).unwrap();
    let about = json!({
        "en": "Users that the plan asks for.",
        "ko": "계획된 사용자 수입니다.",
    });
    assert_eq!(
        first["names"][0],
        json!([0, {
            "metric": "arrivals.planned", "kind": "counter", "unit": "number", "about": about,
        }])
    );
    let mut response = first["names"][1][1].clone();
    response["about"] = Json::Null;
    assert_eq!(
        response,
        json!({
            "metric": "response_time", "kind": "trend", "unit": "ms", "tags": {"operation": "GET /rooms"}, "about": null,
        })
    );
    assert_eq!([&first["s"], &first["at"], &first["span"]], [&json!(0), &json!(1.0), &json!(1.0)]);
    let next = serde_json::to_value(framer.frame(&second(1))).unwrap();
    assert_eq!(next["v"][0], json!([0, 3]));
    let trend = json!({"n": 3, "sum": 14.003, "min": 2, "max": 8.003, "b": [1048592, 1, 17, 1, 16, 1]});
    assert_eq!(next["v"][1], json!([1, trend]));
    let names: Vec<&str> = [&first, &next]
        .iter()
        .flat_map(|frame| frame["names"].as_array().unwrap())
        .filter_map(|name| name[1]["metric"].as_str())
        .collect();
    assert_eq!(
        names,
        [
            "arrivals.planned",
            "response_time",
            "delivery.owed",
            "delivery.outstanding",
            "users.active",
            "connections.open",
            "generator.cpu",
            "delivery.lost",
        ]
    );
    // What the ledger added, and levels.
    assert_eq!(next["v"][2], json!([2, 10]));
    assert_eq!(next["v"][6], json!([6, [0.25, 0.25, 0.25]]));
    assert_eq!(next["v"][7], json!([7, 1]));
}

#[test]
fn functions_of_the_script_are_not_among_the_answers() {
    let operations = [OperationKind::Function, OperationKind::Http]
        .map(|kind| Operation { name: format!("{kind:?}"), kind })
        .to_vec();
    let mut framer = framer(Header { operations, ..Header::default() });
    let mut snapshot = second(0);
    snapshot.operations = vec![snapshot.operations[0].clone(); 2];
    let frame = framer.frame(&snapshot);
    let of = |metric: &str| {
        let named = frame.names.iter().filter(|(_, name)| name.metric == metric);
        named.map(|(_, name)| name.tags.get("operation").unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(of("response_time"), ["Http"]);
    assert_eq!(of("function.time"), ["Function"]);
}

#[test]
fn secrets_in_tags_are_masked() {
    let operation =
        Operation { name: "GET /rooms?token=planted-secret".to_owned(), kind: OperationKind::Http };
    let mut framer = framer(Header { operations: vec![operation], ..Header::default() });
    let text = serde_json::to_string(&framer.frame(&second(0))).unwrap();
    assert!(text.contains("GET /rooms?token=") && !text.contains("planted-secret"), "{text}");
}

#[test]
fn samples_have_the_tags_of_their_sub_metrics_and_add_up_to_their_metric() {
    let registry = Arc::new(Registry::new(&[("took", Kind::Trend, Unit::Milliseconds)]));
    registry.submetric("took{page:list}").unwrap();
    let mut sampler = Sampler::new(Arc::clone(&registry), |_| &[], AutomaticTags::default(), false);
    let tags = sampler.tags();
    sampler.observe(MetricId::new(0), 10.0, &tags.with("page", "list"), At(0));
    sampler.observe(MetricId::new(0), 30.0, &tags.with("page", "item"), At(0));
    let mut framer = Framer::new(Arc::default(), registry, |_| None);
    let frame = framer.frame(&Snapshot { metrics: sampler.take(), ..Snapshot::default() });
    let took = |name: &Name| name.metric == "took";
    assert_eq!(over([&frame], &(0..=0), took).mean(), 20.0);
    assert_eq!(
        over([&frame], &(0..=0), |name| took(name) && name.tags.get("page") == Some("list")).max(),
        10.0
    );
}

#[test]
fn frames_of_a_long_run_are_merged_and_a_window_of_them_is_exact() {
    let mut framer = framer(header());
    let mut frames = Frames::default();
    let seconds: Vec<Frame> = (0..3_000).map(|s| framer.frame(&second(s))).collect();
    seconds.iter().for_each(|frame| frames.push(frame.clone()));
    assert_eq!(frames.width(), 4);
    let frames = frames.into_frames();
    assert_eq!(frames.len(), 750);
    let Frame { s, at, span, .. } = frames[10];
    assert_eq!((s, at, span), (40, 44.0, 4.0));
    assert_eq!(frames[10].values[&0], Value::Counter(2.0 * 4.0 + 40.0 + 41.0 + 42.0 + 43.0));
    let is_response = |name: &Name| name.metric == "response_time";
    let (merged, single) = (over(&frames, &(40..=79), is_response), over(&seconds, &(40..=79), is_response));
    for share in [0.0, 0.5, 0.95, 1.0] {
        assert_eq!(merged.quantile(share), single.quantile(share));
    }
    assert_eq!((merged.count(), merged.min(), merged.max()), (120, 40.992, 320.255));
    assert_eq!((single.count(), single.min(), single.max()), (120, 40.992, 320.255));
}

#[test]
fn every_metric_of_ours_is_explained() {
    for counter in Counter::all() {
        assert!(about(counter.name()).is_some(), "{counter:?}");
    }
    let mut framer = framer(header());
    let frame = framer.frame(&second(1));
    assert!(frame.names.iter().all(|(_, name)| name.about.is_some()));
    assert!(about("of_the_script").is_none());
}
