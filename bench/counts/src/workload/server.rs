//! The far ends of simulated connections: as little server as an exchange needs.
//!
//! Deliberately on no codec of ours, so that a change of one moves the count of the user it is counted for and of nobody
//! else. They trust what they read: a frame is whole in one read, because the pipe hands over what was written at once.

use sonagi_wire::websocket::accept_key;
use std::cell::RefCell;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, ReadHalf, WriteHalf};

const CLOSE: u8 = 8;

/// Answers each request, which ends in `end`, with `answer`.
pub(super) fn http(end: &'static [u8], answer: &'static [u8]) -> impl Fn(DuplexStream) {
    move |mut stream| {
        tokio::task::spawn_local(async move {
            let mut request = Vec::with_capacity(4096);
            while stream.read_buf(&mut request).await.is_ok_and(|n| n > 0) {
                if request.ends_with(end) {
                    request.clear();
                    // A user that leaves cuts off what it polled last.
                    if stream.write_all(answer).await.is_err() {
                        return;
                    }
                }
            }
        });
    }
}

/// Upgrades, sends `greeting`, and answers each text frame with what `answer` makes of its payload, until it is closed.
pub(super) fn websocket(
    greeting: &'static [u8],
    answer: impl Fn(&[u8], &mut Vec<u8>) + Clone + 'static,
) -> impl Fn(DuplexStream) {
    move |mut stream| {
        let answer = answer.clone();
        tokio::task::spawn_local(async move {
            upgrade(&mut stream, greeting).await;
            let (mut buffer, mut out) = (vec![0; 4096], Vec::new());
            while let Ok(read @ 1..) = stream.read(&mut buffer).await {
                out.clear();
                let is_closed = frames(&mut buffer[..read], |payload| answer(payload, &mut out));
                stream.write_all(&out).await.expect("the client reads its answer");
                if is_closed {
                    // k6/ws does not await it.
                    let _ = stream.write_all(&[0x80 | CLOSE, 0]).await;
                    return;
                }
            }
        });
    }
}

/// A room: each text frame goes to everybody in it.
pub(super) fn room() -> impl Fn(DuplexStream) {
    let room = Rc::new(RefCell::new(Vec::new()));
    move |mut stream| {
        let room = Rc::clone(&room);
        tokio::task::spawn_local(async move {
            upgrade(&mut stream, &[]).await;
            let (reader, writer) = tokio::io::split(stream);
            room.borrow_mut().push(writer);
            member(reader, &room).await;
        });
    }
}

/// Reads what one member sends. A member that closes gets no answer but the end of the room's last connection.
async fn member(mut reader: ReadHalf<DuplexStream>, room: &RefCell<Vec<WriteHalf<DuplexStream>>>) {
    let (mut buffer, mut frame) = (vec![0; 4096], Vec::new());
    while let Ok(read @ 1..) = reader.read(&mut buffer).await {
        let is_closed = frames(&mut buffer[..read], |payload| {
            frame.clear();
            text(payload, &mut frame);
            room.borrow_mut().iter_mut().for_each(|writer| put(writer, &frame));
        });
        if is_closed {
            let mut room = room.borrow_mut();
            if let Some(own) = room.iter().position(|writer| reader.is_pair_of(writer)) {
                put(&mut room[own], &[0x80 | CLOSE, 0]);
                room.remove(own);
            }
            return;
        }
    }
}

/// Writes to a pipe that has room for it.
fn put(writer: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) {
    let writing = pin!(tokio::task::unconstrained(writer.write_all(bytes)));
    let written = writing.poll(&mut Context::from_waker(Waker::noop()));
    assert!(matches!(written, Poll::Ready(Ok(()))), "the pipe to a member holds what a millisecond brings");
}

/// Appends a text frame.
pub(super) fn text(payload: &[u8], out: &mut Vec<u8>) {
    match payload.len() {
        length @ 0..=125 => out.extend_from_slice(&[0x81, length as u8]),
        length => {
            out.extend_from_slice(&[0x81, 126]);
            out.extend_from_slice(&(length as u16).to_be_bytes());
        }
    }
    out.extend_from_slice(payload);
}

/// Unmasks the frames in `bytes` and hands over each text. Whether a close was among them.
fn frames(mut bytes: &mut [u8], mut on: impl FnMut(&[u8])) -> bool {
    while let [first, length, ..] = *bytes {
        let (length, start) = match length & 0x7f {
            126 => (usize::from(u16::from_be_bytes([bytes[2], bytes[3]])), 4),
            length => (usize::from(length), 2),
        };
        let (frame, rest) = bytes.split_at_mut(start + 4 + length);
        bytes = rest;
        if first & 0x0f == CLOSE {
            return true;
        }
        let (key, payload) = frame[start..].split_at_mut(4);
        payload.iter_mut().zip(key.iter().cycle()).for_each(|(byte, key)| *byte ^= key);
        on(payload);
    }
    false
}

async fn upgrade(stream: &mut DuplexStream, greeting: &[u8]) {
    let mut head = Vec::with_capacity(4096);
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_buf(&mut head).await.expect("a client that connects asks for the upgrade");
    }
    let head = String::from_utf8_lossy(&head);
    let named = |line: &str| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("sec-websocket-key").then(|| value.to_owned())
    };
    let key = head.lines().find_map(named).expect("an upgrade has a key");
    let mut answer = format!(
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: {}\r\n\r\n",
        accept_key(&key)
    )
    .into_bytes();
    answer.extend_from_slice(greeting);
    stream.write_all(&answer).await.expect("the client awaits its upgrade");
}
