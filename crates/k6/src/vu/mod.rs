//! A virtual user as its script's functions see it: its identity, its phase, and how it waits.

mod events;
mod module_states;
mod traffic;

use rquickjs::Ctx;
use sonagi_measure::At;
use sonagi_measure::metrics::AutomaticTag;
use sonagi_transport::clock::Clock;
use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::execution_context::CurrentIteration;
use crate::executor::Stop;
use crate::interpreter::{Rejections, block_on, is_on_fiber, raw};
use crate::metrics::{Metadata, MetricId, SystemTag, Tags, builtin};
use crate::shard::Shard;
use events::Events;
pub(crate) use events::{Job, Source, outcome};
use module_states::ModuleStates;

use traffic::Traffic;

/// A script that computes lets others have their turn this often.
const SLICE_NS: i64 = 5_000_000;

/// The phase a user is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Its init code: modules, files and metrics can be had, the target cannot.
    Init,
    Setup,
    Iteration,
    Teardown,
    /// `handleSummary`.
    Summary,
}

/// Names and values of `__ENV`.
pub(crate) type Variables = Rc<[(String, String)]>;

/// A virtual user.
pub(crate) struct Vu {
    pub(crate) shard: Rc<Shard>,
    /// Its number in the test, from 1; 0 for who carries out setup and teardown.
    pub(crate) number: u64,
    pub(crate) phase: Cell<Phase>,
    pub(crate) events: Events,
    /// Iterations so far.
    pub(crate) iterations: Cell<u64>,
    /// Bytes that went over its connections since its iteration began.
    pub(crate) traffic: Traffic,
    /// Promises that were rejected while nobody listened.
    pub(crate) rejections: Rejections,
    /// Why the last file or module that could not be loaded could not.
    pub(crate) load_failure: RefCell<Option<String>>,
    /// A module that awaits at its top level was loaded. It may never settle, and QuickJS frees what such a module
    /// still needs: the interpreter must not be freed then.
    pub(crate) has_awaiting_modules: Cell<bool>,
    /// Additions to `__ENV` by the scenario of the next iteration, when it is another scenario than the last
    /// iteration's.
    pub(crate) environment: RefCell<Option<Variables>>,
    /// The iteration under way; setup and teardown have none.
    pub(crate) current_iteration: Cell<Option<CurrentIteration>>,
    /// Tags of samples from now on.
    pub(crate) current_tags: RefCell<Tags>,
    /// The path of the group under way, `::a::b`.
    group: RefCell<String>,
    /// The reason given to `test.abort()`, once it was called.
    abort_reason: RefCell<Option<String>>,
    module_states: ModuleStates,
    /// Tags of the scenario it iterates in.
    scenario_tags: RefCell<Option<Tags>>,
    stop: RefCell<Stop>,
    is_interrupted: Cell<bool>,
    /// Since when others had no turn.
    busy_since: Cell<At>,
    /// When it waited last.
    stood_at: Cell<At>,
    was_too_busy: Cell<bool>,
}

impl Vu {
    pub(crate) fn new(shard: Rc<Shard>, number: u64) -> Rc<Vu> {
        let stop = Stop::never(&shard.clock);
        let current_tags = RefCell::new(shard.tags.clone());
        Rc::new(Vu {
            shard,
            number,
            phase: Cell::new(Phase::Init),
            events: Events::default(),
            iterations: Cell::new(0),
            traffic: Traffic::default(),
            rejections: Rejections::default(),
            load_failure: RefCell::default(),
            has_awaiting_modules: Cell::default(),
            environment: RefCell::default(),
            current_iteration: Cell::default(),
            current_tags,
            group: RefCell::default(),
            abort_reason: RefCell::default(),
            module_states: ModuleStates::default(),
            scenario_tags: RefCell::default(),
            stop: RefCell::new(stop),
            is_interrupted: Cell::new(false),
            busy_since: Cell::new(At(0)),
            stood_at: Cell::new(At(0)),
            was_too_busy: Cell::default(),
        })
    }

