//! A virtual user: one small task that walks its flow, and, whenever it waits, moves its connection's frames.
//!
//! There is no second task per connection and no channel: every wait of a user polls its connection first, so messages
//! are received, counted and written into the ledger's batch whether or not the script is interested in them.

mod body;
mod connection;
mod endpoint;
mod evidence;
mod expect;
mod flow;
mod function;
mod hooked;
mod inbox;
mod memberships;
mod parallel;
mod pull;
mod realtime;
mod reconnect;
mod reconnect_plan;
mod refusal;
mod request;
mod stomp;
mod unset;

use sonagi_measure::At;
use sonagi_measure::ledger::{Sent, Settled};
use sonagi_measure::outcome::{CountedAs, Failure, OperationId, OperationKind, Outcome, Timing};
use sonagi_measure::recorder::Counter;
use sonagi_measure::stamp::Stamp;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::schedule::Arrival;
use crate::shard::{Presence, Shard};
use crate::values::Values;
use inbox::Inbox;
use parallel::Fork;
use reconnect_plan::ReconnectPlan;
use sonagi_engine::SECOND_NS;
use sonagi_engine::delivery::{Memberships, Unanswered};
use sonagi_transport::clock::Sleep;
use sonagi_transport::http::{Client, Jar, Response};
use sonagi_transport::link::Link;

/// How long a closed model's user may go on with an iteration when its time is over.
const LAST_ITERATION_NS: i64 = 30 * SECOND_NS;
/// How long a closed model's place stays empty after a user that failed, doubled by each further one that fails there:
/// a dead service must not be met by as many users as its refusals allow.
const EMPTY_NS: i64 = SECOND_NS / 10;
const LONGEST_EMPTY_NS: i64 = SECOND_NS;
/// Later than any run ends.
const NEVER: At = At(i64::MAX / 2);

/// A virtual user.
pub(crate) struct User {
    pub(crate) shard: Rc<Shard>,
    pub(crate) values: Values,
    client: Option<Box<Client>>,
    spare_clients: Option<Box<SpareClients>>,
    jar: Jar,
    connection: Option<Box<dyn Link>>,
    /// Rings when the peer has been silent for too long.
    watch: Option<Box<Sleep>>,
    inbox: Inbox,
    memberships: Option<Box<Memberships>>,
    /// When the next operation is planned.
    due: At,
    /// When the flow is cut off; [`NEVER`] if it is not.
    cut_at: At,
    /// How the connection ended although nobody here wanted it to. What came before its end may still be an answer, so
    /// it is recorded by the next wait that finds none.
    lost: Option<Box<Loss>>,
    /// The plan for reopening a lost connection.
    reconnect_plan: Option<Box<ReconnectPlan>>,
    /// The operation under way: what cuts the connection off cuts it off.
    under_way: Option<Begun>,
    /// Stamped messages nothing answers, sent within the last settle window, for a cut of our own.
    unanswered: Option<Box<Unanswered>>,
    is_leaving: bool,
    /// Counted among the connected.
    is_held: bool,
    /// The index of the scenario it walks.
    scenario: u16,
    /// The failure noted last and its detail, for functions and endpoints that want to be told.
    last_failure: Option<Box<(Failure, String)>>,
    /// Others have had their turn since a loop last asked.
    has_waited: bool,
    /// The fork it is a branch of.
    fork: Option<Rc<Fork>>,
    /// Its branches are on their way.
    is_split: bool,
}

/// HTTP clients of branches that have ended; apart, as few users ever branch.
#[derive(Default)]
struct SpareClients(Vec<Client>);

/// Why a flow does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// An operation failed; it has been recorded.
    Failed,
    /// The run or the user's time is over.
    Stopped,
    /// The connection is lost and will be opened again: what was under way has been recorded, the flow goes on.
    Lost,
}

/// How a wait ended.
pub(crate) enum Waited<T> {
    Done(T),
    Elapsed,
}

/// How a connection was lost.
struct Loss {
    failure: Failure,
    detail: String,
    /// Its link has had it recorded.
    is_told: bool,
}

/// An operation under way.
#[derive(Clone, Copy)]
pub(crate) struct Begun {
    operation: CountedAs,
    planned: At,
    started: At,
}

/// When an operation's time limit is over.
fn after(started: At, limit: Duration) -> At {
    started.plus(i64::try_from(limit.as_nanos()).unwrap_or(i64::MAX))
}

