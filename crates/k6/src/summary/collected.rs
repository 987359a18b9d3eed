//! From what the store holds to what a summary says.

use super::delivery::TAIL;
use super::{Check, Facts, Judged, Measured, Part, Summary, by_name};
use crate::metrics::delivery::LATENCY;
use crate::metrics::{Aggregate, Aggregation, MetricId, MetricStore, Scope, Target, builtin};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The scenario of tests that name none: its groups are the test's own.
const UNNAMED: &str = "default";

/// Their own samples are not told as those of a group, only those of groups within.
const STAGES: [&str; 2] = ["::setup", "::teardown"];

impl Summary {
    /// The summary of everything in a store; thresholds as they were last judged.
    pub fn of(store: &mut MetricStore, facts: Facts) -> Summary {
        let mut root = Node::default();
        let mut checks = Vec::new();
        let mut tree = Node::default();
        let mut scenarios: BTreeMap<Arc<str>, Node> = BTreeMap::new();
        for part in store.tagged() {
            let [scenario, group, check] = ["scenario", "group", "check"].map(|name| part.tags.shared(name));
            let path = group.map_or("", AsRef::as_ref);
            if part.metric == builtin::CHECKS || part.metric == builtin::GROUP_DURATION {
                let group = root.at(path);
                if let (Some(name), Aggregate::Rate(rated)) = (check, &part.aggregate) {
                    add_check(&mut group.checks, path, name, rated.passes, rated.fails());
                    add_check(&mut checks, "", name, rated.passes, rated.fails());
                }
            }
            if facts.full {
                let named = scenario.filter(|name| ***name != *UNNAMED);
                let node = named.map_or(&mut tree, |name| scenarios.entry(name.clone()).or_default());
                if !STAGES.contains(&path) {
                    node.add(part.metric, path, check.map(AsRef::as_ref), &part.aggregate);
                }
            }
        }
        let total = Part {
            title: "TOTAL RESULTS".to_owned(),
            metrics: metrics(store, &facts),
            checks,
            groups: tree.groups.into_iter().map(|group| group.part("GROUP", store, &facts)).collect(),
        };
        let mut scenarios: Vec<(Arc<str>, Node)> = scenarios.into_iter().collect();
        scenarios.sort_by(|one, other| by_name(&one.0, &other.0));
        let scenarios = scenarios.into_iter().map(|(name, node)| Node { name: name.to_string(), ..node });
        let scenarios = scenarios.map(|node| node.part("SCENARIO", store, &facts)).collect();
        Summary { facts, total, scenarios, root }
    }
}

/// All metrics and sub-metrics that were seen or that thresholds name.
fn metrics(store: &mut MetricStore, facts: &Facts) -> Vec<Measured> {
    let (limits, submetrics) = (store.limits().to_vec(), store.registry().submetrics());
    // What probes see is no part of k6's summary, unless a threshold names it.
    let is_shown = |target: Target, scope: Scope| {
        let whole = match target {
            Target::Submetric(place) => Target::Metric(submetrics[place].parent),
            whole => whole,
        };
        scope != Scope::Watched || limits.iter().any(|limit| limit.target == whole)
    };
    let mut found = Vec::new();
    let shown = store.each().filter(|(target, (metric, _))| is_shown(*target, metric.scope));
    for (target, (metric, aggregate)) in shown {
        let judged = limits.iter().filter(|limit| limit.target == target).map(|limit| {
            let of = limit.expression.aggregation;
            let seen = of.of(aggregate, facts.elapsed).map(|value| (method(&limit.source), value));
            Judged { source: limit.source.clone(), ok: !limit.crossed, seen }
        });
        let thresholds = judged.collect();
        let mut values = values(aggregate, facts);
        if *metric.name == *LATENCY && !values.iter().any(|(of, _)| of == TAIL) {
            let tail = Aggregation::named(TAIL).and_then(|of| of.of(aggregate, facts.elapsed));
            values.extend(tail.map(|value| (TAIL.to_owned(), value)));
        }
        let (name, kind, unit) = (metric.name.to_string(), metric.kind, metric.unit);
        found.push(Measured { name, kind, unit, values, thresholds });
    }
    found.sort_by(|one, other| by_name(&one.name, &other.name));
    found
}

