//! Where a shard's samples go.

use super::store::Scope;
use super::tags::{Interner, UNSETTLED};
use super::{Metadata, MetricId, Registry, Sink, SystemTags, TagSet, Tags, builtin};
use sonagi_measure::At;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// More parts of metrics than this are not told apart: further ones count in their metric and sub-metrics only.
const MOST_PARTS: usize = 20_000;

/// What the end's summary tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Metrics, sub-metrics and checks.
    Total,
    /// Metrics in each scenario and group as well (`--summary-mode full`).
    Scopes,
}

/// The samples of one shard since the last [`Sampler::take`].
#[derive(Debug)]
pub struct Sampler {
    registry: Arc<Registry>,
    detail: Detail,
    interner: Rc<Interner>,
    cells: Vec<Cell>,
    by_part: HashMap<Arc<Part>, u32>,
    samples: Option<Vec<Sample>>,
}

/// The samples of a metric that belong to the same sub-metrics, check, group and scenario: what is told apart, and no more.
#[derive(Debug)]
struct Cell {
    part: Arc<Part>,
    first: At,
    sink: Sink,
}

#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Part {
    pub(super) metric: MetricId,
    /// By their place in the registry.
    pub(super) submetrics: Box<[usize]>,
    pub(super) scope: Scope,
}

/// A sample as it was observed.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Of which metric.
    pub metric: MetricId,
    /// What was observed.
    pub value: f64,
    /// When.
    pub at: At,
    /// With which tags.
    pub tags: Arc<TagSet>,
    /// And what beside.
    pub metadata: Option<Arc<Metadata>>,
}

/// What a shard observed in a while; goes to the collector's [`super::Store`].
#[derive(Debug)]
pub struct Interval {
    pub(super) parts: Vec<(Arc<Part>, At, Sink)>,
    /// Every single sample, when outputs asked for them.
    pub samples: Vec<Sample>,
}

impl Sampler {
    /// Of one shard. With `keep_samples`, every single one is kept until it is taken.
    pub fn new(registry: Arc<Registry>, detail: Detail, wanted: SystemTags, keep_samples: bool) -> Sampler {
        Sampler {
            registry,
            detail,
            interner: Interner::new(wanted),
            cells: Vec::new(),
            by_part: HashMap::new(),
            samples: keep_samples.then(Vec::new),
        }
    }

    /// The empty set of tags, from which all sets of this sampler come.
    pub fn tags(&self) -> Tags {
        self.interner.empty()
    }

    /// Adds a sample. The tags must come from this sampler's [`Sampler::tags`].
    ///
    /// Costs an addition: nothing is allocated (but for the room a trend's values grow into, which is handed on from second to
    /// second) and no string is looked at, except when a set of tags meets a metric for the first time.
    #[inline]
    pub fn observe(&mut self, metric: MetricId, value: f64, tags: &Tags, at: At) {
        let known = tags.node.cells.borrow().get(metric.index()).copied().unwrap_or(UNSETTLED);
        let index = if known == UNSETTLED { self.settle(metric, tags, at) } else { known };
        self.cells[index as usize].sink.add(value, at);
        if let Some(samples) = &mut self.samples {
            let (tags, metadata) = (tags.set().clone(), tags.metadata().cloned());
            samples.push(Sample { metric, value, at, tags, metadata });
        }
    }

    /// Everything since the last time; nothing of it is left here.
    pub fn take(&mut self) -> Interval {
        let seen = self.cells.iter_mut().filter(|cell| cell.sink.samples() > 0);
        let parts = seen.map(|cell| (cell.part.clone(), cell.first, cell.sink.take())).collect();
        let samples = self.samples.as_mut().map(|samples| {
            let room = Vec::with_capacity(samples.len());
            std::mem::replace(samples, room)
        });
        Interval { parts, samples: samples.unwrap_or_default() }
    }

    #[cold]
    fn settle(&mut self, metric: MetricId, tags: &Tags, at: At) -> u32 {
        let part = self.part(metric, &tags.node.set);
        let index = match self.by_part.get(&part) {
            Some(index) => *index,
            None => self.begin(part, at),
        };
        let mut cells = tags.node.cells.borrow_mut();
        if cells.len() <= metric.index() {
            cells.resize(metric.index() + 1, UNSETTLED);
        }
        cells[metric.index()] = index;
        index
    }

    fn begin(&mut self, part: Part, first: At) -> u32 {
        let part = Arc::new(part);
        let index = self.cells.len() as u32;
        let sink = Sink::new(self.registry.metric(part.metric).kind);
        self.cells.push(Cell { part: part.clone(), first, sink });
        self.by_part.insert(part, index);
        index
    }

    fn part(&self, metric: MetricId, set: &TagSet) -> Part {
        let submetrics = self
            .registry
            .submetrics()
            .iter()
            .enumerate()
            .filter(|(_, one)| {
                one.parent == metric && one.tags.iter().all(|(name, value)| set.get(name) == Some(value))
            })
            .map(|(place, _)| place)
            .collect();
        let value = |tag: &str| set.shared(tag).cloned();
        let all = self.detail == Detail::Scopes;
        let scope = Scope {
            scenario: all.then(|| value("scenario")).flatten(),
            group: (all || metric == builtin::CHECKS || metric == builtin::GROUP_DURATION)
                .then(|| value("group"))
                .flatten(),
            check: (metric == builtin::CHECKS).then(|| value("check")).flatten(),
        };
        let scope = if self.cells.len() < MOST_PARTS { scope } else { Scope::default() };
        Part { metric, submetrics, scope }
    }
}
