//! Event streams: what comes on them, how they end, and how their clients go on.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::json;
use sonagi_chat::{Config, Limits, Service};
use tokio::io::AsyncReadExt;

use crate::client::{Ws, get, metric, post, request, serve, within};
use crate::sse_client::Events;

async fn serve_with(limits: Limits) -> Service {
    sonagi_chat::start(Config { seed_users: 1, limits, ..Config::default() }).await.unwrap()
}

async fn share(at: SocketAddr, group: &str, content: &str) {
    let shared = post(at, &format!("/location/sse/share?group={group}"), "", content).await;
    assert_eq!(shared.status, 200, "{}", shared.body);
}

/// Waits until so many streams are open.
async fn open_streams(service: &Service, count: u64) {
    within("streams", async {
        while metric(&service.metrics(), "chat_connections{transport=\"sse\"}") != count {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_stream_brings_every_message_as_an_event_whose_id_is_its_number() {
    let service = serve(1).await;
    let at = service.address();
    let mut events = Events::open(at, "group=7", "").await.ok().unwrap();
    assert_eq!(events.head.header("cache-control"), Some("no-store"));
    assert_eq!(events.head.header("connection"), Some("close"));
    assert_eq!(events.next().await.unwrap().retry, Some(1000));
    let cursor = events.next().await.unwrap();
    assert_eq!(
        (cursor.id.as_deref(), cursor.data),
        (Some("0"), None),
        "where to go on before the first message"
    );
    share(at, "7", "{\"lat\":1.10,\n \"lng\":2}").await;
    share(at, "8", "\"elsewhere\"").await;
    let token = &service.credentials()[0].token;
    post(at, &format!("/location/sse/share?group=7&token={token}"), "", "").await;
    let event = events.event().await.unwrap();
    assert_eq!((event.id.as_deref(), &event.event), (Some("1"), &None));
    assert!(
        event.data.as_ref().unwrap().contains("{\"lat\":1.10,\n \"lng\":2}"),
        "as it was written: {event:?}"
    );
    assert_eq!(event.json()["content"], json!({"lat": 1.1, "lng": 2}));
    let event = events.event().await.unwrap();
    assert_eq!((&event.json()["seq"], &event.json()["content"]), (&json!(2), &json!({})));
    assert_eq!(event.json()["senderId"], service.credentials()[0].id);
    open_streams(&service, 1).await;
    drop(events);
    open_streams(&service, 0).await;
    within("the end of its socket", async {
        while metric(&service.metrics(), "chat_sockets_open") > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn who_names_no_group_is_among_all_who_name_none() {
    let service = serve(0).await;
    let at = service.address();
    let mut events = Events::open(at, "", "").await.ok().unwrap();
    assert_eq!(post(at, "/location/sse/share", "", "\"hi\"").await.status, 200);
    share(at, "7", "\"elsewhere\"").await;
    assert_eq!(post(at, "/location/long/all/notify", "", "\"again\"").await.status, 200);
    for content in ["hi", "again"] {
        assert_eq!(events.event().await.unwrap().json()["content"], content);
    }
}

#[tokio::test]
async fn what_is_no_request_for_a_stream_is_refused_in_words() {
    let service = serve(0).await;
    let at = service.address();
    for (query, headers, status, code) in [
        ("group=", "", 400, "bad_request"),
        ("group=7&after=x", "", 400, "bad_request"),
        ("group=7&token=wrong", "", 401, "unauthorized"),
        ("group=7", "Authorization: Bearer wrong\r\n", 401, "unauthorized"),
        ("group=7", "Content-Length: 3\r\n", 400, "bad_request"),
    ] {
        let refused = Events::open(at, query, headers).await.err().unwrap();
        assert_eq!((refused.status, refused.error_code().as_str()), (status, code), "{query} {headers}");
    }
    for method in ["POST", "PUT", "DELETE"] {
        assert_eq!(request(at, method, "/location/sse/connect?group=7", "", "").await.status, 405);
    }
    assert_eq!(get(at, "/location/sse/share?group=7", "").await.status, 405);
    assert_eq!(metric(&service.metrics(), "chat_connections{transport=\"sse\"}"), 0);
}

#[tokio::test]
async fn a_client_of_http_1_0_and_one_from_another_origin_get_the_same_stream() {
    let service = serve(0).await;
    let at = service.address();
    let old = "GET /location/sse/connect?group=7 HTTP/1.0\r\n\r\n";
    let foreign = "GET /location/sse/connect?group=7 HTTP/1.1\r\nHost: chat\r\nOrigin: http://a.test\r\n\r\n";
    let mut old = Events::ask(at, old).await.ok().unwrap();
    let mut foreign = Events::ask(at, foreign).await.ok().unwrap();
    assert_eq!(foreign.head.header("access-control-allow-origin"), Some("*"));
    open_streams(&service, 2).await;
    share(at, "7", "1").await;
    assert_eq!((old.seq().await, foreign.seq().await), (1, 1));
}

#[tokio::test]
async fn a_client_that_reconnects_gets_what_it_missed_or_is_told_of_the_gap() {
    let service = serve_with(Limits { recent_messages: 5, ..Limits::default() }).await;
    let at = service.address();
    for _ in 0..20 {
        share(at, "7", "1").await;
    }
    let from = |query: &'static str, headers: &'static str| async move {
        Events::open(at, query, headers).await.ok().unwrap()
    };
    let mut missed = from("group=7", "Last-Event-ID: 17\r\n").await;
    assert_eq!([missed.seq().await, missed.seq().await, missed.seq().await], [18, 19, 20]);
    // The header is newer than what the page asked for at first.
    let mut both = from("group=7&after=2", "Last-Event-ID: 18\r\n").await;
    assert_eq!([both.seq().await, both.seq().await], [19, 20]);
    let mut all = from("group=7&after=0", "").await;
    for seq in 1..=20 {
        assert_eq!(all.seq().await, seq);
    }
    // What is no number is above all that JavaScript can count.
    for (id, after) in [("Last-Event-ID: 1000\r\n", 1000), ("Last-Event-ID: abc\r\n", (1_u64 << 53) - 1)] {
        let mut lost = from("group=7", id).await;
        let gap = lost.event().await.unwrap();
        assert_eq!((gap.event.as_deref(), gap.id.as_deref()), (Some("gap"), Some("0")), "{id}");
        assert_eq!(gap.json(), json!({"after": after, "from": 1}), "{id}");
        for seq in 1..=20 {
            assert_eq!(lost.seq().await, seq);
        }
    }
}

#[tokio::test]
async fn a_stream_shows_that_it_is_alive_and_ends_in_order_when_it_has_lasted_long_enough() {
    let limits = Limits {
        sse_heartbeat: Duration::from_millis(20),
        sse_lifetime: Some(Duration::from_millis(300)),
        ..Limits::default()
    };
    let service = serve_with(limits).await;
    let mut events = Events::open(service.address(), "group=7", "").await.ok().unwrap();
    let (mut comments, mut blocks) = (0, 0);
    while let Some(block) = events.next().await {
        comments += block.comments;
        blocks += 1;
    }
    assert!(comments >= 5, "{comments} heart-beats");
    assert_eq!(blocks, comments + 2, "and nothing but those, the hint and the cursor");
    open_streams(&service, 0).await;
}

#[tokio::test]
async fn a_slow_consumer_s_stream_ends_and_goes_on_behind_the_last_event_it_got() {
    let service = serve_with(Limits { queue_bytes: 256 * 1024, ..Limits::default() }).await;
    let at = service.address();
    let mut slow = Events::open(at, "group=7", "").await.ok().unwrap();
    let mut quick = Ws::open(at, "/ws?room=location:7", "").await.ok().unwrap();
    quick.json_of("joined").await;
    let content = "x".repeat(60_000);
    let mut sent = 0;
    // The kernel's buffers fill first; how much they take is not ours to know, so it is bounded generously.
    while metric(&service.metrics(), "chat_slow_consumers_total") == 0 {
        assert!(sent < 2000, "no slow consumer after {sent} messages");
        quick.say(&content, "").await;
        assert_eq!(quick.json_of("message").await["seq"], sent + 1);
        sent += 1;
    }
    let mut last = 0;
    while let Some(event) = slow.event().await {
        let seq = event.json()["seq"].as_u64().unwrap();
        assert_eq!(seq, last + 1, "what did arrive has no gap");
        last = seq;
    }
    assert!(last < sent);
    let mut back = Events::open(at, "group=7", &format!("Last-Event-ID: {last}\r\n")).await.ok().unwrap();
    while last < sent {
        assert_eq!(back.seq().await, last + 1);
        last += 1;
    }
}

#[tokio::test]
async fn a_draining_service_tells_its_streams_when_to_come_back_and_takes_no_new_ones() {
    let service = serve(0).await;
    let at = service.address();
    let mut events = Events::open(at, "group=7", "").await.ok().unwrap();
    assert_eq!(events.next().await.unwrap().retry, Some(1000));
    open_streams(&service, 1).await;
    let mut kept = tokio::net::TcpStream::connect(at).await.unwrap();
    let draining = tokio::spawn(service.drain(Duration::from_secs(5)));
    let mut hint = None;
    while let Some(block) = events.next().await {
        hint = block.retry.or(hint);
    }
    assert!(hint.is_some_and(|wait| (1000..3000).contains(&wait)), "{hint:?}");
    drop(events);
    draining.await.unwrap();
    assert_eq!(kept.read(&mut [0; 16]).await.unwrap_or(0), 0);
}

#[tokio::test]
async fn what_a_client_sends_on_its_stream_is_dropped_and_its_end_is_the_stream_s() {
    let service = serve(0).await;
    let at = service.address();
    let mut events = Events::open(at, "group=7", "").await.ok().unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut events.stream, b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    share(at, "7", "1").await;
    assert_eq!(events.seq().await, 1);
    tokio::io::AsyncWriteExt::shutdown(&mut events.stream).await.unwrap();
    assert_eq!(events.event().await, None);
    open_streams(&service, 0).await;
}
