use crate::summaries as fixture;
use insta::assert_snapshot;
use serde_json::{Value, json};
use sonagi_artillery::report::{self as artillery, Periods};
use sonagi_measure::At;
use sonagi_measure::ledger::Rules;
use sonagi_measure::metrics::{AutomaticTags, Kind, MetricStore, Registry, Sampler, Scope, Unit};
use sonagi_measure::outcome::{Operation, OperationId, OperationKind, Outcome, Timing};
use sonagi_measure::recorder::{Counter, Record, Recorder};
use sonagi_measure::summary::Summary;
use sonagi_measure::totals::{Header, Totals};
use std::sync::Arc;

#[test]
fn the_artillery_summary_has_its_names_padded_with_dots_and_no_others() {
    assert_snapshot!(artillery::summary(&fixture::everything()), @"
    --------------------------------
    Summary report @ 10:00:25(+0000)
    --------------------------------

    errors.ECONNREFUSED: .......................................................... 3
    errors.response timeout: ...................................................... 1204
    http.codes.200: ............................................................... 300
    http.codes.429: ............................................................... 4
    http.downloaded_bytes: ........................................................ 96000
    http.request_rate: ............................................................ 12/sec
    http.requests: ................................................................ 300
    http.response_time:
      min: ........................................................................ 8.4
      max: ........................................................................ 504
      mean: ....................................................................... 46.2
      median: ..................................................................... 42
      p95: ........................................................................ 105
      p99: ........................................................................ 168
    http.responses: ............................................................... 300
    socketio.emit: ................................................................ 2100
    socketio.emit_rate: ........................................................... 83/sec
    socketio.response_time:
      min: ........................................................................ 0.2
      max: ........................................................................ 9.6
      mean: ....................................................................... 0.9
      median: ..................................................................... 0.8
      p95: ........................................................................ 2
      p99: ........................................................................ 3.2
    vusers.completed: ............................................................. 96
    vusers.created: ............................................................... 103
    vusers.created_by_name.fan-out: ............................................... 100
    vusers.created_by_name.watch: ................................................. 3
    vusers.failed: ................................................................ 4
    vusers.session_length:
      min: ........................................................................ 4000
      max: ........................................................................ 240000
      mean: ....................................................................... 22000
      median: ..................................................................... 20000
      p95: ........................................................................ 50000
      p99: ........................................................................ 80000
    vusers.skipped: ............................................................... 2
    websocket.messages_received: .................................................. 20
    websocket.messages_sent: ...................................................... 10
    websocket.receive_rate: ....................................................... 1/sec
    websocket.send_rate: .......................................................... 0/sec
    ");
}

#[test]
fn a_run_without_http_or_sockets_names_only_its_users() {
    assert_snapshot!(artillery::summary(&fixture::minimal()), @"
    --------------------------------
    Summary report @ 10:00:02(+0000)
    --------------------------------

    vusers.completed: ............................................................. 1
    vusers.created: ............................................................... 1
    vusers.failed: ................................................................ 0
    ");
}

#[test]
fn the_checks_say_what_held_and_end_with_the_verdict() {
    assert_snapshot!(artillery::checks(&fixture::everything()), @"
    Checks:
    ok: http.response_time.p99 < 250
    fail: delivery.latency_ms.p99 < 4 (delivery.latency_ms.p99 = 4.8)
    fail, not strict: vusers.failed == 0 (vusers.failed = 4)
    FAIL  fan-out: 3,012 of 200,000 expected deliveries were lost (1.5 %).; threshold failed: delivery.latency_ms.p99 < 4 (delivery.latency_ms.p99 = 4.8); 4 users failed.
    ");
    assert_eq!(artillery::checks(&fixture::minimal()), "PASS  ping: \n");
}

#[test]
fn what_plugins_make_of_the_figures_is_printed_by_their_names_unless_the_script_hides_it() {
    let told = |run: &Summary| {
        let text = artillery::summary(run);
        let of_plugins = |line: &&str| {
            ["apdex", "plugins", "Apdex", "http.response_time.", "http.total"]
                .iter()
                .any(|p| line.starts_with(p))
        };
        text.lines().filter(of_plugins).map(|line| line.replace("...", "") + "\n").collect::<String>()
    };
    let run = fixture::with_plugins();
    assert_snapshot!(told(&run), @"
    apdex.frustrated: . 10
    apdex.satisfied: .. 230
    apdex.tolerated: .. 60
    http.response_time.2xx:
    http.response_time.4xx:
    http.total:
    plugins.metrics-by-endpoint./auth/login.codes.200: . 296
    plugins.metrics-by-endpoint./auth/login.codes.429: . 4
    plugins.metrics-by-endpoint./auth/login.errors.ETIMEDOUT:  2
    plugins.metrics-by-endpoint.response_time./auth/login:
    Apdex score: 0.8666666666666667 (good)
    ");
    let mut hidden = run;
    hidden.plugins.hidden = vec!["plugins.metrics-by-endpoint".into()];
    assert_snapshot!(told(&hidden), @"
    apdex.frustrated: . 10
    apdex.satisfied: .. 230
    apdex.tolerated: .. 60
    http.response_time.2xx:
    http.response_time.4xx:
    http.total:
    Apdex score: 0.8666666666666667 (good)
    ");
}

/// A line of the summary.
fn dots(name: &str, value: &str) -> String {
    format!("{name}: {} {value}\n", ".".repeat(77 - name.len()))
}

#[test]
fn the_script_s_own_metrics_stand_among_the_others() {
    let page = artillery::summary(&fixture::with_own_metrics());
    assert!(page.contains(&dots("carts", "4.5")), "{page}");
    assert!(page.contains("basket:\n  min: ") && page.contains("12.5\n"), "{page}");
    assert!(page.lines().any(|line| line.starts_with("checkouts: ") && line.ends_with("/sec")), "{page}");
}

#[test]
fn what_was_expected_of_responses_is_counted_by_kind() {
    let page = artillery::summary(&fixture::with_expectations());
    assert!(page.contains(&dots("plugins.expect.ok", "2")), "{page}");
    assert!(page.contains(&dots("plugins.expect.failed.equals", "1")), "{page}");
    assert!(!page.contains("plugins.expect.ok.equals"), "Artillery shows no counts of nothing: {page}");
}

#[test]
fn an_error_is_counted_by_what_a_function_called_it() {
    let mut run = fixture::everything();
    run.errors[0].code = "function_failed".into();
    run.errors[0].called = "no stock".into();
    run.errors[1].code = "expectation_failed".into();
    run.errors[1].operation = Some("GET /".into());
    let page = artillery::summary(&run);
    assert!(page.contains(&dots("errors.no stock", "3")), "{page}");
    assert!(page.contains(&dots("errors.Failed expectations for request GET /", "1204")), "{page}");
}

const SECOND: i64 = 1_000_000_000;

/// Seconds of a run that began at 10:00:07, with so many requests in each.
fn followed(requests: &[u64]) -> Value {
    followed_of(OperationKind::Http, requests)
}

fn followed_of(kind: OperationKind, requests: &[u64]) -> Value {
    let header = Header {
        started: "2026-11-20T10:00:07Z".into(),
        shards: 1,
        scenarios: vec!["only".into()],
        operations: vec![Operation { name: "GET /".into(), kind }],
        ..Header::default()
    };
    let (mut totals, mut recorder) =
        (Totals::new(&header, Rules::default(), MetricStore::default()), Recorder::new(1, 1));
    let mut periods = Periods::default();
    periods.began(&header);
    for (second, requests) in requests.iter().enumerate() {
        let begin = At(second as i64 * SECOND);
        for _ in 0..*requests {
            recorder.add(Counter::HttpRequests, 1);
            let timing =
                Timing { planned: begin, started: begin, first_byte: None, ended: begin.plus(2_000_000) };
            recorder.operation(OperationId(0), timing, Outcome::Status(200));
        }
        let second = totals.absorb(vec![recorder.take()], begin.plus(SECOND), Default::default());
        periods.second(&second);
    }
    periods.document(&totals.summary())
}

#[test]
fn a_period_is_ten_seconds_of_the_clock_and_only_those_with_something_in_them_are_told() {
    // 10:00:07 to 10:00:42: three, ten, ten (idle), ten and two seconds.
    let mut requests = vec![1, 2, 3];
    requests.extend([4; 10]);
    requests.extend([0; 10]);
    requests.extend([5; 10]);
    requests.extend([6, 0]);
    let report = followed(&requests);
    let start = 1_795_168_800_000_u64; // 2026-11-20T10:00:00Z
    let told: Vec<_> = report["intermediate"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| (&p["period"], &p["counters"]["http.requests"], &p["rates"]["http.request_rate"]))
        .collect();
    let text = |seconds: u64| json!((start + seconds * 1000).to_string());
    assert_eq!(
        told,
        [
            (&text(0), &json!(6), &json!(2)),
            (&text(10), &json!(40), &json!(4)),
            (&text(30), &json!(50), &json!(5)),
            (&text(40), &json!(6), &json!(3)),
        ]
    );
    let times = |of: &Value| (of["firstCounterAt"].clone(), of["lastHistogramAt"].clone());
    let ms = |seconds: u64| json!(start + seconds * 1000);
    assert_eq!(times(&report["intermediate"][3]), (ms(40), ms(41)));
    assert_eq!(times(&report["aggregate"]), (ms(7), ms(41)));
    assert_eq!(report["aggregate"]["counters"]["http.requests"], 102);
    assert_eq!(report["aggregate"]["rates"]["http.request_rate"], 2.9, "102 in 35 s");
    assert_eq!(report["aggregate"]["period"], ms(40));
    assert_eq!(report["intermediate"][0]["summaries"]["http.response_time"]["p95"], 2);
}

#[test]
fn a_period_tells_operations_with_tags_apart_as_the_aggregate_does() {
    let registry = Arc::new(Registry::default());
    let times =
        registry.add_of(Scope::Partial, "http.response_time", Kind::Trend, Unit::Milliseconds).unwrap();
    let failed = registry.add_of(Scope::Partial, "vusers.failed", Kind::Counter, Unit::Number).unwrap();
    let (slow, lost) = ("http.response_time{page:list}", "vusers.failed{page:list}");
    registry.submetric(slow).unwrap();
    registry.submetric(lost).unwrap();
    let header = Header { started: "2026-11-20T10:00:07Z".into(), shards: 1, ..Header::default() };
    let mut totals = Totals::new(&header, Rules::default(), MetricStore::new(Arc::clone(&registry)));
    let mut recorder = Recorder::new(0, 0);
    let mut sampler = Sampler::new(registry, |_| &[], AutomaticTags::default(), false);
    let tags = sampler.tags().with("page", "list");
    let mut periods = Periods::default();
    periods.began(&header);
    for second in 0..5_i64 {
        let begin = At(second * SECOND);
        sampler.observe(times, second as f64, &tags, begin);
        sampler.observe(failed, 1.0, &tags, begin);
        let record = Record { metrics: sampler.take(), ..recorder.take() };
        periods.second(&totals.absorb(vec![record], begin.plus(SECOND), Default::default()));
    }
    let report = periods.document(&totals.summary());
    let told = |part: &Value| {
        let times = &part["summaries"][slow];
        (times["count"].clone(), times["max"].clone(), part["counters"][lost].clone())
    };
    // 10:00:07 to 10:00:12: three seconds and two.
    assert_eq!(told(&report["intermediate"][0]), (json!(3), json!(2), json!(3)));
    assert_eq!(told(&report["intermediate"][1]), (json!(2), json!(4), json!(2)));
    assert_eq!(told(&report["aggregate"]), (json!(5), json!(4), json!(5)));
}

#[test]
fn a_report_says_when_times_came_where_it_has_times() {
    let report = followed_of(OperationKind::Function, &[1]);
    for part in [&report["aggregate"], &report["intermediate"][0]] {
        assert_eq!((&part["summaries"], &part["counters"]["http.requests"]), (&json!({}), &json!(1)));
        assert_eq!((part.get("firstHistogramAt"), part.get("lastHistogramAt")), (None, None), "{part}");
        assert_eq!(part["firstMetricAt"], part["firstCounterAt"]);
    }
}

#[test]
fn a_run_that_never_began_has_an_empty_report() {
    let report = Periods::default().document(&fixture::minimal());
    assert_eq!(report["intermediate"], json!([]));
    assert_eq!(report["aggregate"]["counters"]["vusers.completed"], 1);
}
