//! SockJS: info, sessions that are polled, streamed or over a WebSocket, and their ends.

use std::net::SocketAddr;
use std::time::Duration;

use sonagi_chat::{Config, Limits, Service};
use sonagi_wire::websocket::Opcode;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::client::{Got, Reply, Ws, exchange, get, metric, post, request, serve, within};
use crate::stomp_client::{Frame, Stomp};

async fn serve_with(limits: Limits) -> Service {
    sonagi_chat::start(Config { limits, ..Config::default() }).await.unwrap()
}

const CONNECT: &str = "CONNECT\naccept-version:1.2\n\n\0";
const SUBSCRIBE: &str = "SUBSCRIBE\nid:s\ndestination:/sub/location/7\n\n\0";

/// What a session is sent: `xhr_send` of these messages.
pub async fn send(at: SocketAddr, session: &str, messages: &[&str]) -> Reply {
    let body = serde_json::Value::from(messages.to_vec()).to_string();
    post(at, &format!("{session}/xhr_send"), "", &body).await
}

pub async fn poll(at: SocketAddr, session: &str) -> String {
    let reply = post(at, &format!("{session}/xhr"), "", "").await;
    assert_eq!(
        (reply.status, reply.header("content-type")),
        (200, Some("application/javascript; charset=UTF-8"))
    );
    reply.body
}

/// The STOMP frames of a body of array frames.
pub fn frames(body: &str) -> Vec<Frame> {
    let arrays =
        body.lines().map(|line| serde_json::from_str::<Vec<String>>(line.strip_prefix('a').unwrap()));
    arrays.flat_map(Result::unwrap).filter(|message| message != "\n").map(|text| Frame::read(&text)).collect()
}

/// An answer that goes on.
pub struct Streamed {
    stream: TcpStream,
    body: Vec<u8>,
}

impl Streamed {
    pub async fn open(at: SocketAddr, session: &str) -> Streamed {
        let mut stream = TcpStream::connect(at).await.unwrap();
        let head =
            format!("POST {session}/xhr_streaming HTTP/1.1\r\nHost: chat\r\nContent-Length: 0\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(within("a head", stream.read_u8()).await.unwrap());
        }
        let head = String::from_utf8(head).unwrap().to_lowercase();
        assert!(head.starts_with("http/1.1 200") && head.contains("transfer-encoding: chunked"), "{head}");
        let mut streamed = Streamed { stream, body: Vec::new() };
        assert_eq!(streamed.line().await, Some("h".repeat(2048)));
        streamed
    }

    /// The next line; `None` at the end of the answer.
    pub async fn line(&mut self) -> Option<String> {
        within("a line", async {
            loop {
                if let Some(end) = self.body.iter().position(|byte| *byte == b'\n') {
                    let line: Vec<u8> = self.body.drain(..=end).collect();
                    return Some(String::from_utf8(line[..end].to_vec()).unwrap());
                }
                let mut size = Vec::new();
                while !size.ends_with(b"\r\n") {
                    size.push(self.stream.read_u8().await.ok()?);
                }
                let size = std::str::from_utf8(&size).unwrap().trim();
                let size = usize::from_str_radix(size, 16).unwrap();
                let mut chunk = vec![0; size + 2];
                self.stream.read_exact(&mut chunk).await.unwrap();
                if size == 0 {
                    return None;
                }
                self.body.extend_from_slice(&chunk[..size]);
            }
        })
        .await
    }
}

#[tokio::test]
async fn a_client_learns_first_what_is_offered() {
    let service = serve(0).await;
    let at = service.address();
    let info = get(at, "/location/info?t=1", "").await;
    assert_eq!(info.header("content-type"), Some("application/json; charset=UTF-8"));
    assert_eq!(info.header("cache-control"), Some("no-store"));
    let info = info.json();
    assert_eq!((&info["websocket"], &info["cookie_needed"]), (&true.into(), &false.into()));
    assert_eq!(info["origins"], serde_json::json!(["*:*"]));
    assert!(info["entropy"].is_u64());
    assert_eq!(get(at, "/location", "").await.body, "Welcome to SockJS!\n");
    assert_eq!(get(at, "/location/", "").await.body, "Welcome to SockJS!\n");
    // Browsers send credentials along, whoever asks: then an answer must name the origin.
    let asked = "Host: chat\r\nOrigin: http://a.test\r\nConnection: close\r\n\r\n";
    for (head, status) in [("GET /location/info", 200), ("OPTIONS /location/0/s/xhr_send", 204)] {
        let reply = exchange(at, format!("{head} HTTP/1.1\r\n{asked}").as_bytes()).await;
        assert_eq!(reply.status, status);
        assert_eq!(reply.header("access-control-allow-origin"), Some("http://a.test"));
        assert_eq!(reply.header("access-control-allow-credentials"), Some("true"));
        if status == 204 {
            assert_eq!(reply.header("access-control-allow-methods"), Some("OPTIONS, POST"));
            assert!(reply.header("access-control-max-age").is_some());
        }
    }
}

