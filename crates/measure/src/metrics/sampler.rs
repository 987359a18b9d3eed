//! Where the samples of one thread go.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::registry::matching;
use super::tags::{Interner, UNSETTLED};
use super::{
    Aggregate, AutomaticTags, Interval, Metadata, MetricId, Observed, Registry, Series, Submetric, TagSet,
    Tags,
};
use crate::at::At;

/// Series of one sampler: samples with further tags count in their metric and its sub-metrics only, and
/// [`Interval::untold`] says how many sets of tags that happened to.
pub const SERIES_MAX: usize = 20_000;

/// The tags that make series of a metric: samples that differ in other tags count together.
pub type SeriesTags = fn(MetricId) -> &'static [&'static str];

/// Which metrics are broken down, and by which tags: all but those left out here and those that make series anyway.
#[derive(Clone, Copy, Debug, Default)]
pub struct Breakdown {
    /// The metrics.
    pub metrics: &'static [MetricId],
    /// Tags that break nothing down: they say nothing new, or are of ever new values.
    pub without: &'static [&'static str],
    /// The tag that names what was done. Beyond the limit of sets its value is [`OTHER`](super::OTHER).
    pub name: &'static str,
    /// Tags of few values, which are kept beyond the limit of sets.
    pub coarse: &'static [&'static str],
}

/// The samples of one thread since the last [`Sampler::take`]. The collector has one of its own for what it observes
/// itself.
#[derive(Debug)]
pub struct Sampler {
    registry: Arc<Registry>,
    series_tags: SeriesTags,
    breakdown: Breakdown,
    interner: Rc<Interner>,
    /// Since the last [`Sampler::take`].
    cells: Vec<Observed>,
    by_series: HashMap<Arc<Series>, u32>,
    /// Cells of samples that belong to their metric only, by metric.
    plain: Vec<u32>,
    /// The sub-metrics at the first sample.
    submetrics: Option<Vec<Submetric>>,
    samples: Option<Vec<Sample>>,
    untold: u64,
}

/// A sample as it was observed.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The metric.
    pub metric: MetricId,
    /// The observed value.
    pub value: f64,
    /// When.
    pub at: At,
    /// With which tags.
    pub tags: Arc<TagSet>,
    /// And what beside.
    pub metadata: Option<Arc<Metadata>>,
}

impl Sampler {
    /// For one thread. With `keep_samples`, every single one is kept until it is taken.
    pub fn new(
        registry: Arc<Registry>,
        series_tags: SeriesTags,
        wanted: AutomaticTags,
        keep_samples: bool,
    ) -> Sampler {
        Sampler {
            registry,
            series_tags,
            breakdown: Breakdown::default(),
            interner: Interner::new(wanted),
            cells: Vec::new(),
            by_series: HashMap::new(),
            plain: Vec::new(),
            submetrics: None,
            samples: keep_samples.then(Vec::new),
            untold: 0,
        }
    }

    /// The same sampler, which breaks metrics down as well.
    #[must_use]
    pub fn breaking_down(self, breakdown: Breakdown) -> Sampler {
        Sampler { breakdown, ..self }
    }

    /// The metrics it samples.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// The empty set of tags, from which all sets of this sampler come.
    pub fn tags(&self) -> Tags {
        self.interner.empty()
    }

    /// Adds a sample. The tags must come from this sampler's [`Sampler::tags`].
    ///
    /// Costs an addition: nothing is allocated (but for the room a trend's values grow into, which is handed on from
    /// second to second) and no string is looked at, except when a set of tags meets a metric for the first time.
    #[inline]
    pub fn observe(&mut self, metric: MetricId, value: f64, tags: &Tags, at: At) {
        let known = tags.node.cells.borrow().get(metric.index()).copied().unwrap_or(UNSETTLED);
        let index = if known == UNSETTLED { self.settle(metric, tags, at) } else { known };
        self.cells[index as usize].aggregate.add(value, at);
        if let Some(samples) = &mut self.samples {
            let (tags, metadata) = (tags.set().clone(), tags.metadata().cloned());
            samples.push(Sample { metric, value, at, tags, metadata });
        }
    }

    /// Everything since the last time; nothing of it is left here.
    pub fn take(&mut self) -> Interval {
        let seen = self.cells.iter_mut().filter(|cell| cell.aggregate.samples() > 0);
        let series = seen.map(|cell| Observed {
            series: cell.series.clone(),
            first: cell.first,
            aggregate: cell.aggregate.take(),
        });
        let series = series.collect();
        let samples = self.samples.as_mut().map(|samples| {
            let room = Vec::with_capacity(samples.len());
            std::mem::replace(samples, room)
        });
        let untold = std::mem::take(&mut self.untold);
        Interval { series, samples: samples.unwrap_or_default(), untold, left_out: 0 }
    }

    #[cold]
    fn settle(&mut self, metric: MetricId, tags: &Tags, at: At) -> u32 {
        let set = &tags.node.set;
        let telling = set.only((self.series_tags)(metric));
        let of = self.registry.metric(metric);
        let breakdown = self.broken_down(metric, set);
        let known = self.submetrics.get_or_insert_with(|| self.registry.submetrics());
        let submetrics = matching(known, metric, set);
        let mut series = Series { metric, of, submetrics, tags: telling, breakdown };
        let mut known = self.find(&series);
        let is_told_apart = !series.tags.is_empty() || !series.breakdown.is_empty();
        if known.is_none() && is_told_apart && self.cells.len() >= SERIES_MAX {
            self.untold += 1;
            (series.tags, series.breakdown) = Default::default();
            known = self.find(&series);
        }
        let index = known.unwrap_or_else(|| self.begin(series, at));
        *place(&mut tags.node.cells.borrow_mut(), metric) = index;
        index
    }

    fn find(&self, series: &Series) -> Option<u32> {
        if series.is_plain() {
            // Without tags that make series, no series needs to be looked up.
            return self.plain.get(series.metric.index()).copied().filter(|index| *index != UNSETTLED);
        }
        self.by_series.get(series).copied()
    }

    fn begin(&mut self, series: Series, first: At) -> u32 {
        let series = Arc::new(series);
        let index = self.cells.len() as u32;
        let aggregate = Aggregate::new(series.of.kind);
        self.cells.push(Observed { series: series.clone(), first, aggregate });
        if series.is_plain() {
            *place(&mut self.plain, series.metric) = index;
        } else {
            self.by_series.insert(series, index);
        }
        index
    }

    /// The tags that a sample of this metric is broken down by, beside those that make series of it.
    fn broken_down(&self, metric: MetricId, set: &TagSet) -> TagSet {
        if !self.breakdown.metrics.contains(&metric) {
            return TagSet::default();
        }
        let (without, series_tags) = (self.breakdown.without, (self.series_tags)(metric));
        let is_left_out = |name: &str| without.contains(&name) || series_tags.contains(&name);
        let tags = set.filter(|name, value| !value.is_empty() && !is_left_out(name));
        self.registry.broken_down(&tags, &self.breakdown)
    }
}

/// The place of a metric in a list by metric, made when there is none.
fn place(list: &mut Vec<u32>, metric: MetricId) -> &mut u32 {
    /// Room for the metrics most scripts have, so that a list grows once.
    const USUAL: usize = 25;
    if list.len() <= metric.index() {
        list.resize((metric.index() + 1).max(USUAL), UNSETTLED);
    }
    &mut list[metric.index()]
}
