//! One thread's share of a run: its clock, its network, its record, and the users that live and die on it.
//!
//! Nothing here is shared with other shards but a handful of atomics ([`Shared`]) that are touched when a user arrives or
//! a stamp is drawn, never when a message comes in.

use sonagi_measure::At;
use sonagi_measure::metrics::Registry;
use sonagi_measure::recorder::{Counter, Gauges, Recorder};
use sonagi_measure::secrets::masked;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::task::Poll;

use crate::clock::Clock;
use crate::control::Control;
use crate::health::{Heart, ThreadTimes};
use crate::http::Pool;
use crate::net::{Net, SCRATCH};
use crate::plan::Plan;
use crate::processor::{Said, Sidecar};
use crate::rooms::Rooms;
use crate::run::Speaker;
use crate::schedule::Arrival;
use crate::user::{self, Common, Sought, User};

/// An arrival this late is not started any more: the generator cannot keep the plan, and says so.
const MISSED_AFTER_NS: i64 = SECOND_NS;
/// Users that may be alive on a shard at once, those that drain included. An arrival beyond it is missed: a target that
/// answers more slowly than users arrive would otherwise fill the machine's memory with users who wait for it, and the run
/// would still claim to keep its plan.
pub(crate) const MOST_LIVING: u64 = 100_000;
/// Users started in a row before those started get a turn. Fewer than the tasks a runtime polls between two looks at its
/// sockets, so that a flood of arrivals cannot outrun its own users.
const ADMITTED_IN_A_ROW: u32 = 32;
/// Takes what is said, when, by whom, and of which user.
pub(crate) type Say = Box<dyn Fn(At, Speaker, Option<u32>, String)>;

/// Lines of `log` steps passed on per shard and second; more are only counted.
pub(crate) const LOG_LINES: u32 = 200;
pub(crate) const SECOND_NS: i64 = 1_000_000_000;

/// What shards have in common.
pub(crate) struct Shared {
    pub(crate) control: Control,
    pub(crate) rooms: Rooms,
    /// Metrics by name, of all shards.
    pub(crate) metrics: Arc<Registry>,
    /// Users so far: the next one's member number.
    pub(crate) members: AtomicU32,
    /// The payload row of the next iteration of a closed run; its arrivals take the first ones.
    pub(crate) next_row: AtomicU64,
    /// Users in their flows now.
    pub(crate) active: AtomicU64,
    /// Seconds sent to the collector that it has not taken yet.
    pub(crate) undelivered: AtomicU64,
    pub(crate) seed: u64,
    /// Users that may be alive on one shard: [`MOST_LIVING`], and fewer in tests.
    pub(crate) most_living: u64,
}

/// One shard; all its users hold it by `Rc`.
pub(crate) struct Shard {
    pub(crate) clock: Rc<Clock>,
    pub(crate) net: Rc<Net>,
    pub(crate) pool: Option<Rc<Pool>>,
    processor: Option<Rc<Sidecar>>,
    pub(crate) common: Rc<Common>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) recorder: RefCell<Recorder>,
    /// What its links read into, one at a time.
    pub(crate) scratch: RefCell<Vec<u8>>,
    /// Users in their flows whose real-time connection is open; those that drain are not.
    pub(crate) connected: Cell<u64>,
    /// Where messages say how far their receiver has come.
    pub(crate) sought: Option<Sought>,
    /// The clock for those who only read it.
    pub(crate) clock_reader: Rc<dyn Fn() -> At>,
    say: Say,
    /// Variables that had no value and have been told of.
    pub(crate) told_unset: RefCell<Vec<Box<str>>>,
    /// What of functions has been told of.
    pub(crate) told_functions: RefCell<Vec<Box<str>>>,
    /// Lines said and left unsaid in this second.
    lines: Cell<u32>,
    active: Cell<u64>,
    times: ThreadTimes,
}

