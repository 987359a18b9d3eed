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
use sonagi_engine::delivery::track;
use sonagi_transport::link::{Incoming, WebsocketEvent};

/// Messages kept for a step that waits, or for later ones; the oldest are dropped beyond it.
const KEPT_MESSAGES: usize = 256;

/// A user's post.
#[derive(Default)]
pub(crate) struct Inbox {
    awaited: Option<AwaitedEvent>,
    answers: VecDeque<AwaitedAnswer>,
    keeps_all: bool,
    kept: VecDeque<AwaitedAnswer>,
    namespaces: Vec<String>,
    refusal: Option<String>,
    dismissal: Option<String>,
    acks: u64,
    has_acknowledgement: bool,
    /// The receipt that is awaited, beside whatever else is, and when it came.
    receipt: Option<(u64, Option<At>)>,
    /// The counter of messages on the current connection.
    received: Option<Counter>,
    /// The operation that its polls are recorded as.
    poll: Option<CountedAs>,
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
                if self.awaited.is_some() || self.keeps_all {
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
                if self.awaited == Some(AwaitedEvent::Ack(id)) {
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
                if let Some((awaited, came)) = &mut self.receipt
                    && id.parse() == Ok(*awaited)
                {
                    *came = Some(at);
                }
            }
            // Whatever becomes of the connection: the status has been seen.
            Incoming::PollRefused { status } => recorder.status(status),
            Incoming::Polled { .. } | Incoming::PollFailed { .. } => self.note_poll(incoming, recorder),
            Incoming::Connected { namespace } => self.namespaces.push(namespace.to_owned()),
            Incoming::Refused { namespace, data } => self.refusal = Some(format!("{namespace}: {data}")),
            Incoming::Disconnected { namespace } => self.dismissal = Some(namespace.to_owned()),
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
        let (fitting, others): (VecDeque<_>, VecDeque<_>) = self.kept.drain(..).partition(fits);
        self.kept = others;
        self.answers = fitting;
        self.awaited = Some(awaited);
    }

    /// The next message that fits what is awaited.
    pub(crate) fn take_answer(&mut self) -> Option<AwaitedAnswer> {
        self.answers.pop_front()
    }

    /// Whether the acknowledgement awaited last has come, whatever it said.
    pub(crate) fn was_acknowledged(&self) -> bool {
        self.has_acknowledgement
    }

    /// Stops waiting; in a flow with `expect` steps, what else fitted is kept for them.
    pub(crate) fn stop_awaiting(&mut self) {
        let awaited = self.awaited.take();
        if self.keeps_all && !matches!(awaited, Some(AwaitedEvent::Ack(_))) {
            for answer in std::mem::take(&mut self.answers) {
                self.keep(answer);
            }
        }
        self.answers = VecDeque::new();
    }

    /// Stops waiting for a while: what is put back waits on for the same, and finds all that was kept meanwhile.
    pub(crate) fn set_aside(&mut self) -> Aside {
        let awaited = self.awaited.clone();
        self.stop_awaiting();
        Aside { awaited, kept: std::mem::take(&mut self.kept) }
    }

    /// Goes on with what was set aside.
    pub(crate) fn put_back(&mut self, aside: Aside) {
        self.stop_awaiting();
        for answer in std::mem::replace(&mut self.kept, aside.kept) {
            self.keep(answer);
        }
        if let Some(awaited) = aside.awaited {
            self.await_answer(awaited);
        }
    }

    /// A fresh acknowledgement id.
    pub(crate) fn draw_ack(&mut self) -> u64 {
        self.acks += 1;
        self.acks - 1
    }

    /// A fresh receipt id; from now on its receipt is awaited, and no other. Messages may be awaited beside it: an
    /// answer can overtake it.
    pub(crate) fn await_receipt(&mut self) -> u64 {
        let id = self.draw_ack();
        self.receipt = Some((id, None));
        id
    }

    /// When the receipt came.
    pub(crate) fn take_receipt(&mut self) -> Option<At> {
        let came = self.receipt?.1;
        if came.is_some() {
            self.receipt = None;
        }
        came
    }

