//! Sessions with servers of Socket.IO 1 and 2: Engine.IO 3, and Socket.IO's protocol 4.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::{Context, Waker};

use sonagi_measure::At;
use sonagi_measure::outcome::Failure;
use sonagi_transport::link::{SocketioLink, SocketioRequest, SocketioRevision, SocketioTransport};
use sonagi_transport::net::Origin;
use sonagi_wire::websocket::Opcode;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::link::{frame, read_frame};
use crate::link_socketio::{link, request};
use crate::net_servers::{Driven, header, local, net, read_head, serve, upgrade};

const HANDSHAKE: &str = r#"0{"sid":"s1","upgrades":["websocket"],"pingInterval":300,"pingTimeout":200}"#;

async fn open(origin: &Origin, transport: SocketioTransport) -> Driven {
    let request = SocketioRequest { revision: SocketioRevision::V4, ..request(origin, transport) };
    let link = SocketioLink::open(&net(), request).await.unwrap();
    Driven::new(link)
}

/// A WebSocket server that sends all frames at once and hands over those it received.
async fn websocket_server(frames: &'static [(Opcode, &'static str)]) -> (Origin, UnboundedReceiver<Vec<u8>>) {
    let (told, heard) = tokio::sync::mpsc::unbounded_channel();
    let origin = serve(move |_, mut stream| {
        let told = told.clone();
        async move {
            let head = read_head(&mut stream).await;
            assert!(
                head.starts_with("GET /socket.io/?room=a%20b&EIO=3&transport=websocket HTTP/1.1\r\n"),
                "{head}"
            );
            let mut bytes = upgrade(&head, "").into_bytes();
            for (opcode, payload) in frames {
                bytes.extend(frame(*opcode, payload.as_bytes()));
            }
            stream.write_all(&bytes).await.unwrap();
            while let Some((_, payload)) = read_frame(&mut stream).await {
                if told.send(payload).is_err() {
                    return;
                }
            }
        }
    })
    .await;
    (origin, heard)
}

