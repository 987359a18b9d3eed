//! What all shards measured since the start, and what the thresholds say of it.

use super::registry::{self, Unnamed};
use super::{Expression, Interval, Kind, MetricId, Misread, Registry, Sink, builtin};
use crate::options::span::written;
use serde_json::{Value, json};
use sonagi_measure::At;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// Which part of a test a sample comes from, as far as it is told apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scope {
    /// The scenario's name.
    pub scenario: Option<Arc<str>>,
    /// The group's path, `::outer::inner`; empty outside of groups.
    pub group: Option<Arc<str>>,
    /// The check's name.
    pub check: Option<Arc<str>>,
}

/// What a check came to, in one group (and scenario, when they are told apart).
#[derive(Clone, Debug, PartialEq)]
pub struct CheckCount {
    /// Where; its `check` is the name.
    pub scope: Scope,
    /// How often it passed.
    pub passes: u64,
    /// And failed.
    pub fails: u64,
}

/// Everything measured since the start, of all shards. One thread's: it absorbs their [`Interval`]s.
#[derive(Debug)]
pub struct Store {
    registry: Arc<Registry>,
    metrics: Vec<Option<Sink>>,
    submetrics: Vec<Option<Sink>>,
    scopes: Vec<Part>,
    by_scope: HashMap<(MetricId, Scope), usize>,
    limits: Vec<Limit>,
}

/// The samples of a metric in one scope.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) metric: MetricId,
    pub(crate) scope: Scope,
    pub(crate) first: At,
    pub(crate) sink: Sink,
}

/// Whose samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Target {
    Metric(MetricId),
    /// By its place in the registry.
    Submetric(usize),
}

/// A threshold.
#[derive(Clone, Debug)]
pub(crate) struct Limit {
    pub(crate) target: Target,
    pub(crate) source: String,
    pub(crate) expression: Expression,
    abort_on_fail: bool,
    delay: Duration,
    /// What the last evaluation said.
    pub(crate) crossed: bool,
}

impl Limit {
    /// As k6 writes it: an object where it may end the test.
    fn told(&self) -> Value {
        if !self.abort_on_fail {
            return Value::from(self.source.as_str());
        }
        let delay = Some(self.delay).filter(|delay| !delay.is_zero()).map(written);
        json!({ "threshold": self.source, "abortOnFail": true, "delayAbortEval": delay })
    }
}

/// Why there can be no such threshold: the test's options are wrong (exit code 104).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// Its expression.
    #[error(transparent)]
    Expression(#[from] Misread),
    /// Its metric.
    #[error(
        "invalid threshold on {metric}: {why}\nhint: a metric of the script's own must be made in its init code"
    )]
    Metric {
        /// As in the options.
        metric: String,
        /// Why it is none.
        why: Unnamed,
    },
}

/// What an evaluation of all thresholds found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// Metrics with a crossed threshold, in the order of their names.
    pub crossed: Vec<Arc<str>>,
    /// Whether a crossed threshold ends the test.
    pub abort: bool,
}

impl Judgement {
    /// The metrics as k6's messages list them: `'http_req_failed, my_trend'`.
    pub fn names(&self) -> String {
        self.crossed.join(", ")
    }
}

impl Store {
    /// Thresholds are evaluated this often while a test runs.
    pub const EVALUATED_EVERY: Duration = Duration::from_secs(2);

    /// Without samples and thresholds.
    pub fn new(registry: Arc<Registry>) -> Store {
        Store {
            registry,
            metrics: Vec::new(),
            submetrics: Vec::new(),
            scopes: Vec::new(),
            by_scope: HashMap::new(),
            limits: Vec::new(),
        }
    }

    /// Makes a metric part of the end's summary even when nothing of it is seen: thresholds name it.
    ///
    /// # Errors
    /// When there is no such metric.
    pub fn watch(&mut self, metric: &str) -> Result<(), Unfit> {
        self.target(metric).map(|_| ())
    }

    /// Adds a threshold; all before the first sample. Expressions are those of the options, metrics those of [`Registry::add`]
    /// and parts of them in braces.
    ///
    /// # Errors
    /// When the expression cannot be read, the metric is unknown, or has no such value.
    pub fn limit(
        &mut self,
        metric: &str,
        source: &str,
        abort_on_fail: bool,
        delay: Duration,
    ) -> Result<(), Unfit> {
        let expression = Expression::parse(source)?;
        let target = self.target(metric)?;
        let (kind, name) = (self.kind_of(target), metric.to_owned());
        let source = source.to_owned();
        if !expression.fits(kind) {
            return Err(Misread::Unfit { expression: source, metric: name, kind }.into());
        }
        self.limits.push(Limit { target, source, expression, abort_on_fail, delay, crossed: false });
        Ok(())
    }

    fn target(&mut self, metric: &str) -> Result<Target, Unfit> {
        let wrong = |why| Unfit::Metric { metric: metric.to_owned(), why };
        let (name, braces) = registry::split(metric).map_err(wrong)?;
        let id = self.registry.get(name).ok_or_else(|| wrong(Unnamed::Unknown(metric.to_owned())))?;
        let kind = self.kind_of(Target::Metric(id));
        slot(&mut self.metrics, id.index(), kind);
        if braces.is_none() {
            return Ok(Target::Metric(id));
        }
        let place = self.registry.submetric(metric).map_err(wrong)?;
        slot(&mut self.submetrics, place, kind);
        Ok(Target::Submetric(place))
    }