/// The method as the threshold writes it: `p(99.90)` stays so.
fn method(source: &str) -> String {
    source.split(['<', '>', '=', '!']).next().unwrap_or_default().trim().to_owned()
}

fn values(aggregate: &mut Aggregate, facts: &Facts) -> Vec<(String, f64)> {
    let names: Vec<&str> = match aggregate {
        Aggregate::Counter(_) => vec!["count", "rate"],
        Aggregate::Gauge(_) => vec!["value", "min", "max"],
        Aggregate::Rate(rated) => {
            let counts =
                [("rate", rated.rate()), ("passes", rated.passes as f64), ("fails", rated.fails() as f64)];
            return counts.map(|(name, value)| (name.to_owned(), value)).to_vec();
        }
        Aggregate::Trend(_) => facts.trend_stats.iter().map(String::as_str).collect(),
    };
    let mut value = |name: &str| Aggregation::named(name).and_then(|of| of.of(aggregate, facts.elapsed));
    names.into_iter().filter_map(|name| value(name).map(|value| (name.to_owned(), value))).collect()
}

fn add_check(checks: &mut Vec<Check>, group: &str, name: &str, passes: u64, fails: u64) {
    match checks.iter_mut().find(|check| check.name == name) {
        Some(check) => (check.passes, check.fails) = (check.passes + passes, check.fails + fails),
        None => checks.push(Check { name: name.to_owned(), path: format!("{group}::{name}"), passes, fails }),
    }
}

/// What was seen in the whole test, a scenario or a group, and in the groups within.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) path: String,
    metrics: BTreeMap<MetricId, Aggregate>,
    pub(super) checks: Vec<Check>,
    pub(super) groups: Vec<Node>,
}

impl Node {
    /// The group of this path, made with those around it.
    fn at(&mut self, path: &str) -> &mut Node {
        let mut node = self;
        for name in path.split("::").skip(1) {
            let at = node.groups.iter().position(|inner| inner.name == name).unwrap_or_else(|| {
                let path = format!("{}::{name}", node.path);
                node.groups.push(Node { name: name.to_owned(), path, ..Node::default() });
                node.groups.len() - 1
            });
            node = &mut node.groups[at];
        }
        node
    }

    /// Adds what was seen in a group to it, and to the whole.
    fn add(&mut self, metric: MetricId, path: &str, check: Option<&str>, aggregate: &Aggregate) {
        self.add_here(metric, check, aggregate);
        if path.contains("::") {
            self.at(path).add_here(metric, check, aggregate);
        }
    }

    fn add_here(&mut self, metric: MetricId, check: Option<&str>, aggregate: &Aggregate) {
        match self.metrics.get_mut(&metric) {
            Some(known) => known.merge(aggregate),
            None => drop(self.metrics.insert(metric, aggregate.clone())),
        }
        if let (Some(name), Aggregate::Rate(rated)) = (check, aggregate) {
            add_check(&mut self.checks, "", name, rated.passes, rated.fails());
        }
    }

    fn part(self, what: &str, store: &MetricStore, facts: &Facts) -> Part {
        let mut metrics: Vec<Measured> = self
            .metrics
            .into_iter()
            .map(|(id, mut aggregate)| {
                let metric = store.registry().metric(id);
                let (name, values) = (metric.name.to_string(), values(&mut aggregate, facts));
                Measured { name, kind: metric.kind, unit: metric.unit, values, thresholds: Vec::new() }
            })
            .collect();
        metrics.sort_by(|one, other| by_name(&one.name, &other.name));
        let groups = self.groups.into_iter().map(|group| group.part("GROUP", store, facts)).collect();
        Part { title: format!("{what}: {}", self.name), metrics, checks: self.checks, groups }
    }
}
