//! A STOMP session, whatever carries its frames: messages and receipts out, acknowledgements and heart-beats back.

use sonagi_measure::At;
use sonagi_measure::outcome::Failure;
use sonagi_wire::sockjs;
use sonagi_wire::stomp::{
    self, AckId, Command, Decoder, Frame, HEART_BEAT, HeartBeat, Limits, Side, Version, Versions,
};
use sonagi_wire::websocket::{Event, Opcode};

use super::super::channel::{Outbox, is_an_end};
use super::super::drive::{Ended, Incoming};
use super::StompAck;
use super::protocol;

/// The id of our DISCONNECT's receipt; other ids are numbers.
pub(super) const GOODBYE: &str = "goodbye";

/// The limit on waiting for the DISCONNECT's receipt (ns).
const GOODBYE_NS: i64 = 250_000_000;

/// Limit on unsent bytes of acknowledgements, for a server that sends and does not read.
const MAX_UNSENT_ACKS: usize = 1 << 20;

/// Capacity that an idle session's buffers may keep: most messages are smaller.
const KEPT_CAPACITY: usize = 1024;

/// Bytes of an ERROR frame's body shown in the detail.
const SHOWN_BODY: usize = 200;

/// Limit on a line in a frame's head, in bytes. Brokers put a stack trace into one header.
const MAX_LINE: u32 = 64 << 10;
const MAX_HEADERS: u16 = 256;

/// A session, from its CONNECT on.
pub(super) struct StompSession {
    decoder: Decoder,
    /// Whether SockJS wraps the frames.
    wrapped: bool,
    ours: HeartBeat,
    /// Nanoseconds since our last frame after which a heart-beat is due.
    beats: Option<i64>,
    /// Nanoseconds of silence after which the server counts as dead.
    patience: Option<i64>,
    /// None until the first drive: there is no clock before it.
    heard: Option<At>,
    said: Option<At>,
    /// Whether anything arrived, or was queued, since the clock was read last.
    hears: bool,
    says: bool,
    subscriptions: Subscriptions,
    goodbye: Goodbye,
    buffers: Buffers,
}

/// The subscriptions, in the order of their numbers.
#[derive(Default)]
struct Subscriptions {
    /// The acknowledgement mode of each: a byte per SUBSCRIBE.
    modes: Vec<StompAck>,
    /// Whether any of them acknowledges.
    acknowledges: bool,
}

