//! Opening a lost connection again, and taking its subscriptions again.
//!
//! A user is one task: attempts are made wherever its flow waits anyway, and by steps that cannot do without the
//! connection. Between attempts the flow goes on.
//!
//! | the loss comes under | what was under way | the flow |
//! |---|---|---|
//! | a think, a pace | – | waits on to the same instant |
//! | an `expect` | waits on: its message may be replayed | – |
//! | an HTTP request | goes on: it has a connection of its own | – |
//! | anything else | has failed, with the class of the loss | goes on with the next step |
//! | an attempt | the attempt has failed | waits for the next one |
//!
//! A step that sends waits for the connection within its own time limit. The `reconnect` operation lasts from the loss
//! to the last subscription's confirmation; what the attempts do is timed as in the flow. A user whose attempts are
//! used up fails. A user that leaves does not reconnect.

use sonagi_measure::At;
use sonagi_measure::outcome::{CountedAs, Failure, OperationKind, Outcome, Timing};
use sonagi_measure::recorder::Counter;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use super::inbox::Aside;
use super::reconnect_plan::{Outage, ReconnectPlan, ReopenStep};
use super::{Begun, Halt, User, after};
use crate::plan::{Reconnect, SocketioConnect, Step, Subscribe};
use sonagi_engine::delivery::Room;
use sonagi_transport::link::{Recovery, SocketioLink};

/// The state of the flow's step that an attempt must not disturb.
struct Suspended {
    due: At,
    under_way: Option<Begun>,
    inbox: Aside,
    loops: usize,
    room: Option<Arc<Room>>,
}

impl User {
    /// The user's plan; None in runs that never reconnect.
    pub(super) fn reconnect_plan(&mut self) -> Option<&mut ReconnectPlan> {
        self.shard.plan().reconnect?;
        Some(&mut **self.reconnect_plan.get_or_insert_default())
    }

    /// Whether the connection is lost and will be opened again.
    pub(super) fn is_out(&self) -> bool {
        self.reconnect_plan.as_ref().is_some_and(|reconnect_plan| reconnect_plan.outage.is_some())
    }

    /// Whether the steps being taken are those of an attempt.
    pub(super) fn is_reconnecting(&self) -> bool {
        self.reconnect_plan.as_ref().is_some_and(|reconnect_plan| reconnect_plan.is_reconnecting)
    }

    /// Whether an attempt under way is to take up where the connection before it broke off.
    pub(super) fn is_resuming(&self) -> bool {
        self.is_reconnecting() && self.shard.plan().reconnect.is_some_and(|plan| plan.resume)
    }

    /// Where the event stream or the polls of an attempt that resumes go on.
    pub(super) fn place_of_link(&self) -> Option<String> {
        let cursor =
            self.values.cursor.as_ref().filter(|_| self.is_resuming() && !self.values.hides_cursor)?;
        cursor.for_link().map(str::to_owned)
    }

    /// The session of this namespace that the server may know, in an attempt that resumes.
    pub(super) fn known_session(&self, namespace: &str) -> Option<Recovery> {
        let reconnect_plan = self.reconnect_plan.as_ref().filter(|_| self.is_resuming())?;
        reconnect_plan.recoveries.iter().find(|recovery| *recovery.namespace == *namespace).cloned()
    }

    /// A namespace was opened in an attempt: did the server know its session?
    pub(super) fn note_recovered(&mut self, namespace: &str) {
        let recoveries = self.link::<SocketioLink>().map_or(&[][..], |link| link.recoveries());
        let same = |recovery: &Recovery| recovery.is_recovered && *recovery.namespace == *namespace;
        let is_recovered = recoveries.iter().any(same);
        if let Some(reconnect_plan) =
            self.reconnect_plan.as_mut().filter(|reconnect_plan| reconnect_plan.is_reconnecting)
        {
            reconnect_plan.is_recovered = Some(is_recovered && reconnect_plan.is_recovered != Some(false));
        }
    }

    /// Whether the user means to come back should its connection end now.
    pub(super) fn comes_back(&self) -> bool {
        let Some(plan) = &self.shard.plan().reconnect else { return false };
        let has_reconnect_plan =
            self.reconnect_plan.as_ref().is_some_and(|reconnect_plan| !reconnect_plan.is_empty());
        !self.is_leaving && has_reconnect_plan && (plan.is_automatic || self.is_out())
    }

    /// When the next attempt is due; None while there is nothing to attempt.
    pub(super) fn next_attempt(&self) -> Option<At> {
        let reconnect_plan =
            self.reconnect_plan.as_ref().filter(|reconnect_plan| !reconnect_plan.is_reconnecting)?;
        reconnect_plan.outage.as_ref().map(|outage| outage.next)
    }

