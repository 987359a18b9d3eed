//! Socket.IO sessions over WebSocket, over polling, and on the way from one to the other.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use sonagi_engine::link::{Connection, Ended, SocketioLink, SocketioRequest};
use sonagi_engine::net::{Failed, Origin};
use sonagi_engine::plan::SocketioTransport;
use sonagi_measure::At;
use sonagi_measure::outcome::Failure;
use sonagi_wire::websocket::Opcode;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;

use crate::link::{frame, read_frame};
use crate::net_servers::{Driven, answering, header, local, net, read_head, serve, upgrade};

/// A scripted Engine.IO server with one session, and what it saw.
struct Server {
    state: RefCell<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    max_payload: usize,
    /// Packets for the client, in their polling form.
    out: VecDeque<String>,
    /// Packets of the client in order of arrival, whatever carried them.
    received: Vec<String>,
    /// Bodies of POSTs, and paths of all requests.
    bodies: Vec<String>,
    paths: Vec<String>,
    gets: usize,
    posts: usize,
    /// How a probe is answered; None: the upgrade is refused with 400.
    probe_answer: Option<&'static str>,
    upgraded: bool,
    /// Answers polls with this status and body from now on.
    refusing: Option<&'static str>,
}

impl Server {
    async fn start(probe_answer: Option<&'static str>) -> (Rc<Server>, Origin) {
        let state = State { max_payload: 1_000_000, probe_answer, ..State::default() };
        let server = Rc::new(Server { state: state.into(), changed: Notify::new() });
        let serving = server.clone();
        let origin = serve(move |_, stream| serving.clone().connection(stream)).await;
        (server, origin)
    }

    fn push(&self, packet: impl Into<String>) {
        self.state.borrow_mut().out.push_back(packet.into());
        self.changed.notify_waiters();
    }

    fn received(&self) -> Vec<String> {
        self.state.borrow().received.clone()
    }