/// Buffers for rewriting; between drives no more than [`KEPT_CAPACITY`] each.
#[derive(Default)]
struct Buffers {
    /// A message without SockJS's escapes.
    plain: String,
    /// A frame of ours.
    frame: Vec<u8>,
    /// The same frame, wrapped.
    wrapped: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Goodbye {
    Unsaid,
    /// The DISCONNECT is queued; there is no clock to say since when.
    Said,
    Since(At),
    Answered,
}

impl StompSession {
    pub(super) fn new(versions: Versions, ours: HeartBeat, wrapped: bool, max_body: usize) -> StompSession {
        let body = u32::try_from(max_body).unwrap_or(u32::MAX);
        let limits = Limits { line: MAX_LINE, headers: MAX_HEADERS, body };
        StompSession {
            decoder: Decoder::new(Side::Client, versions, limits),
            wrapped,
            ours,
            beats: None,
            patience: None,
            heard: None,
            said: None,
            hears: false,
            says: false,
            subscriptions: Subscriptions::default(),
            goodbye: Goodbye::Unsaid,
            buffers: Buffers::default(),
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.decoder.version().is_some()
    }

    pub(super) fn version(&self) -> Version {
        self.decoder.version().unwrap_or(Version::V1_0)
    }

    pub(super) fn is_wrapped(&self) -> bool {
        self.wrapped
    }

    /// The next subscription's id.
    pub(super) fn next_subscription(&self) -> String {
        format!("sub-{}", self.subscriptions.modes.len())
    }

    pub(super) fn subscribed(&mut self, ack: StompAck) {
        self.subscriptions.modes.push(ack);
        self.subscriptions.acknowledges |= ack != StompAck::Auto;
    }

    pub(super) fn is_leaving(&self) -> bool {
        self.goodbye != Goodbye::Unsaid
    }

    pub(super) fn leave(&mut self) {
        self.goodbye = Goodbye::Said;
    }

    /// Whether nothing more is awaited.
    pub(super) fn has_left(&self) -> bool {
        self.goodbye == Goodbye::Answered
    }

    /// Queues a frame.
    pub(super) fn say(&mut self, frame: &[u8], is_text: bool, outbox: &mut Outbox) {
        self.says = true;
        if self.wrapped {
            // Only text gets here.
            push_wrapped(&String::from_utf8_lossy(frame), &mut self.buffers.wrapped, outbox);
        } else {
            outbox.push(if is_text { Opcode::Text } else { Opcode::Binary }, frame);
        }
    }

    /// Whether heart-beats or a goodbye need the clock: it is not read otherwise.
    pub(super) fn keeps_time(&self) -> bool {
        self.beats.is_some() || self.patience.is_some() || self.is_leaving()
    }

    /// The latest instant at which the session must be driven: to send a heart-beat, to give a goodbye up, or to end
    /// because of the server's silence.
    pub(super) fn expires(&self) -> Option<At> {
        let goodbye = match self.goodbye {
            Goodbye::Since(since) => Some(since.plus(GOODBYE_NS)),
            _ => None,
        };
        [after(self.said, self.beats), self.dies(), goodbye].into_iter().flatten().min()
    }

    fn dies(&self) -> Option<At> {
        after(self.heard, self.patience)
    }

    /// Queues a due heart-beat, before the drive writes.
    pub(super) fn begin_drive(&mut self, now: At, outbox: &mut Outbox) {
        match self.goodbye {
            Goodbye::Said => self.goodbye = Goodbye::Since(now),
            Goodbye::Since(since) if now >= since.plus(GOODBYE_NS) => self.goodbye = Goodbye::Answered,
            _ => {}
        }
        if std::mem::take(&mut self.says) || self.said.is_none() {
            self.said = Some(now);
        }
        if after(self.said, self.beats).is_some_and(|due| now >= due) {
            self.said = Some(now);
            // Frames still waiting for a server that reads nothing are as good a sign of life, once they are sent.
            if outbox.is_empty() {
                self.say(HEART_BEAT, true, outbox);
            }
        }
    }

    /// Checks how long the server has been silent.
    pub(super) fn end_drive(&mut self, now: At) -> Result<(), Ended> {
        if std::mem::take(&mut self.says) {
            self.said = Some(now);
        }
        if std::mem::take(&mut self.hears) || self.heard.is_none() {
            self.heard = Some(now);
        }
        if self.dies().is_some_and(|dies| now >= dies) {
            let limit = self.patience.unwrap_or_default() / 1_000_000;
            return Err(Ended::failed(
                Failure::Timeout,
                format!("no heart-beat from the server for {limit} ms"),
            ));
        }
        Ok(())
    }

    /// The meaning of a connection's end for the session.
    pub(super) fn ended(&self, ended: Ended) -> Ended {
        if self.is_leaving() && is_an_end(&ended) {
            return Ended::by_us();
        }
        match ended.failure {
            Some(Failure::Closed(_)) if !self.decoder.is_idle() => Ended::failed(
                Failure::ClosedEarly,
                format!("{}, in the middle of a STOMP frame", ended.detail),
            ),
            _ => ended,
        }
    }

    /// Takes one message while the session is being opened; `connect` is our CONNECT frame.
    pub(super) fn open(
        &mut self,
        event: Event<'_>,
        connect: &[u8],
        outbox: &mut Outbox,
    ) -> Result<(), Ended> {
        let is_asked = self.says;
        if self.wrapped && !is_asked && matches!(event, Event::Text(sockjs::OPEN)) {
            self.say(connect, true, outbox);
            return Ok(());
        }
        let mut is_early = false;
        self.receive(event, outbox, &mut |_| is_early = true)?;
        if is_early {
            return Err(protocol(
                "a stomp server must be asked before it answers, got a frame before we asked",
            ));
        }
        Ok(())
    }

    /// Takes one message of the WebSocket.
    #[inline]
    pub(super) fn receive(
        &mut self,
        event: Event<'_>,
        outbox: &mut Outbox,
        on: &mut dyn FnMut(Incoming<'_>),
    ) -> Result<(), Ended> {
        let bytes = match event {
            // No sign of life of the broker's own.
            Event::Ping(_) | Event::Pong(_) | Event::Close { .. } => return Ok(()),
            Event::Text(text) if self.wrapped => {
                self.hears = true;
                return self.unwrap(text, outbox, on);
            }
            Event::Binary(_) if self.wrapped => {
                return Err(protocol("sockjs frames must be text messages, got a binary one"));
            }
            Event::Text(text) => text.as_bytes(),
            Event::Binary(bytes) => bytes,
        };
        self.hears = true;
        self.feed(bytes, outbox, on)
    }

    fn unwrap(
        &mut self,
        text: &str,
        outbox: &mut Outbox,
        on: &mut dyn FnMut(Incoming<'_>),
    ) -> Result<(), Ended> {
        if text.is_empty() {
            // Some servers send heartbeats before the open frame; SockJS's own client ignores them, too.
            return Ok(());
        }
        match sockjs::decode(text).map_err(protocol)? {
            sockjs::Frame::Heartbeat => Ok(()),
            sockjs::Frame::Open => Err(protocol("a sockjs session must be opened once, got it again")),
            sockjs::Frame::Messages(mut messages) => {
                let mut plain = std::mem::take(&mut self.buffers.plain);
                let mut fed = Ok(());
                while fed.is_ok()
                    && let Some(message) = messages.next_in(&mut plain)
                {
                    fed = self.feed(message.as_bytes(), outbox, on);
                }
                if plain.capacity() <= KEPT_CAPACITY {
                    self.buffers.plain = plain;
                }
                fed
            }
            sockjs::Frame::Close { code, reason } => {
                let detail = format!("the server closed the SockJS session with code {code}: {reason}");
                Err(match code {
                    // SockJS's regular close code.
                    3000 => Ended::goodbye(Failure::Closed(code), detail),
                    code => Ended::failed(Failure::Closed(code), detail),
                })
            }
        }
    }

    #[inline]
    fn feed(
        &mut self,
        bytes: &[u8],
        outbox: &mut Outbox,
        on: &mut dyn FnMut(Incoming<'_>),
    ) -> Result<(), Ended> {
        let StompSession {
            decoder,
            subscriptions,
            buffers,
            goodbye,
            ours,
            beats,
            patience,
            wrapped,
            says,
            ..
        } = self;
        let mut was_open = decoder.version().is_some();
        let mut outcome = Ok(());
        let fed = decoder.feed(bytes, |event| {
            let stomp::Event::Frame(frame) = event else { return };
            if outcome.is_err() {
                return;
            }
            outcome = match frame.command {
                Command::Message if !subscriptions.acknowledges => deliver(&frame, on),
                Command::Message => deliver(&frame, on).and_then(|()| {
                    let is_owed = subscriptions.acknowledge(&frame, &mut buffers.frame)?;
                    *says |= is_owed;
                    if is_owed { push_ack(buffers, *wrapped, outbox) } else { Ok(()) }
                }),
                Command::Receipt => receipt(&frame, goodbye, on),
                Command::Error => Err(broker_error(&frame)),
                _ if std::mem::replace(&mut was_open, true) => {
                    Err(protocol("a stomp session must be opened once, got CONNECTED again"))
                }
                _ => heart_beats(&frame, *ours).map(|agreed| (*beats, *patience) = agreed),
            };
        });
        outcome.and_then(|()| fed.map_err(protocol))
    }
}

fn after(since: Option<At>, ns: Option<i64>) -> Option<At> {
    Some(since?.plus(ns?))
}

/// The heart-beats agreed by CONNECTED, in ns: the interval of ours, and the longest silence of the server's.
fn heart_beats(connected: &Frame<'_>, ours: HeartBeat) -> Result<(Option<i64>, Option<i64>), Ended> {
    if connected.version == Version::V1_0 {
        return Ok((None, None));
    }
    let theirs = connected.header("heart-beat").map_err(protocol)?;
    let agreed = ours.agree(HeartBeat::from_header(theirs.as_deref()).map_err(protocol)?);
    // Ours a tenth early: nobody has to grant us a margin. The server's twice as long, because we grant one.
    let beats = agreed.send_every.map(|ms| i64::from(ms) * 900_000);
    let patience = agreed.receive_every.map(|ms| i64::from(ms) * 2_000_000);
    Ok((beats, patience))
}

#[inline]
fn deliver(message: &Frame<'_>, on: &mut dyn FnMut(Incoming<'_>)) -> Result<(), Ended> {
    let topic = message.required("destination").map_err(protocol)?;
    match std::str::from_utf8(message.body) {
        Ok(text) => on(Incoming::Message { topic: &topic, text }),
        // Stamps and steps look at text; the rest of such a body is of no use to either.
        Err(_) => on(Incoming::Message { topic: &topic, text: &String::from_utf8_lossy(message.body) }),
    }
    Ok(())
}

fn receipt(frame: &Frame<'_>, goodbye: &mut Goodbye, on: &mut dyn FnMut(Incoming<'_>)) -> Result<(), Ended> {
    let id = frame.required("receipt-id").map_err(protocol)?;
    if id == GOODBYE {
        *goodbye = Goodbye::Answered;
    } else {
        on(Incoming::Receipt { id: &id });
    }
    Ok(())
}

impl Subscriptions {
    /// Writes the acknowledgement that a message wants; returns whether there is one.
    fn acknowledge(&self, message: &Frame<'_>, out: &mut Vec<u8>) -> Result<bool, Ended> {
        let number = message.raw("subscription").and_then(subscription_number);
        let mode = number.and_then(|number| self.modes.get(number)).copied().unwrap_or_default();
        if mode == StompAck::Auto {
            return Ok(false);
        }
        let Some(id) = AckId::of(message).map_err(protocol)? else { return Ok(false) };
        id.frame(Command::Ack, message.version, out).end().map_err(protocol)?;
        Ok(true)
    }
}

fn subscription_number(id: &[u8]) -> Option<usize> {
    std::str::from_utf8(id).ok()?.strip_prefix("sub-")?.parse().ok()
}

/// Queues the acknowledgement that was written.
fn push_ack(buffers: &mut Buffers, is_wrapped: bool, outbox: &mut Outbox) -> Result<(), Ended> {
    if outbox.unsent() > MAX_UNSENT_ACKS {
        let detail =
            format!("the server reads nothing while {MAX_UNSENT_ACKS} bytes of acknowledgements wait");
        return Err(Ended::failed(Failure::Timeout, detail));
    }
    if is_wrapped {
        push_wrapped(&String::from_utf8_lossy(&buffers.frame), &mut buffers.wrapped, outbox);
    } else {
        outbox.push(Opcode::Text, &buffers.frame);
    }
    buffers.frame.clear();
    buffers.frame.shrink_to(KEPT_CAPACITY);
    Ok(())
}

/// Queues a frame in SockJS's wrapping.
fn push_wrapped(frame: &str, room: &mut Vec<u8>, outbox: &mut Outbox) {
    sockjs::messages([frame], room);
    outbox.push(Opcode::Text, room);
    room.clear();
    room.shrink_to(KEPT_CAPACITY);
}

#[cold]
fn broker_error(error: &Frame<'_>) -> Ended {
    let message = error.header("message").ok().flatten().unwrap_or_default();
    let body = String::from_utf8_lossy(&error.body[..error.body.len().min(SHOWN_BODY)]);
    let detail = match (message.trim(), body.trim()) {
        ("", "") => "the server sent an ERROR frame without a word".to_owned(),
        (message, "") => format!("the server sent ERROR: {message}"),
        ("", body) => format!("the server sent ERROR: {body}"),
        (message, body) => format!("the server sent ERROR: {message}: {body}"),
    };
    Ended::failed(Failure::BrokerError, detail)
}