impl Shard {
    /// A shard on the current thread; call within its runtime. `say` takes what `log` steps print.
    pub(crate) fn new(
        clock: Rc<Clock>,
        net: Rc<Net>,
        pool: Option<Rc<Pool>>,
        processor: Option<Rc<Sidecar>>,
        common: Common,
        shared: Arc<Shared>,
        say: Say,
    ) -> Rc<Shard> {
        let plan = &common.plan;
        let recorder =
            Recorder::sharing(plan.operations.len(), plan.scenarios.len(), Arc::clone(&shared.metrics));
        let reader = Rc::clone(&clock);
        let sought = plan.cursor.as_ref().map(|member| Sought::new(member, plan.delivery.is_some()));
        Rc::new(Shard {
            clock_reader: Rc::new(move || reader.now()),
            clock,
            net,
            pool,
            processor,
            shared,
            recorder: RefCell::new(recorder),
            scratch: RefCell::new(vec![0; SCRATCH]),
            connected: Cell::new(0),
            sought,
            say,
            told_unset: RefCell::default(),
            told_functions: RefCell::default(),
            lines: Cell::new(0),
            active: Cell::new(0),
            times: ThreadTimes::begin(),
            common: Rc::new(common),
        })
    }

    pub(crate) fn plan(&self) -> &Arc<Plan> {
        &self.common.plan
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.shared.control.is_stopping()
    }

    pub(crate) fn count(&self, counter: Counter, n: u64) {
        self.recorder.borrow_mut().add(counter, n);
    }

    /// The functions of the script, when it has some.
    pub(crate) fn processor(&self) -> Option<Rc<Sidecar>> {
        self.processor.clone()
    }

    /// Takes in what the processor has said beside its answers.
    pub(crate) fn hear_processor(&self) {
        for said in self.processor.iter().flat_map(|processor| processor.take_said()) {
            match said {
                Said::Line(text) => self.say(None, text),
                Said::Printed { is_error, text } => self.pass_on(Speaker::of_stream(is_error), None, text),
                Said::ExitCode(code) => self.shared.control.suggest_exit_code(code),
                Said::Metric(metric) => {
                    let now = self.clock.now();
                    self.recorder.borrow_mut().observe(metric.kind, &metric.name, metric.value, now);
                }
            }
        }
    }

    /// Says something about the script or its functions; what is secret by its name is masked.
    pub(crate) fn say(&self, user: Option<u32>, text: String) {
        self.pass_on(Speaker::Engine, user, masked(&text));
    }

    /// A user's `log` step speaks.
    pub(crate) fn print(&self, user: u32, text: String) {
        self.pass_on(Speaker::Output, Some(user), text);
    }

    /// Within the limit.
    fn pass_on(&self, speaker: Speaker, user: Option<u32>, text: String) {
        self.lines.set(self.lines.get() + 1);
        if self.lines.get() <= LOG_LINES {
            (self.say)(self.clock.now(), speaker, user, text);
        } else if self.lines.get() == LOG_LINES + 1 {
            let text = format!("(more than {LOG_LINES} lines in a second: the rest is left out)");
            (self.say)(self.clock.now(), Speaker::Engine, user, text);
        }
    }

    /// Levels now, for a record that is being taken; a new second begins.
    pub(crate) fn gauges(&self) -> Gauges {
        let (cpu_ns, wait_ns) = self.times.take();
        self.lines.set(0);
        Gauges { users: self.active.get(), connections: self.connected.get(), cpu_ns, wait_ns }
    }

    /// Starts this shard's arrivals when they are planned and returns when the last of its users has ended.
    /// `mine` picks the shard's share of the schedule.
    pub(crate) async fn serve_arrivals(self: &Rc<Self>, mine: impl Fn(u64) -> bool) {
        let plan = Arc::clone(self.plan());
        let users = Rc::new(Users::default());
        let mut in_a_row = 0;
        for arrival in plan.load.arrivals(self.shared.seed).filter(|arrival| mine(arrival.number)) {
            in_a_row = if self.wait_for(arrival.at).await { 0 } else { in_a_row + 1 };
            if in_a_row == ADMITTED_IN_A_ROW {
                in_a_row = 0;
                tokio::task::yield_now().await;
            }
            if self.is_stopping() {
                break;
            }
            self.count(Counter::ArrivalsPlanned, 1);
            let late = self.clock.now().since(arrival.at);
            self.recorder.borrow_mut().send_lag(late);
            if late > MISSED_AFTER_NS || users.living.get() >= self.shared.most_living {
                self.count(Counter::ArrivalsMissed, 1);
            } else {
                self.admit(arrival, &users);
            }
        }
        users.all_ended().await;
    }

