//! STOMP sessions over raw WebSockets, with scripted peers whose bytes are cut everywhere.

use std::rc::Rc;
use std::task::{Context, Waker};

use sonagi_measure::At;
use sonagi_measure::outcome::Failure;
use sonagi_transport::link::{ConnectRequest, StompAck, StompBody, StompLink, StompRequest, StompVersion};
use sonagi_transport::net::{Failed, Net, Origin};
use sonagi_wire::websocket::Opcode;
use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::link::{frame, read_frame};
use crate::net_servers::{Driven, answering, header, local, net, read_head, upgrade};

pub(crate) const ALL: [StompVersion; 3] = [StompVersion::V1_0, StompVersion::V1_1, StompVersion::V1_2];

pub(crate) fn request() -> StompRequest {
    StompRequest {
        websocket: ConnectRequest {
            origin: Origin { host: "simulated".into(), port: 80, tls: false },
            path: "/stomp?token=t".into(),
            headers: Vec::new(),
            subprotocols: Vec::new(),
            max_message: 100_000,
        },
        headers: Vec::new(),
        versions: ALL.to_vec(),
        heart_beat: (0, 0),
        sockjs: false,
    }
}

/// The far end of a link.
pub(crate) struct StompPeer {
    stream: DuplexStream,
    pub(crate) head: String,
}

impl StompPeer {
    pub(crate) async fn accept(mut stream: DuplexStream) -> StompPeer {
        let head = read_head(&mut stream).await;
        let chosen = header(&head, "sec-websocket-protocol").and_then(|offered| offered.split(", ").next());
        let chosen = chosen.map_or(String::new(), |name| format!("Sec-WebSocket-Protocol: {name}\r\n"));
        stream.write_all(upgrade(&head, &chosen).as_bytes()).await.unwrap();
        StompPeer { stream, head }
    }

    /// The next message.
    pub(crate) async fn hears(&mut self) -> String {
        let (first, payload) = read_frame(&mut self.stream).await.expect("a message before the end");
        assert_eq!(first, 0x81, "a text message");
        String::from_utf8(payload).unwrap()
    }

    /// The next frame's first byte and payload.
    pub(crate) async fn hears_frame(&mut self) -> Option<(u8, Vec<u8>)> {
        read_frame(&mut self.stream).await
    }

    pub(crate) async fn says(&mut self, text: &str) {
        self.stream.write_all(&frame(Opcode::Text, text.as_bytes())).await.unwrap();
    }

    pub(crate) async fn closes(&mut self, code: u16) {
        self.stream.write_all(&frame(Opcode::Close, &code.to_be_bytes())).await.unwrap();
    }
}

pub(crate) fn pipes() -> (Rc<Net>, UnboundedReceiver<DuplexStream>) {
    let (gave, taken) = tokio::sync::mpsc::unbounded_channel();
    (Rc::new(Net::simulated(move |stream| gave.send(stream).unwrap())), taken)
}

/// Opens a session with a server that answers CONNECT with this, and gives what it was asked with.
async fn opening(request: &StompRequest, answers: &[&str]) -> (Result<Driven, Failed>, StompPeer, String) {
    let (net, mut streams) = pipes();
    let serving = async {
        let mut peer = StompPeer::accept(streams.recv().await.unwrap()).await;
        let connect = peer.hears().await;
        for answer in answers {
            peer.says(answer).await;
        }
        (peer, connect)
    };
    let (link, (peer, connect)) = tokio::join!(StompLink::connect(&net, request), serving);
    (link.map(Driven::new), peer, connect)
}

pub(crate) async fn open(request: &StompRequest, connected: &str) -> (Driven, StompPeer) {
    let (link, peer, _) = opening(request, &[connected]).await;
    (link.unwrap(), peer)
}

pub(crate) fn link(driven: &mut Driven) -> &mut StompLink {
    driven.link()
}

fn connected(version: StompVersion) -> &'static str {
    match version {
        StompVersion::V1_0 => "CONNECTED\nsession:1\n\n\0",
        StompVersion::V1_1 => "CONNECTED\nversion:1.1\n\n\0",
        StompVersion::V1_2 => "CONNECTED\r\nversion:1.2\r\n\r\n\0",
    }
}

fn only(version: StompVersion) -> StompRequest {
    StompRequest { versions: vec![version], ..request() }
}

fn message(id: u64, headers: &str, body: &str) -> String {
    format!("MESSAGE\nsubscription:sub-0\nmessage-id:{id}\ndestination:/topic/a\n{headers}\n{body}\0")
}

