//! What the server answers: pages, the table of runs, the lines of a run as a stream of events, and a stop.

use super::access::Access;
use super::feed::{self, Expected, Feed};
use super::library::{self, Library};
use super::server::Subject;
use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Frame, Incoming};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use sonagi_report::html;
use std::borrow::Cow;
use std::convert::Infallible;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// Streams of lines at the same time.
const VIEWERS_MAX: usize = 64;
/// Connections at the same time: a viewer has a few.
pub(super) const CONNECTIONS_MAX: usize = 4 * VIEWERS_MAX;
/// Feeds that are kept for who comes back to them.
const FEEDS_MAX: usize = 32;
/// A stream without news says that it lives.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);
/// How long the address of a run that has yet to begin is kept waiting for it.
const BEGIN_TIME: Duration = Duration::from_secs(5);
/// The last event of a stream: nobody need ask again.
const CLOSED: &str = "event: closed\ndata: {}\n\n";
/// The header that has the token of who acts.
const TOKEN: HeaderName = HeaderName::from_static("x-sonagi-token");
/// The header that has the id of the last event a viewer saw.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// The header in which a browser says where a request comes from.
const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;

/// What all connections share.
pub(super) struct Shared {
    access: Access,
    library: Library,
    subject: Subject,
    closing: watch::Sender<bool>,
    /// How many runs of this process have begun, and whether another may come.
    turns: watch::Sender<Turns>,
    viewers: AtomicUsize,
    runs: Mutex<Runs>,
}

#[derive(Clone, Copy, Default)]
struct Turns {
    begun: usize,
    is_last: bool,
}

#[derive(Default)]
struct Runs {
    /// The feeds that somebody asked for, oldest first.
    feeds: Vec<(String, Arc<Feed>)>,
    /// The runs of this process, in order.
    own: Vec<Own>,
}

/// Ends a run gracefully.
pub(super) type Stop = Box<dyn FnOnce() + Send>;

/// A run of this process.
struct Own {
    id: String,
    is_running: bool,
    /// None: it was called.
    stop: Option<Stop>,
}

impl Shared {
    pub(super) fn new(access: Access, library: Library, subject: Subject) -> Shared {
        let (viewers, runs) = (AtomicUsize::new(0), Mutex::default());
        let (closing, turns) = (watch::Sender::new(false), watch::Sender::default());
        Shared { access, library, subject, closing, turns, viewers, runs }
    }

    pub(super) fn access(&self) -> &Access {
        &self.access
    }

    pub(super) fn library(&self) -> &Path {
        self.library.path()
    }

    /// Streams end from now on when they have told all there is.
    pub(super) fn close(&self) {
        self.closing.send_replace(true);
    }

    /// Tells when it closes.
    pub(super) fn closing(&self) -> watch::Receiver<bool> {
        self.closing.subscribe()
    }

    /// A run of this process begins.
    pub(super) fn begin(&self, id: String, feed: Arc<Feed>, stop: Stop) {
        let mut runs = self.runs();
        runs.keep(id.clone(), feed);
        runs.own.push(Own { id, is_running: true, stop: Some(stop) });
        self.turns.send_modify(|turns| turns.begun += 1);
    }

    /// The run of this process is over: nothing can stop it, and no stop of it can reach the next one.
    pub(super) fn end_own(&self) {
        if let Some(own) = self.runs().own.last_mut() {
            own.is_running = false;
            own.stop = None;
        }
    }

    /// No other run of this process will come.
    pub(super) fn end_runs(&self) {
        self.turns.send_modify(|turns| turns.is_last = true);
    }

    pub(super) fn own_feed(&self) -> Option<Arc<Feed>> {
        let runs = self.runs();
        runs.known(&runs.own.last()?.id)
    }

    /// The lines of the run with this id; None: there is no such run here.
    fn feed(&self, id: &str) -> Option<io::Result<Arc<Feed>>> {
        let mut runs = self.runs();
        if !self.serves(&runs, id) {
            return None;
        }
        // What failed may succeed now: there is room on the disk again, say.
        if let Some(feed) = runs.known(id).filter(|feed| !feed.has_failed()) {
            return Some(Ok(feed));
        }
        let started = Feed::start(&library::folder(self.library.path(), id)?, id, self.expected(false));
        if let Ok(feed) = &started {
            runs.keep(id.to_owned(), Arc::clone(feed));
        }
        Some(started)
    }

