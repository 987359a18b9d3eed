//! A summary in Artillery's vocabulary: counters, rates and summaries by its names. Thresholds, the printed summary and
//! the report in JSON all read this.
//!
//! The one decision a reader would question: times run from the planned instant to the last byte, where Artillery's run
//! from the request to the first byte. On a target that stalls they are higher than Artillery's, which starts the clock
//! late.

use sonagi_measure::outcome::{Failure, OperationKind};
use sonagi_measure::recorder::Counter;
use sonagi_measure::summary::{Quantiles, Summary};
use std::collections::BTreeMap;

use super::failures;

/// Counters by their names in Artillery's report. From `polls` on Artillery has no such engines: the names go on in its
/// manner.
pub(super) const COUNTS: [(&str, Counter); 15] = [
    ("http.requests", Counter::HttpRequests),
    ("http.responses", Counter::HttpResponses),
    ("http.downloaded_bytes", Counter::HttpBytesReceived),
    ("websocket.messages_sent", Counter::WebsocketSent),
    ("websocket.messages_received", Counter::WebsocketReceived),
    ("socketio.emit", Counter::SocketioEmits),
    ("polls", Counter::Polls),
    ("polls.empty", Counter::PollsEmpty),
    ("polls.messages_received", Counter::PollsReceived),
    ("sse.messages_received", Counter::SseReceived),
    ("stomp.messages_sent", Counter::StompSent),
    ("stomp.messages_received", Counter::StompReceived),
    ("connections.lost", Counter::ConnectionsLost),
    ("reconnects", Counter::Reconnects),
    ("reconnects.failed", Counter::ReconnectsFailed),
];

/// Counters whose rates it has.
pub(super) const RATES: [(&str, Counter); 4] = [
    ("http.request_rate", Counter::HttpRequests),
    ("websocket.send_rate", Counter::WebsocketSent),
    ("websocket.receive_rate", Counter::WebsocketReceived),
    ("socketio.emit_rate", Counter::SocketioEmits),
];

/// Response times, by the kind of operations that they are of.
pub(super) const TIMES: [(OperationKind, &str); 4] = [
    (OperationKind::Http, "http.response_time"),
    (OperationKind::SocketioRequest, "socketio.response_time"),
    (OperationKind::StompRequest, "stomp.response_time"),
    (OperationKind::Poll, "polls.response_time"),
];

/// Metrics by name, as Artillery's report has them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metrics {
    /// Counts.
    pub counters: BTreeMap<String, f64>,
    /// Per second.
    pub rates: BTreeMap<String, f64>,
    /// Distributions that hold at least one value, in milliseconds (of a script's own histograms: in its unit).
    pub summaries: BTreeMap<String, Quantiles>,
}

impl Metrics {
    /// Of a run, or of a part of one. Counts of zero are left out where Artillery never counts by nothing: each user
    /// that completes adds 0 to those that failed, each answer 0 to the Apdex counts it is not in.
    pub fn of(run: &Summary) -> Metrics {
        let mut metrics = Metrics::complete(run);
        let by_nothing = |name: &str| match name {
            "vusers.failed" => run.users.completed > 0,
            name => {
                name.starts_with("apdex.")
                    && run.plugins.apdex.as_ref().is_some_and(|apdex| apdex.score.is_some())
            }
        };
        metrics.counters.retain(|name, count| *count != 0.0 || by_nothing(name));
        metrics.rates.retain(|_, rate| *rate > 0.0);
        metrics.summaries.retain(|_, values| values.count > 0);
        metrics
    }

    /// With everything that is zero.
    pub(super) fn complete(run: &Summary) -> Metrics {
        let mut metrics = Metrics::default();
        metrics.users(run);
        metrics.traffic(run);
        metrics.times(run);
        metrics.plugins(run);
        metrics.by_name(run);
        for error in &run.errors {
            // Two of our codes may share one of Artillery's names.
            *metrics.counters.entry(format!("errors.{}", failures::error(error))).or_default() +=
                error.count as f64;
        }
        metrics
    }

    fn count(&mut self, name: impl Into<String>, count: u64) {
        self.counters.insert(name.into(), count as f64);
    }

