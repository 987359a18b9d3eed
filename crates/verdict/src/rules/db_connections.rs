//! Connections of the database: it allows so many, and refuses the next.

use super::{Ruling, evidence, percent, unmeasured, whole};
use crate::case::Case;
use crate::diagnosis::{Confidence, Finding};
use crate::remedy::remedy;
use crate::series::{first_above, most};

/// From here on it is told; the last ones are as good as used.
const FULL: (f64, f64) = (0.8, 0.97);
/// The probe has a connection itself, which is not counted as used and which nobody else can have.
const OWN: f64 = 1.0;

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    let refused = case.total("postgres.refused").unwrap_or(0.0);
    let limits = case.timeline.level("postgres.connections.limit");
    let used = case.timeline.level("postgres.connections");
    let shares: Vec<Option<f64>> = used
        .iter()
        .zip(&limits)
        .map(|(used, limit)| Some(((*used)? + OWN) / limit.filter(|limit| *limit > 0.0)?))
        .collect();
    let share = most(&shares, case.whole());
    if share.is_none() && refused == 0.0 {
        return unmeasured("the database's connections");
    }
    let (share, limit) = (share.unwrap_or(1.0), case.peak("postgres.connections.limit"));
    let most_used = case.peak("postgres.connections").unwrap_or(0.0);
    let limited = limit.map_or_else(|| "its".to_owned(), whole);
    if share < FULL.0 && refused == 0.0 {
        return Ruling::RuledOut(format!(
            "{most_used} of {limited} connections were used at most",
            most_used = whole(most_used)
        ));
    }
    let onset_s = match refused > 0.0 {
        true => case.first("postgres.refused"),
        false => first_above(&shares, case.whole(), FULL.0, 1).unwrap_or(0),
    };
    let mut found = Vec::new();
    if refused > 0.0 {
        let text = format!(
            "it refused the probe {refused} times, as no connection was left",
            refused = whole(refused)
        );
        found.push(evidence("postgres.refused", text));
    }
    if limit.is_some() {
        let text = format!(
            "{most_used} of {limited} connections used, and one by the probe ({})",
            percent(share),
            most_used = whole(most_used)
        );
        found.push(evidence("postgres.connections", text));
    }
    Ruling::Fires(Finding {
        id: "db_connections",
        title: "The database's connections were used up, or nearly so.".to_owned(),
        confidence: match (refused > 0.0, share >= FULL.1) {
            (true, _) => Confidence::Certain,
            (_, true) => Confidence::Likely,
            _ => Confidence::Possible,
        },
        onset_s,
        evidence: found,
        remedies: vec![
            remedy(
                "smaller pools: instances × pool size must stay below max_connections, with room for deployments",
                [3, 3, 3, 3, 2, 3, 3],
            ),
            remedy("PgBouncer in front (pool_mode=transaction)", [3, 2, 2, 3, 3, 3, 2]),
            remedy(
                "close what is leaked: a connection taken and not given back shows as idle in transaction or idle for \
                 hours in pg_stat_activity",
                [3, 2, 3, 3, 3, 3, 3],
            ),
            remedy("raise max_connections (a restart; memory for each)", [2, 2, 2, 2, 1, 3, 2]),
        ],
    })
}
