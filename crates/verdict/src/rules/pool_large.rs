//! Pools that are too large: many more sessions are active than the database has cores, so they take turns and wait for
//! each other's latches. Fewer would do the same work sooner.

use super::{Ruling, evidence, figure, percent, unmeasured, whole};
use crate::case::Case;
use crate::diagnosis::{Confidence, Finding};
use crate::remedy::remedy;
use crate::series::mean;

/// So many active sessions for each core, and at least so many.
const CROWDED: (f64, f64) = (4.0, 16.0);
/// The machine is busy from here on.
const FULL: f64 = 0.85;
/// Or this part of the sessions waits for a latch.
const LATCHES: f64 = 0.25;

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    let (Some(peak), Some(cores)) = (case.peak("postgres.active"), case.peak("host.cores")) else {
        return unmeasured("the database's sessions or cores");
    };
    // Those that wait for a lock do not compete.
    let blocked = case.timeline.level("postgres.blocked");
    let active = case.timeline.level("postgres.active");
    let running: Vec<Option<f64>> = active
        .iter()
        .zip(&blocked)
        .map(|(active, blocked)| Some((*active)? - blocked.unwrap_or(0.0)))
        .collect();
    let Some(crowd) = case.saturated_levels(&running, (CROWDED.0 * cores).max(CROWDED.1)) else {
        return Ruling::RuledOut(format!(
            "{peak} sessions at most were active on {cores} cores",
            peak = whole(peak),
            cores = whole(cores)
        ));
    };
    let host = case.level("host.cpu").unwrap_or(0.0);
    let latches = mean(&case.timeline.level_of("postgres.waiting", "type", "LWLock"), case.story.trouble());
    let latches = latches.unwrap_or(0.0);
    if host < FULL && latches < LATCHES * crowd.level {
        return Ruling::RuledOut(format!(
            "{} sessions were active, but the machine was {} busy",
            whole(crowd.level),
            percent(host)
        ));
    }
    let enough = 2.0 * cores + 1.0;
    Ruling::Fires(Finding {
        id: "pool_large",
        title: format!(
            "Too many sessions share the database's cores: {} on {cores}.",
            whole(crowd.level),
            cores = whole(cores)
        ),
        confidence: if host >= FULL { Confidence::Likely } else { Confidence::Possible },
        onset_s: crowd.onset_s,
        evidence: vec![
            evidence(
                "postgres.active",
                format!("{} active, from {} s on", whole(crowd.level), crowd.onset_s),
            ),
            evidence("host.cpu", format!("{cores} cores, {} busy", percent(host), cores = whole(cores))),
            evidence("postgres.waiting", format!("{} of them waited for a latch (LWLock)", figure(latches))),
        ],
        remedies: vec![
            remedy(
                format!(
                    "shrink the pools to {enough:.0} connections, all instances together (two for each core, and one \
                     for each disk), and run this again: latency falls if this is it"
                ),
                [3, 3, 3, 3, 2, 3, 2],
            ),
            remedy(
                format!("PgBouncer in front (pool_mode=transaction, default_pool_size={enough:.0})"),
                [3, 2, 2, 3, 3, 3, 2],
            ),
            remedy(
                "less work for each statement: find the one on top in pg_stat_statements",
                [3, 1, 3, 3, 3, 3, 2],
            ),
        ],
    })
}