#[tokio::test]
async fn paths_and_methods_that_are_none_are_refused() {
    let service = serve(0).await;
    let at = service.address();
    for (method, path, status) in [
        ("GET", "/location/iframe.html", 404),
        ("GET", "/location/0/s/eventsource", 404),
        ("GET", "/location/0/s/htmlfile", 404),
        ("GET", "/location/0/s/jsonp", 404),
        ("GET", "/location/0/s/nothing", 404),
        ("GET", "/location/0.0/s/xhr", 404),
        ("GET", "/location//s/xhr", 404),
        ("POST", "/location/info", 405),
        ("GET", "/location/0/s/xhr", 405),
        ("GET", "/location/0/s/xhr_streaming", 405),
        ("PUT", "/location/0/s/xhr_send", 405),
        ("POST", "/location/0/s/websocket", 405),
        ("GET", "/location/0/s/websocket", 426),
        ("GET", "/location/websocket", 426),
        ("POST", "/location/0/unknown/xhr_send", 404),
    ] {
        assert_eq!(request(at, method, path, "", "").await.status, status, "{method} {path}");
    }
    assert_eq!(metric(&service.metrics(), "chat_connections{transport=\"sockjs\"}"), 0);
}

#[tokio::test]
async fn a_polled_session_brings_stomp_a_frame_for_each_poll() {
    let service = serve(0).await;
    let (at, session) = (service.address(), "/location/000/polled");
    assert_eq!(poll(at, session).await, "o\n");
    let sent = send(at, session, &[CONNECT]).await;
    assert_eq!((sent.status, sent.header("content-type")), (204, Some("text/plain; charset=UTF-8")));
    assert_eq!(frames(&poll(at, session).await)[0].command, "CONNECTED");
    // Another number of a server is the same session, and one message may be alone.
    let alone = serde_json::Value::from(SUBSCRIBE).to_string();
    assert_eq!(post(at, "/location/999/polled/xhr_send", "", &alone).await.status, 204);
    for n in 1..=3 {
        send(at, session, &[&format!("SEND\ndestination:/pub/share/7\nreceipt:{n}\n\n\"a\u{2028}{n}\"\0")])
            .await;
    }
    let mut got = Vec::new();
    while got.len() < 6 {
        let body = poll(at, session).await;
        assert_eq!(body.lines().count(), 1, "messages that wait share an array");
        got.extend(frames(&body));
    }
    let seqs: Vec<u64> = got.iter().filter(|frame| frame.command == "MESSAGE").map(Frame::seq).collect();
    assert_eq!(seqs, [1, 2, 3]);
    assert_eq!(got[0].json()["content"], "a\u{2028}1");
    assert_eq!(metric(&service.metrics(), "chat_connections{transport=\"sockjs\"}"), 1);
    send(at, session, &["DISCONNECT\nreceipt:bye\n\n\0"]).await;
    assert_eq!(frames(&poll(at, session).await)[0].header("receipt-id"), Some("bye"));
    for _ in 0..2 {
        assert_eq!(poll(at, session).await, "c[3000,\"Go away!\"]\n");
    }
    assert_eq!(send(at, session, &["\n"]).await.status, 404);
    assert_eq!(metric(&service.metrics(), "chat_connections{transport=\"sockjs\"}"), 0);
}

#[tokio::test]
async fn what_is_no_array_of_messages_is_refused_and_the_session_goes_on() {
    let service = serve(0).await;
    let (at, session) = (service.address(), "/location/0/s");
    poll(at, session).await;
    for (body, words) in
        [("", "Payload expected."), ("[\"x", "Broken JSON encoding."), ("{}", "Broken JSON encoding.")]
    {
        let refused = post(at, &format!("{session}/xhr_send"), "", body).await;
        assert_eq!((refused.status, refused.body.as_str()), (500, words));
    }
    assert_eq!(send(at, session, &[]).await.status, 204);
    send(at, session, &[CONNECT]).await;
    assert_eq!(frames(&poll(at, session).await)[0].command, "CONNECTED");
}

#[tokio::test]
async fn a_streamed_session_ends_its_answer_when_it_has_brought_enough_and_goes_on_with_the_next() {
    let service = serve(0).await;
    let (at, session) = (service.address(), "/location/000/streamed");
    let mut streamed = Streamed::open(at, session).await;
    assert_eq!(streamed.line().await.as_deref(), Some("o"));
    send(at, session, &[CONNECT, SUBSCRIBE]).await;
    let connected = streamed.line().await.unwrap();
    assert_eq!(frames(&connected)[0].command, "CONNECTED");
    let content = "x".repeat(30_000);
    let (mut seqs, mut answers) = (Vec::new(), 1);
    for n in 1..=12 {
        send(at, session, &[&format!("SEND\ndestination:/pub/share/7\n\n\"{content}{n}\"\0")]).await;
        while seqs.len() < n {
            match streamed.line().await {
                Some(line) => seqs.extend(frames(&line).iter().map(Frame::seq)),
                None => {
                    streamed = Streamed::open(at, session).await;
                    answers += 1;
                }
            }
        }
    }
    assert_eq!(seqs, (1..=12).collect::<Vec<u64>>());
    assert!((2..=4).contains(&answers), "{answers} answers of 128 KiB");
}