/// How long a place stays empty after so many users in a row have failed there.
fn empty_ns(failed: u32) -> i64 {
    match failed {
        0 => 0,
        failed => (EMPTY_NS << (failed - 1).min(8)).min(LONGEST_EMPTY_NS),
    }
}

/// A user's whole life: its flow once, or again and again until the arrival's `until`. Every iteration is a new user
/// with its own values and memberships; the one before drains beside it.
///
/// A block instead of an `async fn`, which would keep what it is given twice: here and in its body.
#[expect(clippy::manual_async_fn, reason = "see above")]
pub(crate) fn live(
    shard: Rc<Shard>,
    mut arrival: Arrival,
    mut presence: Presence,
) -> impl Future<Output = ()> + 'static {
    async move {
        let mut failed = 0;
        loop {
            let mut user = User::arrived(&shard, arrival.number, arrival.at);
            user.cut_at = arrival.until.map_or(NEVER, |until| until.plus(LAST_ITERATION_NS));
            user.scenario = user.pick_scenario();
            failed = if user.walk_scenario().await { 0 } else { failed + 1 };
            let next = shard.clock.now().plus(empty_ns(failed));
            let iterates = arrival.until.is_some_and(|until| next < until) && !shard.is_stopping();
            if !iterates {
                presence.end_flow();
                return user.leave().await;
            }
            if presence.is_crowded() {
                user.leave().await;
            } else {
                let lingering = presence.linger();
                tokio::task::spawn_local(async move {
                    user.leave().await;
                    drop(lingering);
                });
            }
            if failed > 0 {
                shard.wait_for(next).await;
                if shard.is_stopping() {
                    return;
                }
            }
            shard.count(Counter::ArrivalsPlanned, 1);
            shard.count(Counter::ArrivalsStarted, 1);
            arrival.at = shard.clock.now();
            arrival.number = shard.shared.next_row.fetch_add(1, Ordering::Relaxed);
            // An iteration that never waits must not starve the shard.
            tokio::task::yield_now().await;
        }
    }
}

