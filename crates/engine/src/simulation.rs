//! The engine under paused time against simulated servers: what takes minutes takes milliseconds, and every figure is
//! exact.

use sonagi_measure::ledger::Rules;
use sonagi_measure::outcome::{Operation, OperationId, OperationKind};
use sonagi_measure::summary::{Conclusion, Summary};
use sonagi_measure::totals::{Header, ProcessGauges, Totals};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::time::Instant;

use crate::clock::Clock;
use crate::control::Control;
use crate::net::Net;
use crate::plan::{Body, Expression, HttpStep, Jitter, Loop, Plan, Repeat, Scenario, Step, Template, Think};
use crate::rooms::Rooms;
use crate::schedule::{Load, Phase, Shape, Spacing, Stage};
use crate::shard::{Shard, Shared};
use crate::user::Common;

/// Runs a plan to its end in simulated time.
async fn simulate(plan: Plan, control: Control, server: impl Fn(DuplexStream) + 'static) -> Summary {
    let header = Header {
        name: "simulated".into(),
        started: String::new(),
        target: String::new(),
        version: String::new(),
        seed: 1,
        shards: 1,
        scenarios: vec!["only".into()],
        operations: plan.operations.clone(),
        plan: serde_json::Value::Null,
        environment: serde_json::Value::Null,
        deadline_ms: 1000.0,
        tracked: false,
        thresholds: Vec::new(),
    };
    let mut totals = Totals::new(&header, Rules::default());
    let shared = Arc::new(Shared {
        control,
        rooms: Rooms::default(),
        members: AtomicU32::new(0),
        active: AtomicU64::new(0),
        seed: 1,
    });
    let clock = Clock::simulated(Instant::now());
    let local = tokio::task::LocalSet::new();
    local
        .run_until(async {
            tokio::task::spawn_local(Rc::clone(&clock).drive());
            let common = Common { plan: Arc::new(plan), before: Vec::new(), run: 1 };
            let net = Rc::new(Net::simulated(server));
            let shard = Shard::new(Rc::clone(&clock), net, common, shared, Box::new(|_, _, _| {}));
            tokio::task::spawn_local(Rc::clone(&shard).heartbeat());
            shard.serve_arrivals(|_| true).await;
            let record = shard.recorder.borrow_mut().take();
            totals.absorb(vec![record], clock.now(), ProcessGauges::default());
        })
        .await;
    totals.close(clock.now());
    totals.summary()
}

/// An HTTP server that answers after `delay(now since the start)`.
fn http_server(delay: impl Fn(Duration) -> Duration + Clone + 'static) -> impl Fn(DuplexStream) {
    let start = Instant::now();
    move |mut stream| {
        let delay = delay.clone();
        tokio::task::spawn_local(async move {
            let mut request = Vec::new();
            while stream.read_buf(&mut request).await.is_ok_and(|n| n > 0) {
                if request.ends_with(b"\r\n\r\n") {
                    tokio::time::sleep(delay(start.elapsed())).await;
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
                    request.clear();
                }
            }
        });
    }
}

fn get(timeout: Duration) -> Step {
    Step::Http(Box::new(HttpStep {
        operation: OperationId(0),
        method: "GET".into(),
        url: Template::constant("/"),
        headers: Vec::new(),
        query: Vec::new(),
        cookies: Vec::new(),
        body: Body::Empty,
        basic_auth: None,
        follow_redirects: true,
        timeout,
        captures: Vec::new(),
        matches: Vec::new(),
        expect_status: Vec::new(),
    }))
}

fn think(seconds: f64) -> Step {
    Step::Think(Think { seconds: Expression::Constant(seconds.into()), jitter: Jitter::None })
}

fn again(body: Vec<Step>, times: u64, pace: Option<Duration>) -> Step {
    Step::Loop(Loop { body, repeat: Repeat::Count { least: times, most: times }, pace })
}

fn plan(load: Load, flow: Vec<Step>) -> Plan {
    Plan {
        target: "http://simulated".into(),
        load,
        scenarios: vec![Scenario { name: "only".into(), weight: 1.0, flow }],
        operations: vec![Operation { name: "GET /".into(), kind: OperationKind::Http }],
        ..Plan::empty()
    }
}

fn arrivals(count: u64, seconds: u64, max_users: Option<u64>) -> Load {
    let duration = Duration::from_secs(seconds);
    let phase = Phase { name: None, duration, shape: Shape::Count(count), max_users };
    Load::Open { phases: vec![phase], spacing: Spacing::Even }
}

const SECOND: Duration = Duration::from_secs(1);
const MILLISECOND: Duration = Duration::from_millis(1);

