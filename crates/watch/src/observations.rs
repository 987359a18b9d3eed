//! What probes have seen since it was last taken, as an interval of metrics: each set of tags is a series of its own.

use sonagi_measure::At;
use sonagi_measure::metrics::{
    Aggregate, Interval, Kind, MetricId, Observed, Registry, Scope, Series, TagSet, Unit,
};
use std::collections::HashMap;
use std::sync::Arc;

/// Series that one probe may have: a metrics page can have one for each of its users.
pub(crate) const SERIES_MAX: usize = 1_000;

/// One value that a probe saw.
#[derive(Clone, Debug)]
pub(crate) struct Observation {
    pub(crate) metric: String,
    pub(crate) kind: Kind,
    pub(crate) unit: Unit,
    pub(crate) tags: TagSet,
    pub(crate) aggregate: Aggregate,
}

/// The observations of one probe.
#[derive(Debug)]
pub(crate) struct Observations {
    registry: Arc<Registry>,
    ids: HashMap<String, Option<MetricId>>,
    series: HashMap<(MetricId, TagSet), (Arc<Series>, At)>,
    now: HashMap<(MetricId, TagSet), Aggregate>,
    left_out: u64,
}

impl Observations {
    /// None yet, of metrics that go into this registry.
    pub(crate) fn new(registry: &Arc<Registry>) -> Observations {
        Observations {
            registry: Arc::clone(registry),
            ids: HashMap::new(),
            series: HashMap::new(),
            now: HashMap::new(),
            left_out: 0,
        }
    }

    /// Adds what a look has brought.
    pub(crate) fn add(&mut self, looked: Vec<Observation>, at: At) {
        for observation in looked {
            self.add_one(observation, at);
        }
    }

    fn add_one(&mut self, observation: Observation, at: At) {
        let Observation { metric, kind, unit, tags, aggregate } = observation;
        let Some(id) = self.id(&metric, kind, unit) else {
            self.left_out += 1;
            return;
        };
        let key = (id, tags);
        if !self.series.contains_key(&key) {
            if self.series.len() >= SERIES_MAX {
                self.left_out += 1;
                return;
            }
            self.series.insert(key.clone(), (self.begun(id, &key.1), at));
        }
        match self.now.get_mut(&key) {
            Some(known) => known.merge(&aggregate),
            None => _ = self.now.insert(key, aggregate),
        }
    }

    /// The number of a metric; None: the run has one of this name that is something else.
    fn id(&mut self, name: &str, kind: Kind, unit: Unit) -> Option<MetricId> {
        if let Some(known) = self.ids.get(name) {
            return known.filter(|id| self.registry.metric(*id).kind == kind);
        }
        let id = self.registry.add_of(Scope::Watched, name, kind, unit).ok();
        self.ids.insert(name.to_owned(), id);
        id
    }

    fn begun(&self, metric: MetricId, tags: &TagSet) -> Arc<Series> {
        let submetrics = self.registry.parts(metric, tags);
        Arc::new(Series {
            metric,
            of: self.registry.metric(metric),
            submetrics,
            tags: tags.clone(),
            breakdown: TagSet::default(),
        })
    }

    /// All since the last time.
    pub(crate) fn take(&mut self) -> Interval {
        let observed = self.now.drain().filter_map(|(key, aggregate)| {
            let (series, first) = self.series.get(&key)?;
            Some(Observed { series: Arc::clone(series), first: *first, aggregate })
        });
        let mut series: Vec<Observed> = observed.collect();
        series.sort_by(|a, b| (a.series.metric, &a.series.tags).cmp(&(b.series.metric, &b.series.tags)));
        Interval { series, left_out: std::mem::take(&mut self.left_out), ..Interval::default() }
    }
}
