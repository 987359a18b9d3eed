//! The service over TLS: the same as without, and what is different.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustls::ProtocolVersion;
use sonagi_chat::{Config, Limits, Service, TlsFiles};
use sonagi_wire::websocket::Opcode;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::client::{Got, Ws, get, metric, post, within};
use crate::socketio_client::{PATH, Sio, polled};
use crate::sse_client::Events;
use crate::tls_tunnel::{Pair, Tunnel, connector, dial};

struct Secure {
    service: Service,
    pair: Pair,
    files: TlsFiles,
    _folder: TempDir,
}

impl Secure {
    async fn start(limits: Limits) -> Secure {
        let (folder, pair) = (tempfile::tempdir().unwrap(), Pair::new());
        let files = pair.write(folder.path());
        let config = Config { seed_users: 2, limits, tls: Some(files.clone()), ..Config::default() };
        Secure { service: sonagi_chat::start(config).await.unwrap(), pair, files, _folder: folder }
    }

    async fn tunnel(&self) -> Tunnel {
        Tunnel::to(self.service.address(), &self.pair).await
    }

    fn token(&self, user: usize) -> &str {
        &self.service.credentials()[user].token
    }

    /// The certificate that a new connection is shown.
    async fn shown(&self, trusted: &[&Pair]) -> Vec<u8> {
        let stream = dial(self.service.address(), &connector(trusted, &[])).await.unwrap();
        stream.get_ref().1.peer_certificates().unwrap()[0].to_vec()
    }
}

#[tokio::test]
async fn messages_of_all_sizes_arrive_whole_and_in_order() {
    let secure = Secure::start(Limits::default()).await;
    let tunnel = secure.tunnel().await;
    assert_eq!(get(tunnel.at, "/healthz", "").await.body, "ok\n");
    let mut speaker = Ws::in_room(tunnel.at, "lobby", secure.token(0)).await;
    let mut listener = Ws::in_room(tunnel.at, "lobby", secure.token(1)).await;
    let sizes = [0, 1, 100, 16_000, 16_384, 20_000, 60_000].repeat(3);
    let contents: Vec<String> = sizes.into_iter().map(|size| "x".repeat(size)).collect();
    for content in &contents {
        speaker.say(content, "").await;
    }
    for content in &contents {
        assert_eq!(listener.json_of("message").await["content"], content.as_str());
        assert_eq!(speaker.json_of("message").await["content"], content.as_str());
    }
    let page = get(tunnel.at, "/rooms/lobby/messages?limit=500", secure.token(0)).await.json();
    assert_eq!(page["messages"].as_array().unwrap().len(), contents.len());
    assert_eq!(page["messages"][20]["content"], contents[20].as_str());
}

#[tokio::test]
async fn a_polled_session_moves_to_a_websocket_inside_tls_and_an_event_stream_flows() {
    let secure = Secure::start(Limits::default()).await;
    let tunnel = secure.tunnel().await;
    let mut stream = Events::open(tunnel.at, "group=g", "").await.ok().unwrap();
    let mut socketio = Sio::in_room(tunnel.at, "location:g", secure.token(0)).await;
    let session = polled(tunnel.at, "EIO=4").await;
    let sid = session.rsplit_once("sid=").unwrap().1;
    let mut probe = Ws::open(tunnel.at, &format!("{PATH}&sid={sid}"), "").await.ok().unwrap();
    probe.text("2probe").await;
    assert_eq!(probe.next_text().await, "3probe");
    for n in 1..=20 {
        let shared = post(tunnel.at, "/location/sse/share?group=g", "", &n.to_string()).await;
        assert_eq!(shared.json()["seq"], n);
        assert_eq!(stream.event().await.unwrap().json()["content"], n);
        assert_eq!(socketio.message().await["content"], n);
    }
}

#[tokio::test]
async fn what_is_spoken_is_tls_1_3_and_http_1_1_and_no_http_2() {
    let secure = Secure::start(Limits::default()).await;
    let at = secure.service.address();
    let stream = dial(at, &connector(&[&secure.pair], &["h2", "http/1.1"])).await.unwrap();
    let session = stream.get_ref().1;
    assert_eq!(session.protocol_version(), Some(ProtocolVersion::TLSv1_3));
    assert_eq!(session.alpn_protocol(), Some(&b"http/1.1"[..]));
    // A client that names none is served as well; one that wants nothing else is not.
    let silent = dial(at, &connector(&[&secure.pair], &[])).await.unwrap();
    assert_eq!(silent.get_ref().1.alpn_protocol(), None);
    assert!(dial(at, &connector(&[&secure.pair], &["h2"])).await.is_err());
    assert_eq!(metric(&secure.service.metrics(), "chat_tls_handshakes_failed_total"), 1);
}

