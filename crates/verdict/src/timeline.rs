//! A run's series, second by second.

use sonagi_measure::frame::{Buckets, Frame, Value};
use sonagi_measure::metrics::TagSet;
use std::collections::{BTreeMap, HashMap};

/// The series of a run by metric and tags, with a place for every second.
#[derive(Debug, Default)]
pub struct Timeline {
    seconds: Vec<f64>,
    names: HashMap<u32, (String, TagSet)>,
    series: BTreeMap<String, BTreeMap<TagSet, Vec<Option<Value>>>>,
    /// All values of a trend, for each of its sets of tags: by second they would take far more room.
    wholes: BTreeMap<String, BTreeMap<TagSet, Buckets>>,
}

impl Timeline {
    /// The timeline of a run's frames.
    pub fn of(frames: impl IntoIterator<Item = Frame>) -> Timeline {
        let mut timeline = Timeline::default();
        frames.into_iter().for_each(|frame| timeline.push(frame));
        timeline
    }

    /// Adds the next frame.
    pub fn push(&mut self, frame: Frame) {
        let at = self.seconds.len();
        self.seconds.push(frame.span);
        for (number, name) in frame.names {
            self.names.insert(number, (name.metric, name.tags));
        }
        for (number, value) in frame.values {
            let Some((metric, tags)) = self.names.get(&number) else { continue };
            if !self.series.contains_key(metric) {
                self.series.insert(metric.clone(), BTreeMap::new());
            }
            if let Value::Trend(values) = &value {
                let parts = self.wholes.entry(metric.clone()).or_default();
                parts.entry(tags.clone()).or_default().merge(values);
            }
            let Some(parts) = self.series.get_mut(metric) else { continue };
            // By second no rule tells a trend's tags apart.
            let tags = if matches!(value, Value::Trend(_)) { TagSet::default() } else { tags.clone() };
            let values = parts.entry(tags).or_default();
            if values.len() < at {
                values.resize(at, None);
            }
            match values.get_mut(at) {
                Some(Some(known)) => known.merge(&value),
                _ => values.push(Some(value)),
            }
        }
    }

    /// How many seconds there are.
    pub fn len(&self) -> usize {
        self.seconds.len()
    }

    /// How long each second was (s): the last one is cut short.
    pub fn spans(&self) -> &[f64] {
        &self.seconds
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.seconds.is_empty()
    }

    /// Whether a metric was ever seen.
    pub fn has(&self, metric: &str) -> bool {
        self.series.contains_key(metric)
    }

    /// The names of all metrics.
    pub fn metrics(&self) -> impl Iterator<Item = &str> {
        self.series.keys().map(String::as_str)
    }

    /// The sets of tags of a metric.
    pub fn parts(&self, metric: &str) -> impl Iterator<Item = &TagSet> {
        self.series.get(metric).into_iter().flat_map(BTreeMap::keys)
    }

    /// A metric's level in each second: of a gauge without tags its last value, of one with tags the sum of them all.
    /// None: it was not measured then.
    pub fn level(&self, metric: &str) -> Vec<Option<f64>> {
        self.over(
            metric,
            |_| true,
            |value| match value {
                Value::Gauge(last, ..) => Some(*last),
                _ => None,
            },
        )
    }

    /// The highest level of all series of a gauge in each second: of several event loops the busiest.
    pub fn highest(&self, metric: &str) -> Vec<Option<f64>> {
        let mut highest = vec![None; self.len()];
        for values in self.series.get(metric).into_iter().flat_map(BTreeMap::values) {
            for (most, value) in highest.iter_mut().zip(values) {
                if let Some(Value::Gauge(last, ..)) = value {
                    *most = Some(most.map_or(*last, |most: f64| most.max(*last)));
                }
            }
        }
        highest
    }

    /// The level of the series with one tag of this value.
    pub fn level_of(&self, metric: &str, tag: &str, is: &str) -> Vec<Option<f64>> {
        self.over(
            metric,
            |tags| tags.get(tag) == Some(is),
            |value| match value {
                Value::Gauge(last, ..) => Some(*last),
                _ => None,
            },
        )
    }

    /// How much a counter grew in a second, all its tags together. 0 where it is known and did not; empty where it is
    /// not known at all.
    pub fn rate(&self, metric: &str) -> Vec<f64> {
        self.rate_where(metric, |_| true)
    }

    /// The same, of the series whose tags are wanted.
    pub fn rate_where(&self, metric: &str, wanted: impl Fn(&TagSet) -> bool) -> Vec<f64> {
        if !self.has(metric) {
            return Vec::new();
        }
        let counts = self.over(metric, wanted, |value| match value {
            Value::Counter(count) => Some(*count),
            Value::Trend(values) => Some(values.count() as f64),
            Value::Rate(passes, _) => Some(*passes as f64),
            Value::Gauge(..) => None,
        });
        let span = self.seconds.iter().map(|span| span.max(0.1));
        counts.iter().zip(span).map(|(count, span)| count.unwrap_or(0.0) / span).collect()
    }

    /// A quantile of a trend in each second, all its tags together; None: there was no value.
    pub fn quantile(&self, metric: &str, share: f64) -> Vec<Option<f64>> {
        let at = |second| {
            let merged = self.buckets(metric, second..second + 1);
            (merged.count() > 0).then(|| merged.quantile(share))
        };
        (0..self.len()).map(at).collect()
    }

    /// All values of a trend in these seconds.
    pub fn buckets(&self, metric: &str, seconds: std::ops::Range<usize>) -> Buckets {
        let mut merged = Buckets::default();
        for values in self.series.get(metric).into_iter().flat_map(BTreeMap::values) {
            for value in values.iter().take(seconds.end).skip(seconds.start).flatten() {
                if let Value::Trend(buckets) = value {
                    merged.merge(buckets);
                }
            }
        }
        merged
    }

    /// All values that a trend had in the whole run, of the series whose tags are wanted.
    pub fn whole(&self, metric: &str, wanted: impl Fn(&TagSet) -> bool) -> Buckets {
        let mut merged = Buckets::default();
        let parts = self.wholes.get(metric).into_iter().flatten().filter(|(tags, _)| wanted(tags));
        parts.for_each(|(_, values)| merged.merge(values));
        merged
    }

    fn over(
        &self,
        metric: &str,
        wanted: impl Fn(&TagSet) -> bool,
        read: impl Fn(&Value) -> Option<f64>,
    ) -> Vec<Option<f64>> {
        let mut sums = vec![None; self.len()];
        let parts = self.series.get(metric).into_iter().flatten().filter(|(tags, _)| wanted(tags));
        for (_, values) in parts {
            for (sum, value) in sums.iter_mut().zip(values) {
                if let Some(value) = value.as_ref().and_then(&read) {
                    *sum = Some(sum.unwrap_or(0.0) + value);
                }
            }
        }
        sums
    }
}
