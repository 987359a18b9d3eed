//! Observations of an interval: a second of a run, of one thread or of all.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Aggregate, Metric, MetricId, Sample, TagSet};
use crate::at::At;

/// The samples of a metric that have the same of those tags that matter: they belong to the same sub-metrics, and have
/// the same values of the tags that make series of the metric.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Series {
    /// The metric.
    pub metric: MetricId,
    /// The metric's description.
    pub of: Metric,
    /// Sub-metrics it is a part of.
    pub submetrics: Box<[Part]>,
    /// The tags that make it.
    pub tags: TagSet,
    /// Further tags that its metric is broken down by, for whoever reads the run second by second: a [`MetricStore`]
    /// does not look at them.
    ///
    /// [`MetricStore`]: super::MetricStore
    pub breakdown: TagSet,
}

/// A sub-metric that a series is a part of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    /// Its place in the registry.
    pub place: usize,
    /// Its name: `requests{status:200}`.
    pub name: Arc<str>,
}

impl Series {
    /// Whether it is told from its metric by nothing.
    pub(super) fn is_plain(&self) -> bool {
        self.submetrics.is_empty() && self.tags.is_empty() && self.breakdown.is_empty()
    }
}

/// A series, and what it came to in an interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// The series.
    pub series: Arc<Series>,
    /// The instant of its first sample in the run.
    pub first: At,
    /// The samples' aggregate.
    pub aggregate: Aggregate,
}

/// The observations of an interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interval {
    /// Each series that had a sample, once.
    pub series: Vec<Observed>,
    /// Every single sample, when outputs asked for them.
    pub samples: Vec<Sample>,
    /// Sets of tags that got no series of their own, see [`super::SERIES_MAX`].
    pub untold: u64,
    /// Values that no metric could take: of names beyond the limit, or of another kind than their name's.
    pub left_out: u64,
}

impl Interval {
    /// Whether nothing was observed.
    pub fn is_empty(&self) -> bool {
        self.series.is_empty() && self.untold == 0 && self.left_out == 0
    }

    /// Merges the observations of several threads in the same interval.
    pub fn merged(intervals: impl IntoIterator<Item = Interval>) -> Interval {
        let mut intervals = intervals.into_iter().filter(|interval| !interval.is_empty());
        let Some(mut all) = intervals.next() else { return Interval::default() };
        let Some(second) = intervals.next() else { return all };
        let places = all.series.iter().zip(0..);
        let mut places: HashMap<Arc<Series>, usize> =
            places.map(|(observed, place)| (observed.series.clone(), place)).collect();
        for other in std::iter::once(second).chain(intervals) {
            all.untold += other.untold;
            all.left_out += other.left_out;
            all.samples.extend(other.samples);
            for observed in other.series {
                let place = *places.entry(observed.series.clone()).or_insert(all.series.len());
                match all.series.get_mut(place) {
                    Some(mine) => {
                        mine.first = mine.first.min(observed.first);
                        mine.aggregate.merge(&observed.aggregate);
                    }
                    None => all.series.push(observed),
                }
            }
        }
        all
    }
}
