//! What of a second's samples belongs into its record: traffic, and the script's own metrics by name.

use sonagi_measure::custom;
use sonagi_measure::recorder::{Counter, Record};

use crate::metrics::delivery::is_one;
use crate::metrics::{Aggregate, Interval, MetricId, Registry, builtin};

/// Metrics of ours that a record has in other words, or in no words.
const ELSEWHERE: [MetricId; 6] = [
    builtin::VUS,
    builtin::VUS_MAX,
    builtin::ITERATIONS,
    builtin::ITERATION_DURATION,
    builtin::DROPPED_ITERATIONS,
    builtin::WS_CONNECTING,
];

/// Enters what a shard measured in a second into its record of that second.
pub(super) fn note(interval: &Interval, registry: &Registry, record: &mut Record) {
    for (series, _, aggregate) in interval.series() {
        let id = series.metric;
        let metric = registry.metric(id);
        if let (Aggregate::Counter(counted), Some(counters)) = (aggregate, counters(id, &metric.name)) {
            counters.iter().for_each(|counter| record.counters.add(*counter, counted.count as u64));
        } else if !ELSEWHERE.contains(&id) && !metric.name.starts_with("http_req") && !is_one(&metric.name) {
            own(&metric.name, aggregate, &mut record.custom);
        }
    }
}

fn counters(id: MetricId, name: &str) -> Option<&'static [Counter]> {
    Some(match id {
        builtin::HTTP_REQS => &[Counter::HttpRequests, Counter::HttpResponses],
        builtin::WS_MSGS_SENT => &[Counter::MessagesSent, Counter::WebsocketSent],
        builtin::WS_MSGS_RECEIVED => &[Counter::MessagesReceived, Counter::WebsocketReceived],
        builtin::DATA_SENT => &[Counter::BytesSent],
        builtin::DATA_RECEIVED => &[Counter::BytesReceived],
        _ if name == "sse_event" => &[Counter::MessagesReceived, Counter::SseReceived],
        _ => return None,
    })
}

/// Trends are histograms, rates two counters; a gauge is no sum of anything.
fn own(name: &str, aggregate: &Aggregate, custom: &mut custom::Metrics) {
    use custom::Kind::{Counter, Histogram};
    match aggregate {
        Aggregate::Counter(counted) => custom.record(Counter, name, counted.count),
        Aggregate::Rate(rated) => {
            custom.record(Counter, &format!("{name}.passes"), rated.passes as f64);
            custom.record(Counter, &format!("{name}.fails"), rated.fails() as f64);
        }
        Aggregate::Trend(trend) => {
            for (value, count) in trend.each() {
                (0..count).for_each(|_| custom.record(Histogram, name, value));
            }
        }
        Aggregate::Gauge(_) => {}
    }
}
