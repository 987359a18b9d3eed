//! The messages on a user's connection, and those that a step waits for.
//!
//! Every message is counted and searched for stamps; only what a step awaits (or, in a flow with `expect` steps, may
//! still await) is kept.

use serde_json::Value;
use sonagi_measure::At;
use sonagi_measure::ledger::Member;
use sonagi_measure::outcome::{CountedAs, Failure, Outcome, Timing};
use sonagi_measure::recorder::{Counter, Recorder};
use sonagi_wire::socketio;
use std::collections::VecDeque;

use super::evidence::Evidence;
use super::refusal::is_refusal;
use sonagi_engine::delivery::track;
use sonagi_transport::link::{Incoming, WebsocketEvent};

/// Messages kept for a step that waits, or for later ones; the oldest are dropped beyond it.
const KEPT_MESSAGES: usize = 256;

/// A user's post. A user that only listens holds no more than this: the rest is made when it is needed.
#[derive(Default)]
pub(crate) struct Inbox {
    held: Option<Box<Held>>,
    namespaces: Option<Box<Namespaces>>,
    acks: u32,
    keeps_all: bool,
    has_acknowledgement: bool,
    /// The counter of messages on the current connection.
    received: Option<Counter>,
    /// The operation that its polls are recorded as.
    poll: Option<CountedAs>,
}

/// Messages for steps that wait, and for later ones.
#[derive(Default)]
struct Held {
    awaited: Option<AwaitedEvent>,
    answers: VecDeque<AwaitedAnswer>,
    kept: VecDeque<AwaitedAnswer>,
    /// The receipt that is awaited, beside whatever else is, and when it came.
    receipt: Option<(u64, Option<At>)>,
}

/// The state of a Socket.IO session, as its server told it.
#[derive(Default)]
struct Namespaces {
    connected: Vec<String>,
    refusal: Option<String>,
    dismissal: Option<String>,
}

/// The demands of a step that waits while other steps have their turn.
pub(crate) struct Aside {
    awaited: Option<AwaitedEvent>,
    kept: VecDeque<AwaitedAnswer>,
}

/// The event that a step waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AwaitedEvent {
    /// The acknowledgement with this id.
    Ack(u64),
    /// A Socket.IO event of this name, or a message of this event type or destination.
    Event(String),
    /// Any message.
    Any,
}

/// A message a step waited for: text, or the JSON array of an event's or acknowledgement's arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AwaitedAnswer {
    pub(crate) at: At,
    kind: AnswerKind,
    text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum AnswerKind {
    Message,
    /// With its event type or destination.
    Topic(String),
    /// With its name.
    Event(Option<String>),
    Acknowledgement,
}

impl Inbox {
    /// Takes one message in. On the hot path: no allocation unless a step wants the message.
    pub(crate) fn receive(
        &mut self,
        incoming: Incoming<'_>,
        at: At,
        member: Member,
        run: u32,
        recorder: &mut Recorder,
    ) {
        match incoming {
            Incoming::Websocket(WebsocketEvent::Text(text)) => {
                self.count(recorder);
                track(text.as_bytes(), at, member, run, recorder.ledger());
                self.offer_message(text, at);
            }
            Incoming::Websocket(WebsocketEvent::Binary(bytes)) => {
                self.count(recorder);
                track(bytes, at, member, run, recorder.ledger());
                if self.awaited().is_some() || self.keeps_all {
                    self.offer_message(&String::from_utf8_lossy(bytes), at);
                }
            }
            // No messages: the link answers them.
            Incoming::Websocket(_) => {}
            Incoming::Event { data, attachments, .. } => {
                self.count(recorder);
                track(data.as_bytes(), at, member, run, recorder.ledger());
                for attachment in attachments {
                    track(attachment, at, member, run, recorder.ledger());
                }
                self.offer_event(data, at);
            }
            // An acknowledgement may echo the message: it is no delivery, so it is not searched for stamps.
            Incoming::Ack { id, data, .. } => {
                self.count(recorder);
                if self.awaited() == Some(&AwaitedEvent::Ack(id)) {
                    self.has_acknowledgement = true;
                    self.offer(AwaitedAnswer {
                        at,
                        kind: AnswerKind::Acknowledgement,
                        text: data.to_owned(),
                    });
                }
            }
            Incoming::Message { topic, text } => {
                self.count(recorder);
                track(text.as_bytes(), at, member, run, recorder.ledger());
                self.offer_topic(topic, text, at);
            }
            Incoming::Receipt { id } => {
                if let Some((awaited, came)) = self.held.as_mut().and_then(|held| held.receipt.as_mut())
                    && id.parse() == Ok(*awaited)
                {
                    *came = Some(at);
                }
            }
            // Whatever becomes of the connection: the status has been seen.
            Incoming::PollRefused { status } => recorder.status(status),
            Incoming::Polled { .. } | Incoming::PollFailed { .. } => self.note_poll(incoming, recorder),
            Incoming::Connected { namespace } => self.namespaces().connected.push(namespace.to_owned()),
            Incoming::Refused { namespace, data } => {
                self.namespaces().refusal = Some(format!("{namespace}: {data}"));
            }
            Incoming::Disconnected { namespace } => self.namespaces().dismissal = Some(namespace.to_owned()),
        }
    }