    /// Sleeps until `at` or until the run is asked to stop; whether others had a turn meanwhile.
    pub(crate) async fn wait_for(&self, at: At) -> bool {
        let mut sleep = std::pin::pin!(self.clock.sleep_until(at));
        let mut has_waited = false;
        std::future::poll_fn(|cx| {
            if self.is_stopping() || sleep.as_mut().poll(cx).is_ready() {
                return Poll::Ready(());
            }
            has_waited = true;
            Poll::Pending
        })
        .await;
        has_waited
    }

    /// Starts one arrival's user, unless the phase's limit on users is reached.
    fn admit(self: &Rc<Self>, arrival: Arrival, users: &Rc<Users>) {
        let limit = self.plan().load.max_users(arrival.phase).unwrap_or(u64::MAX);
        let claimed = self.shared.active.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |active| {
            (active < limit).then_some(active + 1)
        });
        if claimed.is_err() {
            return self.count(Counter::UsersSkipped, 1);
        }
        self.count(Counter::ArrivalsStarted, 1);
        let presence = Presence::new(self, users);
        let shard = Rc::clone(self);
        tokio::task::spawn_local(async move { user::live(&shard, arrival, presence).await });
    }

    /// A new user of this shard; `arrival` numbers the payload rows it gets.
    pub(crate) fn user(self: &Rc<Self>, arrival: u64, due: At) -> User {
        let member = self.shared.members.fetch_add(1, Ordering::Relaxed);
        // Seeds of neighbours must not be neighbours: spread them over the whole range (SplitMix64's constant).
        let seed = self.shared.seed ^ (u64::from(member) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        User::new(Rc::clone(self), member, arrival, due, fastrand::Rng::with_seed(seed))
    }

    /// Beats: records how late each beat came, and passes a stop on to every sleeper, once. Returns when the run is aborted.
    pub(crate) async fn heartbeat(self: Rc<Self>) {
        let mut heart = Heart::new(&self.clock);
        let mut has_passed_stop_on = false;
        while !self.shared.control.is_aborted() {
            heart.beat(|late_ns| self.recorder.borrow_mut().hiccup(late_ns)).await;
            if self.is_stopping() && !has_passed_stop_on {
                has_passed_stop_on = true;
                self.clock.wake_all();
            }
        }
    }
}

/// A user that is counted as active until this is dropped, and whose end the shard awaits until [`Presence`] and all
/// that it left behind are gone.
pub(crate) struct Presence {
    shard: Rc<Shard>,
    users: Rc<Users>,
    is_active: bool,
}

impl Presence {
    fn new(shard: &Rc<Shard>, users: &Rc<Users>) -> Presence {
        shard.active.set(shard.active.get() + 1);
        users.living.set(users.living.get() + 1);
        Presence { shard: Rc::clone(shard), users: Rc::clone(users), is_active: true }
    }

    /// Whether as many users are alive as may be: then nobody drains beside his successor.
    pub(crate) fn is_crowded(&self) -> bool {
        self.users.living.get() >= self.shard.shared.most_living
    }

    /// A user of this presence that has ended its flow, while the presence itself goes on with the next iteration.
    pub(crate) fn linger(&self) -> Presence {
        self.users.living.set(self.users.living.get() + 1);
        Presence { shard: Rc::clone(&self.shard), users: Rc::clone(&self.users), is_active: false }
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
        self.users.living.set(self.users.living.get() - 1);
        if self.users.living.get() == 0 {
            self.users.gone.notify_waiters();
        }
    }
}

/// The users of a shard that have not ended.
#[derive(Default)]
struct Users {
    living: Cell<u64>,
    gone: tokio::sync::Notify,
}

impl Users {
    async fn all_ended(&self) {
        while self.living.get() > 0 {
            self.gone.notified().await;
        }
    }
}
