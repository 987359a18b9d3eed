//! A WebSocket's handshake with its complete answer, for callers that show it to a script.

use tokio::io::AsyncReadExt;

use sonagi_wire::http1::{Headers, Keep, Reader, RequestKind};

use super::channel::Channel;
use super::handshake::{Answered, Choice, ConnectRequest, Head, MAX_HEADERS, ask, refused};
use crate::net::{Failed, Net, Socket};

/// Bytes of a refusal's body that are kept.
const KEPT_BODY: usize = 1024;

/// A server's answer to a handshake.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HandshakeAnswer {
    /// The status; 101 when it upgraded.
    pub status: u16,
    /// All headers.
    pub headers: Headers,
    /// A refusal's body, its first kilobyte.
    pub body: Vec<u8>,
}

/// A handshake that failed.
#[derive(Clone, Debug)]
pub struct NotOpened {
    /// The failure.
    pub failed: Failed,
    /// The answer; None: there was none, or it is not HTTP.
    pub answer: Option<HandshakeAnswer>,
    /// Bytes sent and received, inside TLS; 0 without an answer.
    pub bytes: (u64, u64),
}

impl From<Failed> for NotOpened {
    fn from(failed: Failed) -> NotOpened {
        NotOpened { failed, answer: None, bytes: (0, 0) }
    }
}

pub(super) async fn open(
    net: &Net,
    request: &ConnectRequest,
) -> Result<(Channel, Option<Box<str>>, HandshakeAnswer), NotOpened> {
    let Answered { socket, mut bytes, interim, sent, head } = ask(net, request, Choice::Free).await?;
    match head {
        Ok(Head::Upgraded { end, subprotocol }) => {
            let early = bytes.split_off(end);
            let received = interim + bytes.len() as u64;
            let answer = of_head(&bytes).unwrap_or_default();
            Ok((Channel::new(socket, request.max_message, early, sent, received), subprotocol, answer))
        }
        Ok(Head::Refused { status, .. }) => {
            let (answer, received) = whole(socket, &bytes).await;
            let failed = refused(status, answer.as_ref().map_or(&[], |answer| &answer.body));
            Err(NotOpened { failed, answer, bytes: (sent, interim + received) })
        }
        Err(failed) => {
            let received = interim + bytes.len() as u64;
            Err(NotOpened { failed, answer: of_head(&bytes), bytes: (sent, received) })
        }
    }
}

/// An answer without a body; None: it is not HTTP.
fn of_head(head: &[u8]) -> Option<HandshakeAnswer> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    response.parse(head).ok()?;
    let headers = response.headers.iter().map(|header| (header.name, header.value)).collect();
    Some(HandshakeAnswer { status: response.code?, headers, body: Vec::new() })
}

/// An answer with the kept part of its body, and the bytes it took. A peer that goes before the end leaves a shorter
/// body.
async fn whole(mut socket: Socket, begun: &[u8]) -> (Option<HandshakeAnswer>, u64) {
    let mut reader = Reader::new(RequestKind::Other, Keep { headers: true, body: KEPT_BODY });
    let (mut received, mut fed) = (begun.len() as u64, reader.feed(begun));
    let mut more = Vec::with_capacity(KEPT_BODY);
    while fed.is_ok() && !reader.is_done() && reader.body.len() < KEPT_BODY {
        more.clear();
        match socket.read_buf(&mut more).await {
            Ok(read) if read > 0 => {
                received += read as u64;
                fed = reader.feed(&more);
            }
            _ => break,
        }
    }
    let Reader { status, headers, body, .. } = reader;
    (fed.is_ok().then_some(HandshakeAnswer { status, headers, body }), received)
}
