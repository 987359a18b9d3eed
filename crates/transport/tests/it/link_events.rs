//! WebSockets with everything that can be seen: the handshake's answer, pings, pongs, and close frames with their
//! codes.

use std::task::{Context, Waker};

use sonagi_measure::At;
use sonagi_measure::outcome::Failure;
use sonagi_transport::link::{
    Ended, Env, HandshakeAnswer, Link, NotOpened, Present, SCRATCH, WebsocketEvent, WebsocketLink,
};
use sonagi_transport::net::Origin;
use sonagi_wire::websocket::Opcode;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::link::{frame, read_frame, request};
use crate::net_servers::{answering, local, net, read_head, serve, upgrade};

/// The events of a link until its connection ends, and its end.
async fn told(link: &mut WebsocketLink) -> (Vec<String>, Ended) {
    let mut seen = Vec::new();
    let mut scratch = vec![0; SCRATCH];
    let ended = std::future::poll_fn(|cx| {
        let clock = || At(0);
        let mut env = Env { present: &Present::new(&clock), scratch: &mut scratch };
        link.poll_events(cx, &mut env, |event| {
            seen.push(match event {
                WebsocketEvent::Text(text) => format!("text {text}"),
                WebsocketEvent::Binary(bytes) => format!("binary {bytes:?}"),
                WebsocketEvent::Ping(bytes) => format!("ping {}", String::from_utf8_lossy(bytes)),
                WebsocketEvent::Pong(bytes) => format!("pong {}", String::from_utf8_lossy(bytes)),
                WebsocketEvent::Close { code, reason } => format!("close {code:?} {reason}"),
            });
        })
    })
    .await;
    (seen, ended)
}

async fn not_opened(origin: &Origin) -> NotOpened {
    match WebsocketLink::open(&net(), &request(origin)).await {
        Ok(_) => panic!("the handshake must fail"),
        Err(not_opened) => not_opened,
    }
}

fn header<'a>(answer: &'a HandshakeAnswer, name: &str) -> Option<&'a [u8]> {
    answer.headers.get(name)
}

#[test]
fn a_handshake_shows_its_answer_and_any_subprotocol_will_do() {
    local(async {
        for chosen in ["", "Sec-WebSocket-Protocol: other\r\n"] {
            let origin = serve(move |_, mut stream| async move {
                let head = read_head(&mut stream).await;
                let extra = format!("X-Own: 1\r\n{chosen}");
                stream.write_all(upgrade(&head, &extra).as_bytes()).await.unwrap();
                let _ = stream.read_u8().await;
            })
            .await;
            let mut request = request(&origin);
            request.subprotocols = vec!["offered".into()];
            let (mut link, answer) = WebsocketLink::open(&net(), &request).await.unwrap();
            assert_eq!((answer.status, header(&answer, "x-own")), (101, Some(&b"1"[..])));
            assert_eq!(answer.body, b"");
            assert_eq!(link.subprotocol(), (!chosen.is_empty()).then_some("other"));
            let (sent, received) = link.take_bytes();
            assert!(sent > 100 && received > 100, "the handshake counts");
        }
    });
}

#[test]
fn a_refusal_shows_its_status_headers_and_the_first_kilobyte_of_its_body_however_that_is_framed() {
    local(async {
        let long = format!("HTTP/1.1 500 X\r\nContent-Length: 5000\r\n\r\n{}", "x".repeat(1500)).leak();
        for (answer, status, body) in [
            (&b"HTTP/1.1 403 Forbidden\r\nX-Own: 1\r\nContent-Length: 4\r\n\r\nwhy?"[..], 403, "why?".to_owned()),
            (
                b"HTTP/1.1 401 X\r\nX-Own: 1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nwhy\r\n1\r\n?\r\n0\r\n\r\n",
                401,
                "why?".to_owned(),
            ),
            (b"HTTP/1.1 302 Found\r\nX-Own: 1\r\nContent-Length: 0\r\n\r\n", 302, String::new()),
            (b"HTTP/1.1 200 OK\r\nX-Own: 1\r\n\r\nuntil the end", 200, "until the end".to_owned()),
        ] {
            let refused = not_opened(&answering(answer).await).await;
            let found = refused.answer.unwrap();
            assert_eq!((found.status, header(&found, "x-own")), (status, Some(&b"1"[..])));
            assert_eq!(String::from_utf8(found.body).unwrap(), body);
            assert_eq!(refused.failed.failure, Failure::HandshakeRefused(status));
            assert_eq!(refused.bytes.1, answer.len() as u64);
        }
        let refused = not_opened(&answering(long.as_bytes()).await).await;
        assert_eq!(refused.answer.unwrap().body, "x".repeat(1024).into_bytes());
        let wrong = not_opened(&answering(b"HTTP/1.1 101 X\r\nX-Own: 1\r\n\r\n").await).await;
        assert_eq!(wrong.failed.failure, Failure::Protocol);
        assert_eq!(wrong.answer.unwrap().status, 101);
        assert!(not_opened(&answering(b"no HTTP at all\r\n\r\n").await).await.answer.is_none());
    });
}

