//! A load thread as its users see it: the run's plan and what they share, beside the kernel's clock, network, record
//! and log.
//!
//! Nothing here is shared with other shards but a handful of atomics ([`RunShared`]) that are touched when a user
//! arrives or a stamp is drawn, never when a message comes in.

use sonagi_engine::delivery::Delivery;
use sonagi_engine::{Level, LogLine, Speaker};
use sonagi_measure::secrets::masked;
use sonagi_transport::http::Pool;
use std::cell::{Cell, RefCell};
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::cursor::Sought;
use crate::plan::Plan;
use crate::processor::{Said, Sidecar};
use crate::schedule::Load;
use crate::values::RunValues;

/// Users that may be alive on a shard at once, those that drain included. An arrival beyond it is missed: a target that
/// answers more slowly than users arrive would otherwise fill the machine's memory with users who wait for it, and the
/// run would still claim to keep its plan.
pub(crate) const MOST_LIVING: u64 = 100_000;

/// The common part of all shards.
pub(crate) struct RunShared {
    /// Every user is a member of the ledger.
    pub(crate) delivery: Delivery,
    /// The payload row of the next iteration of a closed run; its arrivals take the first ones.
    pub(crate) next_row: AtomicU64,
    /// Users in their flows now.
    pub(crate) active: AtomicU64,
    pub(crate) seed: u64,
    /// Users that may be alive on one shard: [`MOST_LIVING`], and fewer in tests.
    pub(crate) most_living: u64,
}

impl RunShared {
    /// The common part for a run that begins.
    pub(crate) fn new(load: &Load, seed: u64, most_living: u64) -> RunShared {
        // The row after those of the arrivals: only a closed run's iterations need more.
        let next_row = match load {
            Load::Open { .. } => 0,
            Load::Closed { .. } => load.arrivals(seed).count() as u64,
        };
        RunShared {
            delivery: Delivery::default(),
            next_row: AtomicU64::new(next_row),
            active: AtomicU64::new(0),
            seed,
            most_living,
        }
    }
}

/// A shard of the run; all its users hold it by `Rc`. It dereferences to the kernel's shard.
pub(crate) struct Shard {
    kernel: Rc<sonagi_engine::Shard>,
    pub(crate) pool: Option<Rc<Pool>>,
    /// The functions of the script, when it has some.
    pub(crate) processor: Option<Rc<Sidecar>>,
    pub(crate) common: Rc<RunValues>,
    pub(crate) shared: Arc<RunShared>,
    /// Where messages say how far their receiver has come.
    pub(crate) sought: Option<Sought>,
    /// Variables that had no value and have been told of.
    pub(crate) told_unset: RefCell<Vec<Box<str>>>,
    /// The functions whose failures were reported already.
    pub(crate) told_functions: RefCell<Vec<Box<str>>>,
    living: Rc<Living>,
}

impl Deref for Shard {
    type Target = sonagi_engine::Shard;

    fn deref(&self) -> &sonagi_engine::Shard {
        &self.kernel
    }
}

impl Shard {
    /// A shard on the current thread; call within its runtime.
    pub(crate) fn new(
        kernel: Rc<sonagi_engine::Shard>,
        pool: Option<Rc<Pool>>,
        processor: Option<Rc<Sidecar>>,
        common: RunValues,
        shared: Arc<RunShared>,
    ) -> Rc<Shard> {
        let plan = &common.plan;
        let sought = plan.cursor.as_ref().map(|member| Sought::new(member, plan.delivery.is_some()));
        Rc::new(Shard {
            kernel,
            pool,
            processor,
            shared,
            sought,
            told_unset: RefCell::default(),
            told_functions: RefCell::default(),
            living: Rc::default(),
            common: Rc::new(common),
        })
    }

    pub(crate) fn plan(&self) -> &Arc<Plan> {
        &self.common.plan
    }

    /// Says something about the script or its functions; what is secret by its name is masked.
    pub(crate) fn tell(&self, user: Option<u32>, text: String) {
        pass_on(&self.kernel, Speaker::Engine, user, masked(&text));
    }

    /// A user's `log` step speaks.
    pub(crate) fn print(&self, user: u32, text: String) {
        pass_on(&self.kernel, Speaker::Output, Some(user), text);
    }

    /// How many users are alive.
    pub(crate) fn living(&self) -> u64 {
        self.living.count.get()
    }

    /// Until none is.
    pub(crate) async fn all_ended(&self) {
        while self.living() > 0 {
            self.living.gone.notified().await;
        }
    }
}

/// Routes a processor's unasked messages.
pub(crate) fn hear(shard: &sonagi_engine::Shard, said: Said) {
    match said {
        Said::Line(text) => pass_on(shard, Speaker::Engine, None, masked(&text)),
        Said::Printed { is_error, text } => pass_on(shard, Speaker::of_stream(is_error), None, text),
        Said::ExitCode(code) => shard.control.suggest_exit_code(code),
        Said::Metric(metric) => {
            let now = shard.clock.now();
            shard.recorder.borrow_mut().observe(metric.kind, &metric.name, metric.value, now);
        }
    }
}

fn pass_on(shard: &sonagi_engine::Shard, speaker: Speaker, user: Option<u32>, text: String) {
    shard.say(LogLine { speaker, user, ..LogLine::new(Level::Info, text) });
}

/// The users of a shard that have not ended.
#[derive(Default)]
struct Living {
    count: Cell<u64>,
    gone: tokio::sync::Notify,
}

/// A user that is counted as active until this is dropped, and whose end the shard awaits until [`Presence`] and all
/// that it left behind are gone.
pub(crate) struct Presence {
    shard: Rc<Shard>,
    is_active: bool,
}

impl Presence {
    pub(crate) fn new(shard: &Rc<Shard>) -> Presence {
        shard.active.set(shard.active.get() + 1);
        Presence::counted(shard, true)
    }

    fn counted(shard: &Rc<Shard>, is_active: bool) -> Presence {
        shard.living.count.set(shard.living() + 1);
        Presence { shard: Rc::clone(shard), is_active }
    }

    /// Whether as many users are alive as may be: then nobody drains beside his successor.
    pub(crate) fn is_crowded(&self) -> bool {
        self.shard.living() >= self.shard.shared.most_living
    }

    /// A user of this presence that has ended its flow, while the presence itself goes on with the next iteration.
    pub(crate) fn linger(&self) -> Presence {
        Presence::counted(&self.shard, false)
    }

    /// The user's flow has ended; it may still drain its connection.
    pub(crate) fn end_flow(&mut self) {
        if std::mem::take(&mut self.is_active) {
            self.shard.active.set(self.shard.active.get() - 1);
            self.shard.shared.active.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.end_flow();
        self.shard.living.count.set(self.shard.living() - 1);
        if self.shard.living() == 0 {
            self.shard.living.gone.notify_waiters();
        }
    }
}