    fn has(&self, id: &str) -> bool {
        let runs = self.runs();
        self.serves(&runs, id)
            && (runs.own.iter().any(|own| own.id == id) || library::folder(self.library.path(), id).is_some())
    }

    /// Whether runs of this id are shown, if there are any: who was told to show a run shows no other.
    fn serves(&self, runs: &Runs, id: &str) -> bool {
        match &self.subject {
            Subject::Library => true,
            Subject::Run(only) => only == id,
            Subject::Own { .. } => runs.own.iter().any(|own| own.id == id),
        }
    }

    /// What is known of the folder of a run; `is_awaited`: it need not have begun.
    pub(super) fn expected(&self, is_awaited: bool) -> Expected {
        Expected { is_awaited, is_temporary: self.subject == Subject::Own { is_temporary: true } }
    }

    /// The runs that are shown; None: all of the library.
    fn served(&self) -> Option<Vec<String>> {
        match &self.subject {
            Subject::Library => None,
            Subject::Run(only) => Some(vec![only.clone()]),
            Subject::Own { .. } => Some(self.runs().own.iter().map(|own| own.id.clone()).collect()),
        }
    }

    fn is_stoppable(&self, id: &str) -> bool {
        self.runs().own.iter().any(|own| own.id == id && own.is_running)
    }

    /// What a viewer is told when it has all of a run: of this process's runs, which one is under way by now. None: the
    /// next one may yet begin.
    fn farewell(&self, id: &str) -> Option<String> {
        let runs = self.runs();
        match runs.own.last() {
            Some(newest) if newest.id == id => self.turns.borrow().is_last.then(|| CLOSED.to_owned()),
            Some(newest) if runs.own.iter().any(|own| own.id == id) => {
                Some(format!("event: next\ndata: {}\n\n{CLOSED}", json!({ "id": newest.id })))
            }
            _ => Some(CLOSED.to_owned()),
        }
    }

    /// Returns as soon as a run of this process has begun, or none will; after a while in any case.
    async fn begun(&self) {
        let (mut turns, mut closing) = (self.turns.subscribe(), self.closing());
        let begun = turns.wait_for(|turns| turns.begun > 0 || turns.is_last);
        tokio::select! {
            _ = tokio::time::timeout(BEGIN_TIME, begun) => {}
            _ = closing.wait_for(|is_closing| *is_closing) => {}
        }
    }

