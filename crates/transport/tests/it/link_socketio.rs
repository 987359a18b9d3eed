//! Socket.IO sessions: their opening by either transport, and their packets over WebSocket.

use sonagi_measure::At;
use sonagi_measure::outcome::Failure;
use sonagi_transport::link::{SocketioLink, SocketioRequest, SocketioRevision, SocketioTransport};
use sonagi_transport::net::{Failed, Origin};
use sonagi_wire::websocket::Opcode;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::link::{frame, read_frame};
use crate::net_servers::{Driven, answering, header, local, net, read_head, serve, upgrade};

pub(crate) fn request(origin: &Origin, transport: SocketioTransport) -> SocketioRequest {
    SocketioRequest {
        origin: origin.clone(),
        path: "/socket.io/".into(),
        query: vec![("room".into(), "a b".into())],
        headers: vec![("x-test".into(), "1".into())],
        transport,
        revision: SocketioRevision::V5,
        max_message: 1_000_000,
    }
}

pub(crate) async fn open(origin: &Origin, transport: SocketioTransport) -> Driven {
    let link = SocketioLink::open(&net(), request(origin, transport)).await.unwrap();
    Driven::new(link)
}

async fn refused(origin: &Origin, transport: SocketioTransport) -> Failed {
    match SocketioLink::open(&net(), request(origin, transport)).await {
        Ok(_) => panic!("the session must not open"),
        Err(failed) => failed,
    }
}

pub(crate) fn link(driven: &mut Driven) -> &mut SocketioLink {
    driven.link()
}

const HANDSHAKE: &str =
    r#"0{"sid":"s1","upgrades":[],"pingInterval":300,"pingTimeout":200,"maxPayload":1000000}"#;

/// A WebSocket server that opens the session, sends these packets, and hands over the packets it received until the
/// end.
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
        driven.sent().await;
        for expected in
            ["40/chat,", r#"42["hi"]"#, r#"451-/chat,3["file",{"_placeholder":true,"num":0}]"#, "\u{1}\u{2}"]
        {
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
