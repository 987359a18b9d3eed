//! Steps of event streams, polling, long polling and STOMP, and what a lost connection is opened again with.
//!
//! A user has one real-time connection. What opened it ([`Step::Open`]) and what it was told of since
//! ([`Step::Subscribe`]) are kept by the user as a plan: a reconnect takes them again, with the cursor of what
//! arrived before.

use sonagi_measure::outcome::{CountedAs, OperationId};
use sonagi_transport::link::{PollCursor, PollField, Rhythm, StompAck, StompVersion};
use std::time::Duration;

use super::source::Awaited;
use super::step::{Content, Step};
use super::template::Template;

/// Being told of a room's messages from here on.
#[derive(Clone, Debug)]
pub struct Subscribe {
    /// The steps that resume a subscription, in order; the last is usually [`Step::Join`].
    pub steps: Vec<Step>,
    /// Whether a second subscription takes up where the connection before it broke off: nothing that was sent in
    /// between is to be missing.
    pub resumes: bool,
}

/// Opening an event stream: it is the user's connection from its head on.
#[derive(Clone, Debug)]
pub struct SseOpen {
    /// The operation it is counted and timed as: until the response's head.
    pub operation: CountedAs,
    /// Absolute, or relative to the target.
    pub url: Template,
    /// Names and values; a pair whose value renders empty is left out. `last-event-id` is added when it resumes.
    pub headers: Vec<(String, Template)>,
    /// Longest wait for the head before it counts as failed.
    pub timeout: Duration,
}

/// Asking again and again: short polling, or long polling where the answer is held back until there is news.
#[derive(Clone, Debug)]
pub struct PollOpen {
    /// The operation of the first answer, by which the user is subscribed.
    pub operation: CountedAs,
    /// The operation of every further answer.
    pub again: CountedAs,
    /// Absolute, or relative to the target; without the cursor.
    pub url: Template,
    /// Names and values; a pair whose value renders empty is left out.
    pub headers: Vec<(String, Template)>,
    /// How the target is told what has been received already.
    pub cursor: Option<PollCursor>,
    /// Where an answer says that it was cut short: what is there and neither `null`, `false`, 0 nor empty text.
    pub more: Option<PollField>,
    /// When the next request leaves.
    pub rhythm: Rhythm,
    /// Statuses that say there is nothing new, beside 204, 304 and an empty 200.
    pub empty: Vec<u16>,
    /// The member of the response's JSON object that lists the messages; an array is its own list. Anything else is one
    /// message.
    pub messages: String,
    /// Longest wait for a whole answer before it counts as failed. A held one may take so much longer than
    /// `Rhythm::Held`.
    pub timeout: Duration,
}

/// Opening a STOMP session over a WebSocket.
#[derive(Clone, Debug)]
pub struct StompConnect {
    /// The operation it is counted and timed as: until CONNECTED.
    pub operation: CountedAs,
    /// Absolute (ws, wss, http, https), or relative to the target.
    pub url: Template,
    /// Headers of the WebSocket's handshake.
    pub headers: Vec<(String, Template)>,
    /// Headers of the CONNECT frame (`login`, `passcode`, `host`, …), beside those of the protocol.
    pub connect_headers: Vec<(String, Template)>,
    /// Offered; at least one.
    pub versions: Vec<StompVersion>,
    /// The intervals at which we can send and want to receive heart-beats, in milliseconds; 0 is never.
    pub heart_beat: (u32, u32),
    /// Wrapped in SockJS (its `websocket` transport): the URL is the SockJS endpoint's prefix.
    pub sockjs: bool,
    /// Longest wait before it counts as failed.
    pub timeout: Duration,
}

/// Subscribing to a destination.
#[derive(Clone, Debug)]
pub struct StompSubscribe {
    /// The operation it is counted and timed as: until its receipt, or until the kernel has taken it.
    pub operation: CountedAs,
    /// Where.
    pub destination: Template,
    /// Headers of the SUBSCRIBE frame; a pair whose value renders empty is left out.
    pub headers: Vec<(String, Template)>,
    /// Acknowledged by us as soon as they arrive.
    pub ack: StompAck,
    /// Asks for a receipt and waits for it.
    pub receipt: bool,
    /// Longest wait before it counts as failed.
    pub timeout: Duration,
}

/// Sending to a destination.
#[derive(Clone, Debug)]
pub struct StompSend {
    /// The operation it is counted and timed as: until its receipt, its answer, or until the kernel has taken it.
    pub operation: CountedAs,
    /// Where to.
    pub destination: Template,
    /// Headers of the SEND frame; a pair whose value renders empty is left out.
    pub headers: Vec<(String, Template)>,
    /// The body.
    pub content: Content,
    /// Asks for a receipt and waits for it: what says that the target has the message.
    pub receipt: bool,
    /// Waits for a message after it.
    pub response: Option<Awaited>,
    /// Longest wait for the receipt before it counts as failed.
    pub timeout: Duration,
}

/// Opening a connection again after it was lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reconnect {
    /// The operation it is counted and timed as: from the loss until all subscriptions are confirmed again.
    pub operation: OperationId,
    /// Whether a connection that is lost is opened again by itself; `reconnect` steps do it in any case.
    pub is_automatic: bool,
    /// The first wait is drawn between none and this (full jitter), each further one from twice as much.
    pub first: Duration,
    /// The longest a wait may be drawn from.
    pub most: Duration,
    /// Attempts before the user gives up.
    pub attempts: u32,
    /// Whether the cursor is used.
    pub resume: bool,
}
