//! Copies that wait for their receivers: whoever polls every three seconds has them up to three seconds late, and that
//! is no slowness of the target.

use super::{GROWTH, TAIL_MS};
use crate::series::sum;
use crate::timeline::Timeline;
use sonagi_measure::outcome::OperationKind;
use sonagi_measure::summary::Summary;

/// What copies may take because receivers poll (ms): twice the mean time between two polls of a user, as users come
/// and go between them. 0: nobody polls, or the polls themselves are slow or held back, so that the target is what is
/// waited for.
pub(super) fn wait_ms(timeline: &Timeline, summary: &Summary) -> f64 {
    let polls = summary.kinds.iter().find(|kind| kind.kind == OperationKind::Poll);
    let Some(polls) = polls.filter(|polls| polls.count > 0 && polls.response_ms.p95 < TAIL_MS) else {
        return 0.0;
    };
    let user_seconds: Vec<f64> = timeline.level("users.active").into_iter().flatten().collect();
    GROWTH * 1e3 * sum(&user_seconds, 0..user_seconds.len()) / polls.count as f64
}
