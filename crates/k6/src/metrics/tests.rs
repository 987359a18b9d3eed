//! Samples in, values out: what k6 says of the same numbers stands here as k6 2.2.0 said it.

mod names;
mod sums;
mod tagged;
mod thresholds;
mod trends;

use super::*;
use sonagi_measure::At;
use std::sync::Arc;
use std::time::Duration;

/// A registry with a metric of the script's own of each kind.
fn registry() -> Arc<Registry> {
    let registry = Registry::new();
    for (name, kind) in [("cc", Kind::Counter), ("gg", Kind::Gauge), ("rr", Kind::Rate), ("tt", Kind::Trend)]
    {
        registry.add(name, kind, Contains::Default).unwrap();
    }
    Arc::new(registry)
}

fn sampler(registry: &Arc<Registry>) -> Sampler {
    Sampler::new(registry.clone(), Detail::Total, SystemTags::default(), false)
}

const SECOND: Duration = Duration::from_secs(1);
