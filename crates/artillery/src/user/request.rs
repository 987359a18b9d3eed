//! The HTTP step: a request written, sent, followed through redirects, examined.
//!
//! Most steps go to an origin the plan knows: their bytes are prepared ([`crate::plan::Prepared`]), the user fills the
//! holes. The long way, by a [`Request`] in parts, is for the others and for what follows a redirect; it is boxed, so
//! that the usual step stays small while it waits.

use bytes::Bytes;
use sonagi_measure::At;
use sonagi_measure::metrics::{Kind, Unit};
use sonagi_measure::outcome::{Failure, Outcome};
use sonagi_measure::recorder::{Counter, Recorder};
use std::fmt::Write as _;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use super::body::Unpacked;
use super::evidence::{Evidence, examine, excerpt};
use super::{Begun, Halt, User, Waited, after};
use crate::plan::prepared::Layout;
use crate::plan::{Body, HttpStep, address, basic, content_type, keep, own_headers};
use crate::values::Unfilled;
use sonagi_transport::http::{self, ACCEPTED, Client, Encoded, Request, Response};
use sonagi_transport::net::{Dialing, Failed, OpeningTimes, Origin};

/// Redirects followed in a row, as browsers limit them.
const MAX_REDIRECTS: usize = 20;

impl User {
    pub(super) async fn request(&mut self, step: &HttpStep) -> Result<(), Halt> {
        if step.is_message {
            return Box::pin(self.publish(step)).await;
        }
        if let Some(hooks) = &step.hooks {
            return Box::pin(self.request_with_hooks(step, hooks)).await;
        }
        let begun = self.begin(step.operation);
        let shard = Rc::clone(&self.shard);
        let Some(layout) = step.prepared.layout(shard.plan(), step) else {
            let answered = Box::pin(self.request_in_parts(begun, step)).await?;
            return self.take_response(begun, step, &answered.response);
        };
        let encoded = self.fill(layout, step);
        let encoded = self.prepared(begun, encoded)?;
        let response = self.exchange(begun, step, &layout.origin, &encoded).await?;
        if step.follow_redirects && http::location(&response).is_some() {
            let request = encoded.to_request();
            let answered = Answered { origin: layout.origin.clone(), request, response };
            let answered = Box::pin(self.follow(begun, step, answered)).await?;
            return self.take_response(begun, step, &answered.response);
        }
        self.jar.keep(&layout.origin, encoded.path(), &response.headers);
        self.take_response(begun, step, &response)
    }