#[tokio::test]
async fn who_speaks_no_tls_or_nothing_in_time_is_sent_away_and_counted() {
    let limits = Limits { handshake_timeout: Duration::from_millis(100), ..Limits::default() };
    let secure = Secure::start(limits).await;
    for first in [&b"GET /healthz HTTP/1.1\r\nHost: chat\r\n\r\n"[..], b""] {
        let mut stream = TcpStream::connect(secure.service.address()).await.unwrap();
        stream.write_all(first).await.unwrap();
        let mut answer = Vec::new();
        let _ = within("the end", stream.read_to_end(&mut answer)).await;
        assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
    }
    within("the count", async {
        while metric(&secure.service.metrics(), "chat_tls_handshakes_failed_total") < 2
            || metric(&secure.service.metrics(), "chat_sockets_open") > 0
        {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_closing_handshake_ends_tls_as_well() {
    let secure = Secure::start(Limits::default()).await;
    let tunnel = secure.tunnel().await;
    let mut ws = Ws::in_room(tunnel.at, "lobby", secure.token(0)).await;
    ws.frame(Opcode::Close, &1000u16.to_be_bytes()).await;
    assert_eq!(ws.next().await, Got::Close(Some(1000)));
    assert_eq!(ws.next().await, Got::End);
    drop(ws);
    within("the tunnel's end", async {
        while tunnel.ends() == (0, 0) {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(tunnel.ends(), (1, 0), "its close_notify came");
}

#[tokio::test]
async fn a_slow_consumer_inside_tls_is_closed_with_4008() {
    let limits = Limits { queue_bytes: 256 * 1024, ..Limits::default() };
    let secure = Secure::start(limits).await;
    let tunnel = secure.tunnel().await;
    let mut slow = Ws::in_room(tunnel.at, "lobby", secure.token(0)).await;
    let mut quick = Ws::in_room(tunnel.at, "lobby", secure.token(1)).await;
    let content = "x".repeat(60_000);
    let mut sent = 0;
    while metric(&secure.service.metrics(), "chat_slow_consumers_total") == 0 {
        assert!(sent < 2000, "no slow consumer after {sent} messages");
        quick.say(&content, "").await;
        assert_eq!(quick.json_of("message").await["seq"], sent + 1);
        sent += 1;
    }
    let mut last = 0;
    loop {
        match slow.next().await {
            Got::Text(text) => {
                let message: serde_json::Value = serde_json::from_str(&text).unwrap();
                assert_eq!(message["seq"], last + 1, "what did arrive has no gap");
                last += 1;
            }
            Got::Close(code) => break assert_eq!(code, Some(4008)),
            other => panic!("{other:?}"),
        }
    }
    assert!(last < sent);
}

#[tokio::test]
async fn an_answer_that_nobody_reads_is_dropped_inside_tls_as_well() {
    let limits = Limits { write_timeout: Duration::from_millis(200), ..Limits::default() };
    let secure = Secure::start(limits).await;
    let tunnel = secure.tunnel().await;
    let mut speaker = Ws::in_room(tunnel.at, "lobby", secure.token(0)).await;
    for _ in 0..20 {
        speaker.say(&"x".repeat(60_000), "").await;
        speaker.json_of("ack").await;
    }
    let mut stream = dial(secure.service.address(), &connector(&[&secure.pair], &[])).await.unwrap();
    let ask = format!(
        "GET /rooms/lobby/messages HTTP/1.1\r\nHost: chat\r\nAuthorization: Bearer {}\r\n\r\n",
        secure.token(0)
    );
    stream.write_all(ask.repeat(60).as_bytes()).await.unwrap();
    stream.flush().await.unwrap();
    within("the drop", async {
        while metric(&secure.service.metrics(), "chat_sockets_open") > 1 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    let mut read = Vec::new();
    let _ = within("the rest", stream.read_to_end(&mut read)).await;
    assert!(read.len() < 60_000_000, "not all 60 answers were written");
}

#[tokio::test]
async fn a_service_that_drains_says_so_inside_tls_and_drops_handshakes_under_way() {
    let secure = Secure::start(Limits::default()).await;
    let tunnel = secure.tunnel().await;
    let mut silent = TcpStream::connect(secure.service.address()).await.unwrap();
    let mut ws = Ws::in_room(tunnel.at, "lobby", secure.token(0)).await;
    let service = secure.service;
    let draining = tokio::spawn(async move { service.drain(Duration::from_secs(15)).await });
    assert_eq!(ws.closed().await, Some(1012));
    let mut nothing = Vec::new();
    let _ = within("the end of the handshake", silent.read_to_end(&mut nothing)).await;
    assert_eq!(nothing, b"");
    drop(ws);
    within("the end of the service", draining).await.unwrap();
}

#[tokio::test]
async fn a_new_certificate_is_used_when_its_files_change_and_a_bad_one_is_told_of_once() {
    let secure = Secure::start(Limits::default()).await;
    let folder = secure.files.key.parent().unwrap();
    let heard = Arc::<Mutex<Vec<String>>>::default();
    let ear = heard.clone();
    secure.service.on_failure(move |text| ear.lock().unwrap().push(text.to_owned()));
    let (first, second) = (&secure.pair, Pair::new());
    assert_eq!(secure.shown(&[first]).await, first.der.to_vec());
    let tunnel = secure.tunnel().await;
    let mut before = Ws::in_room(tunnel.at, "lobby", secure.token(0)).await;

    let key_of_another = Pair { key: Pair::new().key, ..Pair::new() };
    key_of_another.write(folder);
    within("the complaint", async {
        while heard.lock().unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    assert_eq!(secure.shown(&[first]).await, first.der.to_vec(), "the old one stays");

    second.write(folder);
    within("the new certificate", async {
        while secure.shown(&[first, &second]).await != second.der.to_vec() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
    before.say("still here", "a").await;
    assert_eq!(before.json_of("ack").await["id"], "a");
    assert_eq!(metric(&secure.service.metrics(), "chat_tls_certificates_reloaded_total"), 1);
    let heard = heard.lock().unwrap();
    assert_eq!(heard.len(), 1, "{heard:?}");
    assert!(heard[0].starts_with("the certificate in use stays: cannot use "), "{heard:?}");
    assert!(heard[0].contains("the key belongs to the first certificate of the chain"), "{heard:?}");
}

#[tokio::test]
async fn a_certificate_is_read_again_when_that_is_asked_for() {
    let secure = Secure::start(Limits::default()).await;
    let second = Pair::new();
    std::fs::write(&secure.files.certificate, "").unwrap();
    let refused = secure.service.reload_certificate().await.unwrap_err().to_string();
    assert!(refused.contains("got: no certificate"), "{refused}");
    assert_eq!(secure.shown(&[&secure.pair]).await, secure.pair.der.to_vec());
    second.write(secure.files.key.parent().unwrap());
    secure.service.reload_certificate().await.unwrap();
    assert_eq!(secure.shown(&[&second]).await, second.der.to_vec());
}

#[tokio::test]
async fn a_service_does_not_start_with_files_it_cannot_use_and_says_why() {
    let (folder, good, other) = (tempfile::tempdir().unwrap(), Pair::new(), Pair::new());
    let broken = good.certificate.replace("-----END", "");
    let rotten = good.key.replace('M', "!");
    let cases: [(&str, &str, &str, &str); 7] = [
        (&good.certificate, &other.key, "key.pem", "got: another key than that of "),
        (&good.key, &good.key, "cert.pem", "got: no certificate"),
        (&broken, &good.key, "cert.pem", "got: a block without its `-----END` line"),
        ("", &good.key, "cert.pem", "got: no certificate"),
        (&good.certificate, &good.certificate, "key.pem", "got: no key"),
        (&good.certificate, &rotten, "key.pem", "got: a block that is not base64"),
        (
            &good.certificate,
            "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
            "key.pem",
            "got: a key that is encrypted",
        ),
    ];
    for (certificate, key, file, got) in cases {
        let pair = Pair { certificate: certificate.to_owned(), key: key.to_owned(), der: good.der.clone() };
        let config = Config { tls: Some(pair.write(folder.path())), ..Config::default() };
        let Err(error) = sonagi_chat::start(config).await else { panic!("it started with {got}") };
        let text = error.to_string();
        assert!(text.starts_with("cannot use ") && text.contains(file), "{text}");
        assert!(text.contains(got) && text.contains("\nhint: "), "{text}");
        assert!(!text.contains("AAAA"), "what a key file holds is not said: {text}");
    }
    let missing =
        TlsFiles { certificate: folder.path().join("none.pem"), key: folder.path().join("key.pem") };
    let config = Config { tls: Some(missing), ..Config::default() };
    let text = sonagi_chat::start(config).await.err().unwrap().to_string();
    assert!(text.contains("none.pem") && text.contains("No such file"), "{text}");
}
