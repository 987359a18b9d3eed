//! Local ports of the generator: a wall near 28,000 connections to one address, by `ip_local_port_range`.

use super::{Ruling, evidence};
use crate::case::Case;
use crate::diagnosis::{Confidence, Finding};
use crate::remedy::remedy;

/// The failures that the kernel answers with when no port is left.
const CODES: &[&str] = &["ports_exhausted", "address_unavailable", "addr_not_available"];

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    let failed = case.failures(CODES);
    if failed == 0 {
        return Ruling::RuledOut("every connection found a local port".to_owned());
    }
    Ruling::Fires(Finding {
        id: "ports",
        title: "The generator had no local port left for more connections.".to_owned(),
        confidence: Confidence::Certain,
        onset_s: case.story.onset(),
        evidence: vec![evidence("errors", format!("{failed} connections failed for want of a port"))],
        remedies: vec![
            remedy(
                "connect from several addresses: --source-address 127.0.0.2-127.0.0.9",
                [3, 3, 3, 3, 2, 3, 3],
            ),
            remedy("keep connections open between requests (`http.pool`, keep-alive)", [2, 2, 3, 3, 3, 3, 3]),
            remedy(
                "widen the range: sysctl net.ipv4.ip_local_port_range=\"1024 65535\"",
                [2, 3, 2, 3, 1, 3, 2],
            ),
        ],
    })
}