    /// A prepared request with this user's values and cookies.
    pub(super) fn fill<'l>(&mut self, layout: &'l Layout, step: &HttpStep) -> Result<Encoded<'l>, Failed> {
        let own = self.values.pairs(&step.cookies)?;
        let jar = &mut self.jar;
        self.values.request(layout, step, |path| {
            jar.set(&layout.origin, path, own);
            if layout.has_cookie { None } else { jar.header(&layout.origin, path) }
        })
    }

    /// The long way to a response.
    pub(super) async fn request_in_parts(&mut self, begun: Begun, step: &HttpStep) -> Result<Answered, Halt> {
        let rendered = self.render(step);
        let (origin, request) = self.prepared(begun, rendered)?;
        let endpoint = self.endpoint_asked(step, &origin, &request.path);
        let sent = match self.send(begun, step, &origin, &request).await {
            Ok(response) => self.follow(begun, step, Answered { origin, request, response }).await,
            Err(halt) => Err(halt),
        };
        if let Some(name) = endpoint {
            self.tell_endpoint(begun, step, &name, sent.as_ref().map(|answered| &answered.response));
        }
        sent
    }

    /// Goes where responses lead, to the one that leads nowhere else.
    async fn follow(&mut self, begun: Begun, step: &HttpStep, answered: Answered) -> Result<Answered, Halt> {
        let Answered { mut origin, mut request, mut response } = answered;
        let mut asked = begun.planned;
        for followed in 0.. {
            self.jar.keep(&origin, &request.path, &response.headers);
            let Some(location) = http::location(&response).filter(|_| step.follow_redirects) else {
                return Ok(Answered { origin, request, response });
            };
            let hop_ns = response.ended.since(asked);
            self.shard.recorder.borrow_mut().hop(begun.operation, response.status, hop_ns, response.ended);
            asked = response.ended;
            if followed == MAX_REDIRECTS {
                break;
            }
            let Some((next, path)) = address::redirected(&origin, &request.path, location) else {
                let detail =
                    format!("redirected to what is no address of http or https: {}", excerpt(location));
                return Err(self.fail(begun, None, Failure::RedirectInvalid, detail));
            };
            http::follow(&mut request, response.status, next != origin);
            (origin, request.path) = (next, path);
            response = self.send(begun, step, &origin, &request).await?;
            response.redirected = Some(asked);
        }
        let detail = format!("more than {MAX_REDIRECTS} redirects in a row");
        Err(self.fail(begun, None, Failure::TooManyRedirects, detail))
    }

    /// Writes a request with the cookies of now and sends it.
    async fn send(
        &mut self,
        begun: Begun,
        step: &HttpStep,
        origin: &Origin,
        request: &Request,
    ) -> Result<Response, Halt> {
        let cookie = self.jar.header(origin, &request.path);
        let encoded = Encoded::new(request, origin, cookie.as_deref());
        let encoded = self.prepared(begun, encoded)?;
        self.exchange(begun, step, origin, &encoded).await
    }

    /// Exchanges a request and its response, within the step's time limit.
    async fn exchange(
        &mut self,
        begun: Begun,
        step: &HttpStep,
        origin: &Origin,
        request: &Encoded<'_>,
    ) -> Result<Response, Halt> {
        let attempt = self.attempt(begun, step, origin, request).await;
        self.response(begun, step, origin, attempt)
    }

    /// Makes a request, and returns its result within the step's time limit.
    pub(super) async fn attempt(
        &mut self,
        begun: Begun,
        step: &HttpStep,
        origin: &Origin,
        request: &Encoded<'_>,
    ) -> Attempt {
        let mut client = self.client.take().unwrap_or_else(|| {
            let shard = &self.shard;
            Box::new(Client::new(Rc::clone(&shard.net), shard.pool.clone(), Rc::clone(&shard.clock_reader)))
        });
        // Only messages and functions ask: the answer costs a look at the clock.
        let leaving = step.is_message.then(|| client.leaving());
        if step.hooks.as_ref().is_some_and(|hooks| !hooks.after.is_empty()) {
            client.mark();
        }
        self.shard.count(Counter::HttpRequests, 1);
        let until = after(begun.started, step.timeout);
        let waited = {
            // Pinned here: handed over by value, it would lie in this user twice.
            let mut sending = pin!(client.send(origin, request, keep(step, self.shard.plan())));
            self.alongside(until, sending.as_mut()).await
        };
        let sent = self.count_exchange(&mut client, &waited);
        let (turn_wait_ns, dialing) = (client.turn_wait_ns(), client.dialing());
        let is_event_stream = client.is_event_stream();
        self.client = Some(client);
        let left = leaving.and_then(|left| left.get());
        Attempt { waited, sent, left, turn_wait_ns, dialing, is_event_stream }
    }

    /// The response an attempt got, or its failure.
    pub(super) fn response(
        &mut self,
        begun: Begun,
        step: &HttpStep,
        origin: &Origin,
        attempt: Attempt,
    ) -> Result<Response, Halt> {
        match attempt.waited? {
            Waited::Done(Ok(response)) => Ok(response),
            Waited::Done(Err(failed)) => Err(self.fail(begun, None, failed.failure, failed.detail)),
            Waited::Elapsed => {
                let (failure, mut detail) = timed_out(step, origin, attempt.turn_wait_ns, attempt.dialing);
                if attempt.is_event_stream {
                    detail += "; it was answered with text/event-stream, which never ends: use `engine: sse`";
                }
                Err(self.fail(begun, Some(step.timeout), failure, detail))
            }
        }
    }

    /// Counts what went over the wire, whatever came of it, and the response if one came. The bytes that were sent.
    fn count_exchange(
        &self,
        client: &mut Client,
        waited: &Result<Waited<Result<Response, Failed>>, Halt>,
    ) -> u64 {
        let traffic = client.take_traffic();
        let mut recorder = self.shard.recorder.borrow_mut();
        recorder.add(Counter::BytesSent, traffic.sent);
        recorder.add(Counter::BytesReceived, traffic.received);
        recorder.add(Counter::ConnectionsOpened, traffic.opened);
        recorder.add(Counter::HttpRequests, traffic.repeated);
        if let Ok(Waited::Done(Ok(response))) = waited {
            recorder.add(Counter::HttpResponses, 1);
            recorder.add(Counter::HttpBytesReceived, response.body_bytes);
            recorder.add(Counter::ConnectionsReused, u64::from(response.reused));
            if let Some(opening) = client.opening() {
                note_opening(&mut recorder, opening, self.shard.clock.now());
            }
        }
        traffic.sent
    }

    pub(super) fn take_response(
        &mut self,
        begun: Begun,
        step: &HttpStep,
        response: &Response,
    ) -> Result<(), Halt> {
        let outcome = Outcome::Status(response.status);
        match response.redirected {
            None => self.succeed_at(begun, Some(response.first_byte), outcome, response.ended),
            Some(asked) => self.succeed_redirected(begun, outcome, response, asked),
        }
        if let Some(told) = &step.told {
            self.tell_response(told, response);
        }
        if (400..600).contains(&response.status) && step.asks_for_statuses() {
            self.shard.count(Counter::ErrorsExpected, 1);
        }
        if step.captures.is_empty() && step.matches.is_empty() && step.expect.is_none() {
            return Ok(());
        }
        let unpacked = Unpacked::of(response, self.shard.plan().http.max_body);
        let body = String::from_utf8_lossy(&unpacked.body);
        let evidence = Evidence::response(response.status, &response.headers, &body);
        let taken = examine(&evidence, &step.captures, &step.matches, &mut self.values);
        let expected = step.expect.as_deref();
        let missed = expected.and_then(|expected| self.compare(begun, expected, &evidence));
        if let Some(why) = missed.filter(|_| expected.is_some_and(|expected| expected.fails_user)) {
            let why = unpacked.explain(why);
            return Err(self.note_failure(Some(begun.operation.id), Failure::ExpectationFailed, why));
        }
        taken.map_err(|why| {
            let why = unpacked.explain(why);
            self.object(begun.operation.id, format!("status {}: {why}", response.status))
        })
    }

    /// Where a request goes and everything of it but its Cookie header; the step's cookies are in the jar then.
    pub(super) fn render(&mut self, step: &HttpStep) -> Result<(Origin, Request), Failed> {
        // Not the plan's own count: that one is atomic and shared by all shards.
        let shard = Rc::clone(&self.shard);
        let plan = shard.plan();
        let nowhere = || Unfilled("the address is a variable that has no value".to_owned());
        let mut url = address::joined(&plan.target, &self.values.given(&step.url)?.ok_or_else(nowhere)?);
        // A fragment is not sent, and blanks around a URL are not part of it.
        url.truncate(url.find('#').unwrap_or(url.len()));
        url.truncate(url.trim_end().len());
        // An empty query is none.
        if url.find('?').is_some_and(|at| at + 1 == url.len()) {
            url.pop();
        }
        for (name, value) in &step.query {
            url.push(if url.contains('?') { '&' } else { '?' });
            address::push_form(name, &mut url);
            url.push('=');
            address::push_form(&self.values.given(value)?.unwrap_or_default(), &mut url);
        }
        let headers = own_headers(plan, step);
        let mut headers = headers
            .filter_map(|(name, value)| {
                let given = self.values.given_header(name, value).transpose()?;
                Some(given.map(|value| (name.to_owned(), value)))
            })
            .collect::<Result<Vec<_>, Unfilled>>()?;
        if let Some((user, password)) = &step.basic_auth {
            let credentials = basic(&self.values.text(user)?, &self.values.text(password)?);
            add_missing(&mut headers, vec![("authorization".to_owned(), credentials)]);
        }
        if let Some(content_type) = content_type(&step.body) {
            add_missing(&mut headers, vec![("content-type".to_owned(), content_type.to_owned())]);
        }
        if step.compressed {
            add_missing(&mut headers, vec![("accept-encoding".to_owned(), ACCEPTED.to_owned())]);
        }
        let body = self.body(step, &mut headers)?;
        let (origin, path) = address(&url)?;
        let own = self.values.pairs(&step.cookies)?;
        self.jar.set(&origin, &path, own);
        Ok((origin, Request { method: step.method.clone(), path, headers, body, ..Request::default() }))
    }

    fn body(&mut self, step: &HttpStep, headers: &mut Vec<(String, String)>) -> Result<Bytes, Unfilled> {
        let Body::Multipart(parts) = &step.body else { return self.values.body_bytes(&step.body) };
        let (boundary, body) = self.values.multipart(parts)?;
        // A type that the script writes itself cannot know the boundary.
        headers.retain(|(name, value)| {
            !name.eq_ignore_ascii_case("content-type")
                || !value.trim_start().starts_with("multipart/form-data")
        });
        let content_type = format!("multipart/form-data; boundary={boundary}");
        add_missing(headers, vec![("content-type".to_owned(), content_type)]);
        Ok(body)
    }
}