    /// What a Socket.IO server does with a packet.
    fn take(&self, packet: &str) {
        self.state.borrow_mut().received.push(packet.to_owned());
        if packet.starts_with("40") {
            self.push(r#"40{"sid":"abc"}"#);
        } else if let Some((id, _)) = packet.strip_prefix("42").and_then(|rest| rest.split_once('['))
            && !id.is_empty()
        {
            self.push(format!("43{id}[\"ok\"]"));
        }
    }

    async fn connection(self: Rc<Server>, mut stream: TcpStream) {
        loop {
            let head = read_head(&mut stream).await;
            let Some(path) = head.split(' ').nth(1).map(str::to_owned) else { return };
            let length = header(&head, "content-length").map_or(0, |length| length.parse().unwrap());
            let mut body = vec![0; length];
            stream.read_exact(&mut body).await.unwrap();
            self.state.borrow_mut().paths.push(path.clone());
            if path.contains("transport=websocket") {
                return self.websocket(&head, stream).await;
            }
            let refusing = self.state.borrow().refusing;
            if let Some(answer) = refusing {
                stream.write_all(answer.as_bytes()).await.unwrap();
                return;
            }
            let answer = if head.starts_with("POST") {
                self.post(String::from_utf8(body).unwrap())
            } else if path.contains("sid=") {
                self.get().await
            } else {
                let max_payload = self.state.borrow().max_payload;
                format!(
                    r#"0{{"sid":"s1","upgrades":["websocket"],"pingInterval":25000,"pingTimeout":20000,"maxPayload":{max_payload}}}"#
                )
            };
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{answer}", answer.len());
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    }

    fn post(&self, body: String) -> String {
        assert!(!self.state.borrow().upgraded, "a POST after the upgrade");
        for packet in body.split('\u{1e}') {
            self.take(packet);
        }
        self.state.borrow_mut().bodies.push(body);
        "ok".into()
    }

    async fn get(&self) -> String {
        self.state.borrow_mut().gets += 1;
        assert_eq!(self.state.borrow().gets, 1, "two GETs at a time");
        while self.state.borrow().out.is_empty() {
            self.changed.notified().await;
        }
        let mut state = self.state.borrow_mut();
        state.gets -= 1;
        state.out.drain(..).collect::<Vec<_>>().join("\u{1e}")
    }

    async fn websocket(&self, head: &str, mut stream: TcpStream) {
        let Some(answer) = self.state.borrow().probe_answer else {
            stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n").await.unwrap();
            return;
        };
        stream.write_all(upgrade(head, "").as_bytes()).await.unwrap();
        assert_eq!(read_frame(&mut stream).await.unwrap().1, b"2probe");
        stream.write_all(&frame(Opcode::Text, answer.as_bytes())).await.unwrap();
        if answer != "3probe" {
            let _ = read_frame(&mut stream).await;
            return self.push(r#"42["after the probe"]"#);
        }
        self.push("6");
        assert_eq!(read_frame(&mut stream).await.unwrap().1, b"5");
        assert_eq!(
            (self.state.borrow().gets, self.state.borrow().posts),
            (0, 0),
            "polls under way at the change"
        );
        self.state.borrow_mut().upgraded = true;
        let (mut reader, mut writer) = stream.split();
        let write = async {
            loop {
                let Some(packet) = self.state.borrow_mut().out.pop_front() else {
                    self.changed.notified().await;
                    continue;
                };
                writer.write_all(&frame(Opcode::Text, packet.as_bytes())).await.unwrap();
            }
        };
        let read = async {
            while let Some((first, payload)) = read_frame(&mut reader).await {
                match first & 0x0f {
                    1 => self.take(std::str::from_utf8(&payload).unwrap()),
                    2 => self.state.borrow_mut().received.push(format!("binary {payload:?}")),
                    _ => return,
                }
            }
        };
        tokio::select! {
            () = write => {}
            () = read => {}
        }
    }
}

fn request(origin: &Origin, transport: SocketioTransport) -> SocketioRequest {
    SocketioRequest {
        origin: origin.clone(),
        path: "/socket.io/".into(),
        query: vec![("room".into(), "a b".into())],
        headers: vec![("x-test".into(), "1".into())],
        transport,
        max_message: 1_000_000,
    }
}

async fn open(origin: &Origin, transport: SocketioTransport) -> Driven {
    let link = SocketioLink::open(&net(), request(origin, transport)).await.unwrap();
    Driven::new(Connection::Socketio(link))
}

async fn refused(origin: &Origin, transport: SocketioTransport) -> Failed {
    match SocketioLink::open(&net(), request(origin, transport)).await {
        Ok(_) => panic!("the session must not open"),
        Err(failed) => failed,
    }
}

fn link(driven: &mut Driven) -> &mut SocketioLink {
    match &mut driven.connection {
        Connection::Socketio(link) => link,
        _ => unreachable!(),
    }
}

const HANDSHAKE: &str =
    r#"0{"sid":"s1","upgrades":[],"pingInterval":300,"pingTimeout":200,"maxPayload":1000000}"#;

/// A WebSocket server that opens the session, says these packets, and hands over what it was told until the end.
async fn websocket_server(
    packets: &'static [&'static str],
) -> (Origin, tokio::sync::mpsc::UnboundedReceiver<(u8, Vec<u8>)>) {
    let (told, heard) = tokio::sync::mpsc::unbounded_channel();
    let origin = serve(move |_, mut stream| {
        let told = told.clone();
        async move {
            let head = read_head(&mut stream).await;
            assert!(
                head.starts_with("GET /socket.io/?room=a%20b&EIO=4&transport=websocket HTTP/1.1\r\n"),
                "{head}"
            );
            assert_eq!(header(&head, "x-test"), Some("1"));
            let mut bytes = upgrade(&head, "").into_bytes();
            for packet in packets {
                bytes.extend(match packet.strip_prefix("binary ") {
                    Some(payload) => frame(Opcode::Binary, payload.as_bytes()),
                    None => frame(Opcode::Text, packet.as_bytes()),
                });
                stream.write_all(&bytes).await.unwrap();
                bytes.clear();
                if packet.starts_with('0') {
                    // The client asks before it is told more.
                    told.send(read_frame(&mut stream).await.unwrap()).unwrap();
                }
            }
            stream.write_all(&bytes).await.unwrap();
            while let Some(frame) = read_frame(&mut stream).await {
                if told.send(frame).is_err() {
                    return;
                }
            }
        }
    })
    .await;
    (origin, heard)
}

#[test]
fn everything_a_server_says_arrives_in_order_with_its_parts() {
    local(async {
        let (origin, mut heard) = websocket_server(&[
            HANDSHAKE,
            r#"40{"sid":"abc"}"#,
            r#"40/chat,{"sid":"abd"}"#,
            r#"44/admin,{"message":"no"}"#,
            r#"42["news",1]"#,
            r#"42/chat,7["ask"]"#,
            r#"4312["yes"]"#,
            r#"452-["two",{"_placeholder":true,"num":0},{"_placeholder":true,"num":1}]"#,
            "binary ab",
            "binary c",
            r#"461-3[{"_placeholder":true,"num":0}]"#,
            "binary d",
            "41/chat,",
            "6",
        ])
        .await;
        let mut driven = open(&origin, SocketioTransport::Websocket).await;
        assert!(link(&mut driven).is_websocket());
        link(&mut driven).connect("/", Some(r#"{"token":"t"}"#));
        assert_eq!(
            driven.messages(9).await,
            [
                "connected /",
                "connected /chat",
                r#"refused /admin {"message":"no"}"#,
                r#"event / ["news",1] [] None"#,
                r#"event /chat ["ask"] [] Some(7)"#,
                r#"ack / 12 ["yes"] []"#,
                r#"event / ["two",{"_placeholder":true,"num":0},{"_placeholder":true,"num":1}] [[97, 98], [99]] None"#,
                r#"ack / 3 [{"_placeholder":true,"num":0}] [[100]]"#,
                "disconnected /chat",
            ]
        );
        assert_eq!(heard.recv().await.unwrap(), (0x81, br#"40{"token":"t"}"#.to_vec()));
    });
}

#[test]
fn everything_a_client_says_is_in_the_protocols_form() {
    local(async {
        let (origin, mut heard) = websocket_server(&[HANDSHAKE]).await;
        let mut driven = open(&origin, SocketioTransport::Websocket).await;
        let session = link(&mut driven);
        session.connect("/chat", None);
        session.emit("/", None, r#"["hi"]"#, &[]);
        session.emit("/chat", Some(3), r#"["file",{"_placeholder":true,"num":0}]"#, &[vec![1, 2]]);
        session.acknowledge("/", 9, "[]", &[]);
        session.disconnect("/chat");
        driven.sent().await;
        for expected in [
            "40/chat,",
            r#"42["hi"]"#,
            r#"451-/chat,3["file",{"_placeholder":true,"num":0}]"#,
            "\u{1}\u{2}",
            "439[]",
            "41/chat,",
        ] {
            assert_eq!(heard.recv().await.unwrap().1, expected.as_bytes());
        }
    });
}

#[test]
fn a_servers_heartbeat_is_answered_and_its_silence_ends_the_session() {
    local(async {
        let (origin, mut heard) = websocket_server(&[HANDSHAKE, "2", r#"42["after"]"#]).await;
        let mut driven = open(&origin, SocketioTransport::Websocket).await;
        link(&mut driven).connect("/", None);
        assert_eq!(driven.connection.expires(), None, "no clock before the first drive");
        driven.now = At(1_000_000_000);
        driven.messages(1).await;
        driven.sent().await;
        heard.recv().await.unwrap();
        assert_eq!(heard.recv().await.unwrap(), (0x81, b"3".to_vec()));
        // 300 ms between pings and 200 ms of patience.
        assert_eq!(driven.connection.expires(), Some(At(1_500_000_000)));
        driven.now = At(1_499_999_999);
        assert!(driven.poll(&mut std::task::Context::from_waker(std::task::Waker::noop())).is_pending());
        driven.now = At(1_500_000_000);
        let ended = driven.ended().await;
        assert_eq!(ended.failure, Some(Failure::Timeout));
        assert!(ended.detail.contains("500 ms"), "{}", ended.detail);
    });
}

#[test]
fn what_breaks_the_protocol_ends_the_session() {
    local(async {
        for packets in [
            &[HANDSHAKE, "9"][..],
            &[HANDSHAKE, ""],
            &[HANDSHAKE, "5"],
            &[HANDSHAKE, HANDSHAKE],
            &[HANDSHAKE, "4"],
            &[HANDSHAKE, "49"],
            &[HANDSHAKE, "42{}"],
            &[HANDSHAKE, "binary unannounced"],
            &[HANDSHAKE, r#"451-["x"]"#, r#"42["between"]"#],
        ] {
            let (origin, mut heard) = websocket_server(packets).await;
            let mut driven = open(&origin, SocketioTransport::Websocket).await;
            link(&mut driven).connect("/", None);
            let ended = driven.ended().await;
            assert_eq!(ended.failure, Some(Failure::Protocol), "{packets:?}: {ended:?}");
            drop(driven);
            heard.recv().await.unwrap();
            if packets.last() != Some(&HANDSHAKE) {
                assert_eq!(heard.recv().await.unwrap(), (0x88, 1002_u16.to_be_bytes().to_vec()));
            }
        }
    });
}

#[test]
fn a_session_the_server_closes_ends_without_a_code() {
    local(async {
        let (origin, _heard) = websocket_server(&[HANDSHAKE, "1"]).await;
        let mut driven = open(&origin, SocketioTransport::Websocket).await;
        link(&mut driven).connect("/", None);
        assert_eq!(driven.ended().await.failure, Some(Failure::Closed(1005)));
    });
}

#[test]
fn a_session_must_begin_with_its_handshake() {
    local(async {
        for first in ["hello", "4", "1", "0{}", "0not json", r#"40{"sid":"x"}"#] {
            let origin = serve(move |_, mut stream| async move {
                let head = read_head(&mut stream).await;
                let websocket = head.contains("transport=websocket");
                let answer = if websocket {
                    [upgrade(&head, "").as_bytes(), &frame(Opcode::Text, first.as_bytes())].concat()
                } else {
                    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{first}", first.len()).into_bytes()
                };
                stream.write_all(&answer).await.unwrap();
                let _ = stream.read_to_end(&mut Vec::new()).await;
            })
            .await;
            for transport in [SocketioTransport::Websocket, SocketioTransport::Polling] {
                let failed = refused(&origin, transport).await;
                assert_eq!(failed.failure, Failure::Protocol, "{first}: {failed}");
            }
        }
    });
}

#[test]
fn a_refused_session_says_its_status_and_why() {
    local(async {
        let answer = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 52\r\n\r\n{\"code\":5,\"message\":\"Unsupported protocol version\"}\r\n";
        let origin = answering(answer).await;
        for transport in
            [SocketioTransport::Websocket, SocketioTransport::Polling, SocketioTransport::Upgrade]
        {
            let failed = refused(&origin, transport).await;
            assert_eq!(failed.failure, Failure::HandshakeRefused(400));
            assert!(failed.detail.contains("Unsupported protocol version"), "{failed}");
        }
        let stray = answering(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>").await;
        assert_eq!(refused(&stray, SocketioTransport::Polling).await.failure, Failure::Protocol);
    });
}

#[test]
fn polling_carries_messages_both_ways_with_one_get_and_one_post_at_a_time() {
    local(async {
        let (server, origin) = Server::start(None).await;
        let mut driven = open(&origin, SocketioTransport::Polling).await;
        link(&mut driven).connect("/", Some(r#"{"token":"t"}"#));
        driven.messages(1).await;
        for id in 0..5 {
            link(&mut driven).emit("/", Some(id), r#"["x"]"#, &[]);
        }
        link(&mut driven).emit("/", None, r#"["file",{"_placeholder":true,"num":0}]"#, &[vec![1, 2, 3]]);
        assert!(driven.connection.has_unsent());
        driven.messages(6).await;
        server.push("2");
        server.push(r#"451-["two",{"_placeholder":true,"num":0}]"#);
        server.push("bYWI=");
        driven.messages(7).await;
        driven.sent().await;
        assert_eq!(driven.seen[0], "connected /");
        assert_eq!(driven.seen[5], r#"ack / 4 ["ok"] []"#);
        assert_eq!(driven.seen[6], r#"event / ["two",{"_placeholder":true,"num":0}] [[97, 98]] None"#);
        assert_eq!(
            server.state.borrow().bodies,
            [
                r#"40{"token":"t"}"#.to_owned(),
                [
                    r#"420["x"]"#,
                    r#"421["x"]"#,
                    r#"422["x"]"#,
                    r#"423["x"]"#,
                    r#"424["x"]"#,
                    r#"451-["file",{"_placeholder":true,"num":0}]"#,
                    "bAQID",
                ]
                .join("\u{1e}"),
                "3".to_owned(),
            ]
        );
        let paths = &server.state.borrow().paths;
        assert!(paths[0].starts_with("/socket.io/?room=a%20b&EIO=4&transport=polling&t="), "{}", paths[0]);
        assert!(paths[1..].iter().all(|path| path.contains("&sid=s1&t=")), "{paths:?}");
        let mut distinct = paths.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), paths.len(), "no two requests are alike");
        let (sent, received) = driven.connection.take_bytes();
        assert!(sent > 500 && received > 300, "{sent} {received}");
    });
}

#[test]
fn a_post_stays_within_the_servers_limit() {
    local(async {
        let (server, origin) = Server::start(None).await;
        server.state.borrow_mut().max_payload = 20;
        let mut driven = open(&origin, SocketioTransport::Polling).await;
        for name in ["a", "b", "c", "much too long for one body"] {
            link(&mut driven).emit("/", None, &format!("[\"{name}\"]"), &[]);
        }
        driven.sent().await;
        assert_eq!(
            server.state.borrow().bodies,
            ["42[\"a\"]\u{1e}42[\"b\"]", "42[\"c\"]", "42[\"much too long for one body\"]"]
        );
    });
}

#[test]
fn a_poll_that_is_refused_ends_the_session_with_the_servers_words() {
    local(async {
        let (server, origin) = Server::start(None).await;
        let mut driven = open(&origin, SocketioTransport::Polling).await;
        server.state.borrow_mut().refusing = Some(
            "HTTP/1.1 400 Bad Request\r\nContent-Length: 41\r\n\r\n{\"code\":1,\"message\":\"Session ID unknown\"}",
        );
        let ended = driven.ended().await;
        assert_eq!(ended.failure, Some(Failure::Protocol));
        assert!(ended.detail.contains("status 400: Session ID unknown"), "{}", ended.detail);
        assert_eq!(driven.ended().await, ended, "and says so again");
    });
}

#[test]
fn a_polling_session_is_closed_in_order_by_either_side() {
    local(async {
        let (server, origin) = Server::start(None).await;
        let mut driven = open(&origin, SocketioTransport::Polling).await;
        link(&mut driven).emit("/", None, r#"["last"]"#, &[]);
        driven.connection.begin_close();
        link(&mut driven).emit("/", None, r#"["never"]"#, &[]);
        assert_eq!(driven.ended().await, Ended { failure: None, detail: String::new() });
        assert_eq!(server.received(), [r#"42["last"]"#, "1"]);

        let (server, origin) = Server::start(None).await;
        let mut driven = open(&origin, SocketioTransport::Polling).await;
        server.push("1");
        assert_eq!(driven.ended().await.failure, Some(Failure::Closed(1005)));
    });
}

#[test]
fn an_upgrade_loses_and_reorders_nothing_either_way() {
    local(async {
        let (server, origin) = Server::start(Some("3probe")).await;
        let mut driven = open(&origin, SocketioTransport::Upgrade).await;
        assert!(!link(&mut driven).is_websocket());
        let mut sent = 0;
        let count = 200;
        // The next message goes out whenever the last one was acknowledged, across the change of transports.
        while sent < count {
            link(&mut driven).emit("/", Some(sent), &format!("[\"n\",{sent}]"), &[]);
            server.push(format!("42[\"news\",{sent}]"));
            sent += 1;
            driven.messages(2 * usize::try_from(sent).unwrap()).await;
        }
        assert!(link(&mut driven).is_websocket());
        let events: Vec<&String> = driven.seen.iter().filter(|seen| seen.starts_with("event")).collect();
        let acks: Vec<&String> = driven.seen.iter().filter(|seen| seen.starts_with("ack")).collect();
        for n in 0..count {
            let at = usize::try_from(n).unwrap();
            assert_eq!(*events[at], format!("event / [\"news\",{n}] [] None"));
            assert_eq!(*acks[at], format!("ack / {n} [\"ok\"] []"));
        }
        let expected: Vec<String> = (0..count).map(|n| format!("42{n}[\"n\",{n}]")).collect();
        assert_eq!(server.received(), expected);
        link(&mut driven).emit("/", None, r#"["b",{"_placeholder":true,"num":0}]"#, &[vec![9]]);
        driven.connection.begin_close();
        assert_eq!(driven.ended().await.failure, None);
        assert_eq!(server.received().last().unwrap(), "binary [9]");
    });
}

#[test]
fn what_waits_for_its_post_goes_over_the_websocket_after_the_change() {
    local(async {
        let (server, origin) = Server::start(Some("3probe")).await;
        let mut driven = open(&origin, SocketioTransport::Upgrade).await;
        for n in 0..100 {
            link(&mut driven).emit("/", None, &format!("[{n}]"), &[]);
            if n % 10 == 0 {
                driven.sent().await;
            }
        }
        driven
            .until(|driven| matches!(&driven.connection, Connection::Socketio(link) if link.is_websocket()))
            .await;
        link(&mut driven).emit("/", Some(1), r#"["end"]"#, &[]);
        driven.messages(1).await;
        let mut expected: Vec<String> = (0..100).map(|n| format!("42[{n}]")).collect();
        expected.push(r#"421["end"]"#.into());
        assert_eq!(server.received(), expected);
    });
}

#[test]
fn a_session_whose_upgrade_fails_goes_on_by_polling() {
    local(async {
        for probe_answer in [None, Some("3wrong"), Some("6")] {
            let (server, origin) = Server::start(probe_answer).await;
            let mut driven = open(&origin, SocketioTransport::Upgrade).await;
            link(&mut driven).emit("/", Some(1), r#"["x"]"#, &[]);
            driven.messages(if probe_answer.is_some() { 2 } else { 1 }).await;
            assert!(!link(&mut driven).is_websocket());
            assert_eq!(server.received(), [r#"421["x"]"#]);
        }
    });
}
