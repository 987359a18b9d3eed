//! The steps of WebSocket and Socket.IO users.

use serde_json::Value;
use sonagi_measure::outcome::{Failure, OperationKind, Outcome};
use sonagi_measure::recorder::Counter;
use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use super::evidence::{Evidence, compare, excerpt, keep};
use super::inbox::{AwaitedAnswer, AwaitedEvent};
use super::refusal::is_refusal;
use super::{Begun, Halt, User, Waited, after};
use crate::names::{self, FAILED_MATCH, WRONG_DATA};
use crate::plan::{
    self, Argument, Expect, SocketioConnect, SocketioEmit, WebsocketConnect, WebsocketSend, address,
};
use crate::values::{Outgoing, Unfilled};
use sonagi_transport::link::{ConnectRequest, SocketioLink, SocketioRequest, WebsocketLink};
use sonagi_transport::net::Failed;

/// Longest wait for the kernel to take what a step sends.
const FLUSH_LIMIT: Duration = plan::DEFAULT_TIMEOUT;

impl User {
    pub(super) async fn connect_websocket(&mut self, step: &WebsocketConnect) -> Result<(), Halt> {
        self.replace_connection().await;
        let directed = match &step.function {
            Some(function) => Some(Box::new(Box::pin(self.directed(step, function)).await?)),
            None => None,
        };
        let step = directed.as_deref().unwrap_or(step);
        let begun = self.begin(step.operation);
        let request = self.websocket_request(step);
        let request = self.prepared(begun, request)?;
        let net = Rc::clone(&self.shard.net);
        // Pinned here: handed down by value it would lie in every future on the way, twice in each.
        let opening = pin!(WebsocketLink::connect(&net, request));
        let link = self.opened(begun, step.timeout, opening).await?;
        self.connected(link);
        self.succeed(begun, None, Outcome::Ok);
        Ok(())
    }

    /// A link that opens within the step's limit, or the step's failure.
    pub(super) async fn opened<L>(
        &mut self,
        begun: Begun,
        limit: Duration,
        opening: impl Future<Output = Result<L, Failed>>,
    ) -> Result<L, Halt> {
        match self.alongside(after(begun.started, limit), opening).await? {
            Waited::Done(link) => {
                let kind = self.shard.plan().operations[usize::from(begun.operation.id.0)].kind;
                if let Err(Failed { failure: Failure::HandshakeRefused(status), .. }) = &link
                    && kind.connects_by_request()
                {
                    self.shard.recorder.borrow_mut().status(*status);
                }
                self.prepared(begun, link)
            }
            Waited::Elapsed => Err(self.timed_out(begun, limit, Failure::HandshakeTimeout)),
        }
    }

    fn websocket_request(&mut self, step: &WebsocketConnect) -> Result<ConnectRequest, Failed> {
        let shard = Rc::clone(&self.shard);
        let plan = shard.plan();
        let url = self.values.text(&step.url).map_err(Failed::from)?;
        let (origin, path) = address::under(&plan.target, &url)?;
        let headers = self.values.pairs(step.headers_under(&plan.websocket)).map_err(Failed::from)?;
        let subprotocols = match step.subprotocols.is_empty() {
            true => plan.websocket.subprotocols.clone(),
            false => step.subprotocols.clone(),
        };
        Ok(ConnectRequest { origin, path, headers, subprotocols, max_message: plan.websocket.max_message })
    }

    pub(super) async fn send_websocket(&mut self, step: &WebsocketSend) -> Result<(), Halt> {
        let limit = step.response.as_ref().map_or(FLUSH_LIMIT, |awaited| awaited.timeout);
        self.regain(step.operation, limit).await?;
        let begun = self.begin(step.operation);
        let outgoing = self.values.outgoing(&step.payload);
        let outgoing = self.prepared(begun, outgoing.map_err(Failed::from))?;
        let stamp = self.values.take_stamp();
        if step.response.is_some() {
            self.inbox.await_answer(AwaitedEvent::Any);
        }
        let link: &mut WebsocketLink = self.needed_link(begun, "a WebSocket")?;
        match &outgoing {
            Outgoing::Text(text) => link.send_text(text),
            Outgoing::Binary(bytes) => link.send_binary(bytes),
        }
        let sent = self.flush(begun).await;
        // The response it waits for is the only acknowledgement.
        let acked = if step.response.is_some() && sent.is_ok() { None } else { Some(sent.is_ok()) };
        self.note_sent(stamp, begun, acked);
        sent?;
        self.count_sent(Counter::WebsocketSent);
        let Some(awaited) = &step.response else {
            self.note_unanswered(stamp);
            self.succeed(begun, None, Outcome::Ok);
            return Ok(());
        };
        let answered = self.answer(begun, awaited, Failure::Timeout).await;
        // The kernel took it; without its answer nobody can say what the target got of it.
        self.note_settled(stamp, answered.is_ok());
        self.inbox.stop_awaiting();
        answered
    }

