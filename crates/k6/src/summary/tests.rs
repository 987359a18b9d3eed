//! Tests against k6 itself.
//!
//! In each folder of `tests/` lies a script and k6 2.2.0's results of it with `--out json=samples.jsonl
//! --summary-export export.json`, its output in `summary.txt` (`full`: `--summary-mode full`; `stats`: with other
//! statistics, in seconds; `color`: on a terminal, without its control codes). Members of `export.json` were put in
//! order. The samples are played into a store; our summary of them must be k6's.

use super::*;
use crate::metrics::{
    AbortRule, Detail, Kind, MetricStore, Registry, Sampler, SystemTags, Tags, Unit, contains, registry,
    sampler,
};
use sonagi_measure::At;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A folder of `tests/`.
pub(crate) struct Case {
    folder: PathBuf,
    pub(crate) export: Value,
    pub(crate) samples: Vec<Value>,
}

impl Case {
    pub(crate) fn read(name: &str) -> Case {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/summary/tests").join(name);
        let text = std::fs::read_to_string(folder.join("samples.jsonl")).unwrap();
        let samples = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let mut case = Case { folder, export: Value::Null, samples };
        case.export = case.json("export.json");
        case
    }

    fn text(&self, file: &str) -> String {
        std::fs::read_to_string(self.folder.join(file)).unwrap()
    }

    fn json(&self, file: &str) -> Value {
        serde_json::from_str(&self.text(file)).unwrap()
    }

    fn metrics(&self) -> &serde_json::Map<String, Value> {
        self.export["metrics"].as_object().unwrap()
    }

    /// How long k6 ran: every counter knows.
    fn elapsed(&self) -> Duration {
        let (count, rate) =
            (&self.export["metrics"]["iterations"]["count"], &self.export["metrics"]["iterations"]["rate"]);
        Duration::from_secs_f64(count.as_f64().unwrap() / rate.as_f64().unwrap())
    }

    /// The script's metrics and thresholds.
    pub(crate) fn store(&self) -> MetricStore {
        let registry = registry();
        for line in self.samples.iter().filter(|line| line["type"] == "Metric") {
            let is = |name: &str, key: &str| line["data"][key] == name;
            let kinds = [Kind::Counter, Kind::Gauge, Kind::Rate, Kind::Trend];
            let kind = kinds.into_iter().find(|kind| is(kind.name(), "type")).unwrap();
            let units = [Unit::Number, Unit::Milliseconds, Unit::Bytes];
            let unit = units.into_iter().find(|unit| is(contains(*unit), "contains")).unwrap();
            registry.add(line["metric"].as_str().unwrap(), kind, unit).unwrap();
        }
        if self.metrics().contains_key("never") {
            registry.add("never", Kind::Counter, Unit::Number).unwrap();
        }
        let mut store = MetricStore::new(Arc::new(registry));
        for (metric, one) in self.metrics() {
            for source in one["thresholds"].as_object().into_iter().flatten().map(|(source, _)| source) {
                store.limit(metric, source, AbortRule::default()).unwrap();
            }
        }
        store
    }

    /// Plays each sample in; `see` is called after each.
    pub(crate) fn play(&self, sampler: &mut Sampler, registry: &Registry, mut see: impl FnMut(&mut Sampler)) {
        let points = self.samples.iter().filter(|line| line["type"] == "Point");
        for (point, at) in points.zip(0..) {
            let pairs: Vec<(&str, &str)> = (point["data"]["tags"].as_object().unwrap().iter())
                .map(|(name, value)| (name.as_str(), value.as_str().unwrap()))
                .collect();
            let tags: Tags = sampler.tags().with_all(&pairs);
            let metric = registry.get(point["metric"].as_str().unwrap()).unwrap();
            sampler.observe(metric, point["data"]["value"].as_f64().unwrap(), &tags, At(at));
            see(sampler);
        }
    }

    fn summary(&self, facts: Facts) -> Summary {
        let mut store = self.store();
        let registry = store.registry().clone();
        let detail = if facts.full { Detail::Scopes } else { Detail::Total };
        let mut sampler = sampler(&registry, detail, SystemTags::default(), false);
        self.play(&mut sampler, &registry, |_| ());
        store.absorb(&sampler.take());
        let facts =
            Facts { elapsed: self.elapsed(), setup_data: self.export.get("setup_data").cloned(), ..facts };
        store.judge(facts.elapsed, true);
        Summary::of(&mut store, facts)
    }
}

/// The facts of a test that names no statistics of trends.
pub(super) fn facts() -> Facts {
    let trend_stats = ["avg", "min", "med", "max", "p(90)", "p(95)"].map(str::to_owned).to_vec();
    Facts { trend_stats, ..Facts::default() }
}