    /// Whether a namespace is connected.
    pub(crate) fn is_connected(&self, namespace: &str) -> bool {
        self.namespaces.iter().any(|connected| connected == namespace)
    }

    /// The server's text when it refused a namespace.
    pub(crate) fn take_refusal(&mut self) -> Option<String> {
        self.refusal.take()
    }

    /// The namespace the server has disconnected us from.
    pub(crate) fn take_dismissal(&mut self) -> Option<String> {
        self.dismissal.take()
    }

    /// The session is gone: its namespaces with it.
    pub(crate) fn forget_session(&mut self) {
        self.namespaces = Vec::new();
        self.refusal = None;
        self.dismissal = None;
    }

    fn offer_message(&mut self, text: &str, at: At) {
        if self.awaited == Some(AwaitedEvent::Any) {
            self.offer(AwaitedAnswer { at, kind: AnswerKind::Message, text: text.to_owned() });
        } else if self.keeps_all {
            self.keep(AwaitedAnswer { at, kind: AnswerKind::Message, text: text.to_owned() });
        }
    }

    fn offer_topic(&mut self, topic: &str, text: &str, at: At) {
        let is_awaited = match &self.awaited {
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
        if self.awaited.is_none() && !self.keeps_all {
            return;
        }
        let event = socketio::event_name(data).map(std::borrow::Cow::into_owned);
        let is_awaited = match &self.awaited {
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
        push_bounded(&mut self.answers, answer);
    }

    fn keep(&mut self, answer: AwaitedAnswer) {
        push_bounded(&mut self.kept, answer);
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
mod tests {
    use super::*;
    use sonagi_measure::stamp::Stamp;

    fn event(inbox: &mut Inbox, recorder: &mut Recorder, data: &str) {
        let incoming = Incoming::Event { namespace: "/", data, attachments: &[], ack: None };
        inbox.receive(incoming, At(5), 9, 1, recorder);
    }

    #[test]
    fn every_stamp_of_this_run_is_written_down_and_a_foreign_one_counted() {
        let (mut inbox, mut recorder) = (Inbox::default(), Recorder::new(0, 1));
        let mut text = String::new();
        Stamp { run: 1, room: 2, sender: 3, number: 4 }.write(&mut text);
        Stamp { run: 8, room: 2, sender: 3, number: 5 }.write(&mut text);
        inbox.receive(Incoming::Websocket(WebsocketEvent::Text(&text)), At(5), 9, 1, &mut recorder);
        let batch = recorder.ledger();
        let seen: Vec<_> = batch.received.iter().map(|r| (r.at, r.member, r.room, r.number)).collect();
        assert_eq!((seen.as_slice(), batch.foreign), ([(At(5), 9, 2, 4)].as_slice(), 1));
    }

    #[test]
    fn an_acknowledgement_that_echoes_the_message_is_no_delivery() {
        let (mut inbox, mut recorder) = (Inbox::default(), Recorder::new(0, 1));
        let mut text = String::new();
        Stamp { run: 1, room: 2, sender: 3, number: 4 }.write(&mut text);
        let ack = Incoming::Ack { namespace: "/", id: 0, data: &format!("[\"{text}\"]"), attachments: &[] };
        inbox.receive(ack, At(5), 9, 1, &mut recorder);
        assert_eq!(recorder.ledger().received.len(), 0);
    }

    #[test]
    fn an_awaited_event_is_told_from_others_and_its_argument_is_the_subject() {
        let (mut inbox, mut recorder) = (Inbox::default(), Recorder::new(0, 1));
        inbox.await_answer(AwaitedEvent::Event("pong".into()));
        event(&mut inbox, &mut recorder, r#"["other",1]"#);
        event(&mut inbox, &mut recorder, r#"["pong",{"a":1}]"#);
        assert_eq!(inbox.take_answer().expect("it came").evidence().body(), r#"{"a":1}"#);
        assert_eq!(inbox.take_answer(), None);
    }

    #[test]
    fn a_message_that_came_before_its_expect_step_is_kept_for_it() {
        let (mut inbox, mut recorder) = (Inbox::default(), Recorder::new(0, 1));
        event(&mut inbox, &mut recorder, r#"["early",0]"#);
        inbox.keep_all();
        event(&mut inbox, &mut recorder, r#"["early",1,2]"#);
        inbox.await_answer(AwaitedEvent::Event("early".into()));
        assert_eq!(inbox.take_answer().expect("kept").evidence().body(), "[1,2]");
        assert_eq!(inbox.take_answer(), None, "without expect steps nothing is kept");
    }

    #[test]
    fn a_message_is_awaited_by_its_topic_and_counted_as_its_connection_counts() {
        let (mut inbox, mut recorder) = (Inbox::default(), Recorder::new(0, 1));
        inbox.begin_session(Counter::SseReceived);
        inbox.await_answer(AwaitedEvent::Event("moved".into()));
        for (topic, text) in [("other", "1"), ("moved", "{\"lat\":1}")] {
            inbox.receive(Incoming::Message { topic, text }, At(5), 9, 1, &mut recorder);
        }
        let answer = inbox.take_answer().expect("it came");
        assert_eq!((answer.evidence().body(), answer.evidence().arguments()), (r#"{"lat":1}"#, None));
        assert_eq!(inbox.take_answer(), None);
        let counters = recorder.take().counters;
        let counted = [Counter::SseReceived, Counter::MessagesReceived, Counter::PollsReceived];
        assert_eq!(counted.map(|counter| counters.get(counter)), [2, 2, 0]);
    }

    #[test]
    fn the_receipt_that_is_awaited_is_told_from_others_and_hides_no_message() {
        let (mut inbox, mut recorder) = (Inbox::default(), Recorder::new(0, 1));
        inbox.await_answer(AwaitedEvent::Any);
        let (first, awaited) = (inbox.await_receipt(), inbox.await_receipt());
        for id in [&first.to_string(), "sub-1", "", "1 "] {
            inbox.receive(Incoming::Receipt { id }, At(5), 9, 1, &mut recorder);
            assert_eq!(inbox.take_receipt(), None, "{id}");
        }
        let message = Incoming::Message { topic: "/topic/a", text: "overtakes it" };
        inbox.receive(message, At(6), 9, 1, &mut recorder);
        inbox.receive(Incoming::Receipt { id: &awaited.to_string() }, At(7), 9, 1, &mut recorder);
        assert_eq!((inbox.take_receipt(), inbox.take_receipt()), (Some(At(7)), None), "once");
        assert_eq!(inbox.take_answer().map(|answer| answer.at), Some(At(6)));
    }

    #[test]
    fn what_is_set_aside_waits_on_and_finds_what_came_meanwhile() {
        let (mut inbox, mut recorder) = (Inbox::default(), Recorder::new(0, 1));
        inbox.keep_all();
        event(&mut inbox, &mut recorder, r#"["kept",0]"#);
        inbox.await_answer(AwaitedEvent::Event("missed".into()));
        let aside = inbox.set_aside();
        inbox.await_answer(AwaitedEvent::Any);
        event(&mut inbox, &mut recorder, r#"["joined",1]"#);
        event(&mut inbox, &mut recorder, r#"["missed",2]"#);
        assert_eq!(inbox.take_answer().expect("it came").evidence().body(), "1", "nothing from before");
        inbox.stop_awaiting();
        inbox.put_back(aside);
        assert_eq!(inbox.take_answer().expect("it came meanwhile").evidence().body(), "2");
        inbox.stop_awaiting();
        inbox.await_answer(AwaitedEvent::Event("kept".into()));
        assert_eq!(inbox.take_answer().expect("kept all the while").evidence().body(), "0");
    }

    #[test]
    fn however_large_the_burst_no_more_than_the_limit_is_kept() {
        let (mut inbox, mut recorder) = (Inbox::default(), Recorder::new(0, 1));
        inbox.keep_all();
        inbox.await_answer(AwaitedEvent::Any);
        for _ in 0..3 * KEPT_MESSAGES {
            event(&mut inbox, &mut recorder, r#"["noise"]"#);
        }
        inbox.stop_awaiting();
        event(&mut inbox, &mut recorder, r#"["more"]"#);
        assert_eq!(inbox.kept.len(), KEPT_MESSAGES);
    }
}
