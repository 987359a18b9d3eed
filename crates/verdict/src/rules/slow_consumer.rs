//! Slow consumers: what the target has sent stays in its send buffers, because clients do not read.

use super::{Ruling, evidence, unmeasured};
use crate::case::Case;
use crate::diagnosis::{Confidence, Finding};
use crate::remedy::remedy;

/// Bytes that wait for each connection before it is called slow.
const EACH: f64 = 32_768.0;

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    let (Some(peak), Some(connections)) = (case.peak("target.send_queue"), case.peak("target.connections"))
    else {
        return unmeasured("the target's send queue");
    };
    let least = EACH * connections.max(1.0);
    let Some(full) = case.saturated("target.send_queue", least) else {
        return Ruling::RuledOut(format!("{:.0} kB at most waited to be acknowledged", peak / 1e3));
    };
    Ruling::Fires(Finding {
        id: "slow_consumer",
        title: "Clients did not read as fast as the target sent.".to_owned(),
        confidence: Confidence::Possible,
        onset_s: full.onset_s,
        evidence: vec![evidence(
            "target.send_queue",
            format!(
                "{:.1} MB waited for {connections:.0} connections, from {} s on",
                full.level / 1e6,
                full.onset_s
            ),
        )],
        remedies: vec![
            remedy(
                "limit what is queued for a client, and close or skip those that fall behind",
                [3, 2, 3, 3, 3, 3, 2],
            ),
            remedy(
                "send less: compress, batch, drop states that a newer one replaces",
                [2, 2, 3, 3, 3, 2, 2],
            ),
        ],
    })
}