    fn kind_of(&self, target: Target) -> Kind {
        let id = match target {
            Target::Metric(id) => id,
            Target::Submetric(place) => self.registry.submetrics()[place].parent,
        };
        self.registry.metric(id).kind
    }

    /// Adds what a shard measured. The order of intervals does not matter.
    pub fn absorb(&mut self, interval: &Interval) {
        for (part, first, sink) in &interval.parts {
            let kind = self.registry.metric(part.metric).kind;
            slot(&mut self.metrics, part.metric.index(), kind).merge(sink);
            for place in &part.submetrics {
                slot(&mut self.submetrics, *place, kind).merge(sink);
            }
            if part.scope != Scope::default() {
                let at = self.scoped(part.metric, &part.scope, kind);
                self.scopes[at].first = self.scopes[at].first.min(*first);
                self.scopes[at].sink.merge(sink);
            }
        }
    }

    fn scoped(&mut self, metric: MetricId, scope: &Scope, kind: Kind) -> usize {
        if let Some(at) = self.by_scope.get(&(metric, scope.clone())) {
            return *at;
        }
        let at = self.scopes.len();
        self.scopes.push(Part { metric, scope: scope.clone(), first: At(i64::MAX), sink: Sink::new(kind) });
        self.by_scope.insert((metric, scope.clone()), at);
        at
    }

    /// Evaluates all thresholds. While the test runs, those on metrics without samples are left out; at its end none is.
    /// One that `abortOnFail` ends the test when it is crossed and its `delayAbortEval` is over.
    pub fn judge(&mut self, elapsed: Duration, finally: bool) -> Judgement {
        let mut found = Judgement::default();
        for at in 0..self.limits.len() {
            let Limit { target, expression, abort_on_fail, delay, .. } = self.limits[at];
            let Some(sink) = self.sink(target) else { continue };
            if sink.samples() == 0 && !finally {
                continue;
            }
            let crossed = !expression.holds(sink, elapsed);
            self.limits[at].crossed = crossed;
            if crossed {
                found.abort |= abort_on_fail && elapsed >= delay;
                found.crossed.push(self.name_of(target));
            }
        }
        found.crossed.sort();
        found.crossed.dedup();
        found
    }

    fn name_of(&self, target: Target) -> Arc<str> {
        match target {
            Target::Metric(id) => self.registry.metric(id).name,
            Target::Submetric(place) => self.registry.submetrics()[place].name.clone(),
        }
    }

    pub(crate) fn sink(&mut self, target: Target) -> Option<&mut Sink> {
        match target {
            Target::Metric(id) => self.metrics.get_mut(id.index()),
            Target::Submetric(place) => self.submetrics.get_mut(place),
        }
        .and_then(Option::as_mut)
    }

    pub(crate) fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// Thresholds on whole metrics.
    pub(crate) fn limited_metrics(&self) -> Vec<(MetricId, Value)> {
        let whole = |limit: &Limit| match limit.target {
            Target::Metric(id) => Some((id, limit.told())),
            Target::Submetric(_) => None,
        };
        self.limits.iter().filter_map(whole).collect()
    }

    pub(crate) fn limits(&self) -> &[Limit] {
        &self.limits
    }

    /// What is kept of each metric's scopes, those seen first at the front.
    pub(crate) fn scopes(&mut self) -> &mut [Part] {
        self.scopes.sort_by_key(|part| part.first);
        self.by_scope = (self.scopes.iter().enumerate())
            .map(|(at, part)| ((part.metric, part.scope.clone()), at))
            .collect();
        &mut self.scopes
    }

    /// A value of a metric (or sub-metric that is watched) by name; None when it has none or nothing was seen of it.
    #[cfg(test)]
    pub(super) fn value(
        &mut self,
        metric: &str,
        aggregation: super::Aggregation,
        elapsed: Duration,
    ) -> Option<f64> {
        let (name, braces) = registry::split(metric).ok()?;
        let target = match braces {
            None => Target::Metric(self.registry.get(name)?),
            Some(_) => Target::Submetric(self.registry.submetric(metric).ok()?),
        };
        aggregation.of(self.sink(target)?, elapsed)
    }

    /// All checks, those made first at the front.
    pub fn checks(&mut self) -> Vec<CheckCount> {
        let checks =
            self.scopes().iter().filter(|part| part.metric == builtin::CHECKS && part.scope.check.is_some());
        checks
            .filter_map(|part| match &part.sink {
                Sink::Rate(rated) => {
                    Some(CheckCount { scope: part.scope.clone(), passes: rated.passes, fails: rated.fails() })
                }
                _ => None,
            })
            .collect()
    }
}

/// The sink at this place, made when there is none.
fn slot(sinks: &mut Vec<Option<Sink>>, at: usize, kind: Kind) -> &mut Sink {
    if sinks.len() <= at {
        sinks.resize_with(at + 1, || None);
    }
    sinks[at].get_or_insert_with(|| Sink::new(kind))
}
