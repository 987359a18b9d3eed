//! Socket.IO over polling, and on the way from polling to WebSocket.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use sonagi_measure::outcome::Failure;
use sonagi_transport::link::{Ended, SocketioLink, SocketioTransport};
use sonagi_transport::net::Origin;
use sonagi_wire::websocket::Opcode;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;

use crate::link::{frame, read_frame};
use crate::link_socketio::{link, open};
use crate::net_servers::{header, local, read_head, serve, upgrade};

/// A scripted Engine.IO server with one session, and its record.
struct Server {
    state: RefCell<ServerState>,
    changed: Notify,
}

#[derive(Default)]
struct ServerState {
    max_payload: usize,
    /// Packets for the client, in their polling form.
    out: VecDeque<String>,
    /// Packets of the client in order of arrival, whatever carried them.
    received: Vec<String>,
    /// Bodies of POSTs, and paths of all requests.
    bodies: Vec<String>,
    paths: Vec<String>,
    gets: usize,
    /// How a probe is answered; None: the upgrade is refused with 400.
    probe_answer: Option<&'static str>,
    upgraded: bool,
    /// Answers polls with this status and body from now on.
    refusing: Option<&'static str>,
}

impl Server {
    async fn start(probe_answer: Option<&'static str>) -> (Rc<Server>, Origin) {
        let state = ServerState { max_payload: 1_000_000, probe_answer, ..ServerState::default() };
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

    /// Answers a packet as a Socket.IO server does.
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
        assert_eq!(self.state.borrow().gets, 0, "a poll under way at the change");
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
        driven.connection.take_bytes();
        let ended = driven.ended().await;
        assert_eq!(ended.failure, Some(Failure::PollRefused(400)));
        assert!(ended.detail.contains("status 400: Session ID unknown"), "{}", ended.detail);
        assert_eq!(driven.connection.take_bytes().1, 89, "a refusal is traffic, too");
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
        assert_eq!(
            driven.ended().await,
            Ended { failure: None, detail: String::new(), is_goodbye: true, is_told: false }
        );
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
        driven.until(|driven| driven.link::<SocketioLink>().is_websocket()).await;
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
