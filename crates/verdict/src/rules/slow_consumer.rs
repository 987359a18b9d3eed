//! Slow consumers: what the target has sent stays in its send buffers, because clients do not read.

use super::{Ruling, evidence, size, unmeasured, whole};
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
        return Ruling::RuledOut(format!("{} at most waited to be acknowledged", size(peak)));
    };
    let mut found = vec![evidence(
        "target.send_queue",
        format!(
            "{} waited for {connections} connections, from {} s on",
            size(full.level),
            full.onset_s,
            connections = whole(connections)
        ),
    )];
    // The kernel's own word that it was the client's buffer, not the way to it.
    let held = case.peak("target.receiver_limited").filter(|held| *held > 0.0);
    if let Some(held) = held {
        found.push(evidence(
            "target.receiver_limited",
            format!("{held} connections were held up by clients that did not read", held = whole(held)),
        ));
    }
    Ruling::Fires(Finding {
        id: "slow_consumer",
        title: "Clients did not read as fast as the target sent.".to_owned(),
        confidence: if held.is_some() { Confidence::Likely } else { Confidence::Possible },
        onset_s: full.onset_s,
        evidence: found,
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
