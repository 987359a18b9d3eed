//! Event streams from scripted servers: how they open, what they bring, and every way they end.

use std::time::Duration;

use sonagi_measure::outcome::Failure;
use sonagi_transport::link::{Env, Link, Present, SCRATCH, SseItem, SseLink, SseRequest};
use sonagi_transport::net::{Failed, Origin};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::net::acceptor;
use crate::net_servers::{Driven, answering, local, net, read_head, reset, serve};

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n";

fn request(origin: &Origin) -> SseRequest {
    SseRequest {
        origin: origin.clone(),
        path: "/sse?group=1".into(),
        headers: Vec::new(),
        cookie: None,
        last_event_id: None,
        max_event: 1_000_000,
    }
}

async fn open(origin: &Origin) -> Driven {
    Driven::new(SseLink::open(&net(), request(origin)).await.unwrap())
}

async fn refused(request: SseRequest) -> Failed {
    match SseLink::open(&net(), request).await {
        Ok(_) => panic!("the stream must be refused"),
        Err(failed) => failed,
    }
}

/// Answers with these pieces, each in a write of its own, and closes.
async fn pieces(pieces: Vec<Vec<u8>>) -> Origin {
    serve(move |_, mut stream| {
        let pieces = pieces.clone();
        async move {
            read_head(&mut stream).await;
            for piece in pieces {
                if stream.write_all(&piece).await.is_err() {
                    return;
                }
                // The next piece is to be a read of its own.
                tokio::task::yield_now().await;
            }
        }
    })
    .await
}

fn chunk(data: &str) -> String {
    format!("{:x}\r\n{data}\r\n", data.len())
}

#[test]
fn a_stream_is_asked_for_as_a_browser_does() {
    local(async {
        let (told, mut heads) = tokio::sync::mpsc::unbounded_channel();
        let origin = serve(move |_, mut stream| {
            let told = told.clone();
            async move {
                told.send(read_head(&mut stream).await).unwrap();
                stream.write_all(format!("{HEAD}\r\n").as_bytes()).await.unwrap();
                let _ = stream.read_u8().await;
            }
        })
        .await;
        let mut asked = request(&origin);
        asked.headers =
            vec![("Authorization".into(), "Bearer x".into()), ("Cache-Control".into(), "no-store".into())];
        asked.cookie = Some("sid=1".into());
        asked.last_event_id = Some("é 7".into());
        let link = SseLink::open(&net(), asked.clone()).await.unwrap();
        assert_eq!(link.cursor(), Some("é 7"), "the place is kept until the server gives another");
        let (port, version) = (origin.port, env!("CARGO_PKG_VERSION"));
        assert_eq!(
            heads.recv().await.unwrap(),
            format!(
                "GET /sse?group=1 HTTP/1.1\r\nauthorization: Bearer x\r\ncache-control: no-store\r\n\
                 accept: text/event-stream\r\nlast-event-id: é 7\r\nuser-agent: Sonagi/{version}\r\n\
                 host: 127.0.0.1:{port}\r\ncookie: sid=1\r\n\r\n"
            )
        );
        for id in ["a\nb", "a\r\nx: y"] {
            asked.last_event_id = Some(id.into());
            assert_eq!(refused(asked.clone()).await.failure, Failure::Template);
        }
    });
}

#[test]
fn events_are_the_same_however_the_stream_is_framed_and_cut() {
    let stream = "\u{feff}: hello\r\n\r\nretry: 250\nid: 7\nevent: moved\rdata: {\"lat\":1}\rdata: two\r\r\
                  id\ndata:grüß\n\n: beat\n\nid: no\0pe\nid: 8\ndata\n\nevent: none\n\nid: 9\n\ndata: last\n\n";
    let split = stream.floor_char_boundary(30);
    let framed = [
        format!("{HEAD}\r\n{stream}"),
        format!("{HEAD}Content-Length: {}\r\n\r\n{stream}", stream.len()),
        format!(
            "{HEAD}Transfer-Encoding: chunked\r\n\r\n{}{}0\r\n\r\n",
            chunk(&stream[..split]),
            chunk(&stream[split..])
        ),
    ];
    local(async {
        for whole in framed {
            let bytes = whole.as_bytes();
            for size in [1, 2, 3, 7, 64, bytes.len()] {
                let origin = pieces(bytes.chunks(size).map(<[u8]>::to_vec).collect()).await;
                let mut driven = open(&origin).await;
                let ended = driven.ended().await;
                let seen = [
                    "message moved: {\"lat\":1}\ntwo",
                    "message message: grüß",
                    "message message: ",
                    "message message: last",
                ];
                assert_eq!(driven.seen, seen, "{size} bytes at a time");
                assert_eq!(
                    (ended.failure, ended.is_goodbye),
                    (Some(Failure::ClosedEarly), false),
                    "{}",
                    ended.detail
                );
                assert_eq!(driven.connection.cursor(), Some("9"));
                assert_eq!(driven.connection.retry(), Some(Duration::from_millis(250)));
                assert_eq!(driven.connection.take_bytes().1, bytes.len() as u64);
                assert_eq!(driven.ended().await, ended, "and says so again");
            }
        }
    });
}