fn look(driven: &mut Driven) {
    let polled = driven.poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_pending(), "{polled:?}");
}

#[test]
fn a_session_is_opened_as_its_versions_say() {
    local(async {
        for (versions, accepted, offered) in [
            (&ALL[..], "1.0,1.1,1.2", "v12.stomp, v11.stomp, v10.stomp"),
            (&[StompVersion::V1_2, StompVersion::V1_1], "1.1,1.2", "v12.stomp, v11.stomp"),
            (&[StompVersion::V1_0], "1.0", "v10.stomp"),
            (&[], "1.0,1.1,1.2", "v12.stomp, v11.stomp, v10.stomp"),
        ] {
            let request = StompRequest { versions: versions.to_vec(), ..request() };
            let answer = connected(versions.last().copied().unwrap_or(StompVersion::V1_2));
            let (link_, peer, connect) = opening(&request, &[answer]).await;
            assert_eq!(connect, format!("CONNECT\naccept-version:{accepted}\nhost:simulated\n\n\0"));
            assert!(peer.head.starts_with("GET /stomp?token=t HTTP/1.1\r\n"), "{}", peer.head);
            assert_eq!(header(&peer.head, "sec-websocket-protocol"), Some(offered));
            let agreed = link(&mut link_.unwrap()).version();
            assert_eq!(agreed, versions.last().copied().unwrap_or(StompVersion::V1_2));
        }
    });
}

#[test]
fn a_scripts_headers_join_ours_and_those_without_a_value_are_left_out() {
    local(async {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let headers = vec![pair("login", "guest"), pair("host", ""), pair("passcode", "a:b\\n")];
        let request = StompRequest { headers, heart_beat: (400, 10_000), ..request() };
        let (_, _, connect) = opening(&request, &[connected(StompVersion::V1_1)]).await;
        assert_eq!(
            connect,
            "CONNECT\naccept-version:1.0,1.1,1.2\nheart-beat:400,10000\nlogin:guest\npasscode:a:b\\n\n\n\0"
        );
    });
}

/// A server's frames, and the caller's view of them.
const SAID: &str = "\n\nMESSAGE\nsubscription:sub-0\nmessage-id:1\ndestination:/topic/a\\cb\n\n비\0\n\
    RECEIPT\nreceipt-id:7\n\n\0\
    MESSAGE\ndestination:/topic/b\ncontent-length:3\nmessage-id:2\nsubscription:sub-1\n\na\0b\0\n\n\
    ERROR\nmessage:enough\ncontent-length:5\n\nof it\0";
const SEEN: [&str; 3] = ["message /topic/a:b: 비", "receipt 7", "message /topic/b: a\0b"];

#[test]
fn frames_cut_anywhere_and_several_in_a_message_are_the_same_to_the_caller() {
    local(async {
        for cut in 0..SAID.len() {
            if !SAID.is_char_boundary(cut) {
                continue;
            }
            let (mut driven, mut peer) = open(&request(), connected(StompVersion::V1_1)).await;
            peer.says(&SAID[..cut]).await;
            peer.says(&SAID[cut..]).await;
            let ended = driven.ended().await;
            assert_eq!(driven.seen, SEEN, "cut at {cut}");
            let detail = "the server sent ERROR: enough: of it";
            assert_eq!((ended.failure, ended.detail.as_str()), (Some(Failure::BrokerError), detail));
            assert_eq!(peer.hears_frame().await, Some((0x88, 1000_u16.to_be_bytes().to_vec())));
        }
        // Every byte of the WebSocket alone, the CONNECTED with it.
        let (net, mut streams) = pipes();
        let asked = request();
        let serving = async {
            let mut peer = StompPeer::accept(streams.recv().await.unwrap()).await;
            peer.hears().await;
            let mut bytes = frame(Opcode::Text, connected(StompVersion::V1_1).as_bytes());
            bytes.extend(frame(Opcode::Binary, SAID.as_bytes()));
            (peer, bytes)
        };
        let connecting = StompLink::connect(&net, &asked);
        let ((mut peer, bytes), connecting) = {
            let mut connecting = Box::pin(connecting);
            let served = tokio::select! { served = serving => served, _ = &mut connecting => unreachable!() };
            (served, connecting)
        };
        tokio::task::spawn_local(async move {
            for byte in bytes {
                peer.stream.write_all(&[byte]).await.unwrap();
                tokio::task::yield_now().await;
            }
            peer.hears_frame().await;
        });
        let mut driven = Driven::new(connecting.await.unwrap());
        assert_eq!(driven.ended().await.failure, Some(Failure::BrokerError));
        assert_eq!(driven.seen, SEEN);
    });
}

