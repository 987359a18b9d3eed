//! Receiving by HTTP: the answer to a poll, or one that goes on.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use sonagi_wire::sockjs::{self, PRELUDE};

use super::session::{Session, SockJs};
use crate::connection::outbox::{Close, Polled, packet_of};
use crate::http::content::{Content, Parts, Promise};

/// Bytes of frames after which an answer ends, so that a browser can give up what it keeps of it.
const MOST: usize = 128 * 1024;

/// The answer under way: when it is not taken to its end, what it took is lost, and the session with it.
struct Receiving {
    session: Arc<Session>,
    sockjs: Arc<SockJs>,
    taken: bool,
}

impl Receiving {
    /// `None` when somebody else receives.
    fn begin(session: Arc<Session>, sockjs: &Arc<SockJs>) -> Option<Receiving> {
        if session.receiving.swap(true, Relaxed) {
            return None;
        }
        session.peer.heartbeat.over_at(0);
        Some(Receiving { session, sockjs: sockjs.clone(), taken: false })
    }

    /// The lines of the next frames; `None` behind the last.
    fn poll(&self, cx: &mut Context<'_>) -> Poll<Option<Vec<u8>>> {
        let Receiving { session, sockjs, .. } = self;
        let outbox = &session.peer.outbox;
        let lines = match ready!(outbox.poll(cx, MOST)) {
            Polled::Frames(frames) => {
                outbox.wrote(frames.iter().map(Bytes::len).sum(), frames.len());
                Some(lines(&frames))
            }
            Polled::Released | Polled::Ended => {
                session.end(Close::Normal, None, sockjs);
                None
            }
        };
        sockjs.hub.metrics.bytes_out.add(lines.as_ref().map_or(0, Vec::len) as u64);
        Poll::Ready(lines)
    }

    fn farewell(&self) -> Vec<u8> {
        let (code, reason) = self.session.end_as_told();
        closing(code, reason)
    }
}

impl Promise for Receiving {
    fn kept(mut self: Box<Self>) {
        self.taken = true;
    }
}

impl Drop for Receiving {
    fn drop(&mut self) {
        let Receiving { session, sockjs, taken } = self;
        if *taken {
            let until = sockjs.hub.now() + sockjs.hub.config.limits.sockjs_disconnect.as_millis() as u64;
            session.peer.heartbeat.over_at(until);
        } else {
            session.end(Close::Normal, Some((1002, "Connection interrupted")), sockjs);
        }
        session.receiving.store(false, Relaxed);
    }
}

fn closing(code: u16, reason: &str) -> Vec<u8> {
    let mut line = Vec::new();
    sockjs::close(code, reason, &mut line);
    line.push(b'\n');
    line
}

fn another() -> Content {
    Bytes::from(closing(2010, "Another connection still open")).into()
}

/// `xhr`: waits for frames.
pub(super) async fn poll(session: Arc<Session>, sockjs: &Arc<SockJs>) -> Content {
    let Some(receiving) = Receiving::begin(session, sockjs) else { return another() };
    let lines = poll_fn(|cx| receiving.poll(cx)).await;
    let lines = lines.unwrap_or_else(|| receiving.farewell());
    Content::promised(lines, receiving)
}

/// `xhr_streaming`.
pub(super) fn stream(session: Arc<Session>, sockjs: &Arc<SockJs>) -> Content {
    match Receiving::begin(session, sockjs) {
        Some(receiving) => Content::streamed(Streaming { receiving: Some(receiving), begun: false, sent: 0 }),
        None => Bytes::from([&PRELUDE[..], &closing(2010, "Another connection still open")].concat()).into(),
    }
}

/// An answer that goes on.
struct Streaming {
    /// Until all is said.
    receiving: Option<Receiving>,
    begun: bool,
    sent: usize,
}

impl Parts for Streaming {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let Some(receiving) = &self.receiving else { return Poll::Ready(None) };
        if !self.begun {
            self.begun = true;
            return Poll::Ready(Some(Bytes::from_static(PRELUDE)));
        }
        let lines = ready!(receiving.poll(cx));
        let is_last = lines.is_none();
        let lines = lines.unwrap_or_else(|| receiving.farewell());
        self.sent += lines.len();
        if is_last || self.sent >= MOST {
            self.receiving.take().into_iter().for_each(|mut receiving| receiving.taken = true);
        }
        Poll::Ready(Some(lines.into()))
    }
}

/// Frames as lines; messages that follow each other share an array.
fn lines(frames: &[Bytes]) -> Vec<u8> {
    let mut lines: Vec<u8> = Vec::with_capacity(frames.iter().map(|frame| frame.len() + 1).sum());
    let mut in_array = false;
    for (_, frame) in frames.iter().filter_map(packet_of) {
        let inside = frame.strip_prefix(b"a[").and_then(|rest| rest.strip_suffix(b"]"));
        match inside {
            Some(inside) if in_array => {
                lines.push(b',');
                lines.extend_from_slice(inside);
            }
            Some(inside) => {
                lines.extend_from_slice(b"a[");
                lines.extend_from_slice(inside);
            }
            None => {
                if in_array {
                    lines.extend_from_slice(b"]\n");
                }
                lines.extend_from_slice(&frame);
                lines.push(b'\n');
            }
        }
        in_array = inside.is_some();
    }
    if in_array {
        lines.extend_from_slice(b"]\n");
    }
    lines
}

#[cfg(test)]
mod tests {
    use sonagi_wire::websocket::{Opcode, shared};

    use super::*;

    #[test]
    fn messages_that_follow_each_other_share_an_array() {
        let lines = |frames: &[&str]| {
            let frames: Vec<Bytes> =
                frames.iter().map(|frame| shared(Opcode::Text, frame.as_bytes())).collect();
            String::from_utf8(lines(&frames)).unwrap()
        };
        assert_eq!(lines(&["o"]), "o\n");
        assert_eq!(lines(&["h", r#"a["1"]"#, r#"a["2"]"#]), "h\na[\"1\",\"2\"]\n");
        assert_eq!(lines(&[r#"a["1"]"#, "h", r#"a["2","3"]"#]), "a[\"1\"]\nh\na[\"2\",\"3\"]\n");
    }
}
