//! Locks of the database: sessions wait for a row or table that another transaction holds.

use super::{Ruling, evidence, figure, unmeasured, whole};
use crate::case::Case;
use crate::diagnosis::{Confidence, Finding};
use crate::remedy::remedy;
use crate::series::first_above;

/// More than one waits, for two seconds.
const WAITING: (f64, usize) = (2.0, 2);
/// So many wait on average, and it is no accident.
const LASTING: f64 = 1.0;

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    let Some(peak) = case.peak("postgres.blocked") else { return unmeasured("the database's locks") };
    let blocked = case.timeline.level("postgres.blocked");
    let Some(onset_s) = first_above(&blocked, case.whole(), WAITING.0, WAITING.1) else {
        return Ruling::RuledOut(format!("{peak} sessions at most waited for a lock", peak = whole(peak)));
    };
    let level = case.level("postgres.blocked").unwrap_or(0.0);
    let mut found = vec![evidence(
        "postgres.blocked",
        format!(
            "{level} sessions waited for a lock on average, {peak} at most, from {onset_s} s on",
            level = figure(level),
            peak = whole(peak)
        ),
    )];
    found.extend(
        case.told("wait for locks:").map(|(at, text)| evidence("events", format!("{text} (at {at} s)"))),
    );
    if let Some(open) = case.level("postgres.idle_in_transaction").filter(|open| *open >= 0.5) {
        found.push(evidence(
            "postgres.idle_in_transaction",
            format!("{} sessions had a transaction open and did nothing", figure(open)),
        ));
    }
    if let Some(deadlocks) = case.total("postgres.deadlocks").filter(|count| *count > 0.0) {
        found.push(evidence(
            "postgres.deadlocks",
            format!("{deadlocks} deadlocks", deadlocks = whole(deadlocks)),
        ));
    }
    Ruling::Fires(Finding {
        id: "db_locks",
        title: "Sessions of the database wait for each other's locks.".to_owned(),
        confidence: if level >= LASTING { Confidence::Certain } else { Confidence::Possible },
        onset_s,
        evidence: found,
        remedies: vec![
            remedy(
                "shorten the transaction that holds the lock: take the contended row last, and call nobody else before \
                 COMMIT",
                [3, 2, 3, 3, 3, 3, 2],
            ),
            remedy(
                "do not have all write the same row: append and add up later, or spread a counter over several rows",
                [3, 1, 3, 3, 3, 3, 2],
            ),
            remedy("queues and jobs: SELECT … FOR UPDATE SKIP LOCKED", [2, 2, 3, 3, 3, 2, 2]),
            remedy(
                "limit the damage: lock_timeout = '2s', idle_in_transaction_session_timeout = '10s' for its role",
                [1, 3, 3, 3, 1, 2, 2],
            ),
        ],
    })
}