    /// Waits until the kernel has taken everything.
    async fn flush(&mut self, begun: Begun) -> Result<(), Halt> {
        self.flush_within(begun, FLUSH_LIMIT).await
    }

    /// [`User::flush`] with a limit of the step's own.
    pub(super) async fn flush_within(&mut self, begun: Begun, limit: Duration) -> Result<(), Halt> {
        let until = after(begun.started, limit);
        let is_flushed = |user: &mut User, _: &mut std::task::Context<'_>| {
            user.connection.as_ref().is_some_and(|connection| !connection.has_unsent()).then_some(())
        };
        match self.wait(until, is_flushed).await? {
            Waited::Done(()) => Ok(()),
            Waited::Elapsed => Err(self.timed_out(begun, limit, Failure::Timeout)),
        }
    }

    pub(super) async fn connect_socketio(&mut self, step: &SocketioConnect) -> Result<(), Halt> {
        let namespace = self.values.text(&step.namespace);
        let namespace = self.filled(namespace)?;
        if self.has_namespace(&namespace) { Ok(()) } else { self.open_namespace(step, &namespace).await }
    }

    fn has_namespace(&self, namespace: &str) -> bool {
        self.connection.is_some() && self.inbox.is_connected(namespace)
    }

    /// Opens the namespace, and the session unless it is open.
    pub(super) async fn open_namespace(
        &mut self,
        step: &SocketioConnect,
        namespace: &str,
    ) -> Result<(), Halt> {
        let has_session = self.link::<SocketioLink>().is_some();
        if !has_session {
            self.replace_connection().await;
        }
        let begun = self.begin(step.operation);
        if !has_session {
            let request = self.socketio_request(step);
            let request = self.prepared(begun, request)?;
            let net = Rc::clone(&self.shard.net);
            let opening = pin!(SocketioLink::open(&net, request));
            let link = self.opened(begun, step.options.timeout, opening).await?;
            self.connected(link);
        }
        let auth = step.options.auth.as_ref().map(|auth| self.values.json(auth)).transpose();
        let auth = self.prepared(begun, auth.map_err(Failed::from))?;
        let known = self.known_session(namespace);
        if let Some(link) = self.link::<SocketioLink>() {
            match known {
                Some(recovery) => link.recover(recovery, auth.as_deref()),
                None => link.connect(namespace, auth.as_deref()),
            }
        }
        self.await_namespace(begun, namespace, step.options.timeout).await?;
        self.note_recovered(namespace);
        Ok(())
    }

    async fn await_namespace(&mut self, begun: Begun, namespace: &str, limit: Duration) -> Result<(), Halt> {
        let settled = |user: &mut User, _: &mut std::task::Context<'_>| match user.inbox.take_refusal() {
            Some(refusal) => Some(Err(refusal)),
            None if user.inbox.is_connected(namespace) => Some(Ok(())),
            None => None,
        };
        match self.wait(after(begun.started, limit), settled).await? {
            Waited::Done(Ok(())) => {
                self.succeed(begun, None, Outcome::Ok);
                Ok(())
            }
            Waited::Done(Err(refusal)) => Err(self.fail(begun, None, Failure::NamespaceRefused, refusal)),
            Waited::Elapsed => Err(self.timed_out(begun, limit, Failure::HandshakeTimeout)),
        }
    }

    fn socketio_request(&mut self, step: &SocketioConnect) -> Result<SocketioRequest, Failed> {
        let shard = Rc::clone(&self.shard);
        let plan = shard.plan();
        let options = &step.options;
        let url = match &options.url {
            Some(url) => self.values.text(url).map_err(Failed::from)?,
            None => String::new(),
        };
        let (origin, _) = address::under(&plan.target, &url)?;
        let query = self.values.pairs(&options.query).map_err(Failed::from)?;
        let headers = self.values.pairs(&options.headers).map_err(Failed::from)?;
        let max_message = plan.websocket.max_message;
        let (path, transport, revision) = (options.path.clone(), options.transport, options.revision);
        Ok(SocketioRequest { origin, path, query, headers, transport, revision, max_message })
    }

    pub(super) async fn emit(&mut self, step: &SocketioEmit) -> Result<(), Halt> {
        let namespace = self.values.text(&step.namespace);
        let namespace = self.filled(namespace)?;
        let awaited = step.acknowledge.as_ref().or(step.response.as_ref().map(|(_, awaited)| awaited));
        self.regain(step.operation, awaited.map_or(FLUSH_LIMIT, |awaited| awaited.timeout)).await?;
        if !self.has_namespace(&namespace) {
            self.note_namespace(&step.connect, &namespace);
            // Boxed: opening takes thirty times the room of emitting, and is rare.
            Box::pin(self.open_namespace(&step.connect, &namespace)).await?;
        }
        let begun = self.begin(step.operation);
        let message = self.event_text(step).map_err(Failed::from);
        let (array, attachments) = self.prepared(begun, message)?;
        let stamp = self.values.take_stamp();
        let ack = step.acknowledge.as_ref().map(|_| self.inbox.draw_ack());
        if let Some(id) = ack {
            self.inbox.await_answer(AwaitedEvent::Ack(id));
        } else if let Some((event, _)) = &step.response {
            let event = self.values.text(event);
            let event = self.prepared(begun, event.map_err(Failed::from))?;
            self.inbox.await_answer(AwaitedEvent::Event(event));
        }
        let link: &mut SocketioLink = self.needed_link(begun, "a Socket.IO session")?;
        link.emit(&namespace, ack, &array, &attachments);
        let sent = self.flush(begun).await;
        // With an acknowledgement asked for, only its coming says that the server has the message.
        let acked = if ack.is_some() && sent.is_ok() { None } else { Some(sent.is_ok()) };
        self.note_sent(stamp, begun, acked);
        sent?;
        self.count_sent(Counter::SocketioEmits);
        let answered = match (&step.acknowledge, &step.response) {
            (Some(awaited), _) => {
                let answered = self.answer(begun, awaited, Failure::AckTimeout).await;
                self.note_settled(stamp, self.inbox.was_acknowledged());
                answered
            }
            (None, Some((_, awaited))) => {
                self.note_unanswered(stamp);
                self.answer(begun, awaited, Failure::Timeout).await
            }
            (None, None) => {
                self.note_unanswered(stamp);
                self.succeed(begun, None, Outcome::Ok);
                return Ok(());
            }
        };
        self.inbox.stop_awaiting();
        answered
    }

    /// The event as a JSON array, and its binary arguments.
    fn event_text(&mut self, step: &SocketioEmit) -> Result<(String, Vec<Vec<u8>>), Unfilled> {
        let event = self.values.text(&step.event)?;
        let mut array = format!("[{}", Value::from(event));
        let mut attachments = Vec::new();
        for argument in &step.arguments {
            array.push(',');
            match argument {
                Argument::Json(json) => self.values.append_json(json, &mut array)?,
                Argument::Binary(bytes) => {
                    array.push_str(&format!("{{\"_placeholder\":true,\"num\":{}}}", attachments.len()));
                    attachments.push(bytes.clone());
                }
            }
        }
        array.push(']');
        Ok((array, attachments))
    }

    pub(super) async fn expect(&mut self, step: &Expect) -> Result<(), Halt> {
        let begun = self.begin(step.operation);
        let event = step.event.as_ref().map(|event| self.values.text(event)).transpose();
        let event = self.prepared(begun, event.map_err(Failed::from))?;
        self.inbox.await_answer(event.map_or(AwaitedEvent::Any, AwaitedEvent::Event));
        let met = self.answer(begun, &step.awaited, Failure::ExpectationMissed).await;
        self.inbox.stop_awaiting();
        met
    }

    /// Waits for an answer that fits, and keeps what the script wants of it. An acknowledgement has one chance; of
    /// other messages those that do not fit are passed over.
    pub(super) async fn answer(
        &mut self,
        begun: Begun,
        awaited: &plan::Awaited,
        missing: Failure,
    ) -> Result<(), Halt> {
        let wanted = awaited.data.as_ref().map(|data| self.values.filled(data)).transpose();
        let wanted = self.prepared(begun, wanted.map_err(Failed::from))?.flatten();
        let limit = after(begun.started, awaited.timeout);
        loop {
            // An `expect` outlives the loss of its connection: what it waits for may be replayed.
            let until = self.next_attempt().map_or(limit, |next| next.min(limit));
            let answer = match self.wait(until, |user, _| user.inbox.take_answer()).await {
                Ok(Waited::Done(answer)) => answer,
                Ok(Waited::Elapsed) if self.now() < limit => {
                    self.mend().await?;
                    continue;
                }
                Ok(Waited::Elapsed) => return Err(self.timed_out(begun, awaited.timeout, missing)),
                Err(Halt::Lost) if self.is_under_way(OperationKind::Expect) => continue,
                Err(halt) => return Err(halt),
            };
            let objection = self.examine_answer(awaited, wanted.as_deref(), &answer).err();
            let has_one_chance = missing == Failure::AckTimeout;
            if has_one_chance {
                // By what the script wants of it; else by what nobody says by mistake.
                let is_judged = wanted.is_some() || !awaited.matches.is_empty();
                let is_refused = if is_judged { objection.is_some() } else { answer.refuses() };
                if is_refused {
                    self.inbox.take_as_refused();
                }
            }
            if objection.is_none() || has_one_chance {
                self.succeed_at(begun, None, Outcome::Ok, answer.at.max(begun.started));
                // The operation's time stands, the user fails.
                return objection.map_or(Ok(()), |Objection { failure, called, why }| {
                    Err(self.note_called(Some(begun.operation.id), failure, called, why))
                });
            }
        }
    }

    /// Keeps what `awaited` captures of an answer, or objects to it.
    fn examine_answer(
        &mut self,
        awaited: &plan::Awaited,
        wanted: Option<&Value>,
        answer: &AwaitedAnswer,
    ) -> Result<(), Objection> {
        let is_any = wanted.is_none() && awaited.captures.is_empty() && awaited.matches.is_empty();
        if is_any && !awaited.confirms {
            // Any answer will do: its JSON need not be read.
            return Ok(());
        }
        let evidence = answer.evidence();
        if awaited.confirms && evidence.arguments().is_some_and(is_refusal) {
            let why = format!("the join was answered with {}", excerpt(evidence.body()));
            return Err(Objection { failure: Failure::JoinRefused, called: "", why });
        }
        let failure = Failure::CaptureOrMatch;
        if let Some(wanted) = wanted.filter(|wanted| !fits(wanted, &evidence)) {
            let why = format!("expected {wanted}, got {}", excerpt(evidence.body()));
            return Err(Objection { failure, called: WRONG_DATA, why });
        }
        let values = &mut self.values;
        compare(&evidence, &awaited.matches, values).map_err(|why| Objection {
            failure,
            called: FAILED_MATCH,
            why,
        })?;
        keep(&evidence, &awaited.captures, values).map_err(|why| Objection { failure, called: "", why })
    }

    pub(super) fn count_sent(&self, vocabulary: Counter) {
        self.shard.count(Counter::MessagesSent, 1);
        self.shard.count(vocabulary, 1);
    }

    pub(super) fn timed_out(&mut self, begun: Begun, limit: Duration, failure: Failure) -> Halt {
        let awaits_event = failure == Failure::Timeout && self.is_under_way(OperationKind::SocketioRequest);
        // Like an acknowledgement that does not come.
        let acknowledged = names::failure(Failure::AckTimeout);
        let called = if awaits_event { &*acknowledged } else { "" };
        let detail = format!("nothing within {} ms", limit.as_millis());
        self.fail_called(begun, Some(limit), failure, called, detail)
    }

    /// The prepared inputs of a step, or its failure.
    pub(super) fn prepared<T>(&mut self, begun: Begun, made: Result<T, Failed>) -> Result<T, Halt> {
        made.map_err(|failed| self.fail(begun, None, failed.failure, failed.detail))
    }
}

