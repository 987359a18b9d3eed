//! Everything observed since the start, and what the thresholds say of it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use super::registry;
use super::series_name::Unnamed;
use super::{
    AbortRule, Aggregate, Expression, Interval, Kind, Metric, MetricId, Misread, Observed, Registry, Scope,
    Series, TagSet, Unit,
};
use crate::at::At;
use crate::expression::Operator;

/// Everything observed since the start, on all threads. The collector's: it absorbs their [`Interval`]s.
#[derive(Debug, Default)]
pub struct MetricStore {
    registry: Arc<Registry>,
    /// Each with what it is, a sub-metric described as its metric but for the name: intervals may be of a run whose
    /// registry is not at hand.
    known: BTreeMap<Target, (Metric, Aggregate)>,
    tagged: Vec<Tagged>,
    by_tags: HashMap<(MetricId, TagSet), usize>,
    limits: Vec<Limit>,
    untold: u64,
    left_out: u64,
}

/// The samples of a metric that have the same values of the tags that make series of it.
#[derive(Debug)]
pub struct Tagged {
    /// The metric.
    pub metric: MetricId,
    /// The tags.
    pub tags: TagSet,
    /// The instant of the first one.
    pub first: At,
    /// The samples' aggregate.
    pub aggregate: Aggregate,
}

/// The samples that something refers to. In their order all metrics come before the first sub-metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// All of a metric.
    Metric(MetricId),
    /// The samples of a sub-metric, by its index in the registry.
    Submetric(usize),
}

/// A threshold.
#[derive(Clone, Debug)]
pub struct Limit {
    /// The samples it refers to.
    pub target: Target,
    /// The script's text.
    pub source: String,
    /// The same, read.
    pub expression: Expression,
    /// Whether it ends the test when it is crossed.
    pub abort: AbortRule,
    /// The result of the last evaluation.
    pub crossed: bool,
}

/// Why there can be no such threshold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// Its expression.
    #[error(transparent)]
    Expression(#[from] Misread),
    /// Its metric.
    #[error("invalid threshold on {metric}: {why}")]
    Metric {
        /// The metric's name in the options.
        metric: String,
        /// Why it is none.
        why: Unnamed,
    },
}

/// The result of evaluating all thresholds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Crossed {
    /// Metrics with a crossed threshold, in the order of their names.
    pub metrics: Vec<Arc<str>>,
    /// Whether a crossed threshold ends the test.
    pub abort: bool,
}

impl MetricStore {
    /// Without samples and thresholds, of the metrics of a run.
    pub fn new(registry: Arc<Registry>) -> MetricStore {
        MetricStore { registry, ..MetricStore::default() }
    }

    /// Makes a metric part of the end's summary even when nothing of it is seen: thresholds name it.
    ///
    /// # Errors
    /// When there is no such metric.
    pub fn watch(&mut self, metric: &str) -> Result<(), Unfit> {
        self.target(metric).map(|_| ())
    }

    /// Adds a threshold; all before the first sample. Expressions are those of the options, metrics those of
    /// [`Registry::add`] and parts of them in braces.
    ///
    /// # Errors
    /// When the expression cannot be read, the metric is unknown, or has no such value.
    pub fn limit(&mut self, metric: &str, source: &str, abort: AbortRule) -> Result<(), Unfit> {
        let expression = Expression::parse(source)?;
        let ((target, kind), source) = (self.target(metric)?, source.to_owned());
        if !expression.fits(kind) {
            return Err(Misread::unfit(&source, metric, kind).into());
        }
        self.limits.push(Limit { target, source, expression, abort, crossed: false });
        Ok(())
    }

    /// What a threshold of this name refers to, and of which kind it is.
    fn target(&mut self, metric: &str) -> Result<(Target, Kind), Unfit> {
        let wrong = |why| Unfit::Metric { metric: metric.to_owned(), why };
        let (name, braces) = registry::split(metric).map_err(wrong)?;
        let id = self.registry.get(name).ok_or_else(|| wrong(Unnamed::Unknown(metric.to_owned())))?;
        let of = self.registry.metric(id);
        self.made(Target::Metric(id), &of, &of.name);
        if braces.is_none() {
            return Ok((Target::Metric(id), of.kind));
        }
        let place = self.registry.submetric(metric).map_err(wrong)?;
        let name = Arc::clone(&self.registry.submetrics()[place].name);
        self.made(Target::Submetric(place), &of, &name);
        Ok((Target::Submetric(place), of.kind))
    }

