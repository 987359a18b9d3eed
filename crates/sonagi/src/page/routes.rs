//! What the server answers: pages, the table of runs, the lines of a run as a stream of events, and a stop.

use super::access::Access;
use super::feed::Feed;
use super::library;
use super::server::Subject;
use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Frame, Incoming};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use percent_encoding::percent_decode_str;
use rustix::process::{Signal, getpid, kill_process};
use serde_json::{Value, json};
use sonagi_report::html;
use std::borrow::Cow;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
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
/// The header that has the token of who acts.
const TOKEN: &str = "x-sonagi-token";

type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;

/// What all connections share.
pub(super) struct Shared {
    access: Access,
    library: PathBuf,
    subject: Subject,
    closing: watch::Sender<bool>,
    viewers: AtomicUsize,
    runs: Mutex<Runs>,
}

#[derive(Default)]
struct Runs {
    /// The feeds that somebody asked for, oldest first.
    feeds: Vec<(String, Arc<Feed>)>,
    own: Option<Own>,
}

/// The run of this process.
struct Own {
    id: String,
    is_running: bool,
    is_stopping: bool,
}

impl Shared {
    pub(super) fn new(access: Access, library: PathBuf, subject: Subject) -> Shared {
        let (viewers, runs) = (AtomicUsize::new(0), Mutex::default());
        Shared { access, library, subject, closing: watch::Sender::new(false), viewers, runs }
    }

    pub(super) fn library(&self) -> &Path {
        &self.library
    }

    /// Streams end from now on when they have told all there is.
    pub(super) fn close(&self) {
        self.closing.send_replace(true);
    }

    /// Tells when it closes.
    pub(super) fn closing(&self) -> watch::Receiver<bool> {
        self.closing.subscribe()
    }

    pub(super) fn begin(&self, id: String, feed: Arc<Feed>) {
        let mut runs = self.runs();
        runs.feeds.push((id.clone(), feed));
        runs.own = Some(Own { id, is_running: true, is_stopping: false });
    }

    pub(super) fn end_own(&self) {
        if let Some(own) = &mut self.runs().own {
            own.is_running = false;
        }
    }

    pub(super) fn own_feed(&self) -> Option<Arc<Feed>> {
        let runs = self.runs();
        let own = runs.own.as_ref()?;
        runs.feeds.iter().find(|(id, _)| *id == own.id).map(|(_, feed)| Arc::clone(feed))
    }

    /// The lines of the run with this id.
    fn feed(&self, id: &str) -> Option<Arc<Feed>> {
        let mut runs = self.runs();
        if let Some((_, feed)) = runs.feeds.iter().find(|(known, _)| known == id) {
            return Some(Arc::clone(feed));
        }
        let feed = Feed::start(&library::folder(&self.library, id)?, id).ok()?;
        if runs.feeds.len() >= FEEDS_MAX {
            let own = runs.own.as_ref().map(|own| own.id.clone());
            let is_idle =
                |(id, feed): &(String, Arc<Feed>)| Arc::strong_count(feed) == 1 && Some(id) != own.as_ref();
            // All watched: it is made for this viewer alone.
            let Some(idle) = runs.feeds.iter().position(is_idle) else { return Some(feed) };
            runs.feeds.remove(idle);
        }
        runs.feeds.push((id.to_owned(), Arc::clone(&feed)));
        Some(feed)
    }

    fn has(&self, id: &str) -> bool {
        self.runs().own.as_ref().is_some_and(|own| own.id == id)
            || library::folder(&self.library, id).is_some()
    }

    fn is_stoppable(&self, id: &str) -> bool {
        self.runs().own.as_ref().is_some_and(|own| own.id == id && own.is_running)
    }

