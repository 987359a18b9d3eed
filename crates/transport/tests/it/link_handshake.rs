//! The opening handshake of a WebSocket, and every way it fails.

use sonagi_measure::outcome::Failure;
use sonagi_transport::link::{ConnectRequest, Link, WebsocketLink};
use sonagi_transport::net::{Failed, Origin};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::link::request;
use crate::net_servers::{Driven, answering, header, local, net, read_head, reset, serve, upgrade};

async fn refused(request: ConnectRequest) -> Failed {
    match WebsocketLink::connect(&net(), request).await {
        Ok(_) => panic!("the handshake must fail"),
        Err(failed) => failed,
    }
}

#[test]
fn the_upgrade_carries_what_the_rfc_and_the_script_ask_for() {
    local(async {
        let (told, mut heads) = tokio::sync::mpsc::unbounded_channel();
        let origin = serve(move |_, mut stream| {
            let told = told.clone();
            async move {
                let head = read_head(&mut stream).await;
                stream.write_all(upgrade(&head, "Sec-WebSocket-Protocol: b\r\n").as_bytes()).await.unwrap();
                told.send(head).unwrap();
                let _ = stream.read_u8().await;
            }
        })
        .await;
        let mut request = request(&origin);
        request.headers =
            vec![("Authorization".into(), "Bearer x".into()), ("Sec-WebSocket-Key".into(), "mine".into())];
        request.subprotocols = vec!["a".into(), "b".into()];
        let link = WebsocketLink::connect(&net(), request).await.unwrap();
        assert_eq!(link.subprotocol(), Some("b"));
        let head = heads.recv().await.unwrap();
        let key = header(&head, "sec-websocket-key").unwrap().to_owned();
        assert_eq!(key.len(), 24);
        assert_eq!(
            head,
            format!(
                "GET /ws?room=1 HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                 Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\nUser-Agent: Sonagi/{}\r\n\
                 Authorization: Bearer x\r\nSec-WebSocket-Protocol: a, b\r\n\r\n",
                origin.port,
                env!("CARGO_PKG_VERSION"),
            )
        );
    });
}

