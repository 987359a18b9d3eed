//! The ledger's counts as metrics; they exist once a script imports `k6/x/sonagi`.

use super::Kind::{Counter, Rate, Trend};
use super::Unit::{Milliseconds, Number};
use super::{Kind, Unit};
use sonagi_measure::frame::{self, About};
use sonagi_measure::ledger::Counts;
use sonagi_measure::thresholds::Subject;

/// Owed copies: whether they arrived.
pub(crate) const RATIO: &str = "sonagi_delivery";
/// From the drawing of a stamp to its receipt, of copies that were not replayed.
pub(crate) const LATENCY: &str = "sonagi_e2e";

/// A count of the ledger.
type Field = fn(&mut Counts) -> &mut u64;

/// The counters, each with the count that it has once it is told as metrics tell it ([`counters`]).
const COUNTERS: [(&str, Field); 13] = [
    ("sonagi_messages", |counts| &mut counts.messages),
    ("sonagi_owed", |counts| &mut counts.owed),
    ("sonagi_arrived", |counts| &mut counts.delivered),
    ("sonagi_lost", |counts| &mut counts.lost),
    ("sonagi_duplicate", |counts| &mut counts.duplicate),
    ("sonagi_late", |counts| &mut counts.late),
    ("sonagi_replayed", |counts| &mut counts.replayed),
    ("sonagi_reordered", |counts| &mut counts.reordered),
    ("sonagi_leaked", |counts| &mut counts.leaked),
    ("sonagi_unknown", |counts| &mut counts.unknown),
    ("sonagi_settling", |counts| &mut counts.settling),
    ("sonagi_foreign", |counts| &mut counts.foreign),
    ("sonagi_negative", |counts| &mut counts.negative),
];

/// Those of the counters that are told even when they are nothing.
pub(crate) const ALWAYS: [&str; 5] =
    ["sonagi_messages", "sonagi_owed", "sonagi_arrived", "sonagi_lost", "sonagi_duplicate"];

/// What metrics mean whose counts no frame has, or has otherwise, in English and Korean.
const ABOUT: [(&str, &str, &str); 8] = [
    (
        RATIO,
        "Share of owed copies of messages that arrived.",
        "도착해야 하는 메시지 사본 중 도착한 비율입니다.",
    ),
    (
        LATENCY,
        "Time from a message's planned sending to the arrival of each copy.",
        "메시지를 보내기로 한 때부터 각 사본이 도착할 때까지의 시간입니다.",
    ),
    ("sonagi_messages", "Messages sent whose delivery is tracked.", "전달을 추적하는, 보낸 메시지 수입니다."),
    ("sonagi_owed", "Copies that had to arrive.", "도착해야 하는 사본 수입니다."),
    ("sonagi_arrived", "Owed copies that arrived.", "도착해야 하는 사본 중 도착한 수입니다."),
    (
        "sonagi_settling",
        "Copies received just around a join or leave, which are neither owed nor leaked.",
        "방에 들어오거나 나가는 순간에 받아, 도착 여부를 따지지 않는 사본 수입니다.",
    ),
    ("sonagi_foreign", "Copies of messages of other runs.", "다른 실행의 메시지 사본 수입니다."),
    (
        "sonagi_negative",
        "Copies that seem to have arrived before they were sent, because clocks disagree.",
        "시계가 어긋나 보내기 전에 도착한 것으로 보이는 사본 수입니다.",
    ),
];

/// Name, kind and unit of each, in the order in which the summary shows them.
pub(crate) fn all() -> impl Iterator<Item = (&'static str, Kind, Unit)> {
    let first = [(RATIO, Rate, Number), (LATENCY, Trend, Milliseconds)];
    first.into_iter().chain(COUNTERS.into_iter().map(|(name, _)| (name, Counter, Number)))
}

/// Whether it is one of them.
pub(crate) fn is_one(name: &str) -> bool {
    all().any(|(known, ..)| known == name)
}

/// The explanation of a metric; None: it is none of them.
pub(super) fn about(metric: &str) -> Option<About> {
    let count = metric.strip_prefix("sonagi_").filter(|_| is_one(metric))?;
    let own = ABOUT.iter().find(|(name, ..)| *name == metric);
    own.map(|(_, en, ko)| About { en, ko }).or_else(|| frame::about(&format!("delivery.{count}")))
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
    let mut told = Counts { owed: arrived + counts.lost, delivered: arrived, ..*counts };
    COUNTERS.map(|(name, field)| (name, *field(&mut told)))
}

/// The ledger's counts that the metrics' values tell of.
pub(crate) fn counts(value: impl Fn(&str) -> u64) -> Counts {
    // Others are known when the ledger is closed only, which no metric waits for.
    let mut counts = Counts::default();
    for (name, field) in COUNTERS {
        *field(&mut counts) = value(name);
    }
    counts.delivered = counts.delivered.saturating_sub(counts.late + counts.replayed);
    counts
}