    /// The connection is gone and shall come back. `floor` is what the server asked for.
    pub(super) fn begin_outage(&mut self, floor: Option<Duration>) {
        let (now, has_place) = (self.now(), self.values.cursor.is_some());
        let (Some(plan), Some(reconnect_plan)) = (self.shard.plan().reconnect, self.reconnect_plan.as_mut())
        else {
            return;
        };
        let outage = reconnect_plan.outage.get_or_insert_with(|| {
            let mut outage = Box::new(Outage { has_place, ..Outage::new(now, floor.unwrap_or_default()) });
            outage.wait(&plan, now, &mut self.values.rng);
            outage
        });
        outage.floor = floor.unwrap_or(outage.floor);
    }

    /// The loss, if one came under the step that has just ended, has been dealt with.
    pub(super) fn note_outage(&mut self) {
        if self.is_out() && !self.is_reconnecting() {
            self.lost = None;
        }
    }

    /// Whether what is under way does not mind that the connection is gone: a request has one of its own, a function
    /// none.
    pub(super) fn outlives_loss(&self) -> bool {
        self.is_split || self.is_under_way(OperationKind::Http) || self.is_under_way(OperationKind::Function)
    }

    /// A request is over, and so is what it has outlived: it is the user's now.
    pub(super) fn heed_loss(&mut self) -> Result<(), Halt> {
        match self.lost.take() {
            Some(loss) if !self.is_out() || self.is_reconnecting() => Err(self.lose(*loss)),
            _ => Ok(()),
        }
    }

    pub(super) fn is_under_way(&self, kind: OperationKind) -> bool {
        let operations = &self.shard.plan().operations;
        let operation = self.under_way.and_then(|begun| operations.get(usize::from(begun.operation.id.0)));
        operation.is_some_and(|operation| operation.kind == kind)
    }

    /// A step that needs a lost connection begins in earnest once it is back; within its limit, or not at all.
    pub(super) async fn regain(&mut self, operation: CountedAs, limit: Duration) -> Result<(), Halt> {
        if self.next_attempt().is_none() {
            return Ok(());
        }
        let begun = self.begin(operation);
        let until = after(begun.started, limit);
        while let Some(next) = self.next_attempt() {
            if self.now() >= until {
                let detail =
                    format!("the connection was lost, and was not back within {} ms", limit.as_millis());
                self.fail(begun, Some(limit), Failure::NotConnected, detail);
                return Err(Halt::Lost);
            }
            self.idle_until(next.min(until)).await?;
            if self.now() >= next
                && let Err(halt) = self.try_again().await
            {
                let detail = "the connection was lost and could not be opened again".to_owned();
                return Err(match halt {
                    Halt::Failed => self.fail(begun, None, Failure::NotConnected, detail),
                    halt => halt,
                });
            }
        }
        self.under_way = None;
        Ok(())
    }

    /// Waits until a lost connection is back.
    pub(super) async fn regain_at_any_time(&mut self) -> Result<(), Halt> {
        while let Some(next) = self.next_attempt() {
            self.idle_until(next).await?;
            self.mend().await?;
        }
        Ok(())
    }

    /// Makes the attempt that is due, if one is.
    pub(super) async fn mend(&mut self) -> Result<(), Halt> {
        match self.next_attempt() {
            Some(next) if self.now() >= next => self.try_again().await,
            _ => Ok(()),
        }
    }

    /// Waits for an instant; a connection lost meanwhile does not cut that short.
    pub(super) fn idle_until(&mut self, until: At) -> impl Future<Output = Result<(), Halt>> {
        let mut waiting = self.wait(until, |_, _| None::<()>);
        poll_fn(move |cx| {
            Pin::new(&mut waiting).poll(cx).map(|waited| match waited {
                Ok(_) | Err(Halt::Lost) => Ok(()),
                Err(halt) => Err(halt),
            })
        })
    }

    /// The step of that name: cuts the connection, if there is one, and opens it again at once.
    pub(super) async fn reconnect(&mut self) -> Result<(), Halt> {
        if self.reconnect_plan().is_none_or(|reconnect_plan| reconnect_plan.is_empty()) {
            let why = match self.reconnect_plan().is_some_and(|reconnect_plan| reconnect_plan.was_closed) {
                true => "the flow has closed its own (disconnect)",
                false => "none was opened before",
            };
            let detail = format!("the step opens a connection again, and {why}");
            return Err(self.note_failure(None, Failure::NotConnected, detail));
        }
        let (now, has_place) = (self.now(), self.values.cursor.is_some());
        if let Some(reconnect_plan) = self.reconnect_plan() {
            let outage = || Box::new(Outage { has_place, ..Outage::new(now, Duration::ZERO) });
            let outage = reconnect_plan.outage.get_or_insert_with(outage);
            outage.next = now;
        }
        self.doubt_unanswered(now);
        self.disconnected();
        self.lost = None;
        self.regain_at_any_time().await?;
        self.due = self.now();
        Ok(())
    }