#[tokio::test]
async fn a_second_receiver_is_sent_away_and_one_that_is_given_up_ends_the_session() {
    let service = serve(0).await;
    let (at, session) = (service.address(), "/location/0/s");
    let mut first = Streamed::open(at, session).await;
    assert_eq!(first.line().await.as_deref(), Some("o"));
    assert_eq!(poll(at, session).await, "c[2010,\"Another connection still open\"]\n");
    let second = post(at, &format!("{session}/xhr_streaming"), "", "").await.body;
    assert_eq!(second.trim_start_matches('h'), "\nc[2010,\"Another connection still open\"]\n");
    drop(first);
    within("the end of the session", async {
        while metric(&service.metrics(), "chat_connections{transport=\"sockjs\"}") > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    for _ in 0..2 {
        assert_eq!(poll(at, session).await, "c[1002,\"Connection interrupted\"]\n");
    }
}

#[tokio::test]
async fn a_session_that_nobody_polls_ends_and_is_forgotten() {
    let service =
        serve_with(Limits { sockjs_disconnect: Duration::from_millis(50), ..Limits::default() }).await;
    let (at, session) = (service.address(), "/location/0/s");
    assert_eq!(poll(at, session).await, "o\n");
    // What says that it is forgotten is that the next poll opens it anew.
    within("the session's end", async {
        let mut bodies = Vec::new();
        loop {
            let send = send(at, session, &["\n"]).await;
            if send.status == 404 {
                let body = poll(at, session).await;
                bodies.push(body.clone());
                if body == "o\n" {
                    break;
                }
            }
            tokio::task::yield_now().await;
        }
        assert!(bodies[..bodies.len() - 1].iter().all(|body| body == "c[3000,\"Go away!\"]\n"), "{bodies:?}");
    })
    .await;
}

#[tokio::test]
async fn a_session_is_kept_alive_by_heart_beats_whatever_carries_it() {
    let limits = Limits { sockjs_heartbeat: Duration::from_millis(30), ..Limits::default() };
    let service = serve_with(limits).await;
    let at = service.address();
    assert_eq!([poll(at, "/location/0/s").await, poll(at, "/location/0/s").await], ["o\n", "h\n"]);
    let mut streamed = Streamed::open(at, "/location/0/t").await;
    let lines = [streamed.line().await, streamed.line().await, streamed.line().await];
    assert_eq!(lines.map(Option::unwrap), ["o", "h", "h"]);
    let mut ws = Ws::open(at, "/location/0/u/websocket", "").await.ok().unwrap();
    assert_eq!([ws.next_text().await, ws.next_text().await, ws.next_text().await], ["o", "h", "h"]);
}

#[tokio::test]
async fn a_session_over_a_websocket_ends_with_a_word_of_its_own_and_a_broken_message_without_one() {
    let service = serve(0).await;
    let at = service.address();
    let open = || async {
        let mut ws = Ws::open(at, "/location/0/s/websocket", "").await.ok().unwrap();
        assert_eq!(ws.next_text().await, "o");
        ws
    };
    // The name of the session says nothing here: there may be several of it.
    let (mut ends, mut breaks, mut binary) = (open().await, open().await, open().await);
    ends.text("").await;
    ends.text(&serde_json::json!([CONNECT, "DISCONNECT\n\n\0"]).to_string()).await;
    assert!(ends.next_text().await.contains("CONNECTED"));
    assert_eq!(ends.next_text().await, "c[3000,\"Go away!\"]");
    assert_eq!(ends.next().await, Got::Close(Some(1000)));
    breaks.text("[\"x").await;
    assert_eq!(breaks.next().await, Got::Close(Some(1002)));
    binary.frame(Opcode::Binary, b"[\"x\"]").await;
    assert_eq!(binary.next().await, Got::Close(Some(1002)));
}

#[tokio::test]
async fn a_draining_service_ends_polled_sessions_and_opens_none() {
    let service = serve(0).await;
    let at = service.address();
    let mut streamed = Streamed::open(at, "/location/0/s").await;
    assert_eq!(streamed.line().await.as_deref(), Some("o"));
    let mut ws = Stomp::connect_to(at, "/location/0/t/websocket", "1.2", "").await;
    let draining = tokio::spawn(service.drain(Duration::from_secs(5)));
    assert_eq!(streamed.line().await.as_deref(), Some("c[1012,\"service restart\"]"));
    assert_eq!(streamed.line().await, None);
    assert_eq!(ws.next_if_any().await, Err(Some(3000)));
    drop((streamed, ws));
    draining.await.unwrap();
}
