//! STOMP sessions that SockJS wraps.

use sonagi_measure::outcome::Failure;
use sonagi_transport::link::{ConnectRequest, StompAck, StompBody, StompLink, StompRequest};

use crate::link_stomp::{StompPeer, link, pipes, request};
use crate::net_servers::{Driven, header, local};

const CONNECT: &str = r#"["CONNECT\naccept-version:1.0,1.1,1.2\nhost:simulated\n\n\u0000"]"#;
const CONNECTED: &str = r#"a["CONNECTED\nversion:1.2\n\n\u0000"]"#;

fn wrapped(path: &str) -> StompRequest {
    let websocket = ConnectRequest { path: path.into(), ..request().websocket };
    StompRequest { websocket, sockjs: true, ..request() }
}

async fn open(request: &StompRequest) -> (Driven, StompPeer) {
    let (net, mut streams) = pipes();
    let serving = async {
        let mut peer = StompPeer::accept(streams.recv().await.unwrap()).await;
        peer.says("o").await;
        assert_eq!(peer.hears().await, CONNECT);
        peer.says("h").await;
        peer.says(CONNECTED).await;
        peer
    };
    let (link, peer) = tokio::join!(StompLink::connect(&net, request), serving);
    (Driven::new(link.unwrap()), peer)
}

#[test]
fn the_path_names_a_server_and_a_session_and_no_subprotocol_is_offered() {
    local(async {
        for (path, prefix, query) in
            [("/ws", "/ws", ""), ("/a/ws/", "/a/ws", ""), ("/ws?token=t", "/ws", "?token=t"), ("/", "", "")]
        {
            let (_, peer) = open(&wrapped(path)).await;
            let line = peer.head.lines().next().unwrap();
            let names = line.strip_prefix(&format!("GET {prefix}/")).unwrap();
            let names = names.strip_suffix(&format!("/websocket{query} HTTP/1.1")).unwrap();
            let (server, session) = names.split_once('/').unwrap();
            assert!(server.len() == 3 && server.bytes().all(|byte| byte.is_ascii_digit()), "{line}");
            assert!(session.len() == 8 && session.bytes().all(|byte| byte.is_ascii_lowercase()), "{line}");
            assert_eq!(header(&peer.head, "sec-websocket-protocol"), None);
        }
    });
}

#[test]
fn frames_are_unwrapped_however_they_share_arrays_and_are_cut() {
    local(async {
        let (mut driven, mut peer) = open(&wrapped("/ws")).await;
        peer.says(
            r#"a["MESSAGE\ndestination:/a\n\n{\"x\":\"비\"}\u0000\n","MESS","AGE\ndestination:/b\n\n"]"#,
        )
        .await;
        peer.says("a[]").await;
        peer.says("h").await;
        peer.says(r#"a["\u2028\ud83c\udf27\u0000RECEIPT\nreceipt-id:4\n\n\u0000"]"#).await;
        let expected = ["message /a: {\"x\":\"비\"}", "message /b: \u{2028}\u{1f327}", "receipt 4"];
        assert_eq!(driven.messages(3).await, expected);
    });
}

#[test]
fn what_we_say_is_an_array_of_one_string() {
    local(async {
        let (mut driven, mut peer) = open(&wrapped("/ws")).await;
        let session = link(&mut driven);
        session.subscribe("/a", &[], StompAck::Client, None).unwrap();
        session.send("/b", &[], StompBody::Text("{\"비\":\"\\n\"}"), None).unwrap();
        let refused = session.send("/b", &[], StompBody::Binary(b"x"), None);
        assert_eq!(refused.unwrap_err().failure, Failure::Template);
        peer.says(r#"a["MESSAGE\nsubscription:sub-0\ndestination:/a\nack:9\n\n\u0000"]"#).await;
        driven.messages(1).await;
        driven.connection.begin_close();
        driven.sent().await;
        for expected in [
            r#"["SUBSCRIBE\nid:sub-0\ndestination:/a\nack:client\n\n\u0000"]"#,
            r#"["SEND\ndestination:/b\ncontent-length:12\n\n{\"비\":\"\\n\"}\u0000"]"#,
            r#"["ACK\nid:9\n\n\u0000"]"#,
            r#"["DISCONNECT\nreceipt:goodbye\n\n\u0000"]"#,
        ] {
            assert_eq!(peer.hears().await, expected);
        }
    });
}

#[test]
fn the_servers_close_frame_is_the_outcome() {
    local(async {
        for (frame, failure, is_goodbye) in [
            (r#"c[3000,"Go away!"]"#, Failure::Closed(3000), true),
            (r#"c[1011,"trouble"]"#, Failure::Closed(1011), false),
            ("x", Failure::Protocol, false),
            ("o", Failure::Protocol, false),
            (r#"a["MESSAGE\n\n\u0000"#, Failure::Protocol, false),
        ] {
            let (mut driven, mut peer) = open(&wrapped("/ws")).await;
            peer.says(frame).await;
            let ended = driven.ended().await;
            assert_eq!((ended.failure, ended.is_goodbye), (Some(failure), is_goodbye), "{frame}");
        }
    });
}

#[test]
fn a_session_is_opened_once() {
    local(async {
        let (net, mut streams) = pipes();
        let serving = async {
            let mut peer = StompPeer::accept(streams.recv().await.unwrap()).await;
            peer.says("o").await;
            assert_eq!(peer.hears().await, CONNECT);
            peer.says("o").await;
            peer
        };
        let request = wrapped("/ws");
        let (link, _peer) = tokio::join!(StompLink::connect(&net, &request), serving);
        assert_eq!(link.err().unwrap().failure, Failure::Protocol);
    });
}