#[test]
fn pings_pongs_and_close_frames_are_told_in_their_order() {
    local(async {
        let (said, mut heard) = tokio::sync::mpsc::unbounded_channel();
        let origin = serve(move |_, mut stream| {
            let said = said.clone();
            async move {
                let head = read_head(&mut stream).await;
                let mut bytes = upgrade(&head, "").into_bytes();
                bytes.extend(frame(Opcode::Ping, b"beat"));
                bytes.extend(frame(Opcode::Text, b"word"));
                bytes.extend(frame(Opcode::Pong, b"0"));
                bytes.extend(frame(Opcode::Close, b"\x0f\xa1left"));
                stream.write_all(&bytes).await.unwrap();
                while let Some(frame) = read_frame(&mut stream).await {
                    said.send(frame).unwrap();
                }
            }
        })
        .await;
        let (mut link, _) = WebsocketLink::open(&net(), &request(&origin)).await.unwrap();
        let (seen, ended) = told(&mut link).await;
        assert_eq!(seen, ["ping beat", "text word", "pong 0", "close Some(4001) left"]);
        assert_eq!(ended.failure, Some(Failure::Closed(4001)));
        drop(link);
        assert_eq!(heard.recv().await, Some((0x8a, b"beat".to_vec())));
        assert_eq!(heard.recv().await, Some((0x88, 4001_u16.to_be_bytes().to_vec())));
    });
}

#[test]
fn a_ping_a_code_and_a_reason_are_sent_as_given_and_flushed_without_reading() {
    local(async {
        for (code, reason, payload) in [(4000, "mine", b"\x0f\xa0mine".to_vec()), (1005, "", vec![])] {
            let (said, mut heard) = tokio::sync::mpsc::unbounded_channel();
            let origin = serve(move |_, mut stream| {
                let said = said.clone();
                async move {
                    let head = read_head(&mut stream).await;
                    stream.write_all(upgrade(&head, "").as_bytes()).await.unwrap();
                    stream.write_all(&frame(Opcode::Text, b"unread")).await.unwrap();
                    while let Some((first, payload)) = read_frame(&mut stream).await {
                        said.send((first, payload.clone())).unwrap();
                        if first == 0x88 {
                            stream.write_all(&frame(Opcode::Close, &payload)).await.unwrap();
                        }
                    }
                }
            })
            .await;
            let (mut link, _) = WebsocketLink::open(&net(), &request(&origin)).await.unwrap();
            link.send_ping(b"7");
            assert_eq!(link.unsent(), 2 + 4 + 1);
            assert!(link.poll_flush(&mut Context::from_waker(Waker::noop())).is_ready());
            assert_eq!(link.unsent(), 0);
            assert_eq!(heard.recv().await, Some((0x89, b"7".to_vec())));
            link.close(code, reason);
            link.send_text("behind the close frame");
            let (seen, ended) = told(&mut link).await;
            assert_eq!(heard.recv().await, Some((0x88, payload)));
            let echoed = (code != 1005).then_some(code);
            assert_eq!(seen, ["text unread".to_owned(), format!("close {echoed:?} {reason}")]);
            assert_eq!(ended.failure, None, "closed by us");
        }
    });
}
