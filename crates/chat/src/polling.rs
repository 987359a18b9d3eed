//! Engine.IO over HTTP long-polling: the GET that waits and the POST that brings packets.
//!
//! A second GET or POST while one is being answered ends the session, and so does a client that gives up a GET: its
//! answer could be lost on the way, and silence would hide that.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use bytes::Bytes;
use sonagi_wire::engineio::{self, Packet, Refusal};

use crate::content::Content;
use crate::engineio::Session;
use crate::hub::Hub;
use crate::outbox::{Close, Polled, packet_of};

/// The poll under way: unless its answer was taken, its end is the session's.
pub(crate) struct Pending {
    session: Arc<Session>,
    hub: Arc<Hub>,
    answered: bool,
}

impl Pending {
    /// The connection took the answer to write it.
    pub(crate) fn answered(mut self) {
        self.answered = true;
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.session.polling.store(false, Relaxed);
        // After an upgrade the WebSocket carries the session, whatever became of the poll.
        if !self.answered && self.session.is_polled() {
            self.session.end(Close::Normal, &self.hub);
        }
    }
}

/// Waits for packets and returns them as the content of an answer.
pub(crate) async fn poll(session: &Arc<Session>, hub: &Arc<Hub>) -> Result<Content, Refusal> {
    if !session.is_polled() {
        return Err(Refusal::BadRequest);
    }
    if session.polling.swap(true, Relaxed) {
        session.fail_poll(hub);
        return Err(Refusal::BadRequest);
    }
    let pending = Pending { session: session.clone(), hub: hub.clone(), answered: false };
    let outbox = &session.peer.outbox;
    let body = match poll_fn(|cx| outbox.poll(cx, hub.config.limits.max_payload)).await {
        Polled::Frames(frames) => {
            let bytes: usize = frames.iter().map(Bytes::len).sum();
            outbox.wrote(bytes, frames.len());
            payload(&frames, bytes)
        }
        Polled::Released => "6".to_owned(),
        Polled::Ended => {
            session.end(Close::Normal, hub);
            "1".to_owned()
        }
    };
    hub.metrics.bytes_out.add(body.len() as u64);
    Ok(Content::polled(body, pending))
}

/// The frames' packets as one polling body.
fn payload(frames: &[Bytes], bytes: usize) -> String {
    let mut body = String::with_capacity(bytes + frames.len());
    for (binary, packet) in frames.iter().filter_map(packet_of) {
        if !body.is_empty() {
            body.push(engineio::SEPARATOR);
        }
        match (binary, std::str::from_utf8(&packet)) {
            (false, Ok(text)) => body.push_str(text),
            _ => engineio::encode(&Packet::Binary(packet.as_ref().into()), &mut body),
        }
    }
    body
}

/// The post under way.
struct Posting<'a>(&'a Session);

impl Drop for Posting<'_> {
    fn drop(&mut self) {
        self.0.posting.store(false, Relaxed);
    }
}

/// Takes the packets of a body that `body` still has to read.
pub(crate) async fn post<E: From<Refusal>>(
    session: &Arc<Session>,
    hub: &Arc<Hub>,
    body: impl Future<Output = Result<Bytes, E>>,
) -> Result<&'static str, E> {
    if !session.is_polled() {
        return Err(Refusal::BadRequest.into());
    }
    if session.posting.swap(true, Relaxed) {
        session.fail_poll(hub);
        return Err(Refusal::BadRequest.into());
    }
    let _posting = Posting(session);
    let body = body.await?;
    if !session.is_polled() {
        // An upgrade overtook it; taken now, its packets could come after later ones.
        return Err(Refusal::BadRequest.into());
    }
    hub.metrics.bytes_in.add(body.len() as u64);
    let taken = std::str::from_utf8(&body).map_err(drop).and_then(|body| {
        for packet in engineio::payload(body) {
            if !session.peer.outbox.is_open() {
                break;
            }
            session.receive(&packet.map_err(drop)?, hub).map_err(drop)?;
        }
        Ok(())
    });
    match taken {
        Ok(()) => Ok("ok"),
        Err(()) => {
            session.fail_poll(hub);
            Err(Refusal::BadRequest.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use hyper::body::Body;

    use super::*;
    use crate::config::Config;
    use crate::engineio::Speech;

    #[tokio::test]
    async fn an_answer_that_was_not_taken_ends_the_session_and_a_taken_one_does_not() {
        let service = crate::service::start(Config::default()).await.unwrap();
        let hub = service.hub();
        for taken in [true, false] {
            let session = Session::open(hub, Speech::Echo, true, None);
            let mut content = poll(&session, hub).await.unwrap();
            if taken {
                let frame = poll_fn(|cx| std::pin::Pin::new(&mut content).poll_frame(cx)).await;
                assert!(frame.unwrap().unwrap().data_ref().unwrap().starts_with(b"0{"));
            }
            drop(content);
            assert_eq!(hub.sessions.find(&session.sid).is_some(), taken);
            assert!(!session.polling.load(Relaxed));
        }
    }
}
