//! The engine under paused time against simulated servers: what takes minutes takes milliseconds, and every figure is
//! exact.

use sonagi_measure::ledger::Rules;
use sonagi_measure::outcome::{Operation, OperationId, OperationKind};
use sonagi_measure::summary::{Conclusion, Summary};
use sonagi_measure::totals::{Header, ProcessGauges, Totals};
use std::cell::RefCell;
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

mod connections;
mod load;

/// What a simulated run left.
struct Simulated {
    summary: Summary,
    /// Memberships begun, ended, and their connections gone.
    memberships: [usize; 3],
    /// What `log` steps said.
    said: Vec<String>,
}

/// Runs a plan to its end in simulated time.
async fn simulate(plan: Plan, control: Control, server: impl Fn(DuplexStream) + 'static) -> Summary {
    simulate_closely(plan, control, server).await.summary
}

/// Runs a plan to its end in simulated time and keeps more of it.
async fn simulate_closely(
    plan: Plan,
    control: Control,
    server: impl Fn(DuplexStream) + 'static,
) -> Simulated {
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
        tracked: plan.delivery.is_some(),
        thresholds: Vec::new(),
    };
    let mut totals = Totals::new(&header, Rules::default());
    let shared = Arc::new(Shared {
        control,
        rooms: Rooms::default(),
        members: AtomicU32::new(0),
        next_row: AtomicU64::new(plan.load.arrivals(1).count() as u64),
        undelivered: AtomicU64::new(0),
        active: AtomicU64::new(0),
        seed: 1,
    });
    let clock = Clock::simulated(Instant::now());
    let local = tokio::task::LocalSet::new();
    let said = Rc::new(RefCell::new(Vec::new()));
    let sayer = Rc::clone(&said);
    let memberships = local
        .run_until(async {
            tokio::task::spawn_local(Rc::clone(&clock).drive());
            let common = Common { plan: Arc::new(plan), before: Vec::new(), run: 1 };
            let net = Rc::new(Net::simulated(server));
            let shard = Shard::new(
                Rc::clone(&clock),
                net,
                common,
                shared,
                Box::new(move |_, _, text| sayer.borrow_mut().push(text)),
            );
            tokio::task::spawn_local(Rc::clone(&shard).heartbeat());
            shard.serve_arrivals(|_| true).await;
            let record = shard.recorder.borrow_mut().take();
            let ledger = &record.ledger;
            let memberships = [ledger.joined.len(), ledger.left.len(), ledger.gone.len()];
            totals.absorb(vec![record], clock.now(), ProcessGauges::default());
            memberships
        })
        .await;
    totals.close(clock.now());
    Simulated { summary: totals.summary(), memberships, said: said.take() }
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