    /// Makes one attempt. `Ok`: the connection is back, or another attempt is planned. Boxed, without a type of its
    /// own: it takes steps, and steps make attempts.
    fn try_again(&mut self) -> Pin<Box<dyn Future<Output = Result<(), Halt>> + '_>> {
        Box::pin(async move {
            let suspended = self.suspend();
            let taken = self.reopen().await;
            self.resume(suspended);
            match taken {
                Ok(()) if self.connection.is_some() => {
                    self.is_back();
                    Ok(())
                }
                Err(Halt::Stopped) => Err(Halt::Stopped),
                Ok(()) | Err(_) => self.try_later(),
            }
        })
    }

    fn suspend(&mut self) -> Suspended {
        let now = self.now();
        self.lost = None;
        if let Some(reconnect_plan) = &mut self.reconnect_plan {
            reconnect_plan.is_reconnecting = true;
            reconnect_plan.is_recovered = None;
        }
        Suspended {
            due: std::mem::replace(&mut self.due, now),
            under_way: self.under_way.take(),
            inbox: self.inbox.set_aside(),
            loops: self.values.loops.len(),
            room: self.values.room.clone(),
        }
    }

    fn resume(&mut self, suspended: Suspended) {
        let Suspended { due, under_way, inbox, loops, room } = suspended;
        if let Some(reconnect_plan) = &mut self.reconnect_plan {
            reconnect_plan.is_reconnecting = false;
            reconnect_plan.close_entry();
        }
        self.values.hides_cursor = false;
        self.values.loops.truncate(loops);
        self.values.room = room;
        self.inbox.put_back(inbox);
        (self.due, self.under_way) = (due, under_way);
    }

    /// Takes the steps that led to the connection once more.
    async fn reopen(&mut self) -> Result<(), Halt> {
        let Some(reconnect_plan) = &self.reconnect_plan else { return Ok(()) };
        let (openings, subscriptions) =
            (reconnect_plan.openings.clone(), reconnect_plan.subscriptions.clone());
        self.values.hides_cursor = !self.is_resuming();
        for opening in openings {
            match opening {
                ReopenStep::Step(step) => self.take(&step).await?,
                ReopenStep::Namespace(how, namespace) => self.open_namespace(&how, &namespace).await?,
            }
        }
        let is_recovered = self
            .reconnect_plan
            .as_ref()
            .is_some_and(|reconnect_plan| reconnect_plan.is_recovered == Some(true));
        if is_recovered {
            self.rejoin_all();
        }
        for (at, subscription) in subscriptions.into_iter().enumerate() {
            if is_recovered && subscription.is_confirmed() {
                continue;
            }
            if let Some(reconnect_plan) = &mut self.reconnect_plan {
                reconnect_plan.resubscribe(at);
            }
            self.values.hides_cursor = !(self.is_resuming() && subscription.of.resumes);
            let loops = self.values.loops.len();
            self.values.loops.extend(subscription.innermost.map(|innermost| *innermost));
            self.ask(&subscription.of);
            self.walk(&subscription.of.steps).await?;
            self.values.loops.truncate(loops);
        }
        Ok(())
    }

    /// The server knew the session: its subscriptions stand, and what was missed has come.
    fn rejoin_all(&mut self) {
        let rooms = self.memberships.as_mut().map(|memberships| memberships.take_interrupted());
        for room in rooms.unwrap_or_default() {
            self.join_room(room, true);
        }
    }

    fn is_back(&mut self) {
        let Some(plan) = self.shard.plan().reconnect else { return };
        let Some(outage) =
            self.reconnect_plan.as_mut().and_then(|reconnect_plan| reconnect_plan.outage.take())
        else {
            return;
        };
        let (planned, started, ended) = (outage.since, outage.since, self.now());
        let timing = Timing { planned, started, first_byte: None, ended };
        let mut recorder = self.shard.recorder.borrow_mut();
        recorder.operation(plan.operation, timing, Outcome::Ok);
        recorder.add(Counter::Reconnects, 1);
        drop(recorder);
        self.give_up_rooms();
    }

    /// The attempt failed: plans the next one, or gives up.
    fn try_later(&mut self) -> Result<(), Halt> {
        // Half open is not open.
        self.disconnected();
        self.lost = None;
        self.shard.count(Counter::ReconnectsFailed, 1);
        let now = self.now();
        let Some(plan) = self.shard.plan().reconnect else { return Err(Halt::Failed) };
        let User { reconnect_plan, values, .. } = self;
        let Some(outage) = reconnect_plan.as_mut().and_then(|reconnect_plan| reconnect_plan.outage.as_mut())
        else {
            return Err(Halt::Failed);
        };
        outage.failed += 1;
        // An event stream's way to say: do not come back.
        let is_unwanted = matches!(outage.last, Some((Failure::HandshakeRefused(204), _)));
        if outage.failed < plan.attempts && !is_unwanted {
            outage.wait(&plan, now, &mut values.rng);
            return Ok(());
        }
        Err(self.give_up(plan, now))
    }

    /// The connection stays lost, and with it the user.
    fn give_up(&mut self, plan: Reconnect, now: At) -> Halt {
        let Some(outage) =
            self.reconnect_plan.as_mut().and_then(|reconnect_plan| reconnect_plan.outage.take())
        else {
            return Halt::Failed;
        };
        self.give_up_rooms();
        let none = || (Failure::NotConnected, "no step of the reconnect plan opened a connection".to_owned());
        let Outage { since: planned, failed, last, .. } = *outage;
        let (failure, detail) = last.unwrap_or_else(none);
        let started = planned;
        let timing = Timing { planned, started, first_byte: None, ended: now };
        let mut recorder = self.shard.recorder.borrow_mut();
        recorder.operation(plan.operation, timing, Outcome::Failed(failure));
        recorder.failure(Some(plan.operation), failure, || {
            self.values.shown(&format!("given up after {failed} attempts: {detail}"))
        });
        Halt::Failed
    }

    /// Ends the interrupted memberships: the ledger need not wait for them.
    pub(super) fn give_up_rooms(&mut self) {
        let now = self.now();
        if let Some(memberships) = &mut self.memberships {
            memberships.give_up(now, self.shard.recorder.borrow_mut().ledger(), |_| true);
        }
    }

    /// The user wants another connection, or none: the one it had is not to come back.
    pub(super) fn forget_connection(&mut self) {
        self.give_up_rooms();
        self.values.cursor = None;
        if let Some(reconnect_plan) = &mut self.reconnect_plan {
            reconnect_plan.start_anew();
        }
    }

    /// A step of the flow closes the connection.
    pub(super) fn close_for_good(&mut self) {
        if let Some(reconnect_plan) =
            self.reconnect_plan().filter(|reconnect_plan| !reconnect_plan.is_empty())
        {
            reconnect_plan.was_closed = true;
        }
        self.forget_connection();
    }

    /// A connection was opened by the flow itself while one was lost: it takes its place.
    pub(super) fn supersede(&mut self) {
        if self.is_out() && !self.is_reconnecting() {
            self.forget_connection();
        }
    }

    /// A step that opens the connection is being taken.
    pub(super) fn note_opening(&mut self, step: &Arc<Step>) {
        if self.connection.is_none() {
            self.forget_connection();
        }
        if let Some(reconnect_plan) = self.reconnect_plan() {
            reconnect_plan.open(ReopenStep::Step(Arc::clone(step)));
        }
    }

    /// An emit is about to open a namespace.
    pub(super) fn note_namespace(&mut self, how: &Arc<SocketioConnect>, namespace: &str) {
        if let Some(reconnect_plan) = self.reconnect_plan() {
            reconnect_plan.remember(ReopenStep::Namespace(Arc::clone(how), namespace.into()));
        }
    }

    /// A subscription's steps are being taken.
    pub(super) fn note_subscription(&mut self, subscribe: &Arc<Subscribe>) {
        self.values.hides_cursor = true;
        self.ask(subscribe);
        let innermost = self.values.innermost().map(Box::new);
        if let Some(reconnect_plan) = self.reconnect_plan() {
            reconnect_plan.subscribe(subscribe, innermost);
        }
    }

    /// The steps of an opening or a subscription are over.
    pub(super) fn close_entry(&mut self) {
        self.values.hides_cursor = false;
        if let Some(reconnect_plan) = &mut self.reconnect_plan {
            reconnect_plan.close_entry();
        }
    }

    /// Keeps why an attempt fails, and what others are told of it.
    pub(super) fn note_attempt(&mut self, failure: Failure, detail: &str) {
        let plan = self.shard.plan();
        if plan.processor.is_some() || plan.http.by_address {
            self.last_failure = Some(Box::new((failure, detail.to_owned())));
        }
        let reconnect_plan =
            self.reconnect_plan.as_mut().filter(|reconnect_plan| reconnect_plan.is_reconnecting);
        if let Some(outage) = reconnect_plan.and_then(|reconnect_plan| reconnect_plan.outage.as_mut()) {
            outage.last = Some((failure, detail.to_owned()));
        }
    }
}
