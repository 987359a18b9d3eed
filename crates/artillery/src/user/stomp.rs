//! The steps of STOMP users.

use sonagi_measure::At;
use sonagi_measure::outcome::{Failure, Outcome};
use sonagi_measure::recorder::Counter;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use super::inbox::AwaitedEvent;
use super::{Begun, Halt, User, Waited, after};
use crate::plan::{StompConnect, StompSend, StompSubscribe, Template, address};
use crate::values::Outgoing;
use sonagi_transport::link::{ConnectRequest, StompBody, StompLink, StompRequest};
use sonagi_transport::net::Failed;

/// A destination and headers, rendered.
type Rendered = (String, Vec<(String, String)>);

impl User {
    pub(super) async fn connect_stomp(&mut self, step: &StompConnect) -> Result<(), Halt> {
        self.replace_connection().await;
        let begun = self.begin(step.operation);
        let request = self.stomp_request(step);
        let request = self.prepared(begun, request)?;
        let net = Rc::clone(&self.shard.net);
        // Pinned here: handed down by value it would lie in every future on the way, twice in each.
        let opening = pin!(StompLink::connect(&net, &request));
        let link = self.opened(begun, step.timeout, opening).await?;
        self.connected(link);
        self.succeed(begun, None, Outcome::Ok);
        Ok(())
    }

    fn stomp_request(&mut self, step: &StompConnect) -> Result<StompRequest, Failed> {
        let shard = Rc::clone(&self.shard);
        let plan = shard.plan();
        let url = self.values.text(&step.url)?;
        let (origin, path) = address::under(&plan.target, &url)?;
        let headers = self.values.given_pairs(&step.headers)?;
        let max_message = plan.websocket.max_message;
        let websocket = ConnectRequest { origin, path, headers, subprotocols: Vec::new(), max_message };
        let headers = self.values.pairs(&step.connect_headers)?;
        let (versions, sockjs) = (step.versions.clone(), step.sockjs);
        Ok(StompRequest { websocket, headers, versions, heart_beat: step.heart_beat, sockjs })
    }

    pub(super) async fn subscribe_stomp(&mut self, step: &StompSubscribe) -> Result<(), Halt> {
        self.regain(step.operation, step.timeout).await?;
        let begun = self.begin(step.operation);
        let rendered = self.frame_head(&step.destination, &step.headers);
        let (destination, headers) = self.prepared(begun, rendered)?;
        let receipt = step.receipt.then(|| self.inbox.await_receipt());
        let queued = self.stomp(begun)?.subscribe(&destination, &headers, step.ack, receipt);
        self.prepared(begun, queued)?;
        self.flush_within(begun, step.timeout).await?;
        let confirmed = match receipt {
            Some(_) => self.receipt(begun, step.timeout).await?,
            None => self.now(),
        };
        self.succeed_at(begun, None, Outcome::Ok, confirmed);
        Ok(())
    }

    pub(super) async fn send_stomp(&mut self, step: &StompSend) -> Result<(), Halt> {
        self.regain(step.operation, step.timeout).await?;
        let begun = self.begin(step.operation);
        if step.response.is_some() {
            self.inbox.await_answer(AwaitedEvent::Any);
        }
        let sent = self.send_frame(begun, step).await;
        let answered = match (&step.response, sent) {
            (Some(awaited), Ok(_)) => self.answer(begun, awaited, Failure::Timeout).await,
            (None, Ok(ended)) => {
                self.succeed_at(begun, None, Outcome::Ok, ended);
                return Ok(());
            }
            (_, Err(halt)) => Err(halt),
        };
        if step.response.is_some() {
            self.inbox.stop_awaiting();
        }
        answered
    }

    /// Sends, and waits for the receipt when one is asked for: when it was done.
    async fn send_frame(&mut self, begun: Begun, step: &StompSend) -> Result<At, Halt> {
        let rendered = self.frame_head(&step.destination, &step.headers);
        let (destination, headers) = self.prepared(begun, rendered)?;
        let outgoing = self.values.outgoing(&step.content);
        let outgoing = self.prepared(begun, outgoing.map_err(Failed::from))?;
        let stamp = self.values.take_stamp();
        let body = match &outgoing {
            Outgoing::Text(text) => StompBody::Text(text),
            Outgoing::Binary(bytes) => StompBody::Binary(bytes),
        };
        let receipt = step.receipt.then(|| self.inbox.await_receipt());
        let queued = self.stomp(begun)?.send(&destination, &headers, body, receipt);
        self.prepared(begun, queued)?;
        let sent = self.flush_within(begun, step.timeout).await;
        // With a receipt asked for, only its coming says that the server has the message.
        let acked = if receipt.is_some() && sent.is_ok() { None } else { Some(sent.is_ok()) };
        self.note_sent(stamp, begun, acked);
        sent?;
        self.count_sent(Counter::StompSent);
        if receipt.is_none() {
            self.note_unanswered(stamp);
            return Ok(self.now());
        }
        let receipt = self.receipt(begun, step.timeout).await;
        self.note_settled(stamp, receipt.is_ok());
        receipt
    }

    /// Waits for the receipt asked for last: when it came.
    async fn receipt(&mut self, begun: Begun, limit: Duration) -> Result<At, Halt> {
        let until = after(begun.started, limit);
        match self.wait(until, |user, _| user.inbox.take_receipt()).await? {
            Waited::Done(at) => Ok(at.max(begun.started)),
            Waited::Elapsed => Err(self.timed_out(begun, limit, Failure::AckTimeout)),
        }
    }

    fn frame_head(
        &mut self,
        destination: &Template,
        headers: &[(String, Template)],
    ) -> Result<Rendered, Failed> {
        Ok((self.values.text(destination)?, self.values.pairs(headers)?))
    }

    fn stomp(&mut self, begun: Begun) -> Result<&mut StompLink, Halt> {
        self.needed_link(begun, "a STOMP session")
    }
}
