//! A session: how it is driven, and how its script waits in it.
//!
//! | what | the iteration | the iteration's end |
//! |---|---|---|
//! | connected in an iteration | is held by a listener that waits | DISCONNECT, and the connection is closed |
//! | connected in init code, or all with `keepConnections` | the same | the session goes on |
//! | over, or left | is held until its listeners know | is let go of |

use rquickjs::{ArrayBuffer, Ctx, Persistent, Undefined};
use sonagi_measure::At;
use sonagi_transport::clock::Sleep;
use sonagi_transport::link::{Env, Present};
use sonagi_wire::stomp::{Command, Decoder, Event, HEART_BEAT, HeartBeat, Version, Writer};
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, Waker};

use super::Metrics;
use super::carrier::Carrier;
use super::inbox::{Arrived, Inbox, Listener, value};
use crate::interpreter::{HostObject, go_error};
use crate::metrics::{MetricId, Tags};
use crate::shard::Level;
use crate::vu::{Phase, Source, Vu};

/// With so many bytes of messages that nobody reads, nothing more is read: a server that minds can tell.
const MOST_UNREAD: usize = 256 << 10;

/// The terms a script set for a session when it connected.
pub(super) struct Terms {
    pub(super) tags: Tags,
    pub(super) metrics: Metrics,
    pub(super) heart_beat: HeartBeat,
    pub(super) receipt_ns: i64,
    pub(super) send_ns: i64,
    /// Frames are shown.
    pub(super) is_verbose: bool,
    pub(super) is_kept: bool,
}

/// A STOMP session of a script.
pub(crate) struct Session {
    me: Weak<Session>,
    pub(super) connection: RefCell<StompConnection>,
    pub(super) terms: Terms,
    sleep: RefCell<Option<(At, Pin<Box<Sleep>>)>>,
    numbers: Cell<u64>,
}

/// The connection, and what came over it.
pub(super) struct StompConnection {
    carrier: Carrier,
    decoder: Decoder,
    pub(super) inbox: Inbox,
    beats: Option<Beats>,
}

/// Heart-beats agreed upon, in ns.
struct Beats {
    send: Option<i64>,
    receive: Option<i64>,
    said: At,
    heard: At,
}

impl HostObject for Session {}

impl Session {
    pub(super) fn new(vu: &Rc<Vu>, carrier: Carrier, decoder: Decoder, terms: Terms) -> Rc<Session> {
        let connection = StompConnection { carrier, decoder, inbox: Inbox::default(), beats: None };
        let session = Rc::new_cyclic(|me| Session {
            me: Weak::clone(me),
            connection: RefCell::new(connection),
            terms,
            sleep: RefCell::default(),
            numbers: Cell::new(0),
        });
        vu.events.add(Rc::clone(&session) as Rc<dyn Source>);
        session
    }

    /// A number no subscription, receipt or transaction of it had.
    pub(super) fn next_number(&self) -> String {
        self.numbers.set(self.numbers.get() + 1);
        self.numbers.get().to_string()
    }

    pub(super) fn version(&self) -> Version {
        self.connection.borrow().decoder.version().unwrap_or(Version::V1_0)
    }

    pub(super) fn is_open(&self) -> bool {
        self.connection.borrow().inbox.over.is_none()
    }

    pub(super) fn unsent(&self) -> usize {
        self.connection.borrow().unsent()
    }

    pub(super) fn poll_flush(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.connection.borrow_mut().carrier.poll_flush(cx)
    }

    /// A sample of an iteration: what is done in init code counts for nobody.
    pub(super) fn observe(&self, vu: &Vu, metric: MetricId, value: f64, tags: &Tags) {
        if vu.phase.get() != Phase::Init {
            vu.observe(metric, value, tags);
        }
    }

    /// Queues a frame; it leaves when the user waits next.
    pub(super) fn queue(&self, vu: &Vu, frame: &[u8]) {
        if self.terms.is_verbose {
            shown(vu, "WRITE", frame);
        }
        let connection = &mut *self.connection.borrow_mut();
        connection.carrier.send(frame);
        if let Some(beats) = &mut connection.beats {
            beats.said = vu.now();
        }
    }

    /// Blocks the script until `look` finds what it looks for; why it never will, if it will not.
    pub(super) fn wait<T>(
        &self,
        ctx: &Ctx<'_>,
        vu: &Rc<Vu>,
        limit: Option<(At, &str)>,
        mut look: impl FnMut(&mut StompConnection) -> Option<T>,
    ) -> rquickjs::Result<Result<T, String>> {
        let mut limit = limit.map(|(at, why)| (Box::pin(vu.clock().sleep_until(at)), why));
        vu.wait(ctx, |cx| {
            self.drive(vu, cx, true);
            let connection = &mut *self.connection.borrow_mut();
            if let Some(found) = look(connection) {
                return Poll::Ready(Ok(found));
            }
            match (&connection.inbox.over, &mut limit) {
                (Some(why), _) => Poll::Ready(Err(why.clone())),
                (None, Some((sleep, why))) => sleep.as_mut().poll(cx).map(|()| Err((*why).to_owned())),
                (None, None) => Poll::Pending,
            }
        })
    }