/// `http.extendedMetrics`: what the connection of a response had taken to open, told with each response as Artillery
/// does.
fn note_opening(recorder: &mut Recorder, opening: OpeningTimes, at: At) {
    let parts = [("http.dns", opening.name_us), ("http.tcp", opening.tcp_us), ("http.tls", opening.tls_us)];
    for (name, us) in parts {
        recorder.observe((Kind::Trend, Unit::Milliseconds), name, f64::from(us) / 1e3, at);
    }
}

/// Why a request got no response in time. One that spent half of its limit waiting for a connection says more of the
/// pool than of the target: waiters come to their turn in order, at the latest when the one before gives up, and then
/// have only a moment left for the target.
fn timed_out(
    step: &HttpStep,
    origin: &Origin,
    turn_wait_ns: i64,
    dialing: Option<Dialing>,
) -> (Failure, String) {
    let (failure, what) = match dialing {
        Some(Dialing::Begun) => (Failure::Timeout, "the host's name was not resolved"),
        Some(Dialing::Resolved) => (Failure::ConnectTimeout, "no connection"),
        Some(Dialing::Connected) => (Failure::Timeout, "the TLS handshake did not finish"),
        Some(Dialing::Ready) | None => (Failure::Timeout, "no response"),
    };
    let mut detail = format!("{} {origin}: {what} within {} ms", step.method, step.timeout.as_millis());
    let waited = Duration::from_nanos(turn_wait_ns.max(0) as u64);
    if waited < step.timeout / 2 || waited.is_zero() {
        return (failure, detail);
    }
    let _ = write!(detail, ", of which it waited {} ms for a connection of the pool", waited.as_millis());
    (Failure::PoolExhausted, detail)
}