#[test]
fn what_is_no_event_stream_is_refused_by_status_and_type() {
    local(async {
        for (answer, failure, words) in [
            (
                &b"HTTP/1.1 404 Not Found\r\nContent-Length: 7\r\n\r\nno room"[..],
                Failure::HandshakeRefused(404),
                "no room",
            ),
            (b"HTTP/1.1 204 No Content\r\n\r\n", Failure::HandshakeRefused(204), "204"),
            (
                b"HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n",
                Failure::HandshakeRefused(302),
                "302",
            ),
            (
                b"HTTP/1.1 503 Busy\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbusy\r\n",
                Failure::HandshakeRefused(503),
                "busy",
            ),
            (
                b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>",
                Failure::Protocol,
                "got \"text/html\"",
            ),
            (b"HTTP/1.1 200 OK\r\n\r\ndata: x\n\n", Failure::Protocol, "got none"),
            (b"220 mail.example ESMTP\r\n", Failure::Protocol, "HTTP"),
            (b"", Failure::ClosedEarly, "before"),
            (b"HTTP/1.1 200 OK\r\nConte", Failure::ClosedEarly, "in the middle"),
        ] {
            let failed = refused(request(&answering(answer).await)).await;
            assert_eq!(failed.failure, failure, "{failed}");
            assert!(failed.detail.contains(words), "{failed}");
        }
        let nobody = Origin { host: "127.0.0.1".into(), port: 1, tls: false };
        assert_eq!(refused(request(&nobody)).await.failure, Failure::ConnectRefused);
    });
}

#[test]
fn a_stream_cut_short_is_told_from_one_that_ended() {
    local(async {
        for (body, words) in [
            ("\r\ndata: x\n\n", "ended the event stream"),
            ("\r\ndata: x\n\ndata: half", "within an event"),
            ("Content-Length: 100\r\n\r\ndata: x\n\n", "in the middle of its response"),
            ("Transfer-Encoding: chunked\r\n\r\n9\r\ndata: x\n\n\r\n", "in the middle of its response"),
            ("Transfer-Encoding: chunked\r\n\r\n9\r\ndata: x\n\n\r\n0\r\n\r\n", "ended the event stream"),
        ] {
            let origin = pieces(vec![format!("{HEAD}{body}").into_bytes()]).await;
            let mut driven = open(&origin).await;
            let ended = driven.ended().await;
            assert_eq!(driven.seen, ["message message: x"], "{body}");
            assert_eq!((ended.failure, ended.is_goodbye), (Some(Failure::ClosedEarly), false), "{body}");
            assert!(ended.detail.ends_with(words), "{}", ended.detail);
        }
        let resetting = serve(|_, mut stream| async move {
            read_head(&mut stream).await;
            stream.write_all(format!("{HEAD}\r\ndata: x\n\n").as_bytes()).await.unwrap();
            // It is read before the reset, which would throw it away.
            tokio::time::sleep(Duration::from_millis(50)).await;
            reset(stream);
        })
        .await;
        let mut driven = open(&resetting).await;
        assert_eq!(driven.ended().await.failure, Some(Failure::Reset));
    });
}

