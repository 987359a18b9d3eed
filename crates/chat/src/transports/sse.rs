//! Event streams: `GET /location/sse/connect?group=g`. Who names no group is in the one of all who name none.
//!
//! An event's id is its message's number, so that a browser which reconnects by itself goes on behind the last message
//! it got (`Last-Event-ID`). A comment comes every `sse_heartbeat`. When messages in between are not kept any more, or
//! the cursor is none of this service, the event `gap` says so first, with an id that mends the cursor.

pub(crate) mod stream;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::Request;
use hyper::body::{Body, Incoming};
use hyper::header::HeaderValue;
use sonagi_wire::sse::{self, LAST_EVENT_ID, Message};

use crate::connection::heartbeat::Signal;
use crate::encoding::form::Form;
use crate::http::content::Content;
use crate::http::{self, Answer, Slot};
use crate::hub::Hub;
use crate::model::room_id::OPEN;
use crate::problem::Problem;
use crate::rooms::cursor::{Gap, Joined, Start, start_of_text};
use crate::rooms::peer::Newcomer;
use crate::transports::sse::stream::Listener;

/// The group of who names none: services that push to everybody have no other.
const EVERYBODY: &str = "all";

/// How soon a client should come back.
const RETRY: Duration = Duration::from_secs(1);

/// By how much more, at most, when all are sent away.
const SPREAD: Duration = Duration::from_secs(2);

/// A cursor that no room reaches: what is no number of ours is from another service. The largest that JavaScript counts
/// with, for it is told of it.
const NOWHERE: u64 = (1 << 53) - 1;

pub(crate) fn connect(
    request: &Request<Incoming>,
    slot: &Arc<Slot>,
    hub: &Arc<Hub>,
) -> Result<Answer, Problem> {
    hub.admit_connection()?;
    let group = group(request);
    let user = http::visitor(request, hub)?;
    let start = start(request)?;
    if !request.body().is_end_stream() {
        return Err(Problem::bad_request("an event stream is asked for without a body"));
    }
    let (limits, now) = (&hub.config.limits, hub.now());
    let newcomer = Newcomer { source: slot.source, queue_bytes: limits.queue_bytes, ..Newcomer::default() };
    let peer = hub.peers.add(newcomer, now, limits);
    let listener = Listener::new(peer.clone(), hub.clone());
    if let Some(user) = user {
        peer.belongs_to(user);
    }
    peer.heartbeat.say(Signal::Comment, limits.sse_heartbeat, now);
    if let Some(lifetime) = limits.sse_lifetime {
        peer.heartbeat.over_at(now + lifetime.as_millis() as u64);
    }
    peer.greeted(Form::Sse { numbered: false });
    peer.outbox.push(retry(RETRY));
    hub.join(&peer, &format!("{OPEN}{group}"), Form::Sse { numbered: true }, start, move |joined| {
        Some(greeting(joined, start))
    })?;
    let slot = slot.clone();
    let mut answer = http::ok(
        sse::CONTENT_TYPE,
        Content::handed(Box::new(move |socket, head| {
            tokio::spawn(async move {
                stream::carry(socket, head, listener, farewell).await;
                drop(slot);
            });
        })),
    );
    // A proxy that gathers answers would hold the events back.
    answer.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(answer)
}

/// The location group that a request for a stream, or for sharing in one, is about.
pub(crate) fn group(request: &Request<Incoming>) -> String {
    http::query(request, "group").map_or_else(|| EVERYBODY.to_owned(), Cow::into_owned)
}

/// Where the client goes on: `Last-Event-ID` is newer than the `after` its page began with.
fn start(request: &Request<Incoming>) -> Result<Start, Problem> {
    let last_id = request.headers().get(LAST_EVENT_ID).filter(|id| !id.is_empty());
    match last_id {
        Some(id) => {
            Ok(id.to_str().ok().and_then(|id| start_of_text(id).ok()).unwrap_or(Start::After(NOWHERE)))
        }
        None => start_of_text(&http::query(request, "after").unwrap_or_default()),
    }
}

/// Where a client that loses its stream before the first event goes on; or that what it asked for is not all kept.
fn greeting(joined: &Joined<'_>, start: Start) -> Bytes {
    let mut out = Vec::new();
    match (joined.gap, start) {
        (Some(Gap { after, from }), _) => {
            let (id, data) = ((from - 1).to_string(), format!(r#"{{"after":{after},"from":{from}}}"#));
            let written = Message { id: Some(&id), name: Some("gap"), data: &data }.encode(&mut out);
            debug_assert_eq!(written, Ok(()), "all of it is our own");
        }
        (None, Start::After(after)) => out.extend_from_slice(format!("id: {after}\n\n").as_bytes()),
        (None, _) => out.extend_from_slice(format!("id: {}\n\n", joined.seq).as_bytes()),
    }
    out.into()
}

/// The last event of a draining service: clients should not all come back at once.
fn farewell() -> Bytes {
    retry(RETRY + Duration::from_millis(fastrand::u64(..SPREAD.as_millis() as u64)))
}

fn retry(wait: Duration) -> Bytes {
    let mut out = Vec::new();
    sse::retry(wait.as_millis() as u64, &mut out);
    out.push(b'\n');
    out.into()
}