/// The result of a request.
pub(super) struct Attempt {
    pub(super) waited: Result<Waited<Result<Response, Failed>>, Halt>,
    /// Bytes that left for it, as far as is known.
    sent: u64,
    /// When the last byte of a message had left.
    left: Option<At>,
    turn_wait_ns: i64,
    /// How far the connection was that it still waited for.
    dialing: Option<Dialing>,
    /// Whether the answer has begun, and is a stream of events.
    is_event_stream: bool,
}

impl Attempt {
    /// When a message went to the target; None if nothing of it did. One that was cut off half way, before `now`, has
    /// no instant of its own.
    pub(super) fn left(&self, now: At) -> Option<At> {
        self.left.or((self.sent > 0).then_some(now))
    }
}

/// A request that was answered, perhaps with a redirect.
pub(super) struct Answered {
    pub(super) origin: Origin,
    pub(super) request: Request,
    pub(super) response: Response,
}

/// Adds the headers whose names are not there yet.
pub(super) fn add_missing(headers: &mut Vec<(String, String)>, others: Vec<(String, String)>) {
    for (name, value) in others {
        if !headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(&name)) {
            headers.push((name, value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Template;
    use sonagi_measure::outcome::OperationId;

    #[test]
    fn a_request_that_ran_out_of_time_says_what_it_waited_for() {
        let step = HttpStep::new(OperationId(0), "GET", Template::constant("/"));
        let (origin, _) = Origin::parse("https://a/").unwrap();
        for (dialing, failure, words) in [
            (None, Failure::Timeout, "no response"),
            (Some(Dialing::Begun), Failure::Timeout, "the host's name was not resolved"),
            (Some(Dialing::Resolved), Failure::ConnectTimeout, "no connection"),
            (Some(Dialing::Connected), Failure::Timeout, "the TLS handshake did not finish"),
        ] {
            let told = timed_out(&step, &origin, 0, dialing);
            assert_eq!(told, (failure, format!("GET https://a: {words} within 10000 ms")));
        }
    }
}
