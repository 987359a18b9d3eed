//! Short and long polling: one GET after another, each with the cursor from the answer before it.
//!
//! | rhythm | the next request is due |
//! |---|---|
//! | `Every` | on a grid counted from the first; at once after an answer that says it was cut short |
//! | `Held` | at once; 100 ms after a quick answer without messages; 0.5 to 1.5 s, drawn, after a failure |
//!
//! On the grid, a request still under way delays the next one, and none is left out. An answer is quick when it came in
//! less than 100 ms.
//!
//! The waits of `Held` protect a target that answers at once instead of holding the request from being polled in a hot
//! loop. On the grid the script's own interval does that, after failures as well. An answer that claims to be cut short
//! but brought nothing, or left the cursor where it was, is not followed up.
//!
//! Connections are the link's own, never those of `http.pool`: a held request would keep one from everybody else.
//! Redirects are not followed.
//!
//! The decision to question: without a cursor, or with one to continue after, a held poll subscribes when its request
//! has been sent, not when it is answered. Such a target answers with the next message, and its users may send that
//! only when all of them are subscribed.

mod answer;

use std::future::{Future, poll_fn};
use std::hash::{DefaultHasher, Hasher};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use sonagi_measure::At;
use sonagi_measure::outcome::Failure;
use sonagi_measure::recorder::Counter;

use super::drive::{Ended, Env, Incoming, Link, give_way};
use crate::http::{Client, Encoded, Keep, Request, Response};
use crate::net::{Failed, Net, Origin, push_query};
use answer::{CompiledField, PollAnswer};
pub use answer::{PollField, is_truthy};

/// Answers in one drive before other tasks get their turn.
const MAX_TURNS: usize = 16;

/// The wait after a held poll that was answered faster than this and brought nothing (ns).
const EMPTY_PAUSE_NS: i64 = 100_000_000;

/// The approximate wait after a failed held poll (ns).
const FAILURE_PAUSE_NS: i64 = 1_000_000_000;

/// A held poll answered by 503 has expired if it was held at least this long; before, the target is busy (ns).
const EXPIRY_NS: i64 = 1_000_000_000;

/// Limit on polls that fail in a row: with the last of them the connection counts as lost.
const MOST_FAILURES: u32 = 3;

/// The shortest interval of the grid (ns): an interval of 0 would be a hot loop.
const LEAST_EVERY_NS: i64 = 1_000_000;

/// How a cursor travels.
#[derive(Clone, Debug)]
pub struct PollCursor {
    /// Its place in a response.
    pub from: PollField,
    /// The query parameter that sends it back; not sent before there is one.
    pub parameter: String,
}

/// The timing of polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rhythm {
    /// One is planned every interval, counted from the first. In between only cut-short answers are followed up.
    Every(Duration),
    /// Each follows the answer to the one before, which the target may hold this long.
    Held(Duration),
}

/// The requests of a polling link.
#[derive(Clone, Debug)]
pub struct PollRequest {
    /// The target.
    pub origin: Origin,
    /// The path with its query, as [`Origin::parse`] gives it; without the cursor.
    pub path: String,
    /// The headers of every request.
    pub headers: Vec<(String, String)>,
    /// The value of every request's Cookie header.
    pub cookie: Option<String>,
    /// How the target learns what has been received already.
    pub cursor: Option<PollCursor>,
    /// The place in an answer that says it was cut short.
    pub more: Option<PollField>,
    /// The cursor to begin with.
    pub after: Option<String>,
    /// When the next request leaves.
    pub rhythm: Rhythm,
    /// Statuses that mean there is nothing new, beside 204, 304 and an empty 200.
    pub empty: Vec<u16>,
    /// The member of an answer's JSON object that lists the messages.
    pub messages: String,
    /// Longest wait for an answer, beyond the time it may be held.
    pub timeout: Duration,
    /// Largest answer accepted, in bytes.
    pub max_answer: usize,
    /// The planned instant of the first request, from which the grid counts.
    pub planned: At,
    /// The seed of random waits.
    pub seed: u64,
}

impl PollRequest {
    /// The limit on one request: the timeout, and the time it may be held.
    pub fn limit(&self) -> Duration {
        match self.rhythm {
            Rhythm::Held(held) => self.timeout.saturating_add(held),
            Rhythm::Every(_) => self.timeout,
        }
    }
}

/// A request under way, with the client it came from.
type Flight = Pin<Box<dyn Future<Output = (Box<Client>, Result<Response, Failed>)>>>;

enum Lane {
    Idle(Box<Client>),
    Busy(Flight),
    /// The request was cut off.
    Gone,
}