    fn count(&self, recorder: &mut Recorder) {
        recorder.add(Counter::MessagesReceived, 1);
        if let Some(received) = self.received {
            recorder.add(received, 1);
        }
    }

    /// A connection was opened whose messages are counted so.
    pub(crate) fn begin_session(&mut self, received: Counter) {
        self.received = Some(received);
    }

    /// From now on polls are recorded as this operation.
    pub(crate) fn record_polls(&mut self, operation: CountedAs) {
        self.poll = Some(operation);
    }

    /// Records a poll; the first is its step's operation, and only counted here.
    fn note_poll(&self, incoming: Incoming<'_>, recorder: &mut Recorder) {
        recorder.add(Counter::Polls, 1);
        match (incoming, self.poll) {
            (Incoming::Polled { planned, started, ended, status, is_empty, is_first, opened }, operation) => {
                recorder.add(Counter::PollsEmpty, u64::from(is_empty));
                count_reopened(recorder, opened);
                if let Some(operation) = operation.filter(|_| !is_first) {
                    let timing = Timing { planned, started, first_byte: None, ended };
                    recorder.operation(operation, timing, Outcome::Status(status));
                }
            }
            (Incoming::PollFailed { planned, started, ended, failure, detail, opened }, Some(operation)) => {
                count_reopened(recorder, opened);
                if let Failure::PollRefused(status) = failure {
                    recorder.status(status);
                }
                let timing = Timing { planned, started, first_byte: None, ended };
                recorder.operation(operation, timing, Outcome::Failed(failure));
                recorder.failure(Some(operation.id), failure, || detail.to_owned());
            }
            _ => {}
        }
    }

    /// From now on keeps messages nobody waits for yet, for `expect` steps to come.
    pub(crate) fn keep_all(&mut self) {
        self.keeps_all = true;
    }

    /// Starts waiting; what was kept and fits is an answer already.
    pub(crate) fn await_answer(&mut self, awaited: AwaitedEvent) {
        self.has_acknowledgement = false;
        let fits = |answer: &AwaitedAnswer| match &awaited {
            AwaitedEvent::Ack(_) => false,
            AwaitedEvent::Event(name) => answer.kind.is_named(name),
            AwaitedEvent::Any => true,
        };
        if let Some(held) = &mut self.held {
            (held.answers, held.kept) = held.kept.drain(..).partition(fits);
        }
        self.held().awaited = Some(awaited);
    }

    /// The next message that fits what is awaited.
    pub(crate) fn take_answer(&mut self) -> Option<AwaitedAnswer> {
        self.held.as_mut()?.answers.pop_front()
    }

    /// Whether the acknowledgement awaited last has come, and was no refusal.
    pub(crate) fn was_acknowledged(&self) -> bool {
        self.has_acknowledgement
    }

    /// The acknowledgement that has come refuses: the target does not have what it answers.
    pub(crate) fn take_as_refused(&mut self) {
        self.has_acknowledgement = false;
    }

    /// Stops waiting; in a flow with `expect` steps, what else fitted is kept for them.
    pub(crate) fn stop_awaiting(&mut self) {
        let Some(held) = &mut self.held else { return };
        let awaited = held.awaited.take();
        let answers = std::mem::take(&mut held.answers);
        if self.keeps_all && !matches!(awaited, Some(AwaitedEvent::Ack(_))) {
            for answer in answers {
                self.keep(answer);
            }
        }
    }

    /// Stops waiting for a while: what is put back waits on for the same, and finds all that was kept meanwhile.
    pub(crate) fn set_aside(&mut self) -> Aside {
        let awaited = self.awaited().cloned();
        self.stop_awaiting();
        Aside { awaited, kept: self.take_kept() }
    }

    /// Goes on with what was set aside.
    pub(crate) fn put_back(&mut self, aside: Aside) {
        self.stop_awaiting();
        for answer in std::mem::replace(&mut self.held().kept, aside.kept) {
            self.keep(answer);
        }
        if let Some(awaited) = aside.awaited {
            self.await_answer(awaited);
        }
    }

    /// A fresh acknowledgement id.
    pub(crate) fn draw_ack(&mut self) -> u64 {
        let ack = self.acks;
        // Only the one that is awaited must differ from the one before.
        self.acks = self.acks.wrapping_add(1);
        u64::from(ack)
    }

    /// A fresh receipt id; from now on its receipt is awaited, and no other. Messages may be awaited beside it: an
    /// answer can overtake it.
    pub(crate) fn await_receipt(&mut self) -> u64 {
        let id = self.draw_ack();
        self.held().receipt = Some((id, None));
        id
    }

    /// When the receipt came.
    pub(crate) fn take_receipt(&mut self) -> Option<At> {
        let receipt = &mut self.held.as_mut()?.receipt;
        let came = (*receipt)?.1;
        if came.is_some() {
            *receipt = None;
        }
        came
    }