#[test]
fn a_namespace_granted_unasked_and_the_events_right_behind_it_are_not_lost() {
    local(async {
        let (origin, _heard) = websocket_server(&[
            (Opcode::Text, HANDSHAKE),
            (Opcode::Text, "40"),
            (Opcode::Text, r#"42["welcome",1]"#),
            (Opcode::Text, r#"451-["picture",{"_placeholder":true,"num":0}]"#),
            (Opcode::Binary, "\u{4}ab"),
            (Opcode::Text, "40/chat?room=a%20b"),
            (Opcode::Text, r#"44/admin,"Invalid namespace""#),
        ])
        .await;
        let mut driven = open(&origin, SocketioTransport::Websocket).await;
        assert_eq!(
            driven.messages(5).await,
            [
                "connected /",
                r#"event / ["welcome",1] [] None"#,
                r#"event / ["picture",{"_placeholder":true,"num":0}] [[97, 98]] None"#,
                "connected /chat",
                r#"refused /admin "Invalid namespace""#,
            ]
        );
    });
}

#[test]
fn what_we_say_is_in_the_old_protocols_form() {
    local(async {
        let (origin, mut heard) = websocket_server(&[(Opcode::Text, HANDSHAKE), (Opcode::Text, "40")]).await;
        let mut driven = open(&origin, SocketioTransport::Websocket).await;
        let session = link(&mut driven);
        session.connect("/", Some(r#"{"token":"t"}"#));
        session.connect("/chat", None);
        session.emit("/chat", Some(3), r#"["file",{"_placeholder":true,"num":0}]"#, &[vec![1, 2]]);
        driven.sent().await;
        for expected in
            ["40/chat?room=a%20b,", r#"451-/chat,3["file",{"_placeholder":true,"num":0}]"#, "\u{4}\u{1}\u{2}"]
        {
            assert_eq!(heard.recv().await.unwrap(), expected.as_bytes());
        }
    });
}

#[test]
fn the_heartbeat_is_ours_and_a_server_that_answers_none_counts_as_dead() {
    local(async {
        let (origin, mut heard) = websocket_server(&[(Opcode::Text, HANDSHAKE), (Opcode::Text, "40")]).await;
        let mut driven = open(&origin, SocketioTransport::Websocket).await;
        driven.now = At(1_000_000_000);
        driven.messages(1).await;
        assert_eq!(driven.connection.expires(), Some(At(1_300_000_000)), "the first ping is due");
        let mut idle = Context::from_waker(Waker::noop());
        driven.now = At(1_299_999_999);
        assert!(driven.poll(&mut idle).is_pending());
        driven.now = At(1_300_000_000);
        driven.sent().await;
        assert_eq!(heard.recv().await.unwrap(), b"2");
        assert_eq!(driven.connection.expires(), Some(At(1_500_000_000)), "silence counts from the last word");
        driven.now = At(1_500_000_000);
        let ended = driven.ended().await;
        assert_eq!(ended.failure, Some(Failure::Timeout));
        assert!(heard.try_recv().is_err(), "one ping an interval");
    });
}

/// A server of polling bodies, with an upgrade after them.
#[derive(Default)]
struct Polls {
    /// Bodies with their content types, one a poll.
    bodies: RefCell<VecDeque<(&'static str, Vec<u8>)>>,
    posts: RefCell<Vec<String>>,
    pushed: Notify,
    frames: RefCell<Vec<Vec<u8>>>,
}

impl Polls {
    async fn start(upgrades: bool) -> (Rc<Polls>, Origin) {
        let polls = Rc::new(Polls::default());
        let handshake = if upgrades { HANDSHAKE.to_owned() } else { HANDSHAKE.replace("\"websocket\"", "") };
        polls.push("text/plain; charset=UTF-8", format!("{}:{handshake}2:40", handshake.len()));
        let serving = polls.clone();
        let origin = serve(move |_, stream| serving.clone().connection(stream)).await;
        (polls, origin)
    }

    fn push(&self, kind: &'static str, body: impl Into<Vec<u8>>) {
        self.bodies.borrow_mut().push_back((kind, body.into()));
        self.pushed.notify_waiters();
    }

    async fn connection(self: Rc<Polls>, mut stream: TcpStream) {
        loop {
            let head = read_head(&mut stream).await;
            if head.is_empty() {
                return;
            }
            assert!(head.contains("EIO=3"), "{head}");
            if head.contains("transport=websocket") {
                return self.websocket(&head, stream).await;
            }
            let length = header(&head, "content-length").map_or(0, |length| length.parse().unwrap());
            let mut body = vec![0; length];
            stream.read_exact(&mut body).await.unwrap();
            let (kind, answer) = if head.starts_with("POST") {
                self.posts.borrow_mut().push(String::from_utf8(body).unwrap());
                self.pushed.notify_waiters();
                ("text/html", b"ok".to_vec())
            } else {
                while self.bodies.borrow().is_empty() {
                    self.pushed.notified().await;
                }
                self.bodies.borrow_mut().pop_front().unwrap()
            };
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
                answer.len()
            );
            stream.write_all(&[head.as_bytes(), &answer].concat()).await.unwrap();
        }
    }

    async fn websocket(&self, head: &str, mut stream: TcpStream) {
        stream.write_all(upgrade(head, "").as_bytes()).await.unwrap();
        assert_eq!(read_frame(&mut stream).await.unwrap().1, b"2probe");
        stream.write_all(&frame(Opcode::Text, b"3probe")).await.unwrap();
        self.push("text/plain", "1:6");
        while let Some((_, payload)) = read_frame(&mut stream).await {
            self.frames.borrow_mut().push(payload);
            stream.write_all(&frame(Opcode::Text, b"3")).await.unwrap();
        }
    }
}

#[test]
fn polled_packets_are_counted_in_utf_16_and_binary_ones_in_bytes() {
    local(async {
        let (polls, origin) = Polls::start(false).await;
        let mut driven = open(&origin, SocketioTransport::Polling).await;
        // Two units for the emoji, one for each syllable.
        polls.push("text/plain; charset=UTF-8", "15:42[\"소나기\",\"☔\u{1f327}\"]7:42[\"b\"]".to_owned());
        let placeholder = r#"451-["c",{"_placeholder":true,"num":0}]"#;
        let mut binary = vec![0, 3, 9, 255];
        binary.extend(placeholder.bytes());
        binary.extend([1, 3, 255, 4, 0xfe, 0xff]);
        assert_eq!(placeholder.len(), 39);
        polls.push("application/octet-stream", binary);
        assert_eq!(
            driven.messages(4).await,
            [
                "connected /",
                "event / [\"소나기\",\"☔\u{1f327}\"] [] None",
                r#"event / ["b"] [] None"#,
                r#"event / ["c",{"_placeholder":true,"num":0}] [[254, 255]] None"#,
            ]
        );
        link(&mut driven).emit("/", None, r#"["비",{"_placeholder":true,"num":0}]"#, &[vec![1, 2]]);
        driven.until(|_| !polls.posts.borrow().is_empty()).await;
        let event = r#"451-["비",{"_placeholder":true,"num":0}]"#;
        assert_eq!(*polls.posts.borrow(), [format!("{}:{event}6:b4AQI=", event.chars().count())]);
    });
}

#[test]
fn a_session_that_began_by_polling_goes_on_by_websocket_and_still_pings() {
    local(async {
        let (polls, origin) = Polls::start(true).await;
        let mut driven = open(&origin, SocketioTransport::Upgrade).await;
        driven.now = At(1);
        driven.until(|driven| driven.link::<SocketioLink>().is_websocket()).await;
        driven.now = At(300_000_001);
        driven.until(|_| polls.frames.borrow().len() == 2).await;
        assert_eq!(*polls.frames.borrow(), [b"5".to_vec(), b"2".to_vec()]);
    });
}