    /// Adds what a thread observed. The order of intervals does not matter.
    pub fn absorb(&mut self, interval: &Interval) {
        self.untold += interval.untold;
        self.left_out += interval.left_out;
        for Observed { series, first, aggregate } in &interval.series {
            if series.of.scope != Scope::Partial {
                self.made(Target::Metric(series.metric), &series.of, &series.of.name).merge(aggregate);
            }
            for part in &series.submetrics {
                self.made(Target::Submetric(part.place), &series.of, &part.name).merge(aggregate);
            }
            if !series.tags.is_empty() {
                let tagged = self.tagged_of(series);
                tagged.first = tagged.first.min(*first);
                tagged.aggregate.merge(aggregate);
            }
        }
    }

    /// The aggregate of a metric, or of a part of it that has this name; made when there is none yet.
    fn made(&mut self, target: Target, of: &Metric, name: &Arc<str>) -> &mut Aggregate {
        let described = || Metric { name: Arc::clone(name), ..of.clone() };
        let new = || (described(), Aggregate::new(of.kind));
        &mut self.known.entry(target).or_insert_with(new).1
    }

    fn tagged_of(&mut self, series: &Series) -> &mut Tagged {
        let Series { metric, ref tags, .. } = *series;
        let at = *self.by_tags.entry((metric, tags.clone())).or_insert(self.tagged.len());
        if at == self.tagged.len() {
            let (tags, aggregate) = (tags.clone(), Aggregate::new(series.of.kind));
            self.tagged.push(Tagged { metric, tags, first: At(i64::MAX), aggregate });
        }
        &mut self.tagged[at]
    }

    /// Evaluates all thresholds. While the test runs, those on metrics without samples are left out; at its end none
    /// is. One that may end the test does when it is crossed and its delay is over.
    pub fn judge(&mut self, elapsed: Duration, finally: bool) -> Crossed {
        let mut found = Crossed::default();
        for limit in &mut self.limits {
            let Some((metric, aggregate)) = self.known.get_mut(&limit.target) else { continue };
            if aggregate.samples() == 0 && !finally {
                continue;
            }
            limit.crossed = !limit.expression.holds(aggregate, elapsed);
            if limit.crossed {
                found.abort |= limit.abort.ends(elapsed);
                found.metrics.push(Arc::clone(&metric.name));
            }
        }
        found.metrics.sort();
        found.metrics.dedup();
        found
    }

    /// The aggregate of a metric or sub-metric; None: it has no samples, and no threshold names it.
    pub fn aggregate(&mut self, target: Target) -> Option<&mut Aggregate> {
        self.known.get_mut(&target).map(|(_, aggregate)| aggregate)
    }

    /// Every metric that has samples, or that a threshold names, with what it came to.
    pub fn metrics(&mut self) -> impl Iterator<Item = &mut (Metric, Aggregate)> {
        self.known.range_mut(..Target::Submetric(0)).map(|(_, known)| known)
    }

    /// Every metric, then every sub-metric, that has samples or that a threshold names, with what it came to.
    pub fn each(&mut self) -> impl Iterator<Item = (Target, &mut (Metric, Aggregate))> {
        self.known.iter_mut().map(|(target, known)| (*target, known))
    }

    /// The metrics whose samples it keeps.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// All thresholds.
    pub fn limits(&self) -> &[Limit] {
        &self.limits
    }

    /// The smallest time (ms) that a threshold allows, if one limits a trend of times from above.
    pub fn objective_ms(&self) -> Option<f64> {
        let limits_times = |limit: &&Limit| {
            let times = (Kind::Trend, Unit::Milliseconds);
            self.known.get(&limit.target).is_some_and(|(metric, _)| (metric.kind, metric.unit) == times)
                && matches!(limit.expression.operator, Operator::Less | Operator::LessEqual)
        };
        self.limits.iter().filter(limits_times).map(|limit| limit.expression.number).reduce(f64::min)
    }

    /// Sets of tags that got no series of their own, see [`super::SERIES_MAX`].
    pub fn untold(&self) -> u64 {
        self.untold
    }

    /// Values that no metric could take: of names beyond the limit, or of another kind than their name's.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// The series that tags tell apart, those seen first at the front.
    pub fn tagged(&mut self) -> &mut [Tagged] {
        self.tagged.sort_by_key(|tagged| tagged.first);
        self.by_tags = (self.tagged.iter().enumerate())
            .map(|(at, tagged)| ((tagged.metric, tagged.tags.clone()), at))
            .collect();
        &mut self.tagged
    }
}
