//! Engine.IO over HTTP long-polling: the GET that waits and the POST that brings packets.
//!
//! A second GET or POST while one is being answered ends the session, and so does a client that gives up a GET: its
//! answer could be lost on the way, and silence would hide that.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use bytes::Bytes;
use sonagi_wire::engineio::{Packet, Refusal, Version, binary_payload, encode_binary_payload};

use super::jsonp::{self, Callback};
use super::{EngineIo, Session};
use crate::connection::outbox::{Close, Polled, packet_of};
use crate::http::content::{Content, Promise};

/// An answer to a poll and its content type.
pub(crate) struct Brought {
    pub(crate) content: Content,
    pub(crate) kind: &'static str,
}

/// How a post's body holds its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    Text,
    /// Protocol 3's binary body.
    Binary,
    /// In a field of a form (`jsonp`).
    Form,
}

/// The poll under way: unless its answer was taken, its end is the session's.
struct Pending {
    session: Arc<Session>,
    io: Arc<EngineIo>,
    answered: bool,
}

impl Promise for Pending {
    fn kept(mut self: Box<Self>) {
        self.answered = true;
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.session.polling.store(false, Relaxed);
        // After an upgrade the WebSocket carries the session, whatever became of the poll.
        if !self.answered && self.session.is_polled() {
            self.session.end(Close::Normal, &self.io);
        }
    }
}

/// Waits for packets and returns them as an answer, which is a script when the client names a function for it.
pub(crate) async fn poll(
    session: &Arc<Session>,
    callback: Option<&Callback>,
    io: &Arc<EngineIo>,
) -> Result<Brought, Refusal> {
    // The poll that a client sends beside its close is answered, whichever of the two comes first.
    if !session.is_polled() && !session.owes_poll.swap(false, Relaxed) {
        return Err(Refusal::BadRequest);
    }
    if session.polling.swap(true, Relaxed) {
        session.fail_poll(io);
        return Err(Refusal::BadRequest);
    }
    let pending = Pending { session: session.clone(), io: io.clone(), answered: false };
    let outbox = &session.peer.outbox;
    let brought = |bytes: Vec<u8>, kind| {
        io.hub.metrics.bytes_out.add(bytes.len() as u64);
        Ok(Brought { content: Content::promised(bytes, pending), kind })
    };
    let alone = |packet: Packet<'static>| session.version.encode_payload([&packet]);
    let polled = poll_fn(|cx| outbox.poll(cx, io.hub.config.limits.max_payload)).await;
    if !outbox.is_open() {
        session.owes_poll.store(false, Relaxed);
    }
    let text = match polled {
        Polled::Frames(frames) => {
            let bytes: usize = frames.iter().map(Bytes::len).sum();
            outbox.wrote(bytes, frames.len());
            if session.version == Version::Three && callback.is_none() && has_binary(&frames) {
                return brought(binary_body(&frames), "application/octet-stream");
            }
            text_body(session.version, &frames, bytes)
        }
        Polled::Released => alone(Packet::Noop),
        Polled::Ended => {
            session.end(Close::Normal, io);
            alone(Packet::Close)
        }
    };
    match callback {
        None => brought(text.into_bytes(), "text/plain; charset=UTF-8"),
        Some(callback) => brought(callback.script(&text).into_bytes(), "text/javascript; charset=UTF-8"),
    }
}

fn has_binary(frames: &[Bytes]) -> bool {
    frames.iter().filter_map(packet_of).any(|(binary, _)| binary)
}

/// The frames' packets as one polling body, binary ones in base64.
fn text_body(version: Version, frames: &[Bytes], bytes: usize) -> String {
    // Room for a separator, or a short length, for each.
    let mut body = String::with_capacity(bytes + 4 * frames.len());
    for (binary, packet) in frames.iter().filter_map(packet_of) {
        match (binary, std::str::from_utf8(&packet)) {
            (false, Ok(text)) => version.append(text, &mut body),
            _ => {
                let mut text = String::new();
                if let Ok(packet) = version.decode_binary(&packet) {
                    version.encode(&packet, &mut text);
                }
                version.append(&text, &mut body);
            }
        }
    }
    body
}

/// The same as protocol 3's binary body, for who takes one.
fn binary_body(frames: &[Bytes]) -> Vec<u8> {
    let packets: Vec<(bool, Bytes)> = frames.iter().filter_map(packet_of).collect();
    // They are our own, so none is lost here.
    let packets: Vec<Packet<'_>> = packets
        .iter()
        .filter_map(|(binary, packet)| match binary {
            true => Version::Three.decode_binary(packet).ok(),
            false => Version::Three.decode(std::str::from_utf8(packet).ok()?).ok(),
        })
        .collect();
    encode_binary_payload(&packets)
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
    io: &Arc<EngineIo>,
    packing: Packing,
    body: impl Future<Output = Result<Bytes, E>>,
) -> Result<&'static str, E> {
    if !session.is_polled() {
        return Err(Refusal::BadRequest.into());
    }
    if session.posting.swap(true, Relaxed) {
        session.fail_poll(io);
        return Err(Refusal::BadRequest.into());
    }
    let _posting = Posting(session);
    let body = body.await?;
    if !session.is_polled() {
        // An upgrade overtook it; taken now, its packets could come after later ones.
        return Err(Refusal::BadRequest.into());
    }
    io.hub.metrics.bytes_in.add(body.len() as u64);
    match take(session, packing, &body, io) {
        Some(()) => Ok("ok"),
        None => {
            session.fail_poll(io);
            Err(Refusal::BadRequest.into())
        }
    }
}

/// Takes a body's packets; `None` when they cannot be read or are not allowed.
fn take(session: &Arc<Session>, packing: Packing, body: &[u8], io: &Arc<EngineIo>) -> Option<()> {
    let text = || std::str::from_utf8(body).ok();
    let version = session.version;
    match packing {
        Packing::Text => receive(session, version.payload(text()?), io),
        Packing::Binary => receive(session, binary_payload(body), io),
        Packing::Form => receive(session, version.payload(&jsonp::body_of(text()?)?), io),
    }
}

fn receive<'a, E>(
    session: &Arc<Session>,
    packets: impl Iterator<Item = Result<Packet<'a>, E>>,
    io: &Arc<EngineIo>,
) -> Option<()> {
    for packet in packets {
        if !session.peer.outbox.is_open() {
            break;
        }
        session.receive(&packet.ok()?, io).ok()?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use hyper::body::Body;

    use super::*;
    use crate::config::Config;
    use crate::transports::engineio::{Opening, Speech};

    #[tokio::test]
    async fn an_answer_that_was_not_taken_ends_the_session_and_a_taken_one_does_not() {
        let service = crate::service::start(Config::default()).await.unwrap();
        let io = &service.transports().engineio;
        for taken in [true, false] {
            let (version, speech) = (Version::Four, Speech::Echo);
            let source = crate::connection::source::Source::default();
            let opening = Opening { version, speech, polled: true, base64: false, token: None, source };
            let session = Session::open(io, opening);
            let mut content = poll(&session, None, io).await.unwrap().content;
            if taken {
                let frame = poll_fn(|cx| std::pin::Pin::new(&mut content).poll_frame(cx)).await;
                assert!(frame.unwrap().unwrap().data_ref().unwrap().starts_with(b"0{"));
            }
            drop(content);
            assert_eq!(io.find(&session.sid).is_some(), taken);
            assert!(!session.polling.load(Relaxed));
        }
    }
}