impl User {
    /// A new user of this shard; `arrival` numbers the payload rows it gets.
    pub(crate) fn arrived(shard: &Rc<Shard>, arrival: u64, due: At) -> User {
        let member = shard.shared.delivery.next_member();
        // Seeds of neighbours must not be neighbours: spread them over the whole range (SplitMix64's constant).
        let seed = shard.shared.seed ^ (u64::from(member) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let rng = fastrand::Rng::with_seed(seed);
        let values = Values::new(Rc::clone(&shard.common), member, arrival, rng);
        User::with_values(Rc::clone(shard), values, due)
    }

    fn with_values(shard: Rc<Shard>, values: Values, due: At) -> User {
        User {
            shard,
            values,
            client: None,
            spare_clients: None,
            jar: Jar::default(),
            connection: None,
            watch: None,
            inbox: Inbox::default(),
            memberships: None,
            due,
            cut_at: NEVER,
            lost: None,
            reconnect_plan: None,
            under_way: None,
            unanswered: None,
            is_leaving: false,
            is_held: false,
            scenario: 0,
            last_failure: None,
            has_waited: false,
            fork: None,
            is_split: false,
        }
    }

    fn pick_scenario(&mut self) -> u16 {
        let scenarios = &self.shard.plan().scenarios;
        let total: f64 = scenarios.iter().map(|scenario| scenario.weight).sum();
        let mut pick = self.values.rng.f64() * total;
        let chosen = scenarios.iter().position(|scenario| {
            pick -= scenario.weight;
            pick < 0.0
        });
        chosen.unwrap_or(scenarios.len() - 1) as u16
    }

    /// Its flow, to the end or as far as it gets; false when it failed.
    fn walk_scenario(&mut self) -> impl Future<Output = bool> {
        let shard = Rc::clone(&self.shard);
        shard.recorder.borrow_mut().user_created(self.scenario);
        let started = self.now();
        async move {
            let result = self.walk(&shard.plan().scenarios[usize::from(self.scenario)].flow).await;
            self.stop_counting();
            let (scenario, session_ns) = (self.scenario, self.now().since(started));
            let mut recorder = self.shard.recorder.borrow_mut();
            match result {
                Ok(()) => recorder.user_ended(scenario, true, session_ns),
                Err(Halt::Failed | Halt::Lost) => recorder.user_ended(scenario, false, session_ns),
                Err(Halt::Stopped) => {
                    recorder.add(Counter::UsersStopped, 1);
                    recorder.add(Counter::OperationsCut, u64::from(self.under_way.is_some()));
                }
            }
            !matches!(result, Err(Halt::Failed | Halt::Lost))
        }
    }

    /// The values of its variables at the end.
    pub(crate) fn into_own_values(self) -> Vec<(String, serde_json::Value)> {
        self.values.into_own()
    }

    pub(crate) fn now(&self) -> At {
        self.shard.clock.now()
    }

    /// Waits until `done` has an answer or `until` has come, moving the connection's frames meanwhile.
    ///
    /// A closure instead of an `async fn`, which would keep all of this twice; it is what most users are in.
    pub(crate) fn wait<T>(
        &mut self,
        until: At,
        mut done: impl FnMut(&mut User, &mut Context<'_>) -> Option<T>,
    ) -> impl Future<Output = Result<Waited<T>, Halt>> {
        let cut_at = if self.is_leaving { NEVER } else { self.cut_at };
        let mut sleep = self.shard.clock.sleep_until(cut_at.min(until));
        poll_fn(move |cx| {
            self.take_up();
            self.poll_connection(cx);
            if let Some(result) = done(self, cx) {
                return Poll::Ready(Ok(Waited::Done(result)));
            }
            if self.under_way.is_none() && !self.is_split && self.is_called_off() {
                return Poll::Ready(Err(Halt::Failed));
            }
            if !self.is_leaving
                && self.lost.is_some()
                && !self.outlives_loss()
                && let Some(loss) = self.lost.take()
            {
                return Poll::Ready(Err(self.lose(*loss)));
            }
            if self.shard.is_stopping() && !self.is_leaving {
                return Poll::Ready(Err(Halt::Stopped));
            }
            if Pin::new(&mut sleep).poll(cx).is_pending() {
                self.has_waited = true;
                self.put_down();
                return Poll::Pending;
            }
            Poll::Ready(if cut_at < until { Err(Halt::Stopped) } else { Ok(Waited::Elapsed) })
        })
    }

    /// Waits for a future that does not borrow the user, moving the connection's frames meanwhile.
    pub(crate) async fn alongside<F: Future>(
        &mut self,
        until: At,
        future: F,
    ) -> Result<Waited<F::Output>, Halt> {
        let mut future = pin!(future);
        self.wait(until, |_, cx| match future.as_mut().poll(cx) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        })
        .await
    }

    /// An operation starts now; it was planned for when the previous one ended, or for the instant a pause or pace set.
    pub(crate) fn begin(&mut self, operation: CountedAs) -> Begun {
        let started = self.now();
        let begun = Begun { operation, planned: self.due.min(started), started };
        self.under_way = Some(begun);
        begun
    }

    /// An operation ended well, or with a status.
    pub(crate) fn succeed(&mut self, begun: Begun, first_byte: Option<At>, outcome: Outcome) {
        self.succeed_at(begun, first_byte, outcome, self.now());
    }

    /// An operation ended well at an instant that has passed: when its answer came, not when it was looked at.
    pub(crate) fn succeed_at(&mut self, begun: Begun, first_byte: Option<At>, outcome: Outcome, ended: At) {
        self.under_way = None;
        self.due = ended;
        let timing = Timing { planned: begun.planned, started: begun.started, first_byte, ended };
        self.shard.recorder.borrow_mut().operation(begun.operation, timing, outcome);
    }

    /// [`User::succeed_at`] of a request that was redirected; its last answer was asked for at `asked`.
    pub(crate) fn succeed_redirected(&mut self, begun: Begun, outcome: Outcome, last: &Response, asked: At) {
        self.under_way = None;
        self.due = last.ended;
        let Begun { operation, planned, started } = begun;
        let timing = Timing { planned, started, first_byte: Some(last.first_byte), ended: last.ended };
        self.shard.recorder.borrow_mut().redirected(operation, timing, outcome, last.ended.since(asked));
    }

    /// An operation failed. A time-out counts as long as its limit (`limit`), not as long as we took to notice.
    pub(crate) fn fail(
        &mut self,
        begun: Begun,
        limit: Option<Duration>,
        failure: Failure,
        detail: String,
    ) -> Halt {
        self.fail_called(begun, limit, failure, "", detail)
    }

    /// [`User::fail`] of what Artillery's users know by another name than its failure's; empty: they do not.
    fn fail_called(
        &mut self,
        begun: Begun,
        limit: Option<Duration>,
        failure: Failure,
        called: &str,
        detail: String,
    ) -> Halt {
        self.under_way = None;
        let now = self.now();
        let ended = limit.map_or(now, |limit| begun.started.plus(limit.as_nanos() as i64));
        self.due = now;
        self.note_attempt(failure, &detail);
        let timing = Timing { planned: begun.planned, started: begun.started, first_byte: None, ended };
        let mut recorder = self.shard.recorder.borrow_mut();
        recorder.operation(begun.operation, timing, Outcome::Failed(failure));
        recorder
            .failure_called(Some(begun.operation.id), failure, None, called, || self.values.shown(&detail));
        Halt::Failed
    }

    /// The connection ended under the user: the operation under way fails with it. One that only listens does not when
    /// the connection comes back.
    fn lose(&mut self, loss: Loss) -> Halt {
        let Loss { failure, detail, is_told } = loss;
        let comes_back = self.is_out() && !self.is_reconnecting();
        match self.under_way {
            Some(_) if comes_back && self.is_under_way(OperationKind::Expect) => Halt::Lost,
            None if comes_back => Halt::Lost,
            Some(begun) => {
                let halt = self.fail(begun, None, failure, detail);
                if comes_back { Halt::Lost } else { halt }
            }
            None if is_told => {
                self.note_attempt(failure, &detail);
                Halt::Failed
            }
            None => self.note_failure(None, failure, detail),
        }
    }

    /// The response came but is not what the script demands: the operation's time stands, the user fails.
    pub(crate) fn object(&mut self, operation: OperationId, detail: String) -> Halt {
        self.note_failure(Some(operation), Failure::CaptureOrMatch, detail)
    }

    /// A failure outside any timed operation.
    pub(crate) fn note_failure(
        &mut self,
        operation: Option<OperationId>,
        failure: Failure,
        detail: String,
    ) -> Halt {
        self.note_called(operation, failure, "", detail)
    }

    /// [`User::note_failure`], as [`User::fail_called`].
    fn note_called(
        &mut self,
        operation: Option<OperationId>,
        failure: Failure,
        called: &str,
        detail: String,
    ) -> Halt {
        let now = self.now();
        self.note_attempt(failure, &detail);
        let mut recorder = self.shard.recorder.borrow_mut();
        recorder.failure_called(operation, failure, Some(now), called, || self.values.shown(&detail));
        Halt::Failed
    }

    /// Writes a stamped message's sending into the ledger's batch.
    fn note_sent(&mut self, stamp: Option<Stamp>, begun: Begun, acked: Option<bool>) {
        let Some(stamp) = stamp else { return };
        let sent = Sent {
            room: stamp.room,
            number: stamp.number,
            sender: stamp.sender,
            planned: begun.planned,
            started: begun.started,
            acked,
        };
        self.shard.recorder.borrow_mut().ledger().sent.push(sent);
    }

    /// A stamped message has left to which nothing will be an answer. Only the last ones are kept.
    fn note_unanswered(&mut self, stamp: Option<Stamp>) {
        let (Some(stamp), Some(rules)) = (stamp, self.shard.plan().delivery) else { return };
        let now = self.now();
        self.unanswered.get_or_insert_default().note(stamp, now, rules.settle_ns);
    }

    /// We cut our own connection, or did so since: of what left shortly before, nobody can say how much the target has
    /// read.
    fn doubt_unanswered(&mut self, cut: At) {
        let settle = self.shard.plan().delivery.map_or(0, |rules| rules.settle_ns);
        if let Some(mut unanswered) = self.unanswered.take() {
            unanswered.doubt(cut, settle, self.shard.recorder.borrow_mut().ledger());
        }
    }

    /// Writes a stamped message's acknowledgement, or its absence, into the ledger's batch.
    fn note_settled(&mut self, stamp: Option<Stamp>, acked: bool) {
        let Some(stamp) = stamp else { return };
        let settled = Settled { room: stamp.room, number: stamp.number, acked };
        self.shard.recorder.borrow_mut().ledger().settled.push(settled);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten thousand idle users are ten thousand of these: a field or an awaited call more is felt. The runtime adds 120
    /// bytes to a task, and rounds it up to a multiple of 128.
    #[test]
    fn a_waiting_user_is_small() {
        fn returned<A, B, C, F>(_: impl Fn(A, B, C) -> F) -> usize {
            size_of::<F>()
        }
        assert!(size_of::<User>() <= 336, "a user takes {} bytes", size_of::<User>());
        assert!(returned(live) <= 648, "its task takes {} bytes", returned(live));
    }
}
