//! A user's one real-time connection: polled while the user waits, kept alive, closed.

use sonagi_measure::At;
use sonagi_measure::ledger::Departed;
use sonagi_measure::outcome::Failure;
use sonagi_measure::recorder::Counter;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::{Begun, Halt, Loss, User, Waited};
use crate::cursor::Cursor;
use sonagi_engine::SECOND_NS;
use sonagi_transport::link::{Ended, Env, Link, Present, SocketioLink};

/// How long a closing handshake may take.
const CLOSING_NS: i64 = SECOND_NS / 2;
/// The drain of a run that was asked to stop.
const SHORT_DRAIN_NS: i64 = SECOND_NS;

impl User {
    /// Ends memberships, lets copies under way arrive, hangs up.
    pub(super) async fn leave(&mut self) {
        self.is_leaving = true;
        self.forget_connection();
        let now = self.now();
        self.end_memberships(now, false);
        if self.may_still_receive() && self.connection.is_some() {
            let whole = self.shard.plan().drain.as_nanos() as i64;
            self.drain(now, whole).await;
        }
        self.hang_up().await;
        self.forget_memberships(self.now());
        self.part_with_processor();
        if let Some(mut client) = self.client.take() {
            client.close();
        }
        self.spare_clients = None;
        self.depart();
    }

    /// Nothing will be heard of this user any more.
    pub(crate) fn depart(&mut self) {
        if self.shard.plan().delivery.is_some() {
            let departed = Departed { member: self.values.member, at: self.now() };
            self.shard.recorder.borrow_mut().ledger().departed.push(departed);
        }
    }