#[test]
fn what_we_say_is_in_the_protocols_form() {
    local(async {
        let (mut driven, mut peer) = open(&request(), connected(StompVersion::V1_2)).await;
        let headers = [("after".to_owned(), String::new()), ("x:y".to_owned(), "a\nb".to_owned())];
        let session = link(&mut driven);
        session.subscribe("/sub/location/비", &headers, StompAck::Auto, None).unwrap();
        session.subscribe("/queue/b", &[], StompAck::Client, Some(3)).unwrap();
        session.subscribe("/queue/c", &[], StompAck::Individual, None).unwrap();
        session.send("/pub/a", &headers, StompBody::Text("{\"비\":1}"), Some(4)).unwrap();
        let length = [("content-length".to_owned(), "1".to_owned())];
        session.send("/pub/a", &length, StompBody::Text(""), None).unwrap();
        session.send("/pub/a", &[], StompBody::Binary(&[0xff, 0]), None).unwrap();
        driven.sent().await;
        for expected in [
            "SUBSCRIBE\nid:sub-0\ndestination:/sub/location/비\nx\\cy:a\\nb\n\n\0",
            "SUBSCRIBE\nid:sub-1\ndestination:/queue/b\nack:client\nreceipt:3\n\n\0",
            "SUBSCRIBE\nid:sub-2\ndestination:/queue/c\nack:client-individual\n\n\0",
            "SEND\ndestination:/pub/a\nreceipt:4\nx\\cy:a\\nb\ncontent-length:9\n\n{\"비\":1}\0",
            "SEND\ndestination:/pub/a\ncontent-length:0\n\n\0",
        ] {
            assert_eq!(peer.hears().await, expected);
        }
        let binary = b"SEND\ndestination:/pub/a\ncontent-length:2\n\n\xff\0\0".to_vec();
        assert_eq!(peer.hears_frame().await, Some((0x82, binary)));
    });
}

#[test]
fn what_a_version_cannot_say_is_the_scripts_fault_and_nothing_is_sent() {
    local(async {
        let (mut driven, mut peer) = open(&only(StompVersion::V1_0), connected(StompVersion::V1_0)).await;
        let lines = [("x".to_owned(), "a\nb".to_owned())];
        let session = link(&mut driven);
        for refused in [
            session.subscribe("/a", &lines, StompAck::Auto, None),
            session.subscribe("/a", &[], StompAck::Individual, None),
            session.send("/a\0", &[], StompBody::Text("x"), None),
        ] {
            assert_eq!(refused.unwrap_err().failure, Failure::Template);
        }
        session.subscribe("/a", &[], StompAck::Auto, None).unwrap();
        driven.sent().await;
        assert_eq!(peer.hears().await, "SUBSCRIBE\nid:sub-0\ndestination:/a\n\n\0");
    });
}

#[test]
fn messages_are_acknowledged_as_their_subscription_and_version_say() {
    local(async {
        for (version, ack, mode, headers, expected) in [
            (StompVersion::V1_0, StompAck::Client, "client", "", "message-id:1\nsubscription:sub-0\n"),
            (StompVersion::V1_1, StompAck::Client, "client", "", "message-id:1\nsubscription:sub-0\n"),
            (
                StompVersion::V1_1,
                StompAck::Individual,
                "client-individual",
                "",
                "message-id:1\nsubscription:sub-0\n",
            ),
            (StompVersion::V1_2, StompAck::Individual, "client-individual", "ack:a\\cb\n", "id:a\\cb\n"),
        ] {
            let (mut driven, mut peer) = open(&only(version), connected(version)).await;
            link(&mut driven).subscribe("/topic/a", &[], ack, None).unwrap();
            link(&mut driven).subscribe("/topic/b", &[], StompAck::Auto, None).unwrap();
            driven.sent().await;
            assert!(peer.hears().await.contains(&format!("\nack:{mode}\n")));
            peer.hears().await;
            // The other subscription's, and one that belongs to none, are not acknowledged.
            peer.says(&message(0, headers, "b").replace("sub-0", "sub-1")).await;
            peer.says(&message(0, headers, "c").replace("sub-0", "sub-9")).await;
            peer.says(&message(1, headers, "a")).await;
            driven.messages(3).await;
            driven.sent().await;
            assert_eq!(peer.hears().await, format!("ACK\n{expected}\n\0"));
            peer.says(&message(1, headers, "a")).await;
            driven.messages(4).await;
            driven.sent().await;
            assert_eq!(peer.hears().await, format!("ACK\n{expected}\n\0"), "each by itself");
        }
    });
}

