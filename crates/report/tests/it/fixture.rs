//! Summaries to render: a small one, and one with every field filled.

use serde_json::Map;
use sonagi_measure::At;
use sonagi_measure::expectations::Expectations;
use sonagi_measure::ledger::{Counts, RoomCounts, RoomFate};
use sonagi_measure::metrics::{Kind, MetricStore, Unit};
use sonagi_measure::outcome::OperationKind;
use sonagi_measure::plugins::{Apdex, Endpoint, Figures};
use sonagi_measure::recorder::{Counter, Recorder};
use sonagi_measure::summary::{
    Cause, Conclusion, Delivery, ErrorSummary, Generator, Health, OperationSummary, Quantiles, Service,
    Statuses, Summary, Traffic, Users, Verdict,
};
use sonagi_measure::thresholds::Judged;
use std::collections::BTreeMap;

pub(crate) fn quantiles(count: u64, scale: f64) -> Quantiles {
    Quantiles {
        count,
        min: 0.2 * scale,
        mean: 1.1 * scale,
        p50: scale,
        p75: 1.5 * scale,
        p90: 2.0 * scale,
        p95: 2.5 * scale,
        p99: 4.0 * scale,
        p999: 8.0 * scale,
        max: 12.0 * scale,
    }
}

/// A run of which nothing was tracked and nothing went wrong.
pub(crate) fn minimal() -> Summary {
    Summary {
        name: "ping".into(),
        target: "http://127.0.0.1:8080".into(),
        started: "2026-11-20T10:00:00Z".into(),
        version: "0.1.0".into(),
        complete: true,
        interrupted: false,
        duration_s: 2.0,
        verdict: Verdict { result: Conclusion::Pass, reasons: vec![], hints: vec![] },
        users: Users { planned: 1, started: 1, completed: 1, peak: 1, ..Users::default() },
        delivery: None,
        traffic: Traffic::default(),
        operations: vec![],
        kinds: vec![],
        http_codes: BTreeMap::new(),
        http_answers_ms: Quantiles::default(),
        http_classes: BTreeMap::new(),
        statuses: Statuses::default(),
        errors: vec![],
        thresholds: vec![],
        generator: Generator {
            state: Health::Ok,
            findings: vec![],
            cause: None,
            send_lag_ms: Quantiles::default(),
            hiccup_ms: Quantiles::default(),
            achieved_ratio: 1.0,
            busiest_core: 0.01,
            cpu_s: 0.02,
            cpu_wait_s: 0.0,
            cpu_pressure: Some(0.01),
            resident_peak_mb: 9.1,
            open_files_peak: 12,
            open_files_limit: 1024,
            shards: 1,
        },
        scenarios: BTreeMap::new(),
        metrics: BTreeMap::new(),
        watched: BTreeMap::new(),
        metrics_left_out: 0,
        samples_left_out: 0,
        plugins: Figures { endpoint_prefix: "plugins.metrics-by-endpoint".into(), ..Figures::default() },
        expectations: Default::default(),
        run_folder: None,
        combination: Map::new(),
        service: None,
    }
}

/// A passed fan-out of one room.
pub(crate) fn fan_out() -> Summary {
    Summary {
        name: "fan-out".into(),
        duration_s: 25.3,
        users: Users {
            planned: 100,
            started: 100,
            completed: 100,
            peak: 100,
            session_ms: quantiles(100, 20_000.0),
            ..Users::default()
        },
        delivery: Some(Delivery {
            counts: Counts { messages: 2000, owed: 200_000, delivered: 200_000, ..Counts::default() },
            ratio: 1.0,
            deadline_ms: 1000.0,
            latency_ms: quantiles(200_000, 1.2),
            replay_latency_ms: Quantiles::default(),
            rooms: Vec::new(),
        }),
        traffic: traffic(0, 0),
        operations: vec![
            operation("POST /auth/login", OperationKind::Http, 100, 0, 42.0),
            operation("socket.io connect", OperationKind::SocketioConnect, 100, 0, 3.0),
            operation("sendMessage", OperationKind::SocketioRequest, 2000, 0, 0.8),
        ],
        kinds: vec![
            operation("http", OperationKind::Http, 100, 0, 42.0),
            operation("socketio_connect", OperationKind::SocketioConnect, 100, 0, 3.0),
            operation("socketio_request", OperationKind::SocketioRequest, 2000, 0, 0.8),
        ],
        http_codes: BTreeMap::from([(200, 300)]),
        http_answers_ms: quantiles(100, 42.0),
        scenarios: BTreeMap::from([("fan-out".to_string(), 100)]),
        run_folder: Some("runs/2026-11-20T10-00-00-fan-out".into()),
        generator: Generator {
            send_lag_ms: quantiles(2000, 0.05),
            hiccup_ms: quantiles(25_000, 0.08),
            busiest_core: 0.43,
            cpu_s: 9.4,
            resident_peak_mb: 38.2,
            open_files_peak: 112,
            open_files_limit: 1_048_576,
            ..minimal().generator
        },
        ..minimal()
    }
}