    fn runs(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Runs {
    fn known(&self, id: &str) -> Option<Arc<Feed>> {
        self.feeds.iter().find(|(known, _)| known == id).map(|(_, feed)| Arc::clone(feed))
    }

    /// Keeps a feed for others, in place of one that nobody watches. Where all are watched, and none is of the run
    /// under way, it is its viewer's alone.
    fn keep(&mut self, id: String, feed: Arc<Feed>) {
        self.feeds.retain(|(known, _)| *known != id);
        if self.feeds.len() >= FEEDS_MAX {
            let newest = self.own.last().map(|own| own.id.clone());
            let is_idle = |(id, feed): &(String, Arc<Feed>)| {
                Arc::strong_count(feed) == 1 && Some(id) != newest.as_ref()
            };
            match self.feeds.iter().position(is_idle) {
                Some(idle) => drop(self.feeds.remove(idle)),
                None => return,
            }
        }
        self.feeds.push((id, feed));
    }
}

/// Answers one request.
pub(super) async fn answer(request: Request<Incoming>, shared: &Arc<Shared>) -> Answer {
    let given = |name: HeaderName| text(request.headers(), &name);
    if !shared.access.admits(given(header::HOST), given(header::ORIGIN)) {
        let why = "this page answers only under its own address, e.g. http://127.0.0.1:5665\n";
        return plain(StatusCode::FORBIDDEN, why);
    }
    let is_foreign = Access::is_foreign(given(SITE));
    let path = request.uri().path();
    let parts: Option<Vec<String>> = path.split('/').skip(1).map(decoded).collect();
    let parts = parts.unwrap_or_default();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let get = request.method() == Method::GET;
    match parts.as_slice() {
        ["api", ..] if is_foreign => plain(StatusCode::FORBIDDEN, "this page answers no other site\n"),
        [""] if get => page(&boot_of_subject(shared).await),
        ["runs", id] if get && shared.has(id) => page(&boot_of_run(shared, id)),
        ["compare"] if get => page(&boot_of_comparison(shared, request.uri().query().unwrap_or_default())),
        ["matrices", name] if get && shared.subject == Subject::Library => matrix(shared, name).await,
        ["capacities", name] if get && shared.subject == Subject::Library => {
            capacity(shared, name, page).await
        }
        ["api", "capacities", name] if get && shared.subject == Subject::Library => {
            capacity(shared, name, document).await
        }
        ["api", "runs"] if get => rows(shared).await,
        ["api", "runs", id, "lines"] if get => lines(shared, id, request.headers()),
        ["api", "runs", id, "stop"] if request.method() == Method::POST => stop(shared, id, given(TOKEN)),
        _ => plain(StatusCode::NOT_FOUND, "there is nothing of this name here\n"),
    }
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    // Not text at all: no address and no token of ours.
    headers.get(name).map(|value| value.to_str().unwrap_or("?"))
}

/// A part of a path without its escapes; None: they make no text.
fn decoded(part: &str) -> Option<String> {
    percent_decode_str(part).decode_utf8().ok().map(Cow::into_owned)
}

async fn boot_of_subject(shared: &Shared) -> Value {
    let id = match &shared.subject {
        Subject::Library => None,
        Subject::Run(id) => Some(id.clone()),
        Subject::Own { .. } => {
            shared.begun().await;
            shared.runs().own.last().map(|own| own.id.clone())
        }
    };
    id.map_or_else(|| json!({ "mode": "library", "library": true }), |id| boot_of_run(shared, &id))
}

fn boot_of_run(shared: &Shared, id: &str) -> Value {
    let mut boot = json!({ "mode": "run", "id": id });
    if shared.subject == Subject::Library {
        // The address itself is the way back to it.
        boot["library"] = json!(true);
    }
    if shared.is_stoppable(id) {
        boot["stoppable"] = json!(true);
    }
    boot
}

fn boot_of_comparison(shared: &Shared, query: &str) -> Value {
    let of = |name: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(known, _)| *known == name).and_then(|(_, id)| decoded(id))
    };
    let is_library = shared.subject == Subject::Library;
    json!({ "mode": "compare", "a": of("a"), "b": of("b"), "library": is_library })
}

/// Which value of a matrix's axis is best.
async fn matrix(shared: &Shared, name: &str) -> Answer {
    match shared.library.matrix(name).await {
        Some(mut boot) => {
            boot["library"] = json!(true);
            page(&boot)
        }
        None => plain(StatusCode::NOT_FOUND, "there is no matrix of this name\n"),
    }
}

/// How much a target holds, as far as it is known.
async fn capacity(shared: &Shared, name: &str, answered: impl FnOnce(&Value) -> Answer) -> Answer {
    match shared.library.search(name).await {
        Some(mut boot) => {
            boot["library"] = json!(true);
            answered(&boot)
        }
        None => plain(StatusCode::NOT_FOUND, "there is no search of this name\n"),
    }
}

fn document(value: &Value) -> Answer {
    with_type(StatusCode::OK, "application/json", Full::new(value.to_string().into()).boxed_unsync())
}

async fn rows(shared: &Shared) -> Answer {
    let document = shared.library.document(shared.served()).await;
    with_type(StatusCode::OK, "application/json", Full::new(document).boxed_unsync())
}

