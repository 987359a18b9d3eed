//! Requests and responses, and every way they fail.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use bytes::Bytes;
use sonagi_measure::At;
use sonagi_measure::outcome::Failure;
use sonagi_transport::http::{
    Client, Encoded, Head, Lines, MAX_BODY, Name, Request, Response, Traffic, USER_AGENT,
};
use sonagi_transport::net::{Failed, Origin};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::net::acceptor;
use crate::net_servers::{answering, header, local, net, read_head, reset, serve};

pub(crate) fn client() -> Client {
    Client::new(net(), None, Rc::new(|| At(7)))
}

pub(crate) fn get(path: &str) -> Request {
    Request { method: "GET".into(), path: path.into(), ..Request::default() }
}

async fn fetch(bytes: &'static [u8]) -> Result<Response, Failed> {
    let origin = answering(bytes).await;
    client().request(&origin, get("/")).await
}

async fn failure(origin: &Origin) -> Failure {
    client().request(origin, get("/")).await.unwrap_err().failure
}

/// Answers every request on every connection with its connection's number, and notes the heads.
async fn numbered(heads: Rc<RefCell<Vec<String>>>) -> Origin {
    serve(move |number, mut stream| {
        let heads = heads.clone();
        async move {
            loop {
                let head = read_head(&mut stream).await;
                if head.is_empty() {
                    return;
                }
                let length = header(&head, "content-length").map_or(0, |length| length.parse().unwrap());
                stream.read_exact(&mut vec![0; length]).await.unwrap();
                heads.borrow_mut().push(head);
                let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{number}");
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        }
    })
    .await
}

/// A request whose fixed header lines come first, last, or around one that is filled in.
fn filled<'l>(before: Option<&'l Lines>, after: &'l Lines, ours: usize) -> Encoded<'l> {
    let mut head = Head::new("GET /p?q=1".to_owned(), "GET");
    assert_eq!(head.path(), "/p?q=1");
    if let Some(before) = before {
        head.fixed(before);
    }
    head.line(&Name::new("X-Filled").unwrap(), |text| {
        text.push_str("a: b");
        Ok(())
    })
    .unwrap();
    head.fixed(after);
    head.cookie("sid=1").unwrap();
    head.text().push_str("content-length: 2\r\n\r\nhi");
    head.finish(2, ours, false)
}

#[test]
fn what_follows_a_redirect_is_what_the_script_asked_for_however_it_was_written() {
    let (origin, _) = Origin::parse("http://a").unwrap();
    let (mut before, mut after) = (Lines::default(), Lines::default());
    before.push("X-One", "1").unwrap();
    after.push("X-Two", "").unwrap();
    let ours = after.push_ours(&origin, |_| false);
    let own = |names: &[(&str, &str)]| -> Vec<(String, String)> {
        names.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    for (before, expected) in [
        (None, own(&[("x-filled", "a: b"), ("x-two", "")])),
        (Some(&before), own(&[("x-one", "1"), ("x-filled", "a: b"), ("x-two", "")])),
    ] {
        let encoded = filled(before, &after, ours);
        let lines: String = expected.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let whole = format!(
            "GET /p?q=1 HTTP/1.1\r\n{lines}user-agent: {USER_AGENT}\r\nhost: a\r\ncookie: sid=1\r\n\
             content-length: 2\r\n\r\nhi"
        );
        assert_eq!(String::from_utf8_lossy(encoded.bytes()), whole);
        let again = encoded.to_request();
        assert_eq!(
            (again.method.as_str(), again.path.as_str(), &again.body[..]),
            ("GET", "/p?q=1", &b"hi"[..])
        );
        assert_eq!(again.headers, expected);
    }
}

#[test]
fn a_request_carries_nothing_but_what_the_script_says_and_who_we_are() {
    local(async {
        let heads = Rc::<RefCell<Vec<String>>>::default();
        let origin = numbered(heads.clone()).await;
        let mut client = client();
        client.request(&origin, get("/a?b=c")).await.unwrap();
        let post = Request {
            method: "POST".into(),
            path: "/".into(),
            headers: vec![("X-One".into(), "1".into()), ("user-agent".into(), "mine".into())],
            body: Bytes::from_static(b"hello"),
            ..Request::default()
        };
        client.request(&origin, post).await.unwrap();
        let port = origin.port;
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(
            *heads.borrow(),
            [
                format!(
                    "GET /a?b=c HTTP/1.1\r\nuser-agent: Sonagi/{version}\r\nhost: 127.0.0.1:{port}\r\n\r\n"
                ),
                format!(
                    "POST / HTTP/1.1\r\nx-one: 1\r\nuser-agent: mine\r\nhost: 127.0.0.1:{port}\r\n\
                     content-length: 5\r\n\r\n"
                ),
            ]
        );
    });
}

#[test]
fn a_connection_is_kept_for_the_users_next_request() {
    local(async {
        let origin = numbered(Rc::default()).await;
        let mut client = client();
        let first = client.request(&origin, get("/")).await.unwrap();
        let second = client.request(&origin, get("/")).await.unwrap();
        assert_eq!((&first.body[..], first.reused), (&b"0"[..], false));
        assert_eq!((&second.body[..], second.reused), (&b"0"[..], true));
        assert_eq!(second.first_byte, At(7));
        client.close();
        let third = client.request(&origin, get("/")).await.unwrap();
        assert_eq!((&third.body[..], third.reused), (&b"1"[..], false));
    });
}

#[test]
fn a_body_ends_where_its_framing_says() {
    local(async {
        for (answer, body) in [
            (&b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"[..], "hi"),
            (
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nh\r\n1\r\ni\r\n0\r\nx: y\r\n\r\n",
                "hi",
            ),
            (b"HTTP/1.0 200 OK\r\n\r\nto the end", "to the end"),
            (b"HTTP/1.1 204 No Content\r\n\r\n", ""),
            (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "hi"),
        ] {
            let response = fetch(answer).await.unwrap();
            assert_eq!(response.body, body);
            assert_eq!(response.body_bytes, body.len() as u64);
        }
    });
}

#[test]
fn a_connection_the_server_will_close_is_not_kept() {
    local(async {
        let origin = serve(|number, mut stream| async move {
            read_head(&mut stream).await;
            let answer = format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\n{number}");
            stream.write_all(answer.as_bytes()).await.unwrap();
            let _ = stream.read_u8().await;
        })
        .await;
        let mut client = client();
        for number in ["0", "1"] {
            let response = client.request(&origin, get("/")).await.unwrap();
            assert_eq!((&response.body[..], response.reused), (number.as_bytes(), false));
        }
    });
}

#[test]
fn a_response_nobody_asked_for_is_never_taken_for_an_answer() {
    local(async {
        let origin = serve(|number, mut stream| async move {
            read_head(&mut stream).await;
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{number}");
            stream.write_all(answer.repeat(2).as_bytes()).await.unwrap();
            let _ = stream.read_u8().await;
        })
        .await;
        let mut client = client();
        for number in ["0", "1"] {
            let response = client.request(&origin, get("/")).await.unwrap();
            assert_eq!((&response.body[..], response.reused), (number.as_bytes(), false));
        }
    });
}

#[test]
fn a_server_that_closes_early_is_told_from_one_that_resets_and_one_that_babbles() {
    local(async {
        for (answer, expected) in [
            (&b""[..], Failure::ClosedEarly),
            (b"HTTP/1.1 200 O", Failure::ClosedEarly),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", Failure::ClosedEarly),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nha", Failure::ClosedEarly),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnot a length\r\n", Failure::Protocol),
            (b"220 mail.example ESMTP\r\n", Failure::Protocol),
            (b"\x15\x03\x01\x00\x02\x02\x0a", Failure::Protocol),
        ] {
            let failed = fetch(answer).await.unwrap_err();
            assert_eq!(failed.failure, expected, "{:?}: {failed}", String::from_utf8_lossy(answer));
        }
        let origin = serve(|_, mut stream| async move {
            read_head(&mut stream).await;
            reset(stream);
        })
        .await;
        assert_eq!(failure(&origin).await, Failure::Reset);
    });
}

#[test]
fn a_server_that_speaks_first_is_not_http() {
    local(async {
        let origin = serve(|_, mut stream| async move {
            stream.write_all(b"SSH-2.0-x\r\n").await.unwrap();
            let _ = stream.read_to_end(&mut Vec::new()).await;
        })
        .await;
        assert_eq!(failure(&origin).await, Failure::Protocol);
    });
}

#[test]
fn plain_http_to_a_tls_port_is_not_http() {
    local(async {
        let tls = acceptor(&[]);
        let origin = serve(move |_, stream| {
            let tls = tls.clone();
            async move {
                if let Err((_, mut stream)) = tls.accept(stream).into_fallible().await {
                    let _ = stream.read_to_end(&mut Vec::new()).await;
                }
            }
        })
        .await;
        assert_eq!(failure(&origin).await, Failure::Protocol);
    });
}

#[test]
fn a_dropped_request_closes_its_connection_and_the_next_one_opens_another() {
    local(async {
        let (seen, mut dropped) = tokio::sync::mpsc::unbounded_channel();
        let origin = serve(move |number, mut stream| {
            let seen = seen.clone();
            async move {
                read_head(&mut stream).await;
                if number == 0 {
                    seen.send("asked").unwrap();
                    let _ = stream.read_u8().await;
                    seen.send("closed").unwrap();
                } else {
                    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await.unwrap();
                }
            }
        })
        .await;
        let mut client = client();
        {
            let stalled = client.request(&origin, get("/"));
            tokio::select! {
                _ = stalled => unreachable!("it is never answered"),
                asked = dropped.recv() => assert_eq!(asked, Some("asked")),
            }
        }
        assert_eq!(dropped.recv().await, Some("closed"));
        assert_eq!(client.request(&origin, get("/")).await.unwrap().status, 200);
    });
}

#[test]
fn a_large_body_goes_out_whole() {
    local(async {
        let size = 3_000_000;
        let origin = serve(move |_, mut stream| async move {
            let head = read_head(&mut stream).await;
            assert_eq!(header(&head, "content-length"), Some(size.to_string().as_str()));
            let mut body = vec![0; size];
            stream.read_exact(&mut body).await.unwrap();
            assert!(body.iter().all(|&byte| byte == b'x'));
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await.unwrap();
            let _ = stream.read_u8().await;
        })
        .await;
        let post = Request { method: "POST".into(), body: vec![b'x'; size].into(), ..get("/") };
        let mut client = client();
        client.request(&origin, post).await.unwrap();
        assert!(client.take_traffic().sent > size as u64);
    });
}

#[test]
fn a_body_refused_before_it_was_read_is_an_answer_and_ends_the_connection() {
    local(async {
        let connections = Rc::new(Cell::new(0));
        let counted = connections.clone();
        let origin = serve(move |_, mut stream| {
            counted.set(counted.get() + 1);
            async move {
                read_head(&mut stream).await;
                stream.write_all(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n").await.unwrap();
                let _ = std::future::pending::<()>().await;
            }
        })
        .await;
        let mut client = client();
        for _ in 0..2 {
            let post = Request { method: "POST".into(), body: vec![0; 50_000_000].into(), ..get("/") };
            let response = client.request(&origin, post).await.unwrap();
            assert_eq!((response.status, response.reused), (413, false));
        }
        assert_eq!(connections.get(), 2);
    });
}

#[test]
fn a_script_that_asks_to_close_gets_a_new_connection_each_time() {
    local(async {
        let origin = numbered(Rc::default()).await;
        let mut client = client();
        for number in ["0", "1"] {
            let close = Request { headers: vec![("Connection".into(), "close".into())], ..get("/") };
            let response = client.request(&origin, close).await.unwrap();
            assert_eq!((&response.body[..], response.reused), (number.as_bytes(), false));
        }
    });
}

#[test]
fn what_went_over_the_wire_is_counted_of_requests_that_failed_too() {
    local(async {
        let origin = answering(b"HTTP/1.1 2").await;
        let mut client = client();
        client.request(&origin, get("/")).await.unwrap_err();
        let head = format!(
            "GET / HTTP/1.1\r\nuser-agent: Sonagi/{}\r\nhost: 127.0.0.1:{}\r\n\r\n",
            env!("CARGO_PKG_VERSION"),
            origin.port
        );
        let expected = Traffic { sent: head.len() as u64, received: 10, opened: 1, repeated: 0 };
        assert_eq!(client.take_traffic(), expected);
        assert_eq!(client.take_traffic(), Traffic::default());
    });
}

#[test]
fn what_went_over_the_wire_is_counted_of_requests_that_were_given_up() {
    local(async {
        let (seen, mut asked) = tokio::sync::mpsc::unbounded_channel();
        let origin = serve(move |_, mut stream| {
            let seen = seen.clone();
            async move {
                seen.send(read_head(&mut stream).await.len() as u64).unwrap();
                let _ = stream.read_u8().await;
            }
        })
        .await;
        let mut client = client();
        let sent = tokio::select! {
            _ = client.request(&origin, get("/")) => unreachable!("it is never answered"),
            sent = asked.recv() => sent.unwrap(),
        };
        assert_eq!(client.take_traffic(), Traffic { sent, received: 0, opened: 1, repeated: 0 });
    });
}

#[test]
fn what_cannot_be_sent_is_the_scripts_failure() {
    local(async {
        let origin = Origin { host: "127.0.0.1".into(), port: 1, tls: false };
        let header =
            |name: &str, value: &str| Request { headers: vec![(name.into(), value.into())], ..get("/") };
        for request in [
            header("x", "1\r\ninjected: 2"),
            header("a b", "1"),
            Request { method: "G ET".into(), ..get("/") },
            get("/a b"),
        ] {
            let failed = client().request(&origin, request.clone()).await.unwrap_err();
            assert_eq!(failed.failure, Failure::Template, "{request:?}");
        }
    });
}

#[test]
fn a_body_over_the_limit_is_counted_but_not_kept() {
    local(async {
        let size = MAX_BODY + 100_000;
        let origin = serve(move |_, mut stream| async move {
            read_head(&mut stream).await;
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n");
            stream.write_all(head.as_bytes()).await.unwrap();
            stream.write_all(&vec![b'x'; size]).await.unwrap();
            let _ = stream.read_u8().await;
        })
        .await;
        let response = client().request(&origin, get("/")).await.unwrap();
        assert_eq!((response.body.len(), response.body_bytes), (MAX_BODY, size as u64));
    });
}
