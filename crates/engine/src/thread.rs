//! The thread a shard lives on: its runtime, its tasks, and what it sends the collector.

use serde_json::Value;
use sonagi_measure::At;
use sonagi_measure::recorder::Record;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use tokio::runtime::LocalOptions;
use tokio::time::Instant;

use crate::clock::Clock;
use crate::net::{Net, NetOptions};
use crate::plan::{Plan, Step};
use crate::run::{Error, Run};
use crate::shard::{SECOND_NS, Shard, Shared};
use crate::user::Common;

/// Seconds that may wait for a collector that is held up (a terminal that is stopped, a disk that hangs). Beyond it the
/// run is ended gracefully: nobody takes note of it, and memory is not without end.
const MAX_UNDELIVERED: u64 = 120;

/// What a thread is to do.
pub(crate) enum Task {
    /// This shard's share of the arrivals.
    Arrivals { shard: usize },
    /// One user walks this flow once.
    Solo(Vec<Step>),
}

/// What a thread sends.
pub(crate) enum Report {
    /// A whole second's record; boxed because queues hold moves, not kilobytes.
    Second {
        second: u64,
        record: Box<Record>,
    },
    /// The rest, when all its users have ended.
    Ended {
        record: Box<Record>,
    },
    /// A solo user's variables.
    Left {
        variables: Vec<(String, Value)>,
        completed: bool,
    },
    Log {
        at: At,
        user: u32,
        text: String,
    },
    Failed(Error),
}

/// What a thread takes with it.
struct Luggage {
    plan: Arc<Plan>,
    shared: Arc<Shared>,
    net: NetOptions,
    shards: usize,
    tag: u32,
    epoch: Instant,
    before: Vec<(String, Value)>,
    reports: Sender<Report>,
}

/// Starts a thread; it ends by itself.
pub(crate) fn start(
    run: &Run,
    epoch: Instant,
    before: Vec<(String, Value)>,
    task: Task,
    reports: Sender<Report>,
) -> io::Result<JoinHandle<()>> {
    let luggage = Luggage {
        plan: Arc::clone(&run.plan),
        shared: Arc::clone(&run.shared),
        net: run.net.clone(),
        shards: run.shards,
        tag: run.tag,
        epoch,
        before,
        reports,
    };
    std::thread::Builder::new().name("shard".to_owned()).spawn(move || {
        let reports = luggage.reports.clone();
        if let Err(error) = live(luggage, task) {
            // Nobody listens any more: the collector has given up on us.
            let _ = reports.send(Report::Failed(error));
        }
    })
}

fn live(luggage: Luggage, task: Task) -> Result<(), Error> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_io().build_local(LocalOptions::default())?;
    let lived = runtime.block_on(shard_life(luggage, task));
    // A name look-up may hang in the system's resolver: it is left behind, not waited for.
    runtime.shutdown_background();
    lived
}

async fn shard_life(luggage: Luggage, task: Task) -> Result<(), Error> {
    let index = match &task {
        Task::Arrivals { shard } => Some(*shard as u16),
        Task::Solo(_) => None,
    };
    let Luggage { plan, shared, net, shards, tag, epoch, before, reports } = luggage;
    let clock = Clock::real(epoch)?;
    let net = Net::real(net).map_err(|failed| Error::Network(failed.detail))?;
    let logs = reports.clone();
    let say = Box::new(move |at, user, text| {
        let _ = logs.send(Report::Log { at, user, text });
    });
    let shard = Shard::new(clock, Rc::new(net), Common { plan, before, run: tag }, shared, say);
    tokio::task::spawn_local(Rc::clone(&shard.clock).drive());
    tokio::select! {
        () = work(&shard, task, shards, &reports) => {}
        () = Rc::clone(&shard).heartbeat() => {}
    }
    let _ = reports.send(Report::Ended { record: take(&shard, index) });
    Ok(())
}

async fn work(shard: &Rc<Shard>, task: Task, shards: usize, reports: &Sender<Report>) {
    match task {
        Task::Arrivals { shard: index } => {
            let ticker = tokio::task::spawn_local(tick(Rc::clone(shard), index, reports.clone()));
            shard.serve_arrivals(|number| number % shards as u64 == index as u64).await;
            ticker.abort();
        }
        Task::Solo(flow) => {
            let mut user = shard.user(0, shard.clock.now());
            let completed = user.walk(&flow).await.is_ok();
            user.hang_up().await;
            let _ = reports.send(Report::Left { variables: user.into_own_values(), completed });
        }
    }
}

/// Sends the shard's record at every whole second of the run.
async fn tick(shard: Rc<Shard>, index: usize, reports: Sender<Report>) {
    for second in 1.. {
        shard.clock.sleep_until(At(second as i64 * SECOND_NS)).await;
        if shard.shared.undelivered.fetch_add(1, Ordering::Relaxed) > MAX_UNDELIVERED {
            shard.shared.control.stop();
        }
        let _ = reports.send(Report::Second { second, record: take(&shard, Some(index as u16)) });
    }
}

fn take(shard: &Shard, index: Option<u16>) -> Box<Record> {
    let gauges = shard.gauges();
    let mut record = shard.recorder.borrow_mut().take();
    record.gauges = gauges;
    record.shard = index;
    Box::new(record)
}
