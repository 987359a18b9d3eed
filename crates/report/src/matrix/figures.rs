//! The figures of a run's row in the table, computed from its summary.

use crate::figures::median;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sonagi_measure::recorder::Counter;
use sonagi_measure::summary::{Delivery, OperationSummary, Quantiles, Summary};

/// A run in one row. Names are a public contract (`docs/matrix.md`); None: nothing of the kind was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Most users connected at one time; those that drain are not.
    pub users_held: u64,
    /// The population asked for.
    pub users_wanted: Option<u64>,
    /// Until a user was connected, mean.
    pub connect_mean_ms: Option<f64>,
    /// The same, 95 %.
    pub connect_p95_ms: Option<f64>,
    /// Operations of all kinds ended, over the run's duration.
    pub operations_per_s: f64,
    /// Copies that arrived, over the run's duration.
    pub messages_per_s: Option<f64>,
    /// Share of owed copies that arrived; nothing is said of a run that owed none.
    pub delivery_ratio: Option<f64>,
    /// Planned send to receipt.
    pub end_to_end_p50_ms: Option<f64>,
    /// The same, 95 %.
    pub end_to_end_p95_ms: Option<f64>,
    /// The same, 99 %.
    pub end_to_end_p99_ms: Option<f64>,
    /// Planned request to the answer's last byte, of all HTTP requests.
    pub http_p50_ms: Option<f64>,
    /// The same, 99 %.
    pub http_p99_ms: Option<f64>,
    /// Share of HTTP answers with a status of 400 or more.
    pub http_error_ratio: Option<f64>,
    /// Copies that came after a reconnect.
    pub replayed: u64,
    /// All bytes received over the copies that arrived.
    pub bytes_per_copy: Option<f64>,
    /// CPU time of the service beside the run.
    pub service_cpu_s: Option<f64>,
    /// Its most memory, MB.
    pub service_peak_mb: Option<f64>,
    /// Failures of all kinds.
    pub failures: u64,
}

impl Figures {
    /// The figures of a run.
    pub fn of(run: &Summary) -> Figures {
        let connect = connects(run).map(|connect| &connect.response_ms).filter(|ms| ms.count > 0);
        let delivery = run.delivery.as_ref();
        let latency = delivery.map(|delivery| &delivery.latency_ms).filter(|ms| ms.count > 0);
        let http = Some(&run.http_answers_ms).filter(|ms| ms.count > 0);
        let of = |latency: Option<&Quantiles>, value: fn(&Quantiles) -> f64| latency.map(value);
        Figures {
            users_held: users_held(run),
            users_wanted: run.users.wanted,
            connect_mean_ms: of(connect, |ms| ms.mean),
            connect_p95_ms: of(connect, |ms| ms.p95),
            operations_per_s: per_second(run.kinds.iter().map(|kind| kind.count).sum(), run.duration_s),
            messages_per_s: delivery.map(|delivery| per_second(arrived(delivery), run.duration_s)),
            delivery_ratio: delivery
                .filter(|delivery| delivery.counts.owed > 0)
                .map(|delivery| delivery.ratio),
            end_to_end_p50_ms: of(latency, |ms| ms.p50),
            end_to_end_p95_ms: of(latency, |ms| ms.p95),
            end_to_end_p99_ms: of(latency, |ms| ms.p99),
            http_p50_ms: of(http, |ms| ms.p50),
            http_p99_ms: of(http, |ms| ms.p99),
            http_error_ratio: http_error_ratio(run),
            replayed: delivery.map_or(0, |delivery| delivery.counts.replayed),
            bytes_per_copy: bytes_per_copy(run),
            service_cpu_s: run.service.as_ref().map(|service| service.cpu_s),
            service_peak_mb: run.service.as_ref().map(|service| service.resident_peak_mb),
            failures: run.errors.iter().map(|error| error.count).sum(),
        }
    }

    /// Whether nobody connected: times of answers are then the run's times, not those of logging in.
    pub(super) fn is_http_alone(&self) -> bool {
        self.connect_mean_ms.is_none()
    }

    /// The median of each figure over several runs, of those that have it; None of no run.
    pub fn median(runs: &[Figures]) -> Option<Figures> {
        let runs: Vec<Value> = runs.iter().map(|run| json!(run)).collect();
        let of = |name: &String| {
            let values = || runs.iter().map(|run| &run[name]);
            let median = median(values().filter_map(Value::as_f64).collect());
            // Between two counts, too, there is a count.
            let is_count = values().any(Value::is_u64);
            if is_count { json!(median.map(|median| median.round() as u64)) } else { json!(median) }
        };
        let names = runs.first()?.as_object()?.keys();
        let medians = names.map(|name| (name.clone(), of(name))).collect();
        serde_json::from_value(Value::Object(medians)).ok()
    }
}

/// Most users connected at one time; of a run in which nobody connects (HTTP alone), most users there at all.
pub(super) fn users_held(run: &Summary) -> u64 {
    if connects(run).is_some() { run.users.connected_peak } else { run.users.peak }
}

/// The operations that connect users: those of the kind most of them used.
fn connects(run: &Summary) -> Option<&OperationSummary> {
    run.kinds.iter().filter(|kind| kind.kind.connects()).max_by_key(|kind| kind.count)
}

fn http_error_ratio(run: &Summary) -> Option<f64> {
    let answers: u64 = run.http_codes.values().sum();
    let errors: u64 = run.http_codes.range(400..).map(|(_, count)| count).sum();
    (answers > 0).then(|| errors as f64 / answers as f64)
}

fn bytes_per_copy(run: &Summary) -> Option<f64> {
    let arrived = arrived(run.delivery.as_ref()?);
    let bytes = run.traffic[Counter::BytesReceived];
    (arrived > 0).then(|| (bytes as f64 / arrived as f64 * 10.0).round() / 10.0)
}

/// Copies owed that came, however late. What the protocols count as messages differs: some acknowledge by one.
fn arrived(delivery: &Delivery) -> u64 {
    let counts = &delivery.counts;
    counts.delivered + counts.late + counts.replayed
}

/// A rate of less than a second would be a guess.
fn per_second(n: u64, seconds: f64) -> f64 {
    (n as f64 / seconds.max(1.0) * 10.0).round() / 10.0
}