    /// Whether a namespace is connected.
    pub(crate) fn is_connected(&self, namespace: &str) -> bool {
        let connected = self.namespaces.as_ref().map(|namespaces| &namespaces.connected);
        connected.is_some_and(|connected| connected.iter().any(|connected| connected == namespace))
    }

    /// The server's text when it refused a namespace.
    pub(crate) fn take_refusal(&mut self) -> Option<String> {
        self.namespaces.as_mut()?.refusal.take()
    }

    /// The namespace the server has disconnected us from.
    pub(crate) fn take_dismissal(&mut self) -> Option<String> {
        self.namespaces.as_mut()?.dismissal.take()
    }

    /// The session is gone: its namespaces with it.
    pub(crate) fn forget_session(&mut self) {
        self.namespaces = None;
    }

    fn offer_message(&mut self, text: &str, at: At) {
        if self.awaited() == Some(&AwaitedEvent::Any) {
            self.offer(AwaitedAnswer { at, kind: AnswerKind::Message, text: text.to_owned() });
        } else if self.keeps_all {
            self.keep(AwaitedAnswer { at, kind: AnswerKind::Message, text: text.to_owned() });
        }
    }

    fn offer_topic(&mut self, topic: &str, text: &str, at: At) {
        let is_awaited = match self.awaited() {
            Some(AwaitedEvent::Event(name)) => name == topic,
            Some(AwaitedEvent::Any) => true,
            Some(AwaitedEvent::Ack(_)) | None => false,
        };
        if !is_awaited && !self.keeps_all {
            return;
        }
        let answer = AwaitedAnswer { at, kind: AnswerKind::Topic(topic.to_owned()), text: text.to_owned() };
        if is_awaited {
            self.offer(answer);
        } else {
            self.keep(answer);
        }
    }

    fn offer_event(&mut self, data: &str, at: At) {
        if self.awaited().is_none() && !self.keeps_all {
            return;
        }
        let event = socketio::event_name(data).map(std::borrow::Cow::into_owned);
        let is_awaited = match self.awaited() {
            Some(AwaitedEvent::Event(name)) => event.as_deref() == Some(name),
            Some(AwaitedEvent::Any) => true,
            Some(AwaitedEvent::Ack(_)) | None => false,
        };
        let answer = AwaitedAnswer { at, kind: AnswerKind::Event(event), text: data.to_owned() };
        if is_awaited {
            self.offer(answer);
        } else if self.keeps_all {
            self.keep(answer);
        }
    }

    fn offer(&mut self, answer: AwaitedAnswer) {
        push_bounded(&mut self.held().answers, answer);
    }

    fn keep(&mut self, answer: AwaitedAnswer) {
        push_bounded(&mut self.held().kept, answer);
    }

    fn take_kept(&mut self) -> VecDeque<AwaitedAnswer> {
        self.held.as_mut().map(|held| std::mem::take(&mut held.kept)).unwrap_or_default()
    }

    fn awaited(&self) -> Option<&AwaitedEvent> {
        self.held.as_ref()?.awaited.as_ref()
    }

    fn held(&mut self) -> &mut Held {
        self.held.get_or_insert_default()
    }

    fn namespaces(&mut self) -> &mut Namespaces {
        self.namespaces.get_or_insert_default()
    }
}

impl AnswerKind {
    fn is_named(&self, wanted: &str) -> bool {
        match self {
            AnswerKind::Event(name) => name.as_deref() == Some(wanted),
            AnswerKind::Topic(topic) => topic == wanted,
            AnswerKind::Message | AnswerKind::Acknowledgement => false,
        }
    }
}

impl AwaitedAnswer {
    /// Whether it is an acknowledgement that refuses. One without any of these words does not, and need not be read.
    pub(crate) fn refuses(&self) -> bool {
        let may_refuse = || ["false", "err", "null"].iter().any(|word| self.text.contains(word));
        self.kind == AnswerKind::Acknowledgement
            && may_refuse()
            && self.evidence().arguments().is_some_and(is_refusal)
    }

    /// What captures, matches and comparisons look at: a message as it is; the arguments of an event or
    /// acknowledgement.
    pub(crate) fn evidence(&self) -> Evidence<'_> {
        if matches!(self.kind, AnswerKind::Message | AnswerKind::Topic(_)) {
            return Evidence::message(&self.text);
        }
        let Ok(Value::Array(mut items)) = serde_json::from_str(&self.text) else {
            return Evidence::message(&self.text);
        };
        if matches!(self.kind, AnswerKind::Event(_)) && !items.is_empty() {
            items.remove(0);
        }
        Evidence::of_arguments(items)
    }
}

/// The oldest makes room: what a step waits for is more likely among the newest.
fn push_bounded(queue: &mut VecDeque<AwaitedAnswer>, answer: AwaitedAnswer) {
    while queue.len() >= KEPT_MESSAGES {
        queue.pop_front();
    }
    queue.push_back(answer);
}

/// Connections that took the place of one that had ended.
fn count_reopened(recorder: &mut Recorder, opened: u64) {
    recorder.add(Counter::ConnectionsOpened, opened);
    recorder.add(Counter::ConnectionsClosed, opened);
}

#[cfg(test)]
mod tests;