    fn users(&mut self, run: &Summary) {
        self.count("vusers.created", run.users.started);
        self.count("vusers.completed", run.users.completed);
        self.count("vusers.failed", run.users.failed);
        self.count("vusers.skipped", run.users.skipped);
        for (scenario, created) in &run.scenarios {
            self.count(format!("vusers.created_by_name.{scenario}"), *created);
        }
    }

    fn traffic(&mut self, run: &Summary) {
        for (name, counter) in COUNTS {
            self.count(name, run.traffic[counter]);
        }
        for (code, count) in &run.http_codes {
            self.count(format!("http.codes.{code}"), *count);
        }
        if run.duration_s > 0.0 {
            let rate = |counter| run.traffic[counter] as f64 / run.duration_s;
            self.rates.extend(RATES.map(|(name, counter)| (name.to_owned(), rate(counter))));
        }
    }

    fn times(&mut self, run: &Summary) {
        let mut set = |name: String, values: &Quantiles| self.summaries.insert(name, values.clone());
        set("vusers.session_length".to_owned(), &run.users.session_ms);
        for (kind, name) in TIMES {
            if let Some(operations) = run.kind(kind) {
                // A request that was redirected has the times of several answers.
                let is_http = kind == OperationKind::Http;
                set(name.to_owned(), if is_http { &run.http_answers_ms } else { &operations.response_ms });
            }
        }
        for (class, values) in &run.http_classes {
            set(format!("http.response_time.{class}"), values);
        }
    }

    fn plugins(&mut self, run: &Summary) {
        let plugins = &run.plugins;
        if let Some(apdex) = &plugins.apdex {
            self.count("apdex.satisfied", apdex.satisfied);
            self.count("apdex.tolerated", apdex.tolerated);
            self.count("apdex.frustrated", apdex.frustrated);
        }
        let expected = &run.expectations;
        if !expected.kinds.is_empty() {
            self.count("plugins.expect.ok", expected.ok);
            self.count("plugins.expect.failed", expected.failed);
        }
        for (kind, expected) in &expected.kinds {
            self.count(format!("plugins.expect.ok.{kind}"), expected.ok);
            self.count(format!("plugins.expect.failed.{kind}"), expected.failed);
        }
        if let Some(total) = &plugins.total_ms {
            self.summaries.insert("http.total".to_owned(), total.clone());
        }
        let prefix = super::endpoint_prefix(&plugins.endpoint_prefix);
        for endpoint in &plugins.endpoints {
            let name = &endpoint.name;
            for (code, count) in &endpoint.codes {
                self.count(format!("{prefix}.{name}.codes.{code}"), *count);
            }
            for (code, count) in &endpoint.errors {
                let error = match Failure::from_code(code) {
                    Some(known) => failures::failure(known),
                    // Of a report written before: a name already.
                    None => code.into(),
                };
                *self.counters.entry(format!("{prefix}.{name}.errors.{error}")).or_default() += *count as f64;
            }
            self.summaries.insert(format!("{prefix}.response_time.{name}"), endpoint.response_ms.clone());
        }
    }

    /// What the script's functions reported. There is no word here for what is neither a sum, nor events, nor a
    /// distribution.
    fn by_name(&mut self, run: &Summary) {
        for (name, metric) in &run.metrics {
            match (&metric.values, metric.per_second, metric.sum) {
                (Some(values), ..) => drop(self.summaries.insert(name.clone(), values.clone())),
                (_, Some(rate), _) => drop(self.rates.insert(name.clone(), rate)),
                (.., Some(sum)) => drop(self.counters.insert(name.clone(), sum)),
                _ => {}
            }
        }
    }
}

/// The figures of a distribution by their names in Artillery's reports, which have the median twice.
pub(crate) fn figures_of(values: &Quantiles) -> [(&'static str, f64); 11] {
    [
        ("min", values.min),
        ("max", values.max),
        ("count", values.count as f64),
        ("mean", values.mean),
        ("p50", values.p50),
        ("median", values.p50),
        ("p75", values.p75),
        ("p90", values.p90),
        ("p95", values.p95),
        ("p99", values.p99),
        ("p999", values.p999),
    ]
}