/// Why an answer will not do.
struct Objection {
    failure: Failure,
    /// The name under which Artillery counts it; empty: its failure's.
    called: &'static str,
    why: String,
}

/// Whether an answer is what is wanted: as a whole, or, of several arguments, all of them or the last one. A text among
/// arguments need only hold the wanted one.
fn fits(wanted: &Value, evidence: &Evidence<'_>) -> bool {
    let Some(all) = evidence.arguments() else {
        return match evidence.json() {
            Some(whole) => whole == wanted,
            None => wanted == evidence.body(),
        };
    };
    let is_it = |value: &Value| {
        let holds = |text: &str| wanted.as_str().is_some_and(|wanted| text.contains(wanted));
        value == wanted || value.as_str().is_some_and(holds)
    };
    wanted.as_array().is_some_and(|wanted| wanted == all)
        || [evidence.json(), all.last()].into_iter().flatten().any(is_it)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_wanted_may_be_all_arguments_the_last_one_or_a_part_of_its_text() {
        let of_arguments = |wanted: Value, all: Value| {
            let Value::Array(all) = all else { unreachable!() };
            fits(&wanted, &Evidence::of_arguments(all))
        };
        assert!(of_arguments(json!({"a": 1}), json!([{"a": 1}])));
        assert!(of_arguments(json!({"a": 1}), json!(["x", {"a": 1}])));
        assert!(!of_arguments(json!({"a": 1}), json!([{"a": 1}, "x"])));
        assert!(!of_arguments(json!({"a": 1}), json!([{"a": 1, "b": 2}])));
        assert!(of_arguments(json!(["x", 2]), json!(["x", 2])));
        assert!(of_arguments(json!([1]), json!([[1]])));
        assert!(of_arguments(json!("ell"), json!(["hello"])));
        assert!(of_arguments(json!("hello"), json!([1, "hello"])));
        assert!(!of_arguments(json!("hello"), json!(["ell"])));
        assert!(!of_arguments(json!("1"), json!([1])));
        assert!(fits(&json!("hello"), &Evidence::message("hello")));
        assert!(!fits(&json!("ell"), &Evidence::message("hello")), "a message is compared as a whole");
    }
}
