//! One statement takes most of the database's time. It is the cause when the database is busy with it, or when ever
//! more sessions run it at a time; a statement that merely is the service's main one is none.

use super::{Ruling, evidence, figure, percent, pool_small, unmeasured};
use crate::case::Case;
use crate::diagnosis::{Confidence, Finding};
use crate::remedy::remedy;

/// Its share of the time.
const TOP: f64 = 0.5;
/// Statements at a time, on average.
const BUSY: f64 = 1.0;
/// So many times more of them than in the calm part.
const GROWTH: f64 = 2.0;

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    let (Some(top), Some(busy)) = (case.level("postgres.time.top"), case.level("postgres.time")) else {
        return unmeasured("the time of the database's statements");
    };
    let share = case.timeline.level("postgres.time.top");
    let time = case.timeline.level("postgres.time");
    let levels: Vec<Option<f64>> = time
        .iter()
        .zip(&share)
        .map(|(time, share)| Some(if (*share)? >= TOP { (*time)? } else { 0.0 }))
        .collect();
    let Some(full) = case.saturated_levels(&levels, BUSY) else {
        return Ruling::RuledOut(format!(
            "{} statements ran at a time on average, and the one on top took {} of their time",
            figure(busy),
            percent(top)
        ));
    };
    let has_grown = full.before.is_some_and(|before| full.level >= GROWTH * before.max(BUSY));
    // A number of sessions that stays the same is a pool's, whatever they run.
    let is_pool = case.has("pool.waiting") || pool_small::at_database(case).is_some();
    let is_busy = case.is_database_busy() || (has_grown && !is_pool);
    let mut found = vec![evidence(
        "postgres.time.top",
        format!("one statement took {} of the database's time, from {} s on", percent(top), full.onset_s),
    )];
    let grown = full.before.map(|before| format!(" ({} before)", figure(before))).unwrap_or_default();
    found.push(evidence("postgres.time", format!("{} statements ran at a time{grown}", figure(full.level))));
    found.extend(
        case.told("one statement takes").map(|(at, text)| evidence("events", format!("{text} (at {at} s)"))),
    );
    Ruling::Fires(Finding {
        id: "slow_query",
        title: "One statement takes most of the database's time.".to_owned(),
        confidence: if is_busy { Confidence::Likely } else { Confidence::Possible },
        onset_s: full.onset_s,
        evidence: found,
        remedies: vec![
            remedy(
                "EXPLAIN (ANALYZE, BUFFERS) of it with values of this load: an index for its WHERE and ORDER BY if it \
                 reads rows in sequence",
                [3, 3, 3, 3, 3, 3, 2],
            ),
            remedy(
                "run it less often: cache its result for seconds, or ask once for many",
                [3, 2, 3, 3, 3, 3, 2],
            ),
            remedy("fetch less: LIMIT, fewer columns, pages by key instead of OFFSET", [2, 2, 3, 3, 3, 2, 3]),
            remedy("a replica for reads", [2, 1, 1, 1, 3, 2, 2]),
        ],
    })
}