fn full() -> Facts {
    Facts { full: true, ..facts() }
}

fn in_seconds() -> Facts {
    let trend_stats = ["avg", "p(99.99)", "count", "p(0)", "max"].map(str::to_owned).to_vec();
    Facts { trend_stats, time_unit: Some(TimeUnit::Seconds), ..Facts::default() }
}

#[test]
fn the_text_is_k6s_to_the_letter() {
    for (name, facts) in [
        ("full", full()),
        ("default", full()),
        ("names", full()),
        ("stats", in_seconds()),
        ("compact", facts()),
    ] {
        let case = Case::read(name);
        // k6 shows no value beside the threshold of a statistic that is left out, nor does it read the name before
        // every operator.
        let k6s = case.text("summary.txt");
        let k6s = k6s
            .replace("'med<100' med=\n", "'med<100' med=0.01s\n")
            .replace(" rate!=50.00%\n", " rate=50.00%\n");
        let ours = case.summary(facts).text(false);
        for (at, (ours, k6s)) in ours.lines().zip(k6s.lines()).enumerate() {
            assert_eq!(ours, k6s, "{name}, line {}", at + 1);
        }
        assert_eq!(ours, k6s, "{name}");
    }
}

#[test]
fn on_a_terminal_it_has_k6s_colours() {
    let case = Case::read("color");
    let ours = case.summary(facts()).text(true);
    assert_eq!(ours.trim_matches('\n'), case.text("summary.txt").trim_matches('\n'));
}

#[test]
fn the_exported_object_is_k6s() {
    for (name, facts) in [
        ("full", full()),
        ("default", full()),
        ("names", full()),
        ("stats", in_seconds()),
        ("compact", facts()),
    ] {
        let case = Case::read(name);
        let ours = case.summary(facts).export();
        alike(&ours, &case.export, name);
    }
}

#[test]
fn a_handle_summary_function_is_given_k6s_object() {
    let case = Case::read("handed");
    let ours = case.summary(facts()).data();
    alike(&ours, &case.json("handed.json"), "handed");
}

#[test]
fn a_value_a_statistic_leaves_out_is_still_told_of_its_threshold() {
    let summary = Case::read("stats").summary(in_seconds());
    assert!(summary.text(false).contains("✓ 'med<100' med=0.01s"), "{}", summary.text(false));
}

#[test]
fn every_form_of_the_summary_tells_what_outputs_lack() {
    let case = Case::read("compact");
    let summary = case.summary(Facts { samples_left_out: 12, ..facts() });
    let said = "
  █ OUTPUTS 

    ✗ 12 samples are missing in outputs (--out): they came faster than they could be written

";
    assert!(summary.text(false).contains(said), "{}", summary.text(false));
    assert_eq!(summary.data()["samples_left_out"], 12);
    assert_eq!(summary.export()["samples_left_out"], 12);
}

#[test]
fn names_are_listed_without_regard_to_case() {
    let mut names =
        ["b", "a9_x", "Ab", "aB", "a1", "_b", "a_1", "aa{y:1}", "aa", "aa_b", "aa{x:1, z:1}", "aa{x:1}"];
    names.sort_by(|one, other| by_name(one, other));
    let sorted =
        ["_b", "a_1", "a1", "a9_x", "aa", "aa{x:1, z:1}", "aa{x:1}", "aa{y:1}", "aa_b", "aB", "Ab", "b"];
    assert_eq!(names, sorted);
}

/// Equal, except in the last digits of sums that were added in another order.
fn alike(ours: &Value, k6s: &Value, at: &str) {
    match (ours, k6s) {
        (Value::Object(one), Value::Object(other)) => {
            let keys = |object: &serde_json::Map<String, Value>| {
                let mut keys: Vec<String> = object.keys().cloned().collect();
                keys.sort();
                keys
            };
            assert_eq!(keys(one), keys(other), "{at}");
            one.iter().for_each(|(key, value)| alike(value, &other[key], &format!("{at}.{key}")));
        }
        (Value::Array(one), Value::Array(other)) => {
            assert_eq!(one.len(), other.len(), "{at}");
            one.iter().zip(other).for_each(|(one, other)| alike(one, other, &format!("{at}[]")));
        }
        (Value::Number(one), Value::Number(other)) => {
            let (one, other) = (one.as_f64().unwrap(), other.as_f64().unwrap());
            assert!((one - other).abs() <= other.abs() * 1e-9, "{at}: {one}, not {other}");
        }
        _ => assert_eq!(ours, k6s, "{at}"),
    }
}
