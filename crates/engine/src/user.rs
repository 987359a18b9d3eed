//! A virtual user: one small task that walks its flow, and, whenever it waits, moves its connection's frames.
//!
//! There is no second task per connection and no channel: every wait of a user polls its connection first, so messages
//! are received, counted and written into the ledger's batch whether or not the script is interested in them.

mod evidence;
mod flow;
mod jar;
mod mail;
mod realtime;
mod request;
mod values;

use sonagi_measure::At;
use sonagi_measure::ledger::{Joined, Left, Sent, Settled};
use sonagi_measure::outcome::{Failure, OperationId, Outcome, Timing};
use sonagi_measure::recorder::Counter;
use sonagi_measure::stamp::Stamp;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::clock::Sleep;
use crate::http::Client;
use crate::link::{Connection, Ended, Env};
use crate::rooms::Room;
use crate::schedule::Arrival;
use crate::shard::{Presence, SECOND_NS, Shard};
use mail::Mail;
pub(crate) use values::Common;
use values::Values;

/// How long a closed model's user may go on with an iteration when its time is over.
const LAST_ITERATION_NS: i64 = 30 * SECOND_NS;
/// How long a closing handshake may take.
const CLOSING_NS: i64 = SECOND_NS / 2;
/// The drain of a run that was asked to stop.
const SHORT_DRAIN_NS: i64 = SECOND_NS;

/// One virtual user.
pub(crate) struct User {
    pub(crate) shard: Rc<Shard>,
    pub(crate) values: Values,
    client: Option<Box<Client>>,
    jar: jar::Jar,
    connection: Option<Box<Connection>>,
    /// Rings when the peer has been silent for too long.
    watch: Option<Sleep>,
    mail: Mail,
    joined: Vec<Arc<Room>>,
    /// When the next operation is planned.
    due: At,
    /// When the flow is cut off, if ever.
    cut_at: Option<At>,
    /// The connection ended although nobody here wanted it to.
    is_cut_off: bool,
    /// The operation under way: what cuts the connection off cuts it off.
    under_way: Option<Begun>,
    is_leaving: bool,
}

/// Why a flow does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// An operation failed; it has been recorded.
    Failed,
    /// The run or the user's time is over.
    Stopped,
}

/// How a wait ended.
pub(crate) enum Waited<T> {
    Done(T),
    Elapsed,
}

/// An operation under way.
#[derive(Clone, Copy)]
pub(crate) struct Begun {
    operation: OperationId,
    planned: At,
    started: At,
}

/// A user's whole life: its flow once, or again and again until the arrival's `until`.
pub(crate) async fn live(shard: &Rc<Shard>, arrival: Arrival, mut presence: Presence) {
    let mut due = arrival.at;
    let mut arrival_number = arrival.number;
    loop {
        let mut user = shard.user(arrival_number, due);
        user.cut_at = arrival.until.map(|until| until.plus(LAST_ITERATION_NS));
        let scenario = user.pick_scenario();
        user.walk_scenario(scenario).await;
        let iterates = arrival.until.is_some_and(|until| shard.clock.now() < until) && !shard.is_stopping();
        if !iterates {
            presence.end_flow();
        }
        user.leave().await;
        if !iterates {
            return;
        }
        shard.count(Counter::ArrivalsPlanned, 1);
        shard.count(Counter::ArrivalsStarted, 1);
        due = shard.clock.now();
        // The next iteration takes the next row, over all shards.
        arrival_number = u64::from(shard.shared.members.load(std::sync::atomic::Ordering::Relaxed));
        // An iteration that never waits must not starve the shard.
        tokio::task::yield_now().await;
    }
}

impl User {
    pub(crate) fn new(shard: Rc<Shard>, member: u32, arrival: u64, due: At, rng: fastrand::Rng) -> User {
        let values = Values::new(Rc::clone(&shard.common), member, arrival, rng);
        User {
            shard,
            values,
            client: None,
            jar: jar::Jar::default(),
            connection: None,
            watch: None,
            mail: Mail::default(),
            joined: Vec::new(),
            due,
            cut_at: None,
            is_cut_off: false,
            under_way: None,
            is_leaving: false,
        }
    }

    fn pick_scenario(&mut self) -> usize {
        let scenarios = &self.shard.plan().scenarios;
        let total: f64 = scenarios.iter().map(|scenario| scenario.weight).sum();
        let mut pick = self.values.rng.f64() * total;
        let chosen = scenarios.iter().position(|scenario| {
            pick -= scenario.weight;
            pick < 0.0
        });
        chosen.unwrap_or(scenarios.len() - 1)
    }