#[test]
fn a_message_that_asks_for_no_acknowledgement_gets_none() {
    local(async {
        let (mut driven, mut peer) = open(&request(), connected(StompVersion::V1_2)).await;
        link(&mut driven).subscribe("/topic/a", &[], StompAck::Client, None).unwrap();
        peer.says(&message(1, "", "a")).await;
        driven.messages(1).await;
        link(&mut driven).send("/a", &[], StompBody::Text("x"), None).unwrap();
        driven.sent().await;
        assert!(peer.hears().await.starts_with("SUBSCRIBE\n"));
        assert!(peer.hears().await.starts_with("SEND\n"));
    });
}

#[test]
fn a_server_that_reads_no_acknowledgements_cannot_make_us_hoard() {
    local(async {
        let (mut driven, mut peer) = open(&request(), connected(StompVersion::V1_2)).await;
        link(&mut driven).subscribe("/topic/a", &[], StompAck::Individual, None).unwrap();
        let long = "x".repeat(60_000);
        tokio::task::spawn_local(async move {
            for _ in 0..100 {
                peer.says(&message(1, &format!("ack:{long}\n"), "a")).await;
            }
            std::future::pending::<()>().await;
        });
        let ended = driven.ended().await;
        assert_eq!(ended.failure, Some(Failure::Timeout), "{ended:?}");
        assert!(driven.seen.len() < 25, "1 MiB in acknowledgements of 60 kB, and what the pipe holds");
    });
}

#[test]
fn we_beat_when_we_have_said_nothing_and_silence_twice_as_long_as_agreed_is_the_end() {
    local(async {
        const MS: i64 = 1_000_000;
        let request = StompRequest { heart_beat: (1000, 500), ..request() };
        let (mut driven, mut peer) = open(&request, "CONNECTED\nversion:1.1\nheart-beat:800,600\n\n\0").await;
        assert_eq!(driven.connection.expires(), None, "no clock before the first drive");
        driven.now = At(5000 * MS);
        look(&mut driven);
        // We every 1000 ms, a tenth early; they every 800 ms, with as much again.
        assert_eq!(driven.connection.expires(), Some(At(5900 * MS)));
        driven.now = At(5899 * MS);
        link(&mut driven).send("/a", &[], StompBody::Text(""), None).unwrap();
        look(&mut driven);
        assert!(peer.hears().await.starts_with("SEND\n"));
        assert_eq!(driven.connection.expires(), Some(At(6600 * MS)), "what was said counts, too");
        peer.says("\n").await;
        driven.now = At(6000 * MS);
        look(&mut driven);
        assert_eq!(driven.connection.expires(), Some(At(6799 * MS)));
        driven.now = At(6799 * MS);
        look(&mut driven);
        assert_eq!(peer.hears().await, "\n");
        assert_eq!(driven.connection.expires(), Some(At(7600 * MS)));
        driven.now = At(7600 * MS);
        let ended = driven.ended().await;
        assert_eq!(ended.failure, Some(Failure::Timeout));
        assert!(ended.detail.contains("1600 ms"), "{}", ended.detail);
        assert_eq!(driven.ended().await, ended, "and says so again");
    });
}

#[test]
fn heart_beats_that_one_end_does_not_want_are_not_kept() {
    local(async {
        for (ours, theirs) in [((0, 0), "100,100"), ((100, 100), "0,0"), ((0, 100), "0,100")] {
            let request = StompRequest { heart_beat: ours, ..request() };
            let connected = format!("CONNECTED\nversion:1.2\nheart-beat:{theirs}\n\n\0");
            let (mut driven, _peer) = open(&request, &connected).await;
            look(&mut driven);
            driven.now = At(1_000_000_000_000);
            look(&mut driven);
            assert_eq!(driven.connection.expires(), None);
        }
    });
}

