//! The network: segments sent again, packets dropped by interfaces or by the queues of cores, and a way that takes as
//! long as the answers do.

use super::{Ruling, evidence, figure, percent, syn_retries, unmeasured, whole};
use crate::case::Case;
use crate::diagnosis::{Confidence, Finding};
use crate::remedy::remedy;
use crate::series::mean;

const RETRANSMITTED: f64 = 0.01;

/// The way takes long if it takes this much (ms), and this share of the answers' time.
const FAR: (f64, f64) = (5.0, 0.5);
/// Who answers needs a round trip at least, give or take how that is measured: what takes less was only sent.
const ANSWERED: f64 = 0.8;

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    if let Some(finding) = far(case) {
        return Ruling::Fires(finding);
    }
    let (Some(sent), Some(again)) = (case.total("host.tcp.sent"), sent_again(case)) else {
        return unmeasured("TCP of the machine");
    };
    let share = if sent > 0.0 { again / sent } else { 0.0 };
    let dropped = case.total("host.softnet.dropped").unwrap_or(0.0);
    if !is_lossy(case) {
        let trip =
            case.level("target.round_trip").map(|ms| format!(", and the round trip took {} ms", figure(ms)));
        let again = format!("{:.2} % of segments were sent again", 100.0 * share);
        return Ruling::RuledOut(format!("{again}{}", trip.unwrap_or_default()));
    }
    let mut found =
        vec![evidence("host.tcp.retransmitted", format!("{} of segments were sent again", percent(share)))];
    if dropped > 0.0 {
        found.push(evidence(
            "host.softnet.dropped",
            format!("{dropped} packets found a core's queue full", dropped = whole(dropped)),
        ));
    }
    found.extend(syn_retries::steps(case));
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

/// Whether packets were lost: segments that were sent again, or that a core's queue had no room for.
pub(super) fn is_lossy(case: &Case<'_>) -> bool {
    let total = |metric| case.total(metric).unwrap_or(0.0);
    let sent = total("host.tcp.sent");
    let is_sent_again = sent > 0.0 && sent_again(case).unwrap_or(0.0) >= RETRANSMITTED * sent;
    is_sent_again || total("host.softnet.dropped") > 0.0
}

/// Segments that were sent again, but for those that a full accept queue dropped: no network lost these.
fn sent_again(case: &Case<'_>) -> Option<f64> {
    let refused = case.total("host.tcp.listen_overflows").unwrap_or(0.0);
    case.total("host.tcp.retransmitted").map(|again| (again - refused).max(0.0))
}

/// The way itself, where it takes most of the time.
fn far(case: &Case<'_>) -> Option<Finding> {
    let trip = case.level("target.round_trip").filter(|trip| *trip >= FAR.0)?;
    let answers = mean(&case.timeline.quantile("response_time", 0.5), case.story.trouble())?;
    (trip >= FAR.1 * answers && answers >= ANSWERED * trip).then(|| Finding {
        id: "network",
        title: "The way to the target took most of the time.".to_owned(),
        confidence: Confidence::Likely,
        onset_s: case.story.onset(),
        evidence: vec![evidence(
            "target.round_trip",
            format!(
                "a round trip took {trip} ms, half of the answers {answers} ms",
                trip = whole(trip),
                answers = whole(answers)
            ),
        )],
        remedies: vec![
            remedy("put the load, or the service, nearer: the same region or zone", [3, 2, 2, 2, 3, 2, 3]),
            remedy(
                "save round trips: keep connections open, batch requests, push instead of asking",
                [3, 1, 3, 3, 3, 2, 2],
            ),
        ],
    })
}