    async fn walk_scenario(&mut self, scenario: usize) {
        let plan = Arc::clone(self.shard.plan());
        self.shard.recorder.borrow_mut().user_created(scenario as u16);
        let started = self.now();
        let result = self.walk(&plan.scenarios[scenario].flow).await;
        let session_ns = self.now().since(started);
        let completed = result.is_ok();
        // A user stopped from outside neither completed nor failed.
        if result != Err(Halt::Stopped) {
            self.shard.recorder.borrow_mut().user_ended(scenario as u16, completed, session_ns);
        }
    }

    /// Ends memberships, lets copies under way arrive, hangs up.
    async fn leave(&mut self) {
        self.is_leaving = true;
        let now = self.now();
        let drains = !self.joined.is_empty() && self.connection.is_some();
        for room in &self.joined {
            let left = Left { member: self.values.member, room: room.id, at: now };
            self.shard.recorder.borrow_mut().ledger().left.push(left);
        }
        if drains {
            let whole = self.shard.plan().drain.as_nanos() as i64;
            self.drain(now, whole).await;
        }
        self.hang_up().await;
        if let Some(mut client) = self.client.take() {
            client.close();
        }
    }

    /// Keeps the connection open for `whole` ns after `since`; for less once the run is asked to stop.
    async fn drain(&mut self, since: At, whole: i64) {
        let ended = |user: &mut User| user.connection.is_none();
        let stop_or_end =
            |user: &mut User, _: &mut Context<'_>| (ended(user) || user.shard.is_stopping()).then_some(());
        if let Ok(Waited::Done(())) = self.wait(since.plus(whole), stop_or_end).await
            && self.connection.is_some()
        {
            let short = self.now().plus(SHORT_DRAIN_NS).min(since.plus(whole).max(self.now()));
            let _ = self.wait(short, |user, _| ended(user).then_some(())).await;
        }
    }

    /// Closes the connection in an orderly way, within a limit.
    pub(crate) async fn hang_up(&mut self) {
        let was_leaving = std::mem::replace(&mut self.is_leaving, true);
        if let Some(connection) = &mut self.connection {
            connection.begin_close();
            let until = self.now().plus(CLOSING_NS);
            let _ = self.wait(until, |user, _| user.connection.is_none().then_some(())).await;
            self.disconnected();
        }
        self.is_leaving = was_leaving;
    }

    /// What its variables are worth at the end (a `before` flow's legacy).
    pub(crate) fn into_own_values(self) -> Vec<(String, serde_json::Value)> {
        self.values.into_own()
    }

    pub(crate) fn now(&self) -> At {
        self.shard.clock.now()
    }

