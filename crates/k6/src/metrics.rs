//! k6's metrics: which there are, which of their tags make series, and how k6 names kinds and units.
//!
//! Samples, sums and thresholds are [`sonagi_measure::metrics`]'s.

pub mod builtin;
pub(crate) mod delivery;
mod system;
#[cfg(test)]
mod tests;

pub use sonagi_measure::metrics::{
    AbortRule, Aggregate, Aggregation, Conflict, Crossed, Interval, JUDGED_EVERY, Kind, Limit, Metadata,
    Metric, MetricId, MetricStore, Misread, Registry, Sample, Sampler, Scope, Submetric, TagSet, Tags,
    Target, Unfit, Unit,
};
pub use system::{SystemTag, SystemTags};

use sonagi_measure::frame::About;
use sonagi_measure::metrics::{Breakdown, SeriesTags};
use std::sync::Arc;

/// The parts that the end's summary tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Metrics, sub-metrics and checks.
    Total,
    /// Metrics in each scenario and group as well (`--summary-mode full`).
    Scopes,
}

impl Detail {
    /// The tags that make series, by metric.
    fn series_tags(self) -> SeriesTags {
        match self {
            Detail::Total => |metric| match metric {
                builtin::CHECKS => &["check", "group"],
                builtin::GROUP_DURATION => &["group"],
                _ => &[],
            },
            Detail::Scopes => |metric| match metric {
                builtin::CHECKS => &["check", "group", "scenario"],
                _ => &["group", "scenario"],
            },
        }
    }
}

/// Requests are told apart by what they are named, how they were answered and the script's own tags.
const REQUESTS: Breakdown = Breakdown {
    metrics: &[builtin::HTTP_REQ_DURATION, builtin::HTTP_REQ_FAILED],
    // A URL is mostly the name, an error's text has its code, and the others say little of a request.
    without: &["url", "error", "proto", "subproto", "tls_version", "ocsp_status", "ip", "check", "service"],
    name: "name",
    coarse: &["method", "status", "expected_response"],
};

/// The built-in metrics, and the one sub-metric every summary has: the durations of requests that went as expected.
pub fn registry() -> Registry {
    let registry = Registry::new(builtin::ALL);
    registry.submetric(builtin::EXPECTED_DURATION).expect("it is one of a built-in metric");
    registry
}

/// What a metric means, in a sentence of plain words for whoever reads a page; None: it is the script's own.
pub fn about(metric: &str) -> Option<About> {
    builtin::about(metric).or_else(|| delivery::about(metric))
}

/// Samples with the tags that a test wants; with `keep_samples`, every single one is kept until it is taken.
pub fn sampler(registry: &Arc<Registry>, detail: Detail, wanted: SystemTags, keep_samples: bool) -> Sampler {
    let registry = Arc::clone(registry);
    Sampler::new(registry, detail.series_tags(), wanted.automatic(), keep_samples).breaking_down(REQUESTS)
}

/// Why a script may not have a metric.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Its name is none.
    #[error(
        "'{0}' is no name for a metric: a letter or underscore comes first, then at least one and at most 128 ASCII \
         letters, digits or underscores"
    )]
    Name(String),
    /// There is one that counts otherwise or whose values are something else, or there are too many.
    #[error("{}", told(.0))]
    Conflict(Conflict),
}

/// A conflict in k6's words for units.
fn told(conflict: &Conflict) -> String {
    let Conflict::Unit { name, exists, wanted } = conflict else { return conflict.to_string() };
    let [exists, wanted] = [exists, wanted].map(|unit| contains(*unit));
    format!(
        "metric '{name}' already exists, with values of type {exists}, and cannot have values of type {wanted}"
    )
}

/// A metric of the script's own; the same one again when the script (another user's copy of it) asks again.
///
/// # Errors
/// As k6: the name must be one, and a metric of this name must be of this kind.
pub fn add(registry: &Registry, name: &str, kind: Kind, unit: Unit) -> Result<MetricId, Refused> {
    if !is_name(name) {
        return Err(Refused::Name(name.to_owned()));
    }
    registry.add(name, kind, unit).map_err(Refused::Conflict)
}

fn is_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    // k6 counts the first letter apart from the 128.
    (2..=129).contains(&bytes.len())
        && !bytes[0].is_ascii_digit()
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

/// A unit, as k6 writes what a metric contains.
pub fn contains(unit: Unit) -> &'static str {
    match unit {
        Unit::Number | Unit::Events | Unit::Share => "default",
        Unit::Milliseconds => "time",
        Unit::Bytes => "data",
    }
}