fn traffic(websocket_sent: u64, websocket_received: u64) -> Traffic {
    Traffic::from_iter([
        (Counter::MessagesSent, 2100),
        (Counter::MessagesReceived, 202_100),
        (Counter::BytesSent, 312_000),
        (Counter::BytesReceived, 38_412_000),
        (Counter::HttpRequests, 300),
        (Counter::HttpResponses, 300),
        (Counter::HttpBytesReceived, 96_000),
        (Counter::ConnectionsOpened, 200),
        (Counter::SocketioEmits, 2100),
        (Counter::SocketioReceived, 202_100),
        (Counter::WebsocketSent, websocket_sent),
        (Counter::WebsocketReceived, websocket_received),
    ])
}

/// Every field filled, every section present.
pub(crate) fn everything() -> Summary {
    let mut run = fan_out();
    run.verdict = Verdict {
        result: Conclusion::Fail,
        reasons: vec![
            "3,012 of 200,000 expected deliveries were lost (1.5 %).".into(),
            "threshold failed: delivery.latency_ms.p99 < 4 (delivery.latency_ms.p99 = 4.8)".into(),
            "4 users failed.".into(),
        ],
        hints: vec![
            "run the service with one fault fewer, or see docs/ledger.md for what counts as lost".into(),
        ],
    };
    run.users = users();
    run.delivery = Some(misdelivered());
    run.traffic = traffic(10, 20);
    run.http_codes.insert(429, 4);
    run.statuses = Statuses {
        answers: 304,
        errors: 4,
        expected: 1,
        codes: BTreeMap::from([(429, 4)]),
        ..Statuses::default()
    };
    run.operations.push(operation(
        "a step whose author gave it a very long name indeed",
        OperationKind::Expect,
        12,
        3,
        1500.0,
    ));
    run.errors = errors();
    run.thresholds = vec![
        judged("http.response_time.p99 < 250", true, true, "http.response_time.p99 = 168"),
        judged("delivery.latency_ms.p99 < 4", true, false, "delivery.latency_ms.p99 = 4.8"),
        judged("vusers.failed == 0", false, false, "vusers.failed = 4"),
    ];
    run.scenarios.insert("watch".into(), 3);
    run.generator.state = Health::Warn;
    run.generator.cause = Some(Cause::Starved);
    run.generator.findings = vec![
        "send lag p99 was 1.40 ms in second 12; up to 1 ms is expected of a generator with room.".into(),
    ];
    run.combination.insert("transport".into(), "sse".into());
    run.service = Some(Service { ended: Some("signal: 9 (SIGKILL)".into()), ..service(12, 4) });
    run
}

/// Copies of every fate.
fn misdelivered() -> Delivery {
    Delivery {
        counts: Counts {
            messages: 2000,
            owed: 200_000,
            delivered: 196_900,
            late: 61,
            replayed: 20,
            lost: 3012,
            lost_own: 0,
            lost_tail: 2500,
            lost_gap: 412,
            never_accepted: 100,
            lost_after_join: 12,
            outstanding: 7,
            duplicate: 31,
            reordered: 12,
            leaked: 3,
            unknown: 99,
            settling: 40,
            foreign: 2,
            negative: 1,
        },
        ratio: 0.98494,
        deadline_ms: 1000.0,
        latency_ms: quantiles(196_961, 1.2),
        replay_latency_ms: quantiles(20, 400.0),
        rooms: vec![RoomFate {
            room: "general".into(),
            counts: RoomCounts {
                messages: 20,
                owed: 2000,
                delivered: 1990,
                lost: 10,
                ..RoomCounts::default()
            },
        }],
    }
}