    /// Waits until `done` has an answer or `until` has come, moving the connection's frames meanwhile.
    pub(crate) async fn wait<T>(
        &mut self,
        until: At,
        mut done: impl FnMut(&mut User, &mut Context<'_>) -> Option<T>,
    ) -> Result<Waited<T>, Halt> {
        let cut_at = if self.is_leaving { None } else { self.cut_at };
        let mut sleep = pin!(self.shard.clock.sleep_until(cut_at.map_or(until, |cut| cut.min(until))));
        poll_fn(|cx| {
            self.poll_connection(cx);
            if let Some(result) = done(self, cx) {
                return Poll::Ready(Ok(Waited::Done(result)));
            }
            if self.is_cut_off && !self.is_leaving {
                return Poll::Ready(Err(Halt::Failed));
            }
            if self.shard.is_stopping() && !self.is_leaving {
                return Poll::Ready(Err(Halt::Stopped));
            }
            if sleep.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            match cut_at {
                Some(cut) if cut < until => Poll::Ready(Err(Halt::Stopped)),
                _ => Poll::Ready(Ok(Waited::Elapsed)),
            }
        })
        .await
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

    /// Moves frames both ways and reads what came into the mail, the record and the ledger's batch.
    fn poll_connection(&mut self, cx: &mut Context<'_>) {
        let Some(connection) = &mut self.connection else { return };
        let shard = &*self.shard;
        let mut recorder = shard.recorder.borrow_mut();
        let mut scratch = shard.scratch.borrow_mut();
        let mut env = Env { now: shard.clock.now(), scratch: &mut scratch };
        let (mail, member, run) = (&mut self.mail, self.values.member, shard.common.run);
        let polled = connection.poll_drive(cx, &mut env, &mut |incoming| {
            mail.receive(incoming, shard.clock.now(), member, run, &mut recorder);
        });
        let (sent, received) = connection.take_bytes();
        recorder.add(Counter::BytesSent, sent);
        recorder.add(Counter::BytesReceived, received);
        drop((recorder, scratch));
        match polled {
            Poll::Ready(ended) => self.ended(ended),
            Poll::Pending => self.poll_watch(cx),
        }
    }

    /// Gives the connection up when its peer has been silent beyond the limit the protocol sets.
    fn poll_watch(&mut self, cx: &mut Context<'_>) {
        let Some(expires) = self.connection.as_ref().and_then(|connection| connection.expires()) else {
            return;
        };
        let mut watch = self.watch.take().unwrap_or_else(|| self.shard.clock.sleep_until(expires));
        while Pin::new(&mut watch).poll(cx).is_ready() {
            if watch.until() >= expires {
                let detail = "the peer sent no ping within its own interval and time-out".to_owned();
                return self.ended(Ended { failure: Some(Failure::Timeout), detail });
            }
            watch = self.shard.clock.sleep_until(expires);
        }
        self.watch = Some(watch);
    }

    /// The connection ended: an outcome to count unless we wanted it.
    fn ended(&mut self, ended: Ended) {
        self.disconnected();
        let Some(failure) = ended.failure else { return };
        // 1000, or no code at all, is the peer's ordinary goodbye: only a script that still needs the connection minds.
        if self.is_leaving || matches!(failure, Failure::Closed(1000 | 1005)) {
            return;
        }
        self.is_cut_off = true;
        match self.under_way {
            Some(begun) => self.fail(begun, None, failure, ended.detail),
            None => self.note_failure(None, failure, ended.detail),
        };
    }

    /// Takes the connection away and its memberships with it.
    fn disconnected(&mut self) {
        if self.connection.take().is_none() {
            return;
        }
        self.watch = None;
        self.mail.forget_session();
        let (shard, now) = (Rc::clone(&self.shard), self.now());
        shard.connections.set(shard.connections.get() - 1);
        shard.count(Counter::ConnectionsClosed, 1);
        for room in self.joined.drain(..) {
            let left = Left { member: self.values.member, room: room.id, at: now };
            let mut recorder = shard.recorder.borrow_mut();
            if !self.is_leaving {
                recorder.ledger().left.push(left);
            }
            recorder.ledger().gone.push(left);
        }
    }

    fn connected(&mut self, connection: Connection) {
        self.connection = Some(Box::new(connection));
        self.is_cut_off = false;
        self.shard.connections.set(self.shard.connections.get() + 1);
        self.shard.count(Counter::ConnectionsOpened, 1);
    }

    fn join(&mut self, name: &str) {
        let room = self.shard.shared.rooms.named(name);
        let joined = Joined { member: self.values.member, room: room.id, at: self.now() };
        self.shard.recorder.borrow_mut().ledger().joined.push(joined);
        self.values.room = Some(Arc::clone(&room));
        self.joined.push(room);
    }

    fn leave_room(&mut self, name: &str) {
        let room = self.shard.shared.rooms.named(name);
        if let Some(index) = self.joined.iter().position(|joined| joined.id == room.id) {
            self.joined.remove(index);
            let left = Left { member: self.values.member, room: room.id, at: self.now() };
            let mut recorder = self.shard.recorder.borrow_mut();
            recorder.ledger().left.push(left);
            recorder.ledger().gone.push(left);
        }
        self.values.room = self.joined.last().cloned();
    }

    /// An operation starts now; it was planned for when the previous one ended, or for the instant a pause or pace set.
    pub(crate) fn begin(&mut self, operation: OperationId) -> Begun {
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

    /// An operation failed. A time-out counts as long as its limit (`limit`), not as long as we took to notice.
    pub(crate) fn fail(
        &mut self,
        begun: Begun,
        limit: Option<Duration>,
        failure: Failure,
        detail: String,
    ) -> Halt {
        self.under_way = None;
        let now = self.now();
        let ended = limit.map_or(now, |limit| begun.started.plus(limit.as_nanos() as i64));
        self.due = now;
        let timing = Timing { planned: begun.planned, started: begun.started, first_byte: None, ended };
        let mut recorder = self.shard.recorder.borrow_mut();
        recorder.operation(begun.operation, timing, Outcome::Failed(failure));
        recorder.failure(Some(begun.operation), failure, || detail);
        Halt::Failed
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
        let now = self.now();
        self.shard.recorder.borrow_mut().failure_at(operation, failure, Some(now), || detail);
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

    /// Writes a stamped message's acknowledgement, or its absence, into the ledger's batch.
    fn note_settled(&mut self, stamp: Option<Stamp>, acked: bool) {
        let Some(stamp) = stamp else { return };
        let settled = Settled { room: stamp.room, number: stamp.number, acked };
        self.shard.recorder.borrow_mut().ledger().settled.push(settled);
    }
}
