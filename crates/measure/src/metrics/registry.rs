//! The metrics of a run by name.

use super::breakdown::ToldApart;
use super::series_name::{Unnamed, tags_of};
use super::{Breakdown, Kind, MetricId, Part, TagSet, Unit};
use crate::secrets::{self, MASK};
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// A metric.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Metric {
    /// Its name.
    pub name: Arc<str>,
    /// The way it combines its samples.
    pub kind: Kind,
    /// The unit of its values.
    pub unit: Unit,
    /// What its samples are of.
    pub scope: Scope,
}

/// What the samples of a metric are of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// All of what its name says.
    #[default]
    Whole,
    /// Only a part of it, the operations that have tags: of such a metric only sub-metrics are told, and what the whole
    /// came to is measured elsewhere.
    Partial,
    /// The target, as a probe sees it: no part of what the load came to.
    Watched,
}

/// The samples of a metric that have certain tags: what a threshold on `requests{status:200}` is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Submetric {
    /// The metric whose samples they are.
    pub parent: MetricId,
    /// `requests{status:200}`.
    pub name: Arc<str>,
    /// `status:200`: between the braces, as it was written.
    pub suffix: Arc<str>,
    /// Tags and the values they must have.
    pub tags: Arc<[(String, String)]>,
}

/// Metrics of one run: a script that made one per user would make a metric per user.
pub const METRICS_MAX: usize = 10_000;

/// Why a run cannot have a metric.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    /// There is one of the name that does something else with its samples.
    #[error("metric '{name}' already exists, as a {}, and cannot be a {} as well", .exists.name(), .wanted.name())]
    Kind {
        /// The name.
        name: String,
        /// The kind it has.
        exists: Kind,
        /// The kind it should have.
        wanted: Kind,
    },
    /// There is one of the name whose values are something else.
    #[error(
        "metric '{name}' already exists, with values in {exists:?}, and cannot have values in {wanted:?}"
    )]
    Unit {
        /// The name.
        name: String,
        /// The unit its values have.
        exists: Unit,
        /// The unit its values should have.
        wanted: Unit,
    },
    /// There is one of the name whose samples are of something else.
    #[error("metric '{0}' already exists, and its samples are of something else")]
    Scope(String),
    /// There are [`METRICS_MAX`] already.
    #[error("a run has {METRICS_MAX} metrics at most: there is no room for '{0}'")]
    TooMany(String),
}

/// All metrics of a run and the sub-metrics its thresholds name; shared by all threads. It is read when a set of tags
/// meets a metric for the first time and when a script names a metric, never per sample.
#[derive(Debug, Default)]
pub struct Registry(RwLock<Known>);

#[derive(Debug, Default)]
struct Known {
    metrics: Vec<Metric>,
    by_name: HashMap<Arc<str>, MetricId>,
    submetrics: Vec<Submetric>,
    told_apart: ToldApart,
    /// Values that no tag of a breakdown may show.
    secrets: Vec<String>,
}

impl Known {
    /// The metric of this name, which must be like the one wanted.
    fn find(&self, scope: Scope, name: &str, kind: Kind, unit: Unit) -> Option<Result<MetricId, Conflict>> {
        let id = *self.by_name.get(name)?;
        let Metric { kind: exists, unit: holds, scope: known, .. } = self.metrics[id.index()];
        Some(if known != scope {
            Err(Conflict::Scope(name.to_owned()))
        } else if exists != kind {
            Err(Conflict::Kind { name: name.to_owned(), exists, wanted: kind })
        } else if holds != unit {
            Err(Conflict::Unit { name: name.to_owned(), exists: holds, wanted: unit })
        } else {
            Ok(id)
        })
    }

    fn without_secrets(&self, tags: &TagSet) -> TagSet {
        tags.map(|name, value| {
            let shown = if secrets::is_secret(name) { MASK.to_owned() } else { secrets::masked(value) };
            let shown = self.secrets.iter().fold(shown, |shown, secret| shown.replace(secret.as_str(), MASK));
            (shown != value).then_some(shown)
        })
    }
}

impl Registry {
    /// A registry with these metrics, at these numbers: each has a name of its own.
    pub fn new(metrics: &[(&str, Kind, Unit)]) -> Registry {
        let registry = Registry::default();
        for (name, kind, unit) in metrics {
            registry.add(name, *kind, *unit).expect("each has a name of its own");
        }
        registry
    }

    /// A metric of the script's own; the same one again when it is asked for again.
    ///
    /// # Errors
    /// When there is one of this name that counts otherwise, or there are too many.
    pub fn add(&self, name: &str, kind: Kind, unit: Unit) -> Result<MetricId, Conflict> {
        self.add_of(Scope::Whole, name, kind, unit)
    }

    /// A metric whose samples are of this scope.
    ///
    /// # Errors
    /// As [`Registry::add`].
    pub fn add_of(&self, scope: Scope, name: &str, kind: Kind, unit: Unit) -> Result<MetricId, Conflict> {
        // Most are asked for again and again, by many threads.
        if let Some(known) = self.read().find(scope, name, kind, unit) {
            return known;
        }
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.find(scope, name, kind, unit) {
            return known;
        }
        if known.metrics.len() >= METRICS_MAX {
            return Err(Conflict::TooMany(name.to_owned()));
        }
        let id = MetricId(known.metrics.len() as u32);
        let name: Arc<str> = Arc::from(name);
        known.metrics.push(Metric { name: name.clone(), kind, unit, scope });
        known.by_name.insert(name, id);
        Ok(id)
    }