/// A polling link.
pub struct PollLink {
    net: Rc<Net>,
    now: Rc<dyn Fn() -> At>,
    origin: Rc<Origin>,
    /// The common part of all requests; the path is written anew for each.
    request: Request,
    path: String,
    cookie: Option<String>,
    /// The cursor's place, and the parameter that sends it back.
    place: Option<(CompiledField, String)>,
    more: Option<CompiledField>,
    cursor: Option<String>,
    rhythm: Rhythm,
    empty: Vec<u16>,
    messages: String,
    /// The limit on one request (ns).
    limit_ns: i64,
    max_answer: usize,
    rng: fastrand::Rng,
    lane: Lane,
    /// The grid's latest instant at which a request was, or is, due.
    grid: At,
    /// The planned instant of the request under way, or of the next.
    planned: At,
    started: At,
    expires: At,
    failures: u32,
    /// A hash of the last answer, when it came faster than a held one should.
    quick: Option<u64>,
    /// The answer that subscribed, until it is driven.
    first: Option<Box<Response>>,
    has_opened: bool,
    is_closing: bool,
    ended: Option<Box<Ended>>,
    sent: u64,
    received: u64,
}

impl PollLink {
    /// Sends the first request and waits until it has subscribed: until its answer, whose messages the first drive
    /// hands over; or only until it has been sent, when it may be held and has no cursor block or a cursor to continue
    /// after. Cancel safe; without a time limit of its own.
    ///
    /// # Errors
    /// The errors of [`Client::request`]; `HandshakeRefused` for an answer that neither brings messages nor is empty.
    pub async fn open(
        net: &Rc<Net>,
        now: Rc<dyn Fn() -> At>,
        request: PollRequest,
    ) -> Result<PollLink, Failed> {
        let mut link = PollLink::new(net, now, request);
        let mut client = link.client();
        let left = client.leaving();
        link.lane = Lane::Idle(client);
        link.start((link.now)())?;
        let subscribes_by_leaving =
            matches!(link.rhythm, Rhythm::Held(_)) && (link.place.is_none() || link.cursor.is_some());
        let answered = poll_fn(|cx| match link.poll_flight(cx) {
            Poll::Ready((outcome, _)) => Poll::Ready(Some(outcome)),
            Poll::Pending if subscribes_by_leaving && left.get().is_some() => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        });
        if let Some(outcome) = answered.await {
            let response = outcome?;
            link.check_first(&response)?;
            link.first = Some(Box::new(response));
        }
        Ok(link)
    }

    fn new(net: &Rc<Net>, now: Rc<dyn Fn() -> At>, request: PollRequest) -> PollLink {
        let limit_ns = nanos(request.limit());
        let head = Request { method: "GET".to_owned(), headers: request.headers, ..Request::default() };
        PollLink {
            net: Rc::clone(net),
            now,
            origin: Rc::new(request.origin),
            request: head,
            path: request.path,
            cookie: request.cookie,
            place: request.cursor.map(|cursor| (CompiledField::new(cursor.from), cursor.parameter)),
            more: request.more.map(CompiledField::new),
            cursor: request.after,
            rhythm: request.rhythm,
            empty: request.empty,
            messages: request.messages,
            limit_ns,
            max_answer: request.max_answer,
            rng: fastrand::Rng::with_seed(request.seed),
            lane: Lane::Gone,
            grid: request.planned,
            planned: request.planned,
            started: request.planned,
            expires: request.planned,
            failures: 0,
            quick: None,
            first: None,
            has_opened: false,
            is_closing: false,
            ended: None,
            sent: 0,
            received: 0,
        }
    }

    fn client(&self) -> Box<Client> {
        Box::new(Client::new(Rc::clone(&self.net), None, Rc::clone(&self.now)))
    }

    /// The status of the answer that subscribed, if it took one.
    pub fn first_status(&self) -> Option<u16> {
        self.first.as_ref().map(|response| response.status)
    }