/// Streams the lines of a run behind the one that the viewer has seen last.
fn lines(shared: &Arc<Shared>, id: &str, headers: &HeaderMap) -> Answer {
    let Some(feed) = shared.feed(id) else {
        return plain(StatusCode::NOT_FOUND, "there is no run of this name\n");
    };
    let Some(viewer) = Viewer::enter(shared, id) else {
        return plain(StatusCode::SERVICE_UNAVAILABLE, "there are too many viewers\n");
    };
    let last = text(headers, &LAST_EVENT_ID).map(ToOwned::to_owned);
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        let failed = match feed {
            Ok(feed) => viewer.watch(&feed, last.as_deref(), &sender).await.err(),
            Err(error) => Some(feed::unkept(error)),
        };
        if let Some(why) = failed {
            let event = format!("event: failed\ndata: {}\n\n", json!({ "why": why }));
            let _ = sender.send(event.into()).await;
        }
    });
    with_type(StatusCode::OK, "text/event-stream", Stream(receiver).boxed_unsync())
}

/// One who is sent the lines of a run; leaves when dropped.
struct Viewer {
    shared: Arc<Shared>,
    id: String,
}

impl Viewer {
    fn enter(shared: &Arc<Shared>, id: &str) -> Option<Viewer> {
        let viewer = Viewer { shared: Arc::clone(shared), id: id.to_owned() };
        let before = shared.viewers.fetch_add(1, Ordering::AcqRel);
        (before < VIEWERS_MAX).then_some(viewer)
    }

    /// Sends lines as they come, one chunk ahead of what the viewer takes, behind the event that it saw `last`.
    ///
    /// # Errors
    /// Why no more lines come, in a sentence for the viewer.
    async fn watch(
        &self,
        feed: &Feed,
        last: Option<&str>,
        sender: &mpsc::Sender<Bytes>,
    ) -> Result<(), String> {
        let number = last.map(|id| feed.number(id));
        if number == Some(None) {
            // What it has is of another feed.
            let _ = sender.send(Bytes::from_static(b"event: restart\ndata:\n\n")).await;
        }
        let mut seen = number.flatten().unwrap_or(0);
        let (mut news, mut turns) = (feed.news(), self.shared.turns.subscribe());
        let mut closing = self.shared.closing();
        loop {
            news.borrow_and_update();
            turns.borrow_and_update();
            let is_closing = *closing.borrow_and_update();
            let chunk = feed.behind(seen).map_err(feed::unkept)?;
            seen = chunk.seen;
            if !chunk.bytes.is_empty() && sender.send(chunk.bytes.into()).await.is_err() {
                return Ok(());
            }
            if let Some(why) = chunk.failure {
                return Err(why);
            }
            if chunk.is_last
                && let Some(farewell) = self.shared.farewell(&self.id)
            {
                let _ = sender.send(farewell.into()).await;
                return Ok(());
            }
            if chunk.has_more {
                continue;
            }
            if is_closing {
                return Ok(());
            }
            tokio::select! {
                _ = sender.closed() => return Ok(()),
                _ = closing.changed() => {}
                _ = turns.changed() => {}
                told = tokio::time::timeout(SIGN_OF_LIFE, news.changed()) => {
                    if told.is_err() && sender.send(Bytes::from_static(b": alive\n\n")).await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        self.shared.viewers.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Ends a run of this process gracefully: that run, and none after it.
fn stop(shared: &Shared, id: &str, token: Option<&str>) -> Answer {
    if !shared.access.may_act(token) {
        return plain(StatusCode::FORBIDDEN, "only who has the token may stop a run\n");
    }
    // Locked while it is stopped: the run cannot make way for the next one meanwhile.
    let mut runs = shared.runs();
    let Some(own) = runs.own.iter_mut().find(|own| own.id == id && own.is_running) else {
        return plain(StatusCode::CONFLICT, "this run is not under way here\n");
    };
    if let Some(stop) = own.stop.take() {
        stop();
    }
    plain(StatusCode::ACCEPTED, "stopping\n")
}

fn page(boot: &Value) -> Answer {
    let page = html::served(boot);
    with_type(StatusCode::OK, "text/html; charset=utf-8", Full::new(page.into()).boxed_unsync())
}

fn plain(status: StatusCode, text: &'static str) -> Answer {
    with_type(status, "text/plain; charset=utf-8", Full::new(text.into()).boxed_unsync())
}

fn with_type(status: StatusCode, kind: &'static str, body: UnsyncBoxBody<Bytes, Infallible>) -> Answer {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    answer
}

/// A body of what comes through a channel.
struct Stream(mpsc::Receiver<Bytes>);

impl Body for Stream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}
