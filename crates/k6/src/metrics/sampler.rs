//! Where a shard's samples go.

use super::store::Scope;
use super::tags::{Interner, UNSETTLED};
use super::{Metadata, MetricId, Registry, Sink, Submetric, SystemTags, TagSet, Tags, builtin};
use sonagi_measure::At;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// More parts of metrics than this are not told apart: further ones count in their metric and sub-metrics only.
pub(super) const MOST_PARTS: usize = 20_000;

/// What the end's summary tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Metrics, sub-metrics and checks.
    Total,
    /// Metrics in each scenario and group as well (`--summary-mode full`).
    Scopes,
}

/// The samples of one shard since the last [`Sampler::take`]. The collector has one of its own for what it observes itself (`vus`).
#[derive(Debug)]
pub struct Sampler {
    registry: Arc<Registry>,
    detail: Detail,
    interner: Rc<Interner>,
    cells: Vec<Cell>,
    by_part: HashMap<Arc<Part>, u32>,
    /// Cells of samples that belong to their metric only, by metric.
    plain: Vec<u32>,
    /// As they were at the first sample.
    submetrics: Option<Vec<Submetric>>,
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
#[derive(Debug, Default)]
pub struct Interval {
    pub(super) parts: Vec<(Arc<Part>, At, Sink)>,
    /// Every single sample, when outputs asked for them.
    pub samples: Vec<Sample>,
}

impl Interval {
    /// What each metric came to in it; a metric may come several times, its samples once.
    pub(crate) fn sums(&self) -> impl Iterator<Item = (MetricId, &Sink)> {
        self.parts.iter().map(|(part, _, sink)| (part.metric, sink))
    }
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
            plain: Vec::new(),
            submetrics: None,
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
        let set = &tags.node.set;
        let submetrics = self.matching(metric, set);
        let index = match self.scope(metric, set) {
            // What has nothing to be told apart by needs no part to be made and looked up.
            scope if submetrics.is_empty() && scope == Scope::default() => {
                match self.plain.get(metric.index()) {
                    Some(index) if *index != UNSETTLED => *index,
                    _ => self.begin(Part { metric, submetrics, scope }, at),
                }
            }
            scope => {
                let part = Part { metric, submetrics, scope };
                self.by_part.get(&part).copied().unwrap_or_else(|| self.begin(part, at))
            }
        };
        *place(&mut tags.node.cells.borrow_mut(), metric) = index;
        index
    }

    fn begin(&mut self, part: Part, first: At) -> u32 {
        let part = Arc::new(part);
        let index = self.cells.len() as u32;
        let sink = Sink::new(self.registry.metric(part.metric).kind);
        self.cells.push(Cell { part: part.clone(), first, sink });
        if part.submetrics.is_empty() && part.scope == Scope::default() {
            *place(&mut self.plain, part.metric) = index;
        } else {
            self.by_part.insert(part, index);
        }
        index
    }

    /// The sub-metrics a sample with these tags belongs to.
    fn matching(&mut self, metric: MetricId, set: &TagSet) -> Box<[usize]> {
        let submetrics = self.submetrics.get_or_insert_with(|| self.registry.submetrics());
        let has = |one: &Submetric| one.tags.iter().all(|(name, value)| set.get(name) == Some(value));
        let matching = submetrics.iter().enumerate().filter(|(_, one)| one.parent == metric && has(one));
        matching.map(|(place, _)| place).collect()
    }

    /// What of a sample's origin the summary tells apart.
    fn scope(&self, metric: MetricId, set: &TagSet) -> Scope {
        let all = self.detail == Detail::Scopes;
        let grouped = metric == builtin::CHECKS || metric == builtin::GROUP_DURATION;
        if !all && !grouped || self.cells.len() >= MOST_PARTS {
            return Scope::default();
        }
        let value = |tag: &str| set.shared(tag).cloned();
        Scope {
            scenario: all.then(|| value("scenario")).flatten(),
            group: value("group"),
            check: (metric == builtin::CHECKS).then(|| value("check")).flatten(),
        }
    }
}

/// The place of a metric in a list by metric, made with room for all built-in ones.
fn place(list: &mut Vec<u32>, metric: MetricId) -> &mut u32 {
    if list.len() <= metric.index() {
        list.resize((metric.index() + 1).max(builtin::COUNT), UNSETTLED);
    }
    &mut list[metric.index()]
}