    /// Keeps the connection open for `whole` ns after `since`; for less once the run is asked to stop.
    async fn drain(&mut self, since: At, whole: i64) {
        let end = since.plus(whole);
        let has_ended = |user: &mut User, _: &mut Context<'_>| {
            (user.connection.is_none() || user.shard.is_stopping()).then_some(())
        };
        let waited = self.wait(end, has_ended).await;
        if matches!(waited, Ok(Waited::Done(()))) {
            let short = self.now().plus(SHORT_DRAIN_NS).min(end);
            let _ = self.wait(short, |user, _| user.connection.is_none().then_some(())).await;
        }
    }

    /// Closes the connection in an orderly way, within a limit.
    pub(crate) async fn hang_up(&mut self) {
        let was_leaving = std::mem::replace(&mut self.is_leaving, true);
        self.lost = None;
        if let Some(connection) = &mut self.connection {
            connection.begin_close();
            let now = self.now();
            let until = now.plus(CLOSING_NS);
            let _ = self.wait(until, |user, _| user.connection.is_none().then_some(())).await;
            if self.connection.is_some() {
                // The goodbye was not answered, so what was said before it may never have been read.
                self.doubt_unanswered(now);
            }
            self.disconnected();
        }
        self.is_leaving = was_leaving;
    }

    /// Makes way for another connection: the old one's farewell is no part of the new one's time.
    pub(super) async fn replace_connection(&mut self) {
        if self.connection.is_some() {
            if !self.is_reconnecting() {
                self.forget_connection();
            }
            self.hang_up().await;
            self.due = self.now();
        }
    }

    /// Moves frames both ways and reads what came into the inbox, the record and the ledger's batch.
    pub(super) fn poll_connection(&mut self, cx: &mut Context<'_>) {
        let Some(connection) = &mut self.connection else { return };
        let shard = &*self.shard;
        let mut recorder = shard.recorder.borrow_mut();
        let mut scratch = shard.scratch.borrow_mut();
        let clock = || shard.clock.now();
        let present = Present::new(&clock);
        let mut env = Env { present: &present, scratch: &mut scratch };
        let (inbox, member, run) = (&mut self.inbox, self.values.member, shard.common.run);
        let cursor = &mut self.values.cursor;
        let polled = connection.poll_drive(cx, &mut env, &mut |incoming| {
            if let Some(sought) = &shard.sought {
                Cursor::note(cursor, sought, &incoming);
            }
            inbox.receive(incoming, present.now(), member, run, &mut recorder);
        });
        let (sent, received) = connection.take_bytes();
        recorder.add(Counter::BytesSent, sent);
        recorder.add(Counter::BytesReceived, received);
        drop((recorder, scratch));
        if let Some(namespace) = self.inbox.take_dismissal() {
            let detail = format!("the server disconnected the namespace {namespace}");
            return self.ended(Ended::failed(Failure::ClosedEarly, detail));
        }
        match polled {
            Poll::Ready(ended) => self.ended(ended),
            Poll::Pending => self.poll_watch(cx),
        }
    }

    /// Has the user polled again when its link wants to be driven: it then ends by itself, or says something.
    fn poll_watch(&mut self, cx: &mut Context<'_>) {
        let Some(expires) = self.connection.as_ref().and_then(|connection| connection.expires()) else {
            return;
        };
        // Keep an earlier timer; replace a later one.
        let watch = self.watch.take().filter(|watch| watch.until() <= expires);
        let mut watch = watch.unwrap_or_else(|| Box::new(self.shard.clock.sleep_until(expires)));
        while Pin::new(&mut *watch).poll(cx).is_ready() {
            if watch.until() >= expires {
                cx.waker().wake_by_ref();
                break;
            }
            *watch = self.shard.clock.sleep_until(expires);
        }
        self.watch = Some(watch);
    }

    /// The connection ended: an outcome to count unless we wanted it.
    fn ended(&mut self, ended: Ended) {
        let comes_back = ended.failure.is_some() && self.comes_back();
        if comes_back {
            let floor = self.connection.as_ref().and_then(|connection| connection.retry());
            self.begin_outage(floor);
        }
        self.disconnected();
        let Some(failure) = ended.failure else { return };
        // With a connection that must be kept, a goodbye counts as a loss.
        let is_missed = self.under_way.is_some() && !self.outlives_loss();
        let is_goodbye = ended.is_goodbye && !is_missed && !comes_back;
        if !self.is_leaving && !is_goodbye {
            self.shard.count(Counter::ConnectionsLost, 1);
            let loss = Loss { failure, detail: ended.detail, is_told: ended.is_told };
            self.lost = Some(Box::new(loss));
        }
    }

    /// Takes the connection away and its memberships with it; for a while only, when it is to come back.
    pub(super) fn disconnected(&mut self) {
        let Some(mut connection) = self.connection.take() else { return };
        let comes_back = self.comes_back() && self.is_out();
        if comes_back {
            self.keep_place(&mut *connection);
        }
        self.watch = None;
        self.inbox.forget_session();
        self.stop_counting();
        self.shard.count(Counter::ConnectionsClosed, 1);
        let now = self.now();
        self.end_memberships(now, comes_back);
        self.forget_memberships(now);
    }

    /// The user is not among the connected any more: its connection is gone, or only drains.
    pub(super) fn stop_counting(&mut self) {
        if std::mem::take(&mut self.is_held) {
            self.shard.connected.set(self.shard.connected.get() - 1);
        }
    }

    /// Keeps what the connection that takes this one's place will go on from.
    fn keep_place(&mut self, connection: &mut dyn Link) {
        if let Some(cursor) = connection.cursor() {
            self.values.cursor.get_or_insert_default().of_link(cursor);
        }
        if let (Some(reconnect_plan), Some(link)) =
            (&mut self.reconnect_plan, connection.link_as::<SocketioLink>())
            && !link.recoveries().is_empty()
        {
            reconnect_plan.recoveries = link.recoveries().to_vec();
        }
    }

    pub(super) fn connected(&mut self, link: impl Link) {
        self.supersede();
        self.inbox.begin_session(link.received());
        self.connection = Some(Box::new(link));
        self.lost = None;
        self.is_held = true;
        self.shard.connected.set(self.shard.connected.get() + 1);
        self.shard.count(Counter::ConnectionsOpened, 1);
    }

    /// The user's connection, if it is one of this transport.
    pub(super) fn link<L: Link>(&mut self) -> Option<&mut L> {
        self.connection.as_deref_mut()?.link_as()
    }

    /// [`User::link`] for a step that needs it; `what` is missing else.
    pub(super) fn needed_link<L: Link>(&mut self, begun: Begun, what: &str) -> Result<&mut L, Halt> {
        // Looked at twice: one look cannot both hand the link out and leave the user to fail.
        if self.link::<L>().is_none() {
            let detail = format!("the step needs {what}, and there is none");
            return Err(self.fail(begun, None, Failure::NotConnected, detail));
        }
        self.link().ok_or(Halt::Failed)
    }
}
