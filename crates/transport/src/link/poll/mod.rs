//! Short and long polling: one GET after another, each with the cursor of the answer before it.
//!
//! | rhythm | the next request is due |
//! |---|---|
//! | `Every` | on a grid counted from the first: one still under way then delays it, and none is left out. Before that at once, when an answer says that it was cut short |
//! | `Held` | at once; 100 ms after an answer that brought nothing and came in less than that; about a second (half to one and a half, drawn) after one that failed |
//!
//! The waits of `Held` keep a target that answers at once what it should hold back from being asked in a hot loop. On the
//! grid the script's own rhythm does that, after failures as well; an answer that claims to be cut short and brought nothing,
//! or left the cursor where it was, is not followed up.
//!
//! Connections are the link's own, never those of `http.pool`: a held request would keep one from everybody else. Redirects
//! are not followed.
//!
//! The decision to question: without a cursor, or with one to go on behind, a held poll subscribes when its request has left,
//! not when it is answered. Such a target answers with the next message, which may be one that its users send only when all
//! of them are subscribed.

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
use answer::{Answer, Place};
pub use answer::{PollField, is_truthy};

/// Answers in one drive before other tasks get their turn.
const MAX_TURNS: usize = 16;

/// A held poll that is answered faster than this and brings nothing waits so long for its next (ns).
const EMPTY_PAUSE_NS: i64 = 100_000_000;

/// About how long a held poll waits after a failure (ns).
const FAILURE_PAUSE_NS: i64 = 1_000_000_000;

/// A held poll that was held at least so long and then answered 503 has expired; before, the target is busy (ns).
const EXPIRY_NS: i64 = 1_000_000_000;

/// Polls that may fail in a row: with the last of them the connection counts as lost.
const MOST_FAILURES: u32 = 3;

/// The closest the grid may be: a rhythm of nothing would be a hot loop.
const LEAST_EVERY_NS: i64 = 1_000_000;

/// The way a cursor travels.
#[derive(Clone, Debug)]
pub struct Cursor {
    /// Where a response holds it.
    pub from: PollField,
    /// The query parameter that gives it back; nothing before the first.
    pub parameter: String,
}

/// The rhythm of polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rhythm {
    /// One is planned every so often, counted from the first. In between only answers that were cut short are followed up.
    Every(Duration),
    /// Each follows the answer to the one before, which may be held so long.
    Held(Duration),
}

/// How polling is begun.
#[derive(Clone, Debug)]
pub struct PollRequest {
    /// Where to.
    pub origin: Origin,
    /// The path with its query, as [`Origin::parse`] gives it; without the cursor.
    pub path: String,
    /// Of every request.
    pub headers: Vec<(String, String)>,
    /// The value of every request's Cookie header.
    pub cookie: Option<String>,
    /// How the target is told what has been received already.
    pub cursor: Option<Cursor>,
    /// Where an answer says that it was cut short.
    pub more: Option<PollField>,
    /// The cursor to begin with.
    pub after: Option<String>,
    /// When the next request leaves.
    pub rhythm: Rhythm,
    /// Statuses that say there is nothing new, beside 204, 304 and an empty 200.
    pub empty: Vec<u16>,
    /// The member of an answer's JSON object that lists the messages.
    pub messages: String,
    /// Longest wait for an answer, beyond the time it may be held.
    pub timeout: Duration,
    /// Largest answer accepted, in bytes.
    pub max_answer: usize,
    /// When the first one is due: the grid counts from here.
    pub planned: At,
    /// Of what is drawn.
    pub seed: u64,
}

impl PollRequest {
    /// How long a request may take: so much longer as it may be held.
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
    /// Cut off.
    Gone,
}

/// Polls.
pub struct PollLink {
    net: Rc<Net>,
    now: Rc<dyn Fn() -> At>,
    origin: Rc<Origin>,
    /// What all requests have in common; the path is written anew for each.
    request: Request,
    path: String,
    cookie: Option<String>,
    /// Where the cursor is, and the parameter that gives it back.
    place: Option<(Place, String)>,
    more: Option<Place>,
    cursor: Option<String>,
    rhythm: Rhythm,
    empty: Vec<u16>,
    messages: String,
    /// How long a request may take (ns).
    limit_ns: i64,
    max_answer: usize,
    rng: fastrand::Rng,
    lane: Lane,
    /// The last time of the grid that a request was, or is, due at.
    grid: At,
    /// Of the request under way, or of the next.
    planned: At,
    started: At,
    expires: At,
    failures: u32,
    /// What the last answer was, when it came faster than a held one should.
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
    /// Sends the first request and waits until it has subscribed: until its answer, whose messages the first drive hands over;
    /// until it has left when it may be held: without a cursor block, and with a cursor to go on behind. Cancel safe; without a time limit of its own.
    ///
    /// # Errors
    /// As [`Client::request`]; `HandshakeRefused` for an answer that is neither news nor empty.
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
            place: request.cursor.map(|cursor| (Place::new(cursor.from), cursor.parameter)),
            more: request.more.map(Place::new),
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

