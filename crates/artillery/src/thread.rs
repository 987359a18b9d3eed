//! The thread a shard lives on: its runtime, its tasks, and what it sends the collector.

use serde_json::Value;
use sonagi_measure::At;
use sonagi_measure::recorder::{Counter, Record};
use sonagi_measure::secrets::masked;
use std::cmp::Ordering;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::LocalOptions;
use tokio::time::Instant;

use crate::collect::TICK;
use crate::plan::{Plan, Step};
use crate::processor::{Kept, Said, Sidecar};
use crate::run::{Error, Run, Speaker};
use crate::shard::{LOG_LINES, SECOND_NS, Shard, Shared};
use crate::start::Place;
use crate::user::Common;
use sonagi_engine::Control;
use sonagi_transport::clock::Clock;
use sonagi_transport::http::Pool;
use sonagi_transport::net::{Net, NetOptions, Origin};

/// Seconds that may wait for a collector that is held up (a terminal that is stopped, a disk that hangs). Beyond it the
/// run is ended gracefully: nobody takes note of it, and memory is not without end.
const MAX_UNDELIVERED: u64 = 120;

/// How long opening a pool's connections may hold up the start.
const WARM_UP: Duration = Duration::from_secs(10);

/// How long a processor may take to say what is left to say once its users are gone.
const FAREWELL_NS: i64 = SECOND_NS;

/// What a thread is to do.
pub(crate) enum Task {
    /// This shard's share of the arrivals, from the start it has in common with the others.
    Arrivals { shard: usize, place: Place },
    /// One user walks this flow once.
    Solo { flow: Vec<Step>, epoch: Instant },
}

impl Task {
    /// Whether it may need the processor.
    fn calls_functions(&self) -> bool {
        match self {
            Task::Arrivals { .. } => true,
            Task::Solo { flow, .. } => flow.iter().any(Step::calls_functions),
        }
    }
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
        speaker: Speaker,
        user: Option<u32>,
        text: String,
    },
    Failed(Error),
}

/// What a thread takes with it.
struct Luggage {
    plan: Arc<Plan>,
    shared: Arc<Shared>,
    net: NetOptions,
    processor: Kept,
    shards: usize,
    tag: u32,
    before: Vec<(String, Value)>,
    reports: Sender<Report>,
}

