//! nginx's connections: beyond `worker_connections` (or its open files) it accepts and drops. A client that is proxied
//! takes two.

use super::{Ruling, evidence, unmeasured, whole};
use crate::case::Case;
use crate::diagnosis::{Confidence, Finding};
use crate::remedy::remedy;

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    if !case.has("nginx.connections") && !case.has("nginx.log.worker_connections") {
        return unmeasured("nginx");
    }
    let dropped = case.total("nginx.dropped").unwrap_or(0.0);
    let lines = case.total("nginx.log.worker_connections").unwrap_or(0.0);
    let peak = case.peak("nginx.connections").unwrap_or(0.0);
    if dropped == 0.0 && lines == 0.0 {
        return Ruling::RuledOut(format!(
            "nginx dropped no connection; it had {peak} at most",
            peak = whole(peak)
        ));
    }
    let grown = [("nginx.dropped", dropped), ("nginx.log.worker_connections", lines)];
    let onsets = grown.iter().filter(|(_, count)| *count > 0.0).map(|(metric, _)| case.first(metric));
    let onset_s = onsets.min().unwrap_or(0);
    let mut found = Vec::new();
    if dropped > 0.0 {
        found.push(evidence(
            "nginx.dropped",
            format!("{dropped} connections accepted and dropped", dropped = whole(dropped)),
        ));
    }
    if lines > 0.0 {
        let limit = case.told("worker_connections are not enough").map(|(_, text)| format!(": {text}"));
        let text =
            format!("{lines} times in its error log{}", limit.unwrap_or_default(), lines = whole(lines));
        found.push(evidence("nginx.log.worker_connections", text));
    }
    found.push(evidence(
        "nginx.connections",
        format!("its status page counted {peak} connections at most", peak = whole(peak)),
    ));
    let enough = (peak * 4.0).max(4_096.0);
    Ruling::Fires(Finding {
        id: "nginx_connections",
        title: "nginx had no connections left and dropped clients.".to_owned(),
        confidence: Confidence::Certain,
        onset_s,
        evidence: found,
        remedies: vec![
            remedy(
                format!(
                    "events {{ worker_connections {enough:.0}; }} with worker_rlimit_nofile {:.0}: a proxied client \
                     takes two",
                    2.0 * enough
                ),
                [3, 3, 3, 3, 2, 3, 3],
            ),
            remedy(
                "worker_processes auto, so that every core has its own connections",
                [2, 3, 3, 3, 2, 2, 3],
            ),
            remedy(
                "free them sooner: shorter keepalive_timeout, and keepalive connections to the upstream",
                [1, 3, 3, 3, 2, 2, 2],
            ),
        ],
    })
}
