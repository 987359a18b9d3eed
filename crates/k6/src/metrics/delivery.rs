//! The ledger's counts as metrics; they exist once a script imports `k6/x/sonagi`.

use super::Kind::{Counter, Rate, Trend};
use super::Unit::{Milliseconds, Number};
use super::{Kind, Unit};
use sonagi_measure::ledger::Counts;
use sonagi_measure::thresholds::Subject;

/// Owed copies: whether they arrived.
pub(crate) const RATIO: &str = "sonagi_delivery";
/// From the drawing of a stamp to its receipt, of copies that were not replayed.
pub(crate) const LATENCY: &str = "sonagi_e2e";

/// All of them.
pub(crate) const METRICS: [(&str, Kind, Unit); 15] = [
    (RATIO, Rate, Number),
    (LATENCY, Trend, Milliseconds),
    ("sonagi_messages", Counter, Number),
    ("sonagi_owed", Counter, Number),
    ("sonagi_arrived", Counter, Number),
    ("sonagi_lost", Counter, Number),
    ("sonagi_duplicate", Counter, Number),
    ("sonagi_late", Counter, Number),
    ("sonagi_replayed", Counter, Number),
    ("sonagi_reordered", Counter, Number),
    ("sonagi_leaked", Counter, Number),
    ("sonagi_unknown", Counter, Number),
    ("sonagi_settling", Counter, Number),
    ("sonagi_foreign", Counter, Number),
    ("sonagi_negative", Counter, Number),
];

/// Those of the counters that are told even when they are nothing.
pub(crate) const ALWAYS: [&str; 5] =
    ["sonagi_messages", "sonagi_owed", "sonagi_arrived", "sonagi_lost", "sonagi_duplicate"];

/// Whether it is one of them.
pub(crate) fn is_one(name: &str) -> bool {
    METRICS.iter().any(|(known, ..)| *known == name)
}

/// The fault of deliveries that a metric counts, if it counts one.
pub(crate) fn subject(name: &str) -> Option<Subject> {
    match name {
        "sonagi_lost" | RATIO => Some(Subject::Lost),
        "sonagi_leaked" => Some(Subject::Leaked),
        "sonagi_duplicate" => Some(Subject::Duplicate),
        "sonagi_reordered" => Some(Subject::Reordered),
        _ => None,
    }
}

/// The counters by name. What is owed counts when it has arrived or is lost: until then it may turn out not to have
/// been.
pub(crate) fn counters(counts: &Counts) -> [(&'static str, u64); 13] {
    let arrived = counts.delivered + counts.late + counts.replayed;
    [
        ("sonagi_messages", counts.messages),
        ("sonagi_owed", arrived + counts.lost),
        ("sonagi_arrived", arrived),
        ("sonagi_lost", counts.lost),
        ("sonagi_duplicate", counts.duplicate),
        ("sonagi_late", counts.late),
        ("sonagi_replayed", counts.replayed),
        ("sonagi_reordered", counts.reordered),
        ("sonagi_leaked", counts.leaked),
        ("sonagi_unknown", counts.unknown),
        ("sonagi_settling", counts.settling),
        ("sonagi_foreign", counts.foreign),
        ("sonagi_negative", counts.negative),
    ]
}

/// The ledger's counts that the metrics' values tell of.
pub(crate) fn counts(value: impl Fn(&str) -> u64) -> Counts {
    let [late, replayed] = ["sonagi_late", "sonagi_replayed"].map(&value);
    Counts {
        messages: value("sonagi_messages"),
        owed: value("sonagi_owed"),
        delivered: value("sonagi_arrived").saturating_sub(late + replayed),
        late,
        replayed,
        lost: value("sonagi_lost"),
        duplicate: value("sonagi_duplicate"),
        reordered: value("sonagi_reordered"),
        leaked: value("sonagi_leaked"),
        unknown: value("sonagi_unknown"),
        settling: value("sonagi_settling"),
        foreign: value("sonagi_foreign"),
        negative: value("sonagi_negative"),
        // Known when the ledger is closed only, which no metric waits for.
        ..Counts::default()
    }
}
