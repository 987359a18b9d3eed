//! A summary as a flat map of names: what threshold expressions read.
//!
//! Our own names are the paths of the document, so a new field has a name at once; operations and kinds go by their names.
//! Artillery's names are added beside them. Booleans and text have no name.

use super::{OperationSummary, Quantiles, Summary};
use crate::outcome::OperationKind;
use serde_json::Value;
use std::collections::BTreeMap;

impl Summary {
    /// Every number of the summary by name: ours (`delivery.ratio`, `operations.<name>.response_ms.p99`) and Artillery's
    /// (`vusers.failed`, `http.response_time.p95`, `errors.ECONNREFUSED`).
    pub fn names(&self) -> BTreeMap<String, f64> {
        let mut names = BTreeMap::new();
        if let Ok(document) = serde_json::to_value(self) {
            flatten("", &document, &mut names);
        }
        self.artillery_names(&mut names);
        self.expectation_names(&mut names);
        names
    }

    fn artillery_names(&self, names: &mut BTreeMap<String, f64>) {
        let mut set = |name: &str, value: f64| {
            names.insert(name.to_owned(), value);
        };
        let (users, traffic) = (&self.users, &self.traffic);
        // Beside the operations' own names, where a reader of series.csv looks for it.
        set("operations.cut", users.operations_cut as f64);
        set("vusers.created", users.started as f64);
        set("vusers.completed", users.completed as f64);
        set("vusers.failed", users.failed as f64);
        set("vusers.skipped", users.skipped as f64);
        set("http.requests", traffic.http_requests as f64);
        set("http.responses", traffic.http_responses as f64);
        set("http.downloaded_bytes", traffic.http_bytes_received as f64);
        set("websocket.messages_sent", traffic.websocket_sent as f64);
        set("websocket.messages_received", traffic.websocket_received as f64);
        set("socketio.emit", traffic.socketio_emits as f64);
        // Artillery has no such engines: the names go on in its manner.
        set("polls", traffic.polls as f64);
        set("polls.empty", traffic.polls_empty as f64);
        set("polls.messages_received", traffic.polls_received as f64);
        set("sse.messages_received", traffic.sse_received as f64);
        set("stomp.messages_sent", traffic.stomp_sent as f64);
        set("stomp.messages_received", traffic.stomp_received as f64);
        set("connections.lost", traffic.connections_lost as f64);
        set("reconnects", traffic.reconnects as f64);
        set("reconnects.failed", traffic.reconnects_failed as f64);
        if self.duration_s > 0.0 {
            set("http.request_rate", traffic.http_requests as f64 / self.duration_s);
            set("websocket.send_rate", traffic.websocket_sent as f64 / self.duration_s);
            set("socketio.emit_rate", traffic.socketio_emits as f64 / self.duration_s);
        }
        for (scenario, created) in &self.scenarios {
            set(&format!("vusers.created_by_name.{scenario}"), *created as f64);
        }
        for (code, count) in &self.http_codes {
            set(&format!("http.codes.{code}"), *count as f64);
        }
        for (name, metric) in &self.custom {
            if let Some(values) = &metric.values {
                quantiles(name, values, names);
            }
            names.extend(metric.sum.or(metric.per_second).map(|value| (name.clone(), value)));
        }
        quantiles("vusers.session_length", &self.users.session_ms, names);
        if let Some(http) = self.kind(OperationKind::Http) {
            quantiles("http.response_time", &http.response_ms, names);
        }
        if let Some(requests) = self.kind(OperationKind::SocketioRequest) {
            quantiles("socketio.response_time", &requests.response_ms, names);
        }
        if let Some(requests) = self.kind(OperationKind::StompRequest) {
            quantiles("stomp.response_time", &requests.response_ms, names);
        }
        if let Some(polls) = self.kind(OperationKind::Poll) {
            quantiles("polls.response_time", &polls.response_ms, names);
        }
        for error in &self.errors {
            // Two of our codes may share one of Artillery's names.
            *names.entry(format!("errors.{}", error.artillery)).or_default() += error.count as f64;
            if error.code != error.artillery {
                *names.entry(format!("errors.{}", error.code)).or_default() += error.count as f64;
            }
        }
    }

    /// Those of Artillery's plugin `expect`; without an expectation they are not measured.
    fn expectation_names(&self, names: &mut BTreeMap<String, f64>) {
        let mut set = |name: &str, value: f64| {
            names.insert(name.to_owned(), value);
        };
        if !self.expectations.kinds.is_empty() {
            set("plugins.expect.ok", self.expectations.ok as f64);
            set("plugins.expect.failed", self.expectations.failed as f64);
        }
        for (kind, expected) in &self.expectations.kinds {
            set(&format!("plugins.expect.ok.{kind}"), expected.ok as f64);
            set(&format!("plugins.expect.failed.{kind}"), expected.failed as f64);
        }
    }

    /// All operations of one kind together, if any ran.
    pub fn kind(&self, kind: OperationKind) -> Option<&OperationSummary> {
        self.kinds.iter().find(|operation| operation.kind == kind)
    }
}

fn quantiles(name: &str, q: &Quantiles, names: &mut BTreeMap<String, f64>) {
    let fields = [
        ("count", q.count as f64),
        ("min", q.min),
        ("mean", q.mean),
        ("p50", q.p50),
        ("median", q.p50),
        ("p75", q.p75),
        ("p90", q.p90),
        ("p95", q.p95),
        ("p99", q.p99),
        ("p999", q.p999),
        ("max", q.max),
    ];
    // Nothing measured has no quantiles: a threshold on them must not hold by default.
    for (field, value) in fields.into_iter().take(if q.count == 0 { 1 } else { fields.len() }) {
        names.insert(format!("{name}.{field}"), value);
    }
}

fn flatten(path: &str, value: &Value, names: &mut BTreeMap<String, f64>) {
    let under = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        Value::Number(number) => {
            if let Some(number) = number.as_f64() {
                names.insert(path.to_owned(), number);
            }
        }
        Value::Object(fields) if is_empty_distribution(fields) => {
            names.insert(under("count"), 0.0);
        }
        Value::Object(fields) => fields.iter().for_each(|(name, value)| flatten(&under(name), value, names)),
        Value::Array(items) if path == "operations" || path == "kinds" => {
            for item in items {
                if let Some(name) = item.get("name").and_then(Value::as_str) {
                    flatten(&under(name), item, names);
                }
            }
        }
        _ => {}
    }
}

fn is_empty_distribution(fields: &serde_json::Map<String, Value>) -> bool {
    fields.contains_key("p999") && fields.get("count").and_then(Value::as_u64) == Some(0)
}
