//! Opening what is only received on: an event stream, polls. And sending beside it: a message by HTTP.

use sonagi_measure::outcome::{Failure, Outcome};
use sonagi_measure::recorder::Counter;
use std::pin::pin;
use std::rc::Rc;

use super::request::{Attempt, add_missing};
use super::{Begun, Halt, User, Waited};
use crate::plan::{HttpStep, PollOpen, SseOpen, Template, address};
use sonagi_transport::http::{Encoded, Response};
use sonagi_transport::link::{PollLink, PollRequest, SseLink, SseRequest};
use sonagi_transport::net::{Failed, Origin};

/// Where a link goes, its headers, and its Cookie header.
type Address = (Origin, String, Vec<(String, String)>, Option<String>);

impl User {
    pub(super) async fn open_sse(&mut self, step: &SseOpen) -> Result<(), Halt> {
        let last_event_id = self.place_of_link();
        self.replace_connection().await;
        let begun = self.begin(step.operation);
        let address = self.address(&step.url, &step.headers);
        let (origin, path, headers, cookie) = self.prepared(begun, address)?;
        let max_event = self.shard.plan().websocket.max_message;
        let request = SseRequest { origin, path, headers, cookie, last_event_id, max_event };
        let net = Rc::clone(&self.shard.net);
        // Pinned here: handed down by value it would lie in every future on the way, twice in each.
        let opening = pin!(SseLink::open(&net, request));
        let link = self.opened(begun, step.timeout, opening).await?;
        self.connected(link);
        self.succeed(begun, None, Outcome::Ok);
        Ok(())
    }

    pub(super) async fn open_poll(&mut self, step: &PollOpen) -> Result<(), Halt> {
        let after = self.place_of_link();
        self.replace_connection().await;
        let begun = self.begin(step.operation);
        let address = self.address(&step.url, &step.headers);
        let (origin, path, headers, cookie) = self.prepared(begun, address)?;
        let request = PollRequest {
            origin,
            path,
            headers,
            cookie,
            cursor: step.cursor.clone(),
            more: step.more.clone(),
            after,
            rhythm: step.rhythm,
            empty: step.empty.clone(),
            messages: step.messages.clone(),
            timeout: step.timeout,
            max_answer: self.shard.plan().websocket.max_message,
            planned: begun.planned,
            seed: self.values.rng.u64(..),
        };
        let limit = request.limit();
        let (net, now) = (Rc::clone(&self.shard.net), Rc::clone(&self.shard.clock_reader));
        let opening = pin!(PollLink::open(&net, now, request));
        let link = self.opened(begun, limit, opening).await?;
        self.inbox.record_polls(step.again);
        let outcome = link.first_status().map_or(Outcome::Ok, Outcome::Status);
        self.connected(link);
        self.succeed(begun, None, outcome);
        Ok(())
    }

    fn address(&mut self, url: &Template, headers: &[(String, Template)]) -> Result<Address, Failed> {
        let shard = Rc::clone(&self.shard);
        let plan = shard.plan();
        let url = self.values.text(url).map_err(Failed::from)?;
        let (origin, path) = address::under(&plan.target, &url)?;
        let mut headers = self.values.given_pairs(headers).map_err(Failed::from)?;
        let defaults = self.values.pairs(&plan.http.headers).map_err(Failed::from)?;
        add_missing(&mut headers, defaults);
        let cookie = self.jar.header(&origin, &path);
        Ok((origin, path, headers, cookie))
    }

    /// A message to a room by HTTP: its status is its acknowledgement. Redirects are answers like any other: what they
    /// lead to would not be the message's own.
    pub(super) async fn publish(&mut self, step: &HttpStep) -> Result<(), Halt> {
        let begun = self.begin(step.operation);
        let written = self.written(step);
        let (origin, encoded) = self.prepared(begun, written)?;
        let stamp = self.values.take_stamp();
        let attempt = self.attempt(begun, step, &origin, &encoded).await;
        let is_taken = matches!(&attempt, Attempt { waited: Ok(Waited::Done(Ok(response))), .. }
            if response.status < 300);
        // A message that no connection took was not sent. One cut off half way may have been.
        if let Some(left) = attempt.left(self.now()) {
            // Neither the pool's queue nor a handshake before it is time in which it was under way.
            self.note_sent(stamp, Begun { started: left, ..begun }, Some(is_taken));
            self.shard.count(Counter::MessagesSent, 1);
        }
        let response = self.response(begun, step, &origin, attempt)?;
        self.jar.keep(&origin, encoded.path(), &response.headers);
        if is_taken {
            return self.take_response(begun, step, &response);
        }
        Err(self.refuse(begun, &response))
    }

    fn written<'l>(&mut self, step: &'l HttpStep) -> Result<(Origin, Encoded<'l>), Failed> {
        let shard = Rc::clone(&self.shard);
        if let Some(layout) = step.prepared.layout(shard.plan(), step) {
            return Ok((layout.origin.clone(), self.fill(layout, step)?));
        }
        let (origin, request) = self.render(step)?;
        let cookie = self.jar.header(&origin, &request.path);
        let encoded = Encoded::new(&request, &origin, cookie.as_deref())?;
        Ok((origin, encoded))
    }

    /// The target did not take the message: the operation has failed, its status counts.
    fn refuse(&mut self, begun: Begun, response: &Response) -> Halt {
        self.shard.recorder.borrow_mut().status(response.status);
        let detail = format!("a message must be answered with a status below 300, got {}", response.status);
        self.fail(begun, None, Failure::CaptureOrMatch, detail)
    }
}