    /// The status that subscribed, if it took an answer to do so.
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

    /// Ready with what came of the request under way, and the connections that had to be opened beyond the link's first.
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

    /// A request under way has its limit; until then nothing happens but that the next one becomes due, perhaps. Whether it
    /// was given up.
    fn watch(&mut self, now: At, on: &mut dyn FnMut(Incoming<'_>)) -> Result<bool, Ended> {
        let limit = self.started.plus(self.limit_ns);
        if now < limit {
            // Woken then instead of later: the answer is usually there, and the alarm need not be set again.
            let next = self.next_planned(now, 0);
            self.expires = if next > now { next.min(limit) } else { limit };
            return Ok(false);
        }
        let detail = format!("no answer to a poll within {} ms", self.limit_ns / 1_000_000);
        // Its client goes down with it: whether that had opened a connection is not known.
        self.lane = Lane::Idle(self.client());
        self.fail(Failed::new(Failure::Timeout, detail), 0, limit, on)?;
        Ok(true)
    }

    /// When the request after this one is due; `pause` is what a held one waits after `ended`.
    fn next_planned(&self, ended: At, pause: i64) -> At {
        match self.rhythm {
            Rhythm::Every(every) => self.grid.plus(nanos(every).max(LEAST_EVERY_NS)),
            Rhythm::Held(_) => ended.plus(pause),
        }
    }

    /// Takes an answer: what it says, its messages, and when the next request is due.
    fn take(
        &mut self,
        response: &Response,
        is_first: bool,
        opened: u64,
        on: &mut dyn FnMut(Incoming<'_>),
    ) -> Result<(), Ended> {
        let answer = self.read(response)?;
        if matches!(answer, Answer::Refusal) {
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

    /// The next request is due: when the rhythm says so, or before that at once when there is more to be had.
    fn plan_next(&mut self, ended: At, pause: i64, is_cut: bool) {
        let next = self.next_planned(ended, pause);
        let follows_up = is_cut && matches!(self.rhythm, Rhythm::Every(_)) && ended < next;
        self.planned = if follows_up { ended } else { next };
        if !follows_up {
            self.grid = next;
        }
    }

    fn read<'a>(&self, response: &'a Response) -> Result<Answer<'a>, Ended> {
        if response.body_bytes > response.body.len() as u64 {
            let (limit, bytes) = (self.max_answer, response.body_bytes);
            let what = format!("an answer to a poll must have at most {limit} bytes, got {bytes}");
            return Err(Ended::failed(Failure::Protocol, what));
        }
        let is_told_empty =
            matches!(response.status, 204 | 304) || self.empty.contains(&response.status) || {
                // How a servlet container says that a request it held has had its time.
                let held =
                    matches!(self.rhythm, Rhythm::Held(_)) && response.ended.since(self.started) >= EXPIRY_NS;
                response.status == 503 && held && response.headers.get("retry-after").is_none()
            };
        Ok(Answer::read(response, is_told_empty, &self.messages))
    }

    /// What a held poll waits after this answer: nothing when it brought news, or was held.
    fn pause(&mut self, response: &Response, is_empty: bool) -> i64 {
        if response.ended.since(self.started) >= EMPTY_PAUSE_NS || matches!(self.rhythm, Rhythm::Every(_)) {
            self.quick = None;
            return 0;
        }
        // The same words again are no news, either: a target that knows no cursor, or not this one.
        let mut hasher = DefaultHasher::new();
        hasher.write(&response.body);
        let words = hasher.finish();
        let is_repeated = self.quick.replace(words) == Some(words);
        if is_empty || is_repeated { EMPTY_PAUSE_NS } else { 0 }
    }

    fn failure_pause(&mut self) -> i64 {
        self.rng.i64(FAILURE_PAUSE_NS / 2..=FAILURE_PAUSE_NS * 3 / 2)
    }

    /// A request got no answer, or a refusal: the link goes on until that has happened too often in a row.
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

    /// Whether the first answer subscribes.
    fn check_first(&self, response: &Response) -> Result<(), Failed> {
        let answer = self.read(response).map_err(|ended| Failed::protocol(ended.detail))?;
        if !matches!(answer, Answer::Refusal) {
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
