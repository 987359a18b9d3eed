//! The whole engine without kernel and clock: real shards, users and clients over in-memory pipes, on the runtime's own
//! time. What takes minutes takes milliseconds, every figure is exact, and every instruction is the same in each run.
//!
//! Public for those who count the engine's work (`bench/counts`); no run of a user comes here. What it leaves out:
//! threads, sockets, the kernel's timer and the once-a-second hand-over, because none of them is the same twice.

use sonagi_measure::ledger::{Move, Sent};
use sonagi_measure::metrics::MetricStore;
use sonagi_measure::recorder::Recorder;
use sonagi_measure::summary::Summary;
use sonagi_measure::totals::{Header, ProcessGauges, Totals};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use tokio::io::DuplexStream;
use tokio::time::Instant;

use crate::arrivals;
use crate::names;
use crate::plan::Plan;
use crate::shard::{MOST_LIVING, RunShared, Shard};
use crate::tagged;
use crate::values::RunValues;
use sonagi_engine::{Control, LogLine};
use sonagi_transport::clock::Clock;
use sonagi_transport::http::Pool;
use sonagi_transport::net::Net;

#[cfg(test)]
mod tests;

/// The record of a simulated run.
#[cfg_attr(not(test), expect(dead_code, reason = "tests look closer than those who count"))]
struct Simulated {
    summary: Summary,
    /// Memberships begun, ended, and their connections gone.
    memberships: [usize; 3],
    /// Users the ledger was told are gone for good.
    departed: usize,
    /// Memberships that took up an interrupted one.
    resumed: usize,
    /// From the instant each message was planned for to the one it left, in ms.
    waits_ms: Vec<i64>,
    /// Most users counted as connected at one time, looked at every 50 ms. Only tests look: it costs instructions.
    most_connected: u64,
    /// The texts of `log` steps.
    said: Vec<String>,
}

/// Runs a plan to its end on one shard; `server` is handed the far end of each connection, usually to spawn a local
/// task on it. Call it on a current-thread runtime whose time is paused, or time passes as it does outside.
pub async fn simulate(plan: Plan, control: Control, server: impl Fn(DuplexStream) + 'static) -> Summary {
    simulate_closely(plan, control, server).await.summary
}

/// [`simulate`], and keeps more of it.
async fn simulate_closely(
    plan: Plan,
    control: Control,
    server: impl Fn(DuplexStream) + 'static,
) -> Simulated {
    simulate_within(plan, control, MOST_LIVING, server).await
}

/// [`simulate_closely`] with so many users alive at most.
async fn simulate_within(
    plan: Plan,
    control: Control,
    most_living: u64,
    server: impl Fn(DuplexStream) + 'static,
) -> Simulated {
    let header = header(&plan);
    let (metrics, tagged) = tagged::metrics(&plan);
    let metrics = Arc::new(metrics);
    let store = MetricStore::new(Arc::clone(&metrics));
    let mut totals = Totals::new(&header, plan.delivery.unwrap_or_default(), store).naming(names::NAMING);
    let shared = Arc::new(RunShared::new(&plan.load, 1, most_living));
    let mut recorder = Recorder::sharing(plan.operations.len(), plan.scenarios.len(), metrics);
    recorder.tell_apart(&tagged);
    let clock = Clock::simulated(Instant::now());
    let local = tokio::task::LocalSet::new();
    let said = Rc::new(RefCell::new(Vec::new()));
    let sayer = Rc::clone(&said);
    let (memberships, departed, resumed, waits_ms, most_connected) = local
        .run_until(async {
            tokio::task::spawn_local(Rc::clone(&clock).drive());
            let pool = plan.http.pool.map(|connections| Rc::new(Pool::new(connections)));
            let common = RunValues::new(Arc::new(plan), Vec::new(), 1);
            let net = Rc::new(Net::simulated(server));
            let say = move |line: LogLine| sayer.borrow_mut().push(line.text);
            let kernel = Rc::new(sonagi_engine::Shard::new(Rc::clone(&clock), net, control, recorder, say));
            tokio::task::spawn_local(Rc::clone(&kernel).heartbeat());
            let shard = Shard::new(kernel, pool, None, common, shared);
            let most_connected = Rc::new(Cell::new(0));
            if cfg!(test) {
                tokio::task::spawn_local(watch_connected(Rc::clone(&shard), Rc::clone(&most_connected)));
            }
            arrivals::serve(&shard).await;
            let record = shard.recorder.borrow_mut().take();
            let ledger = &record.ledger;
            let moves =
                |kinds: &[Move]| ledger.moves.iter().filter(|moved| kinds.contains(&moved.what)).count();
            let memberships = [
                moves(&[Move::Join, Move::Resume]),
                moves(&[Move::Leave, Move::Interrupt]),
                moves(&[Move::Go]),
            ];
            let departed = ledger.departed.len();
            let resumed = moves(&[Move::Resume]);
            let wait_ms = |sent: &Sent| sent.started.since(sent.planned) / 1_000_000;
            let waits_ms = ledger.sent.iter().map(wait_ms).collect();
            totals.absorb(vec![record], clock.now(), ProcessGauges::default());
            (memberships, departed, resumed, waits_ms, most_connected.get())
        })
        .await;
    totals.close(clock.now());
    let said = said.take();
    let summary = totals.summary();
    Simulated { summary, memberships, departed, resumed, waits_ms, most_connected, said }
}

fn header(plan: &Plan) -> Header {
    Header {
        name: "simulated".into(),
        seed: 1,
        shards: 1,
        scenarios: vec!["only".into()],
        operations: plan.operations.clone(),
        deadline_ms: 1000.0,
        tracked: plan.delivery.is_some(),
        thresholds: plan.thresholds.clone(),
        population: plan.load.population(),
        arrivals: plan.load.planned(0),
        cores: 1,
        plugins: plan.plugins.clone(),
        ..Header::default()
    }
}

async fn watch_connected(shard: Rc<Shard>, most: Rc<Cell<u64>>) {
    loop {
        shard.clock.sleep_until(shard.clock.now().plus(50_000_000)).await;
        most.set(most.get().max(shard.connected.get()));
    }
}