    /// Moves bytes both ways. Without a reader of its own it stops when too much is unread.
    fn drive(&self, vu: &Rc<Vu>, cx: &mut Context<'_>, is_read: bool) {
        let connection = &mut *self.connection.borrow_mut();
        if connection.inbox.over.is_some() {
            return;
        }
        connection.beat(vu);
        let was_heard = if is_read || connection.inbox.unread <= MOST_UNREAD {
            self.receive(vu, connection, cx)
        } else {
            // Its silence is ours.
            let _ = connection.carrier.poll_flush(cx);
            true
        };
        connection.judge_silence(vu, was_heard);
        if connection.inbox.over.is_some() {
            connection.hang_up(vu);
        }
        connection.count(vu);
        self.sleep(vu, connection.expires(), cx);
    }

    /// Whether anything came.
    fn receive(&self, vu: &Rc<Vu>, connection: &mut StompConnection, cx: &mut Context<'_>) -> bool {
        let StompConnection { carrier, decoder, inbox, beats, .. } = connection;
        let mut is_heard = false;
        let clock = || vu.now();
        let mut scratch = vu.shard.scratch.borrow_mut();
        let mut env = Env { present: &Present::new(&clock), scratch: &mut scratch };
        let ended = carrier.poll(cx, &mut env, |bytes| {
            is_heard = true;
            if self.terms.is_verbose {
                shown(vu, "READ", bytes);
            }
            let fed = decoder.feed(bytes, |event| {
                if let Event::Frame(frame) = event
                    && inbox.over.is_none()
                {
                    inbox.take(&frame);
                    if frame.command == Command::Connected {
                        *beats = Beats::agreed(self.terms.heart_beat, inbox, vu.now());
                    }
                }
            });
            if let Err(violation) = fed {
                inbox.end(violation.to_string());
            }
        });
        if let Poll::Ready(why) = ended {
            inbox.end(format!("connection closed unexpectedly: {why}"));
        }
        is_heard
    }

    /// It is looked at again in time for its next heart-beat.
    fn sleep(&self, vu: &Vu, until: Option<At>, cx: &mut Context<'_>) {
        let mut sleep = self.sleep.borrow_mut();
        let Some(until) = until else { return *sleep = None };
        if sleep.as_ref().is_none_or(|(at, _)| *at != until) {
            *sleep = Some((until, Box::pin(vu.clock().sleep_until(until))));
        }
        if let Some((_, sleep)) = &mut *sleep
            && sleep.as_mut().poll(cx).is_ready()
        {
            cx.waker().wake_by_ref();
        }
    }

    /// Queues the jobs of those listeners that have something to hear.
    fn queue_listeners(&self, vu: &Rc<Vu>) {
        let Some(me) = self.me.upgrade() else { return };
        let now = Some(vu.events.iteration());
        let inbox = &mut self.connection.borrow_mut().inbox;
        let is_over = inbox.over.is_some();
        for (id, own) in &mut inbox.subscriptions {
            let has_news = is_over || !own.messages.is_empty();
            if let Some(listener) = own.listener.as_mut().filter(|_| has_news)
                && listener.queued != now
            {
                listener.queued = now;
                let (me, id) = (Rc::clone(&me), id.clone());
                vu.events.push(Box::new(move |ctx, vu| me.tell(ctx, vu, &id)));
            }
        }
    }

    /// Hands a listener its message, or says why there will be none.
    fn tell(&self, ctx: &Ctx<'_>, vu: &Vu, id: &str) -> rquickjs::Result<()> {
        let Some((listener, arrived, why)) = self.heard(id) else { return Ok(()) };
        let function = listener.function.restore(ctx)?;
        let Metrics { read_time, read, read_error, .. } = self.terms.metrics;
        let took = vu.now().since(listener.since) as f64 / 1e6;
        self.observe(vu, read_time, took, &self.terms.tags);
        match arrived {
            Some(arrived) => {
                self.observe(vu, read, 1.0, &self.terms.tags);
                let body = ArrayBuffer::new(ctx.clone(), arrived.body)?;
                function.call::<_, ()>((Undefined, body, arrived.headers)).inspect_err(|_| {
                    self.observe(vu, read_error, 1.0, &self.terms.tags);
                })
            }
            None => {
                self.observe(vu, read_error, 1.0, &self.terms.tags);
                function.call((why,))
            }
        }
    }

    fn heard(&self, id: &str) -> Option<(Listener, Option<Arrived>, Option<String>)> {
        let inbox = &mut self.connection.borrow_mut().inbox;
        let listener = inbox.subscriptions.get_mut(id)?.listener.take()?;
        Some((listener, inbox.next(id), inbox.over.clone()))
    }

    /// The script ends it: nobody hears of that.
    pub(super) fn leave(&self, vu: &Rc<Vu>) {
        let connection = &mut *self.connection.borrow_mut();
        connection.inbox.has_left = true;
        connection.inbox.subscriptions.clear();
        connection.inbox.unread = 0;
        if connection.inbox.over.is_none() {
            connection.inbox.end("connection already closed");
            connection.hang_up(vu);
            connection.count(vu);
        }
        self.sleep.take();
    }