    fn runs(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Answers one request.
pub(super) async fn answer(request: Request<Incoming>, shared: &Arc<Shared>) -> Answer {
    let given = |name: HeaderName| text(request.headers(), &name);
    if !shared.access.admits(given(header::HOST), given(header::ORIGIN)) {
        let why = "this page answers only under its own address, e.g. http://127.0.0.1:5665\n";
        return plain(StatusCode::FORBIDDEN, why);
    }
    let path = request.uri().path();
    let parts: Option<Vec<String>> = path.split('/').skip(1).map(decoded).collect();
    let parts = parts.unwrap_or_default();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let get = request.method() == Method::GET;
    match parts.as_slice() {
        [""] if get => page(&boot_of_subject(shared)),
        ["runs", id] if get && shared.has(id) => page(&boot_of_run(shared, id)),
        ["compare"] if get => page(&boot_of_comparison(shared, request.uri().query().unwrap_or_default())),
        ["api", "runs"] if get => rows(shared).await,
        ["api", "runs", id, "lines"] if get => lines(shared, id, request.headers()),
        ["api", "runs", id, "stop"] if request.method() == Method::POST => {
            stop(shared, id, text(request.headers(), &HeaderName::from_static(TOKEN)))
        }
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

fn boot_of_subject(shared: &Shared) -> Value {
    let own = shared.runs().own.as_ref().map(|own| own.id.clone());
    match (&shared.subject, own) {
        (Subject::Run(id), _) => boot_of_run(shared, id),
        (Subject::Own, Some(id)) => boot_of_run(shared, &id),
        _ => json!({ "mode": "library", "token": shared.access.token(), "library": true }),
    }
}

fn boot_of_run(shared: &Shared, id: &str) -> Value {
    let mut boot = json!({ "mode": "run", "id": id, "token": shared.access.token() });
    if shared.subject == Subject::Library {
        // The address itself is the way back to it.
        boot["library"] = json!(true);
    }
    if shared.is_stoppable(id) && shared.access.token().is_some() {
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
    json!({ "mode": "compare", "a": of("a"), "b": of("b"), "token": shared.access.token(), "library": is_library })
}

async fn rows(shared: &Arc<Shared>) -> Answer {
    let library = shared.library.clone();
    let rows = tokio::task::spawn_blocking(move || library::rows(&library)).await;
    let body = json!({ "runs": rows.unwrap_or_default() }).to_string();
    with_type(StatusCode::OK, "application/json", Full::new(body.into()).boxed_unsync())
}

/// Streams the lines of a run behind the one that the viewer has seen last.
fn lines(shared: &Arc<Shared>, id: &str, headers: &HeaderMap) -> Answer {
    let Some(feed) = shared.feed(id) else {
        return plain(StatusCode::NOT_FOUND, "there is no run of this name\n");
    };
    let Some(viewer) = Viewer::enter(shared) else {
        return plain(StatusCode::SERVICE_UNAVAILABLE, "there are too many viewers\n");
    };
    let seen = text(headers, &HeaderName::from_static("last-event-id")).and_then(|id| id.parse().ok());
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move { viewer.watch(&feed, seen.unwrap_or(0), &sender).await });
    with_type(StatusCode::OK, "text/event-stream", Stream(receiver).boxed_unsync())
}

/// One who is sent lines; leaves when dropped.
struct Viewer(Arc<Shared>);

impl Viewer {
    fn enter(shared: &Arc<Shared>) -> Option<Viewer> {
        let viewer = Viewer(Arc::clone(shared));
        let before = shared.viewers.fetch_add(1, Ordering::AcqRel);
        (before < VIEWERS_MAX).then_some(viewer)
    }

    /// Sends lines as they come, one chunk ahead of what the viewer takes.
    async fn watch(&self, feed: &Feed, mut seen: usize, sender: &mpsc::Sender<Bytes>) {
        let (mut news, mut closing) = (feed.news(), self.0.closing());
        loop {
            news.borrow_and_update();
            let Ok(chunk) = feed.behind(seen) else { return };
            seen = chunk.seen;
            if !chunk.bytes.is_empty() && sender.send(chunk.bytes.into()).await.is_err() {
                return;
            }
            if chunk.is_last {
                let _ = sender.send(Bytes::from_static(b"event: closed\ndata: {}\n\n")).await;
                return;
            }
            if chunk.has_more {
                continue;
            }
            if *closing.borrow_and_update() {
                return;
            }
            tokio::select! {
                _ = sender.closed() => return,
                _ = closing.changed() => {}
                told = tokio::time::timeout(SIGN_OF_LIFE, news.changed()) => {
                    if told.is_err() && sender.send(Bytes::from_static(b": alive\n\n")).await.is_err() {
                        return;
                    }
                }
            }
        }
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        self.0.viewers.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Ends the run of this process gracefully, as the first Ctrl-C does.
fn stop(shared: &Shared, id: &str, token: Option<&str>) -> Answer {
    if !shared.access.may_act(token) {
        return plain(StatusCode::FORBIDDEN, "only the page of this server may stop its run\n");
    }
    let mut runs = shared.runs();
    let Some(own) = runs.own.as_mut().filter(|own| own.id == id && own.is_running) else {
        return plain(StatusCode::CONFLICT, "this run is not under way here\n");
    };
    // A second signal would end it at once.
    if !own.is_stopping && kill_process(getpid(), Signal::INT).is_err() {
        return plain(StatusCode::INTERNAL_SERVER_ERROR, "the run cannot be stopped\n");
    }
    own.is_stopping = true;
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