#[test]
fn a_session_that_is_refused_says_why() {
    local(async {
        for (answers, failure, says) in [
            (
                &["ERROR\nmessage:Bad CONNECT\n\nAccess refused\0"][..],
                Failure::BrokerError,
                "Bad CONNECT: Access refused",
            ),
            (&["ERROR\n\n\0"], Failure::BrokerError, "without a word"),
            (&["CONNECTED\nversion:1.3\n\n\0"], Failure::Protocol, "version"),
            (&["CONNECTED\nversion:1.2\nheart-beat:often\n\n\0"], Failure::Protocol, "heart-beat"),
            (&["MESSAGE\n\nx\0"], Failure::Protocol, "CONNECTED"),
            (&["<html>\n"], Failure::Protocol, "command"),
            (&["CONNECTED\nversion:1.2\n\n\0RECEIPT\nreceipt-id:1\n\n\0"], Failure::Protocol, "asked"),
            (&["CONNECTED\nversion:1.2\n\n\0CONNECTED\nversion:1.2\n\n\0"], Failure::Protocol, "once"),
        ] {
            let (link, ..) = opening(&request(), answers).await;
            let failed = link.err().unwrap();
            assert_eq!(failed.failure, failure, "{answers:?}: {failed}");
            assert!(failed.detail.contains(says), "{failed}");
        }
        let origin = answering(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno").await;
        let request =
            StompRequest { websocket: ConnectRequest { origin, ..request().websocket }, ..request() };
        let failed = StompLink::connect(&net(), &request).await.err().unwrap();
        assert_eq!(failed.failure, Failure::HandshakeRefused(403));
    });
}

#[test]
fn a_goodbye_waits_for_its_receipt_before_the_websocket_says_its_own() {
    local(async {
        let (mut driven, mut peer) = open(&request(), connected(StompVersion::V1_2)).await;
        driven.connection.begin_close();
        driven.connection.begin_close();
        link(&mut driven).send("/a", &[], StompBody::Text("never sent"), None).unwrap();
        driven.sent().await;
        assert_eq!(peer.hears().await, "DISCONNECT\nreceipt:goodbye\n\n\0");
        peer.says(&message(1, "", "last")).await;
        peer.says("RECEIPT\nreceipt-id:goodbye\n\n\0").await;
        let farewell = async {
            let frame = peer.hears_frame().await;
            peer.closes(1000).await;
            frame
        };
        let (ended, frame) = tokio::join!(driven.ended(), farewell);
        assert_eq!((ended.failure, frame), (None, Some((0x88, 1000_u16.to_be_bytes().to_vec()))));
        assert_eq!(driven.seen, ["message /topic/a: last"]);
    });
}

#[test]
fn a_server_that_gives_no_receipt_is_left_without_it() {
    local(async {
        let (mut driven, mut peer) = open(&request(), connected(StompVersion::V1_2)).await;
        driven.connection.begin_close();
        driven.now = At(1_000_000_000);
        look(&mut driven);
        peer.hears().await;
        assert_eq!(driven.connection.expires(), Some(At(1_250_000_000)));
        driven.now = At(1_250_000_000);
        look(&mut driven);
        assert_eq!(peer.hears_frame().await.unwrap().0, 0x88);
    });
}

#[test]
fn a_server_that_hangs_up_on_our_goodbye_ends_it_in_order_and_otherwise_by_its_code() {
    local(async {
        for (leaves, said, expected) in [
            (true, "", None),
            (false, "", Some(Failure::Closed(1000))),
            (false, "MESSAGE\ndest", Some(Failure::ClosedEarly)),
        ] {
            let (mut driven, mut peer) = open(&request(), connected(StompVersion::V1_2)).await;
            if leaves {
                driven.connection.begin_close();
            }
            peer.says(said).await;
            peer.closes(1000).await;
            assert_eq!(driven.ended().await.failure, expected);
        }
    });
}

#[test]
fn what_breaks_the_protocol_ends_the_session() {
    local(async {
        for broken in [
            "MESSAGE\nmessage-id:1\n\nno destination\0",
            "RECEIPT\n\n\0",
            "SEND\ndestination:/a\n\n\0",
            "MESSAGE\ndestination:a\\x\n\n\0",
            "MESSAGE\ndestination:/a\ncontent-length:3\n\nlonger\0",
            "CONNECTED\nversion:1.2\n\n\0",
            &format!("MESSAGE\ndestination:/a\ncontent-length:{}\n\n", 100_001),
        ] {
            let (mut driven, mut peer) = open(&request(), connected(StompVersion::V1_2)).await;
            peer.says(broken).await;
            let ended = driven.ended().await;
            assert_eq!(ended.failure, Some(Failure::Protocol), "{broken}: {ended:?}");
            assert_eq!(peer.hears_frame().await, Some((0x88, 1002_u16.to_be_bytes().to_vec())));
        }
    });
}