/// The server stops for a second between two requests of a user that is to send one every 100 ms: nothing is in flight
/// when it stops, and the one request it holds is one in a hundred. Measured from when they were *due*, the requests
/// queued behind it show it; a service-time histogram forgets them (coordinated omission).
#[tokio::test(start_paused = true)]
async fn a_stalled_server_shows_in_response_time_although_nothing_was_in_flight() {
    let stalls = |now: Duration| match now.as_millis() {
        5_200..6_200 => Duration::from_millis(6_200) - now,
        _ => MILLISECOND,
    };
    let flow = vec![again(vec![get(10 * SECOND)], 100, Some(Duration::from_millis(100)))];
    let summary = simulate(plan(arrivals(1, 1, None), flow), Control::new(), http_server(stalls)).await;
    let operation = &summary.operations[0];
    assert_eq!((operation.count, operation.failed), (100, 0));
    // Due at 5.2, 5.3 … 6.1 s and answered at 6.2 s and just after: 1000, 900 … 100 ms.
    assert!(operation.response_ms.p99 > 850.0, "{:?}", operation.response_ms);
    assert!(operation.response_ms.p95 > 450.0, "{:?}", operation.response_ms);
    assert!(operation.service_ms.p95 < 5.0, "{:?}", operation.service_ms);
}

#[tokio::test(start_paused = true)]
async fn arrivals_over_the_limit_on_users_are_skipped_not_queued() {
    let flow = vec![think(10.0)];
    let summary = simulate(plan(arrivals(20, 20, Some(5)), flow), Control::new(), |_| {}).await;
    let users = &summary.users;
    // Five arrive, stay ten seconds each, and five more find room in the second half.
    assert_eq!((users.planned, users.started, users.skipped, users.completed), (20, 10, 10, 10));
}

/// The generator itself stands still for three seconds (a paused machine, a starved thread). What is up to a second late
/// starts late and is counted in the lag; what is later is missed, and the run is invalid instead of slow.
#[tokio::test(start_paused = true)]
async fn arrivals_a_generator_cannot_start_within_a_second_are_missed_and_invalidate_the_run() {
    let freeze = async {
        tokio::time::sleep(Duration::from_millis(4_950)).await;
        tokio::time::advance(3 * SECOND).await;
    };
    let run = simulate(plan(arrivals(200, 20, None), vec![think(0.1)]), Control::new(), |_| {});
    let (summary, ()) = tokio::join!(run, freeze);
    let users = &summary.users;
    assert_eq!((users.planned, users.started + users.missed), (200, 200));
    // Due from 5.0 s on, found at 7.95 s: 20 of them are more than a second late by then.
    assert!((19..=21).contains(&users.missed), "{}", users.missed);
    assert_eq!(summary.verdict.result, Conclusion::Invalid, "{:?}", summary.verdict);
}

#[tokio::test(start_paused = true)]
async fn a_population_iterates_until_its_time_is_over() {
    let stage = Stage { name: None, duration: 10 * SECOND, from: Some(3), users: 3 };
    let load = Load::Closed { stages: vec![stage] };
    let summary = simulate(plan(load, vec![think(1.0)]), Control::new(), |_| {}).await;
    // Simulated sleeps end on whole milliseconds, so an iteration takes 1.000 to 1.001 s.
    assert_eq!((summary.users.completed, summary.users.failed), (30, 0));
}

#[tokio::test(start_paused = true)]
async fn an_unanswered_request_counts_as_long_as_its_limit() {
    let silent = |stream: DuplexStream| {
        tokio::task::spawn_local(async move {
            tokio::time::sleep(600 * SECOND).await;
            drop(stream);
        });
    };
    let summary = simulate(plan(arrivals(1, 1, None), vec![get(2 * SECOND)]), Control::new(), silent).await;
    assert_eq!((summary.users.completed, summary.users.failed), (0, 1));
    let operation = &summary.operations[0];
    assert_eq!((operation.count, operation.failed), (1, 1));
    assert!((operation.service_ms.max - 2000.0).abs() < 2.0, "{:?}", operation.service_ms);
    assert_eq!(summary.errors[0].code, "timeout");
}

#[tokio::test(start_paused = true)]
async fn a_stopped_run_ends_at_the_next_wait_and_keeps_what_it_measured() {
    let control = Control::new();
    let stop = control.clone();
    let server = http_server(|_| MILLISECOND);
    let flow = vec![get(SECOND), think(3600.0)];
    let start = Instant::now();
    let stopping = async {
        tokio::time::sleep(5 * SECOND).await;
        stop.stop();
    };
    let run = simulate(plan(arrivals(100, 100, None), flow), control, server);
    let (summary, ()) = tokio::join!(run, stopping);
    assert!(start.elapsed() < 6 * SECOND, "{:?}", start.elapsed());
    assert_eq!(summary.operations[0].count, summary.users.started);
    assert!((4..=5).contains(&summary.users.started), "{}", summary.users.started);
    assert_eq!((summary.users.completed, summary.users.failed), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_loop_without_pace_waits_from_each_answer_and_one_with_pace_from_its_start() {
    for (pace, expected) in [(None, 10 * (100 + 50)), (Some(Duration::from_millis(100)), 9 * 100 + 50)] {
        let server = http_server(|_| Duration::from_millis(50));
        let body = if pace.is_some() { vec![get(SECOND)] } else { vec![get(SECOND), think(0.1)] };
        let plan = plan(arrivals(1, 1, None), vec![again(body, 10, pace)]);
        let session = simulate(plan, Control::new(), server).await.users.session_ms.max;
        assert!((session - f64::from(expected)).abs() < 15.0, "{pace:?}: {session}");
    }
}