    /// The user whose interpreter this is.
    pub(crate) fn of(ctx: &Ctx<'_>) -> Rc<Vu> {
        match ctx.userdata::<raw::Owner<Vu>>() {
            Some(owner) => Rc::clone(&owner.0),
            None => unreachable!("an interpreter is given its user before it runs anything"),
        }
    }

    /// The state a module keeps of this user, by its type; made when it is first asked for.
    pub(crate) fn module_state<T: Default + 'static>(&self) -> Rc<T> {
        self.module_states.of()
    }

    /// [`Vu::module_state`], if the module has asked for it before.
    pub(crate) fn known_module_state<T: 'static>(&self) -> Option<Rc<T>> {
        self.module_states.known()
    }

    /// The tags of samples from now on.
    pub(crate) fn tags(&self) -> Tags {
        self.current_tags.borrow().clone()
    }

    /// A sample, now.
    pub(crate) fn observe(&self, metric: MetricId, value: f64, tags: &Tags) {
        self.shard.observe(metric, value, tags);
    }

    /// The samples of what went over its connections since the last ones.
    pub(crate) fn observe_traffic(&self, tags: &Tags, now: At) {
        let (sent, received) = self.traffic.take();
        self.shard.observe_at(builtin::DATA_SENT, sent as f64, tags, now);
        self.shard.observe_at(builtin::DATA_RECEIVED, received as f64, tags, now);
    }

    /// The path of the group under way; empty outside of groups.
    pub(crate) fn group(&self) -> String {
        self.group.borrow().clone()
    }

    pub(crate) fn set_group(&self, path: &str) {
        path.clone_into(&mut self.group.borrow_mut());
        let tags = self.tags().with_automatic(&[(SystemTag::Group, path)]);
        self.current_tags.replace(tags);
    }

    pub(crate) fn clock(&self) -> &Rc<Clock> {
        &self.shard.clock
    }

    pub(crate) fn now(&self) -> At {
        self.shard.clock.now()
    }

    /// Begins something that `stop` may cut off.
    pub(crate) fn begin(&self, phase: Phase, stop: Stop) {
        self.phase.set(phase);
        self.is_interrupted.set(false);
        self.stood_still();
        self.was_too_busy.set(false);
        self.stop.replace(stop);
    }

    /// An iteration of the scenario whose samples carry these tags is about to begin. Tags the script has set stay
    /// until the user is given to another scenario.
    pub(crate) fn begin_iteration(&self, tags: &Tags) {
        let is_new = !self.scenario_tags.borrow().as_ref().is_some_and(|of| of.is(tags));
        if is_new {
            self.scenario_tags.replace(Some(tags.clone()));
            self.current_tags.replace(tags.clone());
        }
        self.group.borrow_mut().clear();
        self.iterations.set(self.iterations.get() + 1);
    }

    /// Its number and its iteration's stand beside its samples from here on, if the test wants them there.
    pub(crate) fn number_samples(&self) {
        let tags = self.tags();
        let numbers =
            [(SystemTag::Vu, self.number), (SystemTag::Iter, self.iterations.get().saturating_sub(1))];
        let wanted = numbers.into_iter().filter(|(tag, _)| tags.wants(*tag));
        let wanted: Vec<_> =
            wanted.map(|(tag, number)| (tag.name().to_owned(), number.to_string())).collect();
        if wanted.is_empty() {
            return;
        }
        let mut all = tags.metadata().map_or_else(Metadata::default, |all| Metadata::clone(all));
        all.0.retain(|(name, _)| wanted.iter().all(|(own, _)| own != name));
        all.0.extend(wanted);
        self.current_tags.replace(tags.with_metadata(Some(Arc::new(all))));
    }

    /// The iteration it is at, or was at last, from 0.
    pub(crate) fn iteration(&self) -> u64 {
        self.iterations.get().saturating_sub(1)
    }

    /// Whether what it began was cut off.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.is_interrupted.get()
    }

    /// Waits for a future; the script stands still, sockets go on being read.
    ///
    /// # Errors
    /// An exception nobody can catch when the user is cut off meanwhile.
    pub(crate) fn wait_for<F: Future>(
        self: &Rc<Self>,
        ctx: &Ctx<'_>,
        future: F,
    ) -> rquickjs::Result<F::Output> {
        let mut future = pin!(future);
        self.wait(ctx, |cx| future.as_mut().poll(cx))
    }

    /// [`Vu::wait_for`] what is looked at by a function.
    pub(crate) fn wait<T>(
        self: &Rc<Self>,
        ctx: &Ctx<'_>,
        mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> rquickjs::Result<T> {
        self.stand(ctx, |cx| {
            let polled = poll(cx);
            if polled.is_pending() {
                self.events.poll_sources(self, cx);
            }
            polled
        })
    }

    /// Waits until a job is to be done, or nothing may bring one any more.
    pub(crate) fn wait_for_jobs(self: &Rc<Self>, ctx: &Ctx<'_>) -> rquickjs::Result<()> {
        self.stand(ctx, |cx| self.events.poll(self, cx))
    }

    fn stand<T>(
        &self,
        ctx: &Ctx<'_>,
        mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> rquickjs::Result<T> {
        if self.is_aborted() {
            return Err(raw::throw_uncatchable(ctx, "the test was aborted"));
        }
        let mut stood = false;
        let waited = block_on(poll_fn(|cx| {
            if self.stop.borrow().poll_set(cx).is_ready() {
                return Poll::Ready(None);
            }
            let polled = poll(cx);
            stood |= polled.is_pending();
            polled.map(Some)
        }));
        match stood {
            true => self.stood_still(),
            // A future that is always ready at once must not keep other users from their turns.
            false => self.give_turns(),
        }
        waited.ok_or_else(|| self.cut_off(ctx))
    }

    fn cut_off(&self, ctx: &Ctx<'_>) -> rquickjs::Error {
        self.is_interrupted.set(true);
        raw::throw_uncatchable(ctx, "the iteration was interrupted")
    }

    /// Ends the test: an exception nobody can catch, and nothing of the script runs after it.
    pub(crate) fn abort(&self, ctx: &Ctx<'_>, why: String) -> rquickjs::Error {
        self.abort_reason.replace(Some(why));
        raw::throw_uncatchable(ctx, "the test was aborted")
    }

    /// The reason for which it has ended the test; told once.
    pub(crate) fn take_abort_reason(&self) -> Option<String> {
        self.abort_reason.take()
    }

    /// Whether it has ended the test.
    pub(crate) fn is_aborted(&self) -> bool {
        self.abort_reason.borrow().is_some()
    }

    /// Whether a module with many messages for the script must pause: a reaction of a promise was due (it has run), a
    /// rejection is to be raised, another job waits, or the test is over.
    pub(crate) fn is_awaited(&self, ctx: &Ctx<'_>) -> bool {
        self.is_aborted()
            || ctx.execute_pending_job()
            || !self.rejections.is_empty()
            || self.events.has_jobs()
    }

    /// Called while the script computes: true ends it. A script that computes for long gives others a turn.
    pub(crate) fn is_to_end(&self) -> bool {
        if self.stop.borrow().is_set() {
            self.is_interrupted.set(true);
            return true;
        }
        if self.is_aborted() {
            return true;
        }
        if self.shard.common.options.sonagi.busy_limit.is_some_and(|limit| self.has_computed(limit)) {
            self.was_too_busy.set(true);
            return true;
        }
        self.give_turns();
        false
    }

    /// Whether it has not waited for anything for longer than `limit`.
    fn has_computed(&self, limit: Duration) -> bool {
        self.now().since(self.stood_at.get()) as u128 > limit.as_nanos()
    }

    /// Whether it was cut off for that; told once.
    pub(crate) fn was_too_busy(&self) -> bool {
        self.was_too_busy.take()
    }

    fn stood_still(&self) {
        let now = self.now();
        self.busy_since.set(now);
        self.stood_at.set(now);
    }

    /// Lets others go on when it has had the thread for long.
    fn give_turns(&self) {
        if !is_on_fiber() || self.now().since(self.busy_since.get()) <= SLICE_NS {
            return;
        }
        let mut had_turn = false;
        block_on(poll_fn(|cx| {
            cx.waker().wake_by_ref();
            if std::mem::replace(&mut had_turn, true) { Poll::Ready(()) } else { Poll::Pending }
        }));
        self.busy_since.set(self.now());
    }
}
