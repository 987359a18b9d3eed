//! A pool that is too small: all its connections are in use, callers wait for one, and what the pool leads to has time
//! left. Seen in the pool's own gauges, or at the database, where the sessions in use stay at a number that nothing but
//! a pool explains.

use super::{Ruling, evidence, figure, unmeasured, whole};
use crate::case::{Case, Saturated};
use crate::diagnosis::{Confidence, Evidence, Finding};
use crate::remedy::{Remedy, remedy};
use crate::series::{mean, measured, most, share_above};
use crate::story::SymptomKind;

/// Sessions in use stay at their most: this near to it, and for this share of the trouble.
const FLAT: (f64, f64) = (0.9, 0.7);
/// In the calm part there were fewer.
const GROWN: f64 = 0.8;
/// Or each of them ends this many transactions a second: it serves the load, however long it has been there.
const SERVING: f64 = 1.0;

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    let own = full_pool(case);
    if own.is_none() && !case.has("pool.waiting") && !case.has("postgres.active") {
        return unmeasured("a pool");
    }
    let Some((size, full, found)) = own.or_else(|| at_database(case)) else {
        return Ruling::RuledOut(match case.peak("pool.waiting") {
            Some(waiting) => format!(
                "{waiting} callers waited for a connection of a pool at most",
                waiting = whole(waiting)
            ),
            None => "the sessions in use at the database did not stay at one number".to_owned(),
        });
    };
    let is_database_busy = case.has("postgres.active") && case.is_database_busy();
    Ruling::Fires(Finding {
        id: "pool_small",
        title: match is_database_busy {
            true => format!(
                "All {size} connections of a pool were in use, and the database was busy with them.",
                size = whole(size)
            ),
            false => {
                format!(
                    "A pool of {size} connections is too small: all are in use, and the database has time left.",
                    size = whole(size)
                )
            }
        },
        confidence: if is_database_busy { Confidence::Possible } else { Confidence::Likely },
        onset_s: full.onset_s,
        evidence: found,
        remedies: remedies(size),
    })
}

/// A pool by its own gauges: its size, since when it was full, and what says so.
fn full_pool(case: &Case<'_>) -> Option<(f64, Saturated, Vec<Evidence>)> {
    let pools = case.timeline.parts("pool.waiting").filter_map(|tags| tags.get("pool"));
    let of = |metric, pool| case.timeline.level_of(metric, "pool", pool);
    let mut full = pools.filter_map(|pool| {
        let (waiting, active, max) =
            (of("pool.waiting", pool), of("pool.active", pool), of("pool.max", pool));
        let queue: Vec<Option<f64>> = waiting
            .iter()
            .zip(active.iter().zip(&max))
            .map(|(waiting, of)| match of {
                (Some(active), Some(max)) if active < max => Some(0.0),
                _ => *waiting,
            })
            .collect();
        let full = case.saturated_levels(&queue, 1.0)?;
        let size = most(&max, case.whole()).or_else(|| most(&active, case.whole()))?;
        let text = format!(
            "{} callers waited on average, {} at most, from {} s on",
            whole(full.level),
            whole(most(&queue, case.whole())?),
            full.onset_s
        );
        let in_use = format!(
            "{} of {size} connections in use",
            figure(mean(&active, case.story.trouble())?),
            size = whole(size)
        );
        Some((size, full, vec![evidence("pool.waiting", text), evidence("pool.active", in_use)]))
    });
    full.next()
}

/// The same by the sessions in use at the database.
pub(super) fn at_database(case: &Case<'_>) -> Option<(f64, Saturated, Vec<Evidence>)> {
    let is_waiting = [SymptomKind::Slow, SymptomKind::Slower, SymptomKind::Backlog];
    let is_waiting = is_waiting.iter().any(|kind| case.story.has(*kind));
    let is_own = case.has_time("target.cpu.main_thread");
    if case.has("pool.waiting") || !is_waiting || case.is_database_busy() || !is_own {
        return None;
    }
    let open = case.timeline.level("postgres.idle_in_transaction");
    let active = case.timeline.level("postgres.active");
    let used: Vec<Option<f64>> =
        active.iter().zip(&open).map(|(active, open)| Some((*active)? + open.unwrap_or(0.0))).collect();
    let trouble = case.story.trouble();
    let size = most(&used, trouble.clone()).filter(|size| *size >= 1.0)?;
    let is_flat = share_above(&used, trouble.clone(), FLAT.0 * size)? >= FLAT.1;
    let before = mean(&used, case.story.calm());
    let commits = mean(&measured(&case.timeline.rate("postgres.commits")), trouble).unwrap_or(0.0);
    let is_serving = commits >= SERVING * size;
    if !is_flat || (before.is_some_and(|before| before > GROWN * size) && !is_serving) {
        return None;
    }
    let full = case.saturated_levels(&used, FLAT.0 * size)?;
    let text =
        format!("{size} sessions in use, no more and hardly fewer, while users waited", size = whole(size));
    let cause =
        format!("sessions that wait for a lock: {}", figure(case.level("postgres.blocked").unwrap_or(0.0)));
    Some((size, full, vec![evidence("postgres.active", text), evidence("postgres.blocked", cause)]))
}

fn remedies(size: f64) -> Vec<Remedy> {
    vec![
        remedy(
            format!(
                "raise it from {size} to {} and run this again (HikariCP maximumPoolSize, pg Pool max, \
                 SQLAlchemy pool_size, Prisma connection_limit); up to two or three for each core of the database, \
                 all instances together",
                whole((size * 1.5).max(size + 2.0).ceil()),
                size = whole(size)
            ),
            [3, 3, 3, 3, 2, 3, 2],
        ),
        remedy(
            "hold connections for a shorter time: no calls to others, no waiting within a transaction",
            [3, 1, 3, 3, 3, 3, 2],
        ),
        remedy(
            "make the statements themselves faster: a pool serves size / time of a statement a second",
            [2, 2, 3, 3, 3, 2, 2],
        ),
    ]
}
