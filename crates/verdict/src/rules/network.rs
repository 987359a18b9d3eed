//! The network: segments sent again, packets dropped by interfaces or by the queues of cores.

use super::{Ruling, evidence, percent, unmeasured};
use crate::case::Case;
use crate::diagnosis::{Confidence, Finding};
use crate::remedy::remedy;

const RETRANSMITTED: f64 = 0.01;

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    let (Some(sent), Some(again)) = (case.total("host.tcp.sent"), case.total("host.tcp.retransmitted"))
    else {
        return unmeasured("TCP of the machine");
    };
    let share = if sent > 0.0 { again / sent } else { 0.0 };
    let dropped = case.total("host.softnet.dropped").unwrap_or(0.0);
    if share < RETRANSMITTED && dropped == 0.0 {
        return Ruling::RuledOut(format!("{:.2} % of segments were sent again", 100.0 * share));
    }
    let mut found =
        vec![evidence("host.tcp.retransmitted", format!("{} of segments were sent again", percent(share)))];
    if dropped > 0.0 {
        found.push(evidence(
            "host.softnet.dropped",
            format!("{dropped:.0} packets found a core's queue full"),
        ));
    }
    Ruling::Fires(Finding {
        id: "network",
        title: "Packets were lost between the target and its clients.".to_owned(),
        confidence: if share >= RETRANSMITTED { Confidence::Likely } else { Confidence::Possible },
        onset_s: case.first("host.tcp.retransmitted"),
        evidence: found,
        remedies: vec![
            remedy(
                "compare the interface's use with its speed (ethtool, sar -n DEV) and with the provider's limit for \
                 the instance",
                [3, 2, 3, 3, 2, 3, 3],
            ),
            remedy("send fewer bytes: compression, smaller messages", [2, 2, 3, 3, 3, 2, 2]),
            remedy("raise net.core.netdev_max_backlog where cores drop packets", [2, 3, 3, 3, 1, 2, 3]),
        ],
    })
}