    /// A listener for the next message.
    pub(super) fn listen<'js>(
        &self,
        ctx: &Ctx<'js>,
        id: &str,
        function: rquickjs::Function<'js>,
    ) -> rquickjs::Result<()> {
        let vu = Vu::of(ctx);
        if vu.phase.get() == Phase::Init {
            return Err(go_error(ctx, "a stomp listener in the init context is not supported"));
        }
        let mut connection = self.connection.borrow_mut();
        // A script that asks again after the end would otherwise be told of it for ever.
        if let Some(why) = &connection.inbox.over {
            return Err(go_error(ctx, why));
        }
        let Some(own) = connection.inbox.subscriptions.get_mut(id) else {
            return Err(go_error(ctx, "subscription is unsubscribed"));
        };
        let function = Persistent::save(ctx, function);
        own.listener = Some(Listener { function, since: vu.now(), queued: None });
        drop(connection);
        self.queue_listeners(&vu);
        Ok(())
    }
}

impl StompConnection {
    /// Says something where silence has lasted too long.
    fn beat(&mut self, vu: &Vu) {
        if let Some(beats) = &mut self.beats
            && beats.send.is_some_and(|ns| vu.now() >= beats.said.plus(ns))
        {
            beats.said = vu.now();
            // Data that still waits for the server is as good a sign of life, once it goes out.
            if self.carrier.unsent() == 0 {
                self.carrier.send(HEART_BEAT);
            }
        }
    }

    fn judge_silence(&mut self, vu: &Vu, was_heard: bool) {
        let Some(beats) = &mut self.beats else { return };
        if was_heard {
            beats.heard = vu.now();
        } else if let Some(ns) = beats.receive
            && vu.now() >= beats.heard.plus(ns)
        {
            self.inbox.end(format!("read timeout: no heart-beat from the server for {} ms", ns / 1_000_000));
        }
    }

    /// Bytes that wait for the kernel.
    pub(super) fn unsent(&self) -> usize {
        self.carrier.unsent()
    }

    fn expires(&self) -> Option<At> {
        let beats = self.beats.as_ref().filter(|_| self.inbox.over.is_none())?;
        let after = |since: At, ns: Option<i64>| Some(since.plus(ns?));
        [after(beats.said, beats.send), after(beats.heard, beats.receive)].into_iter().flatten().min()
    }

    fn hang_up(&mut self, vu: &Vu) {
        let clock = || vu.now();
        let mut scratch = vu.shard.scratch.borrow_mut();
        self.carrier.close(&mut Env { present: &Present::new(&clock), scratch: &mut scratch });
    }

    fn count(&mut self, vu: &Vu) {
        let (sent, received) = self.carrier.take_bytes();
        vu.traffic.add(sent, received);
    }
}

impl Beats {
    /// From what CONNECTED says; None: it says what nobody can read, which ends the session, or nothing.
    fn agreed(ours: HeartBeat, inbox: &mut Inbox, now: At) -> Option<Beats> {
        let headers = inbox.connected.as_deref().unwrap_or_default();
        match HeartBeat::from_header(value(headers, "heart-beat")) {
            Ok(theirs) => {
                let agreed = ours.agree(theirs);
                // Ours a tenth early: nobody has to grant us a margin. The server's twice as long, because we grant
                // one.
                let send = agreed.send_every.map(|ms| i64::from(ms) * 900_000);
                let receive = agreed.receive_every.map(|ms| i64::from(ms) * 2_000_000);
                (send.is_some() || receive.is_some()).then_some(Beats {
                    send,
                    receive,
                    said: now,
                    heard: now,
                })
            }
            Err(violation) => {
                inbox.end(violation.to_string());
                None
            }
        }
    }
}

/// A frame, or a piece of one, for who looks.
fn shown(vu: &Vu, which: &str, bytes: &[u8]) {
    vu.shard.say(Level::Info, format!("{which}: {}", String::from_utf8_lossy(bytes)), Vec::new());
}

impl Source for Session {
    fn poll(&self, vu: &Rc<Vu>, cx: &mut Context<'_>) -> Poll<()> {
        self.drive(vu, cx, false);
        self.queue_listeners(vu);
        let inbox = &self.connection.borrow().inbox;
        if inbox.over.is_some() && !inbox.has_listeners() { Poll::Ready(()) } else { Poll::Pending }
    }

    fn is_kept(&self) -> bool {
        self.terms.is_kept && self.is_open()
    }

    fn holds(&self) -> bool {
        self.connection.borrow().inbox.has_listeners()
    }

    /// An open session says goodbye, as far as that goes at once.
    fn end(&self, vu: &Rc<Vu>) {
        if self.is_open() {
            let mut frame = Vec::new();
            if Writer::new(Command::Disconnect, self.version(), &mut frame).end().is_ok() {
                self.queue(vu, &frame);
                let _ = self.poll_flush(&mut Context::from_waker(Waker::noop()));
            }
        }
        self.leave(vu);
    }
}