/// A run whose script asks for all that plugins make of the figures.
pub(crate) fn with_plugins() -> Summary {
    let mut run = fan_out();
    run.http_classes =
        BTreeMap::from([("2xx".into(), quantiles(296, 42.0)), ("4xx".into(), quantiles(4, 2.0))]);
    run.plugins.apdex = Some(Apdex {
        threshold_ms: 100.0,
        satisfied: 230,
        tolerated: 60,
        frustrated: 10,
        score: Some(26.0 / 30.0),
    });
    run.plugins.total_ms = Some(quantiles(300, 42.0));
    run.plugins.endpoints = vec![Endpoint {
        name: "/auth/login".into(),
        codes: BTreeMap::from([(200, 296), (429, 4)]),
        errors: BTreeMap::from([("timeout".into(), 2)]),
        response_ms: quantiles(302, 42.0),
    }];
    run
}

/// A run whose functions reported metrics.
pub(crate) fn with_own_metrics() -> Summary {
    let mut recorder = Recorder::new(0, 0);
    let mut observe = |kind, unit, name, value| recorder.observe((kind, unit), name, value, At(0));
    observe(Kind::Counter, Unit::Number, "carts", 2.5);
    observe(Kind::Counter, Unit::Number, "carts", 2.0);
    observe(Kind::Counter, Unit::Events, "checkouts", 1.0);
    observe(Kind::Trend, Unit::Number, "basket", 12.5);
    observe(Kind::Gauge, Unit::Number, "level", 3.0);
    observe(Kind::Rate, Unit::Number, "share", 1.0);
    let mut own = MetricStore::default();
    own.absorb(&recorder.take().metrics);
    Summary { metrics: own.summary(2.0), ..minimal() }
}

/// A run of whose responses something was expected.
pub(crate) fn with_expectations() -> Summary {
    let mut expectations = Expectations::default();
    expectations.held("statusCode");
    expectations.held("statusCode");
    expectations.failed("equals", At(0), || "GET /: a, b".to_owned());
    Summary { expectations: expectations.summary(), ..minimal() }
}

/// A service of one worker on two cores, full for so many seconds, and with the generator's part the machine for so
/// many.
pub(crate) fn service(full_s: u64, machine_full_s: u64) -> Service {
    Service {
        arguments: vec!["--workers=1".into()],
        workers: 1,
        cpu_s: 31.25,
        busiest_cores: 1.04,
        full_s,
        machine_cores: 2,
        machine_full_s,
        resident_peak_mb: 88.4,
        ended: None,
        memory_kills: 0,
        exhausted: 0,
        network_late_s: 0,
    }
}

fn users() -> Users {
    Users {
        planned: 104,
        started: 103,
        missed: 1,
        skipped: 2,
        completed: 96,
        failed: 4,
        stopped: 2,
        operations_cut: 1,
        active: 1,
        peak: 101,
        connected_peak: 100,
        wanted: Some(104),
        iterations: true,
        session_ms: quantiles(96, 20_000.0),
    }
}

fn errors() -> Vec<ErrorSummary> {
    vec![
        ErrorSummary {
            code: "connect_refused".into(),
            called: String::new(),
            operation: Some("socket.io connect".into()),
            count: 3,
            first_at_s: 0.31,
            example: "127.0.0.1:8080: connection refused".into(),
        },
        ErrorSummary {
            code: "ack_timeout".into(),
            called: String::new(),
            operation: None,
            count: 1204,
            first_at_s: 4.2,
            example: "no acknowledgement of sendMessage within 10 s".into(),
        },
    ]
}

pub(crate) fn operation(
    name: &str,
    kind: OperationKind,
    count: u64,
    failed: u64,
    ms: f64,
) -> OperationSummary {
    OperationSummary {
        name: name.into(),
        kind,
        count,
        failed,
        rate_per_s: count as f64 / 25.3,
        response_ms: quantiles(count, ms),
        service_ms: quantiles(count, ms * 0.9),
        first_byte_ms: (kind == OperationKind::Http).then(|| quantiles(count, ms * 0.8)),
    }
}

fn judged(expression: &str, strict: bool, held: bool, evidence: &str) -> Judged {
    Judged {
        expression: expression.into(),
        strict,
        held,
        evidence: evidence.into(),
        metrics: vec![],
        ended_run_s: None,
    }
}