/// Starts a thread; it ends by itself.
pub(crate) fn start(
    run: &Run,
    before: Vec<(String, Value)>,
    task: Task,
    reports: Sender<Report>,
) -> io::Result<JoinHandle<()>> {
    let luggage = Luggage {
        plan: Arc::clone(&run.plan),
        shared: Arc::clone(&run.shared),
        net: run.net.clone(),
        processor: run.processor.clone(),
        shards: run.shards,
        tag: run.tag,
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
    let Luggage { plan, shared, net, processor: kept, shards, tag, before, reports } = luggage;
    let net = Rc::new(Net::real(net).map_err(|failed| Error::Network(failed.detail))?);
    let pool = plan.http.pool.map(|connections| Rc::new(Pool::new(connections)));
    let common = Common::new(Arc::clone(&plan), before, tag);
    let processor = match plan.processor.clone().filter(|_| task.calls_functions()) {
        Some(processor) => {
            let control = shared.control.clone();
            let mut tell = early(control.clone(), reports.clone());
            Sidecar::start(processor, kept, common.shared(), control, &mut tell).await?
        }
        None => None,
    };
    let (work, epoch) = match task {
        Task::Arrivals { shard, place } => {
            if let Some(pool) = pool.as_ref().filter(|_| plan.http.warm) {
                warm(pool, &net, &plan, &shared).await?;
            }
            (Work::Arrivals { shard }, place.ready())
        }
        Task::Solo { flow, epoch } => (Work::Solo(flow), epoch),
    };
    let index = if let Work::Arrivals { shard } = &work { Some(*shard as u16) } else { None };
    let clock = Clock::real(epoch)?;
    let logs = reports.clone();
    let say = Box::new(move |at, speaker, user, text| {
        let _ = logs.send(Report::Log { at, speaker, user, text });
    });
    let shard = Shard::new(clock, net, pool, processor, common, shared, say);
    let ahead = shard.pool.as_ref().map_or(0, |pool| pool.open_connections());
    shard.count(Counter::ConnectionsOpened, ahead as u64);
    tokio::task::spawn_local(Rc::clone(&shard.clock).drive());
    tokio::select! {
        () = carry_out(&shard, work, shards, &reports) => {}
        () = Rc::clone(&shard).heartbeat() => {}
    }
    if let Some(processor) = shard.processor() {
        let limit = shard.clock.sleep_until(shard.clock.now().plus(FAREWELL_NS));
        tokio::select! {
            () = processor.finish() => {}
            () = limit => {}
        }
    }
    let _ = reports.send(Report::Ended { record: take(&shard, index) });
    Ok(())
}

/// Passes on what a processor says while it is loaded, when there is no shard yet to say it, within a shard's limit for one second.
fn early(control: Control, reports: Sender<Report>) -> impl FnMut(Said) {
    let mut lines = 0;
    move |said| {
        let (speaker, text) = match said {
            Said::Line(text) => (Speaker::Engine, masked(&text)),
            Said::Printed { is_error, text } => (Speaker::of_stream(is_error), text),
            Said::ExitCode(code) => return control.suggest_exit_code(code),
            // Counted by the shard.
            Said::Metric(_) => return,
        };
        lines += 1;
        let text = match lines.cmp(&(LOG_LINES + 1)) {
            Ordering::Less => text,
            Ordering::Equal => {
                format!("(more than {LOG_LINES} lines while the processor was loaded: the rest is left out)")
            }
            Ordering::Greater => return,
        };
        let _ = reports.send(Report::Log { at: At(0), speaker, user: None, text });
    }
}

/// Opens the pool's connections to the target before second 0. Within [`WARM_UP`]: what is not open by then, or cannot
/// be opened, is left to the requests, which will tell why.
async fn warm(pool: &Rc<Pool>, net: &Rc<Net>, plan: &Plan, shared: &Shared) -> Result<(), Error> {
    let Ok((origin, _)) = Origin::parse(&plan.target) else { return Ok(()) };
    let clock = Clock::real(Instant::now())?;
    let driver = tokio::task::spawn_local(Rc::clone(&clock).drive());
    let patience = async {
        while clock.now().since(At(0)) < WARM_UP.as_nanos() as i64 && !shared.control.is_stopping() {
            clock.sleep_until(clock.now().plus(TICK.as_nanos() as i64)).await;
        }
    };
    tokio::select! {
        () = pool.open_all(net, &origin) => {}
        () = patience => {}
    }
    driver.abort();
    Ok(())
}

/// A task once its shard has started.
enum Work {
    Arrivals { shard: usize },
    Solo(Vec<Step>),
}

async fn carry_out(shard: &Rc<Shard>, work: Work, shards: usize, reports: &Sender<Report>) {
    match work {
        Work::Arrivals { shard: index } => {
            let ticker = tokio::task::spawn_local(tick(Rc::clone(shard), index, reports.clone()));
            shard.serve_arrivals(|number| number % shards as u64 == index as u64).await;
            ticker.abort();
        }
        Work::Solo(flow) => {
            let mut user = shard.user(0, shard.clock.now());
            let completed = user.walk(&flow).await.is_ok();
            user.hang_up().await;
            user.depart();
            let _ = reports.send(Report::Left { variables: user.into_own_values(), completed });
        }
    }
}

/// Sends the shard's record at every whole second of the run.
async fn tick(shard: Rc<Shard>, index: usize, reports: Sender<Report>) {
    for second in 1.. {
        shard.clock.sleep_until(At(second as i64 * SECOND_NS)).await;
        if shard.shared.undelivered.fetch_add(1, Relaxed) > MAX_UNDELIVERED {
            shard.shared.control.stop();
        }
        let _ = reports.send(Report::Second { second, record: take(&shard, Some(index as u16)) });
    }
}

fn take(shard: &Shard, index: Option<u16>) -> Box<Record> {
    shard.hear_processor();
    let gauges = shard.gauges();
    let mut record = shard.recorder.borrow_mut().take();
    record.gauges = gauges;
    record.shard = index;
    Box::new(record)
}