    fn advance(
        &mut self,
        cx: &mut Context<'_>,
        env: &mut Env<'_>,
        on: &mut dyn FnMut(Incoming<'_>),
    ) -> Result<(), Ended> {
        if let Some(response) = self.first.take() {
            self.take(&response, true, 0, on)?;
        }
        for _ in 0..MAX_TURNS {
            if let Lane::Idle(_) = self.lane {
                let now = env.present.now();
                if now < self.planned {
                    self.expires = self.planned;
                    return Ok(());
                }
                self.start(now)?;
            }
            match self.poll_flight(cx) {
                Poll::Ready((outcome, opened)) => {
                    env.present.pass();
                    match outcome {
                        Ok(response) => self.take(&response, false, opened, on)?,
                        Err(failed) => self.fail(failed, opened, env.present.now(), on)?,
                    }
                }
                Poll::Pending if self.watch(env.present.now(), on)? => {}
                Poll::Pending => return Ok(()),
            }
        }
        give_way(cx);
        Ok(())
    }

    /// Sends the next request.
    fn start(&mut self, now: At) -> Result<(), Failed> {
        let Lane::Idle(mut client) = std::mem::replace(&mut self.lane, Lane::Gone) else { return Ok(()) };
        self.request.path.clone_from(&self.path);
        if let (Some((_, parameter)), Some(cursor)) = (&self.place, &self.cursor) {
            push_query(&mut self.request.path, parameter, cursor);
        }
        let encoded = Encoded::new(&self.request, &self.origin, self.cookie.as_deref())?;
        // The headers are few, and a retry-after or a cursor may be among them.
        let keep = Keep { headers: true, body: self.max_answer };
        let origin = Rc::clone(&self.origin);
        self.lane = Lane::Busy(Box::pin(async move {
            let outcome = client.send(&origin, &encoded, keep).await;
            (client, outcome)
        }));
        self.started = now;
        Ok(())
    }

    /// Ready with the result of the request under way, and the connections opened beyond the link's first.
    fn poll_flight(&mut self, cx: &mut Context<'_>) -> Poll<(Result<Response, Failed>, u64)> {
        let Lane::Busy(flight) = &mut self.lane else { return Poll::Pending };
        let Poll::Ready((mut client, outcome)) = flight.as_mut().poll(cx) else { return Poll::Pending };
        let traffic = client.take_traffic();
        self.lane = Lane::Idle(client);
        self.sent += traffic.sent;
        self.received += traffic.received;
        let firsts = u64::from(traffic.opened > 0 && !std::mem::replace(&mut self.has_opened, true));
        Poll::Ready((outcome, traffic.opened - firsts))
    }

    /// Applies the limit of the request under way; until then at most the next request becomes due. Returns whether the
    /// request was given up.
    fn watch(&mut self, now: At, on: &mut dyn FnMut(Incoming<'_>)) -> Result<bool, Ended> {
        let limit = self.started.plus(self.limit_ns);
        if now < limit {
            // Woken then instead of later: the answer is usually there, and the alarm need not be set again.
            let next = self.next_planned(now, 0);
            self.expires = if next > now { next.min(limit) } else { limit };
            return Ok(false);
        }
        let detail = format!("no answer to a poll within {} ms", self.limit_ns / 1_000_000);
        // Its client is dropped with it: whether that had opened a connection is unknown.
        self.lane = Lane::Idle(self.client());
        self.fail(Failed::new(Failure::Timeout, detail), 0, limit, on)?;
        Ok(true)
    }

    /// The planned instant of the request after this one; `pause` is the wait of a held one after `ended`.
    fn next_planned(&self, ended: At, pause: i64) -> At {
        match self.rhythm {
            Rhythm::Every(every) => self.grid.plus(nanos(every).max(LEAST_EVERY_NS)),
            Rhythm::Held(_) => ended.plus(pause),
        }
    }

    /// Takes an answer: reports it and its messages, and plans the next request.
    fn take(
        &mut self,
        response: &Response,
        is_first: bool,
        opened: u64,
        on: &mut dyn FnMut(Incoming<'_>),
    ) -> Result<(), Ended> {
        let answer = self.read(response)?;
        if matches!(answer, PollAnswer::Refusal) {
            return self.fail(refused("a poll", Failure::PollRefused, response), opened, response.ended, on);
        }
        let PollLink { planned, started, .. } = *self;
        let (ended, status, is_empty) = (response.ended, response.status, answer.is_empty());
        on(Incoming::Polled { planned, started, ended, status, is_empty, is_first, opened });
        self.failures = 0;
        let pause = self.pause(response, is_empty);
        let mut has_moved = self.place.is_none();
        if let Some((place, _)) = &self.place
            && let Some(cursor) = answer.cursor(place, response)
        {
            has_moved = self.cursor.as_ref() != Some(&cursor);
            self.cursor = Some(cursor);
        }
        let is_cut =
            has_moved && !is_empty && self.more.as_ref().is_some_and(|place| answer.says(place, response));
        answer.each(|text| on(Incoming::Message { topic: "", text }));
        self.plan_next(ended, pause, is_cut);
        Ok(())
    }

    /// Plans the next request: when the timing says so, or at once when there is more to fetch.
    fn plan_next(&mut self, ended: At, pause: i64, is_cut: bool) {
        let next = self.next_planned(ended, pause);
        let follows_up = is_cut && matches!(self.rhythm, Rhythm::Every(_)) && ended < next;
        self.planned = if follows_up { ended } else { next };
        if !follows_up {
            self.grid = next;
        }
    }

    fn read<'a>(&self, response: &'a Response) -> Result<PollAnswer<'a>, Ended> {
        if response.body_bytes > response.body.len() as u64 {
            let (limit, bytes) = (self.max_answer, response.body_bytes);
            let what = format!("an answer to a poll must have at most {limit} bytes, got {bytes}");
            return Err(Ended::failed(Failure::Protocol, what));
        }
        let is_told_empty =
            matches!(response.status, 204 | 304) || self.empty.contains(&response.status) || {
                // A servlet container says so when a request that it held has expired.
                let held =
                    matches!(self.rhythm, Rhythm::Held(_)) && response.ended.since(self.started) >= EXPIRY_NS;
                response.status == 503 && held && response.headers.get("retry-after").is_none()
            };
        Ok(PollAnswer::read(response, is_told_empty, &self.messages))
    }

    /// The wait of a held poll after this answer: none when it brought messages, or was held.
    fn pause(&mut self, response: &Response, is_empty: bool) -> i64 {
        if response.ended.since(self.started) >= EMPTY_PAUSE_NS || matches!(self.rhythm, Rhythm::Every(_)) {
            self.quick = None;
            return 0;
        }
        // The same body again is no news, either: the target has no cursor, or does not know this one.
        let mut hasher = DefaultHasher::new();
        hasher.write(&response.body);
        let words = hasher.finish();
        let is_repeated = self.quick.replace(words) == Some(words);
        if is_empty || is_repeated { EMPTY_PAUSE_NS } else { 0 }
    }

    fn failure_pause(&mut self) -> i64 {
        self.rng.i64(FAILURE_PAUSE_NS / 2..=FAILURE_PAUSE_NS * 3 / 2)
    }

    /// Counts a request that failed or was refused: the link goes on until too many have in a row.
    fn fail(
        &mut self,
        failed: Failed,
        opened: u64,
        now: At,
        on: &mut dyn FnMut(Incoming<'_>),
    ) -> Result<(), Ended> {
        let PollLink { planned, started, .. } = *self;
        let Failed { failure, detail, .. } = failed;
        on(Incoming::PollFailed { planned, started, ended: now, failure, detail: &detail, opened });
        self.failures += 1;
        if self.failures >= MOST_FAILURES {
            let detail = format!("{MOST_FAILURES} polls in a row failed, the last: {detail}");
            return Err(Ended { is_told: true, ..Ended::failed(failure, detail) });
        }
        self.quick = None;
        let pause = self.failure_pause();
        self.plan_next(now, pause, false);
        Ok(())
    }

    /// Checks that the first answer subscribes.
    fn check_first(&self, response: &Response) -> Result<(), Failed> {
        let answer = self.read(response).map_err(|ended| Failed::protocol(ended.detail))?;
        if !matches!(answer, PollAnswer::Refusal) {
            return Ok(());
        }
        Err(refused("the first poll", Failure::HandshakeRefused, response))
    }
}

impl Link for PollLink {
    fn poll_drive(
        &mut self,
        cx: &mut Context<'_>,
        env: &mut Env<'_>,
        on: &mut dyn FnMut(Incoming<'_>),
    ) -> Poll<Ended> {
        if let Some(ended) = &self.ended {
            return Poll::Ready(ended.as_ref().clone());
        }
        let driven = if self.is_closing { Err(Ended::by_us()) } else { self.advance(cx, env, on) };
        let Err(ended) = driven else { return Poll::Pending };
        self.lane = Lane::Gone;
        self.ended = Some(Box::new(ended.clone()));
        Poll::Ready(ended)
    }

    fn has_unsent(&self) -> bool {
        false
    }

    fn received(&self) -> Counter {
        Counter::PollsReceived
    }

    /// When a request is due, or has had its time.
    fn expires(&self) -> Option<At> {
        Some(self.expires)
    }

    fn has_cursor(&self) -> bool {
        true
    }

    /// What the last answer gave to go on behind.
    fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }

    fn take_bytes(&mut self) -> (u64, u64) {
        (std::mem::take(&mut self.sent), std::mem::take(&mut self.received))
    }

    /// A request that is held would be held on: it is cut off.
    fn begin_close(&mut self) {
        self.is_closing = true;
        self.lane = Lane::Gone;
    }
}

fn refused(what: &str, class: fn(u16) -> Failure, response: &Response) -> Failed {
    let status = response.status;
    let words = answer::excerpt(&response.body);
    Failed::new(class(status), format!("{what} was answered with status {status}{words}"))
}

fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}