#[test]
fn what_breaks_the_framing_or_a_limit_ends_the_stream_as_a_breach() {
    local(async {
        let endless = |start: &'static str, more: &'static [u8]| async move {
            serve(move |_, mut stream| async move {
                read_head(&mut stream).await;
                let _ = stream.write_all(format!("{HEAD}\r\ndata: fine\n\n{start}").as_bytes()).await;
                while stream.write_all(more).await.is_ok() {}
            })
            .await
        };
        // 10 MB in one line, in many lines, and an id without end.
        for (start, more) in
            [("data: ", &[b'x'; 4096][..]), ("", b"data: 0123456789\n"), ("id: ", &[b'1'; 1000])]
        {
            let mut driven = open(&endless(start, more).await).await;
            let ended = driven.ended().await;
            assert_eq!(ended.failure, Some(Failure::Protocol), "{}", ended.detail);
            assert_eq!(driven.seen, ["message message: fine"]);
            assert!(driven.connection.take_bytes().1 < 10_000_000);
        }
        let broken = pieces(vec![
            format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n{}no size", chunk("data: x\n\n")).into_bytes(),
        ])
        .await;
        let mut driven = open(&broken).await;
        let ended = driven.ended().await;
        assert_eq!((ended.failure, driven.seen.len()), (Some(Failure::Protocol), 1), "{}", ended.detail);
    });
}

#[test]
fn a_stream_is_left_by_closing_its_connection() {
    local(async {
        let (told, mut events) = tokio::sync::mpsc::unbounded_channel();
        let origin = serve(move |_, mut stream| {
            let told = told.clone();
            async move {
                read_head(&mut stream).await;
                stream.write_all(format!("{HEAD}\r\ndata: x\n\n").as_bytes()).await.unwrap();
                told.send(stream.read(&mut [0; 8]).await.unwrap_or(0)).unwrap();
            }
        })
        .await;
        let mut driven = open(&origin).await;
        driven.messages(1).await;
        assert!(!driven.connection.has_unsent());
        assert_eq!(driven.connection.expires(), None);
        driven.connection.begin_close();
        assert_eq!(driven.ended().await.failure, None);
        drop(driven);
        assert_eq!(events.recv().await, Some(0));
    });
}

#[test]
fn a_stream_over_tls_is_the_same() {
    local(async {
        let tls = acceptor(&["http/1.1"]);
        let origin = serve(move |_, stream| {
            let tls = tls.clone();
            async move {
                let mut stream = tls.accept(stream).await.unwrap();
                read_head(&mut stream).await;
                let body = "data: one\n\ndata: two\n\n";
                stream.write_all(format!("{HEAD}\r\n{body}").as_bytes()).await.unwrap();
                stream.flush().await.unwrap();
                let _ = stream.read_u8().await;
            }
        })
        .await;
        let mut driven = open(&Origin { tls: true, host: "localhost".into(), ..origin }).await;
        assert_eq!(driven.messages(2).await, ["message message: one", "message message: two"]);
    });
}

#[test]
fn any_request_and_answer_will_do_for_who_wants_to_see_ids_and_comments() {
    local(async {
        let (told, mut heads) = tokio::sync::mpsc::unbounded_channel();
        let origin = serve(move |_, mut stream| {
            let told = told.clone();
            async move {
                told.send(read_head(&mut stream).await).unwrap();
                let mut body = [0; 2];
                stream.read_exact(&mut body).await.unwrap();
                assert_eq!(&body, b"{}");
                let events = ": alive\n\nid: 7\nevent: own\ndata: a\ndata: b\n\nodd line\n\ndata: c\n\n";
                let head =
                    format!("HTTP/1.1 404 Gone\r\nX-Own: 1\r\nContent-Length: {}\r\n\r\n", events.len());
                stream.write_all(format!("{head}{events}").as_bytes()).await.unwrap();
            }
        })
        .await;
        let opened = SseLink::open_any(&net(), &request(&origin), "POST", "{}".into()).await;
        let (mut link, answer) = opened.unwrap();
        assert!(heads.recv().await.unwrap().starts_with("POST /sse?group=1 HTTP/1.1\r\n"));
        assert_eq!((answer.status, answer.headers.get("x-own")), (404, Some(&b"1"[..])));
        let (mut seen, mut scratch) = (Vec::new(), vec![0; SCRATCH]);
        let ended = std::future::poll_fn(|cx| {
            let clock = || sonagi_measure::At(0);
            let mut env = Env { present: &Present::new(&clock), scratch: &mut scratch };
            link.poll_events(cx, &mut env, |item| {
                seen.push(match item {
                    SseItem::Event(event) => format!("{} {} {}", event.id, event.name, event.text()),
                    SseItem::Comment(bytes) => format!("comment {}", String::from_utf8_lossy(bytes)),
                    SseItem::Retry(ms) => format!("retry {ms}"),
                });
            })
        })
        .await;
        assert_eq!(seen, ["comment alive", "7 own a\nb", "7 message c"]);
        assert_eq!(ended.failure, Some(Failure::ClosedEarly));
        assert!(link.is_whole());
    });
}