    /// The sub-metric of this name (`requests{status:200}`), made if it is new; its place in [`Registry::submetrics`].
    /// All must be known before the first sample: a set of tags is matched with them once.
    ///
    /// # Errors
    /// When there is no such metric, or the part in braces is malformed.
    pub fn submetric(&self, name: &str) -> Result<usize, Unnamed> {
        let (metric, suffix) = self.parted(name)?;
        let tags = suffix.map_or_else(|| Ok(Vec::new()), |suffix| tags_of(name, suffix))?;
        let unknown = || Unnamed::Unknown(name.to_owned());
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let parent = *known.by_name.get(metric).ok_or_else(unknown)?;
        let suffix = suffix.ok_or_else(unknown)?.trim();
        let same = |other: &Submetric| {
            other.parent == parent
                && other.tags.len() == tags.len()
                && tags.iter().all(|tag| other.tags.contains(tag))
        };
        if let Some(at) = known.submetrics.iter().position(same) {
            return Ok(at);
        }
        let name = Arc::from(format!("{metric}{{{suffix}}}"));
        known.submetrics.push(Submetric { parent, name, suffix: Arc::from(suffix), tags: tags.into() });
        Ok(known.submetrics.len() - 1)
    }

    /// [`split`], where a metric's own name may hold braces as well.
    fn parted<'n>(&self, name: &'n str) -> Result<(&'n str, Option<&'n str>), Unnamed> {
        let known = self.read();
        let mut opening = name.match_indices('{').map(|(at, _)| at);
        match opening.find(|at| known.by_name.contains_key(&name[..*at])) {
            Some(open) if name.ends_with('}') => Ok((&name[..open], Some(&name[open + 1..name.len() - 1]))),
            _ => split(name),
        }
    }

    /// The metric of this name.
    pub fn get(&self, name: &str) -> Option<MetricId> {
        self.read().by_name.get(name).copied()
    }

    /// The description of a metric.
    pub fn metric(&self, id: MetricId) -> Metric {
        self.read().metrics[id.index()].clone()
    }

    /// All metrics; a metric's place is its id.
    pub fn metrics(&self) -> Vec<Metric> {
        self.read().metrics.clone()
    }

    /// All sub-metrics, in the order they were named.
    pub fn submetrics(&self) -> Vec<Submetric> {
        self.read().submetrics.clone()
    }

    /// The sub-metrics that a sample of a metric with these tags belongs to.
    pub fn parts(&self, metric: MetricId, tags: &TagSet) -> Box<[Part]> {
        matching(&self.read().submetrics, metric, tags)
    }

    /// Lets no tag of a breakdown show this value from now on. Whatever its name or its looks say is secret is masked
    /// anyway: these tags are kept in the run folder, most of them addresses.
    pub fn keep_secret(&self, value: &str) {
        let is_known = |known: &Known| known.secrets.iter().any(|secret| secret == value);
        if !value.is_empty() && !is_known(&self.read()) {
            self.0.write().unwrap_or_else(PoisonError::into_inner).secrets.push(value.to_owned());
        }
    }

    /// The tags that samples with `tags` are broken down by.
    pub(super) fn broken_down(&self, tags: &TagSet, rule: &Breakdown) -> TagSet {
        // Bound first: a lock in the head of a match would be held in its arms.
        let place = {
            let known = self.read();
            known.told_apart.place(known.without_secrets(tags), rule.name, rule.coarse)
        };
        if !place.is_new {
            return place.tags;
        }
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let place = known.told_apart.place(known.without_secrets(tags), rule.name, rule.coarse);
        known.told_apart.enter(place)
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, Known> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Those of these sub-metrics that a sample of a metric with these tags belongs to.
pub(super) fn matching(submetrics: &[Submetric], metric: MetricId, tags: &TagSet) -> Box<[Part]> {
    let has = |one: &Submetric| one.tags.iter().all(|(name, value)| tags.get(name) == Some(value));
    let matching = submetrics.iter().enumerate().filter(|(_, one)| one.parent == metric && has(one));
    matching.map(|(place, one)| Part { place, name: Arc::clone(&one.name) }).collect()
}

/// A threshold's metric: its name, and what stands in braces.
pub(super) fn split(name: &str) -> Result<(&str, Option<&str>), Unnamed> {
    match (name.find('{'), name.find('}')) {
        (None, None) => Ok((name, None)),
        (Some(open), Some(_)) if name.ends_with('}') && open > 0 => {
            Ok((&name[..open], Some(&name[open + 1..name.len() - 1])))
        }
        (Some(0), Some(_)) => Err(Unnamed::Unknown(name.to_owned())),
        (Some(_), Some(_)) => Err(Unnamed::Trailing(name.to_owned())),
        _ => Err(Unnamed::Braces(name.to_owned())),
    }
}