#[test]
fn an_answer_that_does_not_upgrade_is_a_refusal_with_its_status_and_first_words() {
    local(async {
        for (answer, status, words) in [
            (&b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"[..], 200, "hello"),
            (b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", 401, "401"),
            (b"HTTP/1.1 302 Found\r\nLocation: /x\r\n\r\n", 302, "302"),
            (b"HTTP/1.1 503 Busy\r\nContent-Length: 1000\r\n\r\nstalls after this", 503, "stalls after this"),
        ] {
            let failed = refused(request(&answering(answer).await)).await;
            assert_eq!(failed.failure, Failure::HandshakeRefused(status));
            assert!(failed.detail.contains(words), "{failed}");
        }
    });
}

#[test]
fn interim_answers_come_before_the_one_that_upgrades() {
    local(async {
        const HINTS: &str = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n";
        for parts in [1, 2] {
            let origin = serve(move |_, mut stream| async move {
                let head = read_head(&mut stream).await;
                let answer = format!("{HINTS}{}", upgrade(&head, ""));
                let answer = [answer.as_bytes(), b"\x81\x02hi"].concat();
                // In one part, or cut within the second answer.
                let (first, rest) = answer.split_at(if parts == 1 { answer.len() } else { HINTS.len() - 5 });
                stream.write_all(first).await.unwrap();
                stream.write_all(rest).await.unwrap();
                let _ = stream.read_u8().await;
            })
            .await;
            let (mut link, answer) = WebsocketLink::open(&net(), &request(&origin)).await.unwrap();
            assert_eq!((answer.status, answer.headers.get("link")), (101, None));
            assert!(link.take_bytes().1 > HINTS.len() as u64, "they came over the wire, too");
            let link = WebsocketLink::connect(&net(), request(&origin)).await.unwrap();
            let mut driven = Driven::new(link);
            assert_eq!(driven.messages(1).await, ["text hi"]);
        }
    });
}

#[test]
fn an_upgrade_that_breaks_a_rule_is_a_protocol_failure() {
    local(async {
        for (rule, answer) in [
            ("HTTP", &b"220 mail.example ESMTP\r\n"[..]),
            ("got TLS", b"\x15\x03\x01\x00\x02\x02\x0a"),
            ("Upgrade: websocket", b"HTTP/1.1 101 X\r\nConnection: upgrade\r\n\r\n"),
            ("Connection: Upgrade", b"HTTP/1.1 101 X\r\nUpgrade: WebSocket\r\n\r\n"),
            (
                "Sec-WebSocket-Accept",
                b"HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n\
                  Sec-WebSocket-Accept: wrong\r\n\r\n",
            ),
        ] {
            let failed = refused(request(&answering(answer).await)).await;
            assert_eq!(failed.failure, Failure::Protocol);
            assert!(failed.detail.contains(rule), "{failed}");
        }
    });
}

#[test]
fn a_server_may_only_choose_what_was_offered() {
    local(async {
        for (extra, offered, failure, rule) in [
            ("Sec-WebSocket-Extensions: permessage-deflate\r\n", &[][..], Failure::Protocol, "extension"),
            (
                "Sec-WebSocket-Protocol: b\r\n",
                &["a"][..],
                Failure::SubprotocolUnknown,
                "subprotocols offered, got \"b\"",
            ),
            (
                "Sec-WebSocket-Protocol: a\r\n",
                &[],
                Failure::SubprotocolUnknown,
                "subprotocols offered, got \"a\"",
            ),
            ("", &["a"], Failure::SubprotocolMissing, "subprotocols offered, got none"),
        ] {
            let origin = serve(move |_, mut stream| async move {
                let head = read_head(&mut stream).await;
                stream.write_all(upgrade(&head, extra).as_bytes()).await.unwrap();
            })
            .await;
            let subprotocols = offered.iter().map(|&name| name.to_owned()).collect();
            let failed = refused(ConnectRequest { subprotocols, ..request(&origin) }).await;
            assert_eq!(failed.failure, failure);
            assert!(failed.detail.contains(rule), "{failed}");
        }
    });
}

#[test]
fn an_upgrade_cut_short_is_told_from_one_reset_and_one_without_end() {
    local(async {
        for answer in [&b""[..], b"HTTP/1.1 101 Switching"] {
            assert_eq!(refused(request(&answering(answer).await)).await.failure, Failure::ClosedEarly);
        }
        let resetting = serve(|_, mut stream| async move {
            read_head(&mut stream).await;
            reset(stream);
        })
        .await;
        assert_eq!(refused(request(&resetting).clone()).await.failure, Failure::Reset);
        let endless = serve(|_, mut stream| async move {
            read_head(&mut stream).await;
            let _ = stream.write_all(b"HTTP/1.1 101 X\r\n").await;
            while stream.write_all(b"x-more: and more\r\n").await.is_ok() {}
        })
        .await;
        assert_eq!(refused(request(&endless)).await.failure, Failure::Protocol);
    });
}

#[test]
fn a_header_or_path_that_would_break_the_request_is_the_scripts_failure() {
    local(async {
        let mut request = request(&Origin { host: "127.0.0.1".into(), port: 1, tls: false });
        request.headers = vec![("x".into(), "1\r\ninjected: 2".into())];
        assert_eq!(refused(request.clone()).await.failure, Failure::Template);
        request.headers.clear();
        request.path = "/x HTTP/1.1\r\ninjected: 2".into();
        assert_eq!(refused(request).await.failure, Failure::Template);
    });
}

#[test]
fn a_dropped_handshake_closes_its_socket() {
    local(async {
        let (told, mut events) = tokio::sync::mpsc::unbounded_channel();
        let origin = serve(move |_, mut stream| {
            let told = told.clone();
            async move {
                read_head(&mut stream).await;
                told.send("asked").unwrap();
                assert!(stream.read_u8().await.is_err());
                told.send("closed").unwrap();
            }
        })
        .await;
        let net = net();
        tokio::select! {
            _ = WebsocketLink::connect(&net, request(&origin)) => unreachable!("it is never answered"),
            asked = events.recv() => assert_eq!(asked, Some("asked")),
        }
        assert_eq!(events.recv().await, Some("closed"));
    });
}
