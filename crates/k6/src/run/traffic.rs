//! k6's own counts of messages and bytes, in the words of a run's traffic.

use sonagi_measure::metrics::{Aggregate, Interval, MetricId, Registry};
use sonagi_measure::recorder::{Counter, Counters};

use crate::metrics::builtin;

/// Which counters a metric's sum belongs to.
const COUNTED: [(MetricId, &[Counter]); 4] = [
    (builtin::WS_MSGS_SENT, &[Counter::MessagesSent, Counter::WebsocketSent]),
    (builtin::WS_MSGS_RECEIVED, &[Counter::MessagesReceived, Counter::WebsocketReceived]),
    (builtin::DATA_SENT, &[Counter::BytesSent]),
    (builtin::DATA_RECEIVED, &[Counter::BytesReceived]),
];

/// The metric of `k6/x/sse`, which has its number only where a script imports it.
const SSE: (&str, &[Counter]) = ("sse_event", &[Counter::MessagesReceived, Counter::SseReceived]);

/// Adds what was sent and received in an interval.
pub(super) fn count(interval: &Interval, registry: &Registry, counters: &mut Counters) {
    let sse = registry.get(SSE.0).map(|id| (id, SSE.1));
    for observed in &interval.series {
        let Aggregate::Counter(counted) = &observed.aggregate else { continue };
        let mut belongs = COUNTED.iter().copied().chain(sse);
        if let Some((_, into)) = belongs.find(|(id, _)| *id == observed.series.metric) {
            into.iter().for_each(|counter| counters.add(*counter, counted.count as u64));
        }
    }
}
