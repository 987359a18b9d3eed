//! The engine under paused time against simulated servers.

use sonagi_measure::ledger::Rules;
use sonagi_measure::outcome::{Operation, OperationId, OperationKind};
use sonagi_measure::recorder::Counter;
use sonagi_measure::summary::{Conclusion, Summary};
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::time::Instant;

use super::{simulate, simulate_closely, simulate_within};
use crate::plan::{
    Body, Expression, HttpStep, Jitter, Loop, Pace, Plan, Repeat, Scenario, Step, Template, Think,
};
use crate::schedule::{Load, Phase, Shape, Spacing, Stage};
use sonagi_engine::Control;

mod connections;
mod load;
mod loops;
mod parallel;
mod pull;
mod reconnect;
mod requests;
mod responses;
mod stomp;
mod tagged;
mod told;

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

/// A server that gives its n-th answer after so many milliseconds, and none after the last.
fn answering(answers: &[(u64, &'static str)]) -> impl Fn(DuplexStream) + 'static {
    let (answers, given) = (answers.to_vec(), Rc::new(Cell::new(0)));
    move |mut stream| {
        let (answers, given) = (answers.clone(), Rc::clone(&given));
        tokio::task::spawn_local(async move {
            let mut request = Vec::new();
            while stream.read_buf(&mut request).await.is_ok_and(|n| n > 0) {
                if request.ends_with(b"\r\n\r\n") {
                    request.clear();
                    let Some((ms, answer)) = answers.get(given.replace(given.get() + 1)) else { continue };
                    tokio::time::sleep(Duration::from_millis(*ms)).await;
                    let answer = format!("HTTP/1.1 {answer}\r\ncontent-length: 0\r\n\r\n");
                    stream.write_all(answer.as_bytes()).await.unwrap();
                }
            }
        });
    }
}

fn get(timeout: Duration) -> Step {
    let step = HttpStep::new(OperationId(0), "GET", Template::constant("/"));
    Step::Http(Box::new(HttpStep { timeout, ..step }))
}

fn think(seconds: f64) -> Step {
    Step::Think(Think { seconds: Expression::Constant(seconds.into()), jitter: Jitter::None })
}

fn again(body: Vec<Step>, times: u64, pace: Option<Duration>) -> Step {
    let pace = pace.map(Pace::at_once);
    Step::Loop(Loop { body, repeat: Repeat::Count { from: 0, to: times }, pace })
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
