//! What is said of deliveries and of the generator, beside what k6 says.

use super::{Measured, Summary};
use crate::metrics::delivery::{counts, is_one};
use sonagi_measure::ledger::Counts;
use sonagi_measure::verdict::{Delivered, delivered};

/// What is told of latencies in any case: whoever waits longest is what a real-time service is about.
pub(super) const TAIL: &str = "p(99)";

/// The metrics of the ledger.
pub(super) fn metrics(all: &[Measured]) -> impl Iterator<Item = &Measured> {
    all.iter().filter(|one| is_own(&one.name))
}

/// Whether a metric or sub-metric is the ledger's.
pub(super) fn is_own(name: &str) -> bool {
    is_one(name.split('{').next().unwrap_or_default())
}

/// The ledger's counts.
pub(super) fn counted(summary: &Summary) -> Counts {
    let all = &summary.total.metrics;
    counts(|name| {
        let one = all.iter().find(|one| one.name == name);
        one.and_then(|one| one.value("count")).unwrap_or(0.0).max(0.0) as u64
    })
}

/// In sentences.
pub(super) fn said(summary: &Summary) -> Delivered {
    let counts = counted(summary);
    let mut said = delivered(&counts);
    let drawn = summary.facts.drawn;
    if drawn > 0 && counts.messages == 0 {
        let (stamps, were) = if drawn == 1 { ("stamp", "was") } else { ("stamps", "were") };
        said.hints.push(format!(
            "{drawn} {stamps} {were} drawn and not seen in what was sent: a stamp must leave as it is, in a message or in the body of a request"
        ));
    }
    said
}
