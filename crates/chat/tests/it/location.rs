//! Location groups: open to everybody, and reached by polling and long polling as well.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sonagi_chat::{Config, Limits, Service};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::client::{Reply, Ws, get, metric, post, request, within};

async fn serve(limits: Limits) -> Service {
    sonagi_chat::start(Config { seed_users: 2, limits, ..Config::default() }).await.unwrap()
}

async fn notify(service: &Service, group: &str, body: &str) -> Reply {
    post(service.address(), &format!("/location/long/{group}/notify"), "", body).await
}

async fn long(service: &Service, group: &str, after: &Value) -> Reply {
    let path = format!("/location/long/{group}?after={}", after.as_str().unwrap_or_default());
    get(service.address(), &path, "").await
}

fn contents(answer: &Value) -> Vec<Value> {
    answer["messages"].as_array().unwrap().iter().map(|message| message["content"].clone()).collect()
}

/// Reads the metrics until there is this number.
pub async fn until(service: &Service, name: &str, number: u64) {
    within(name, async {
        while metric(&service.metrics(), name) != number {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

const WAITING: &str = "chat_connections{transport=\"longpoll\"}";

#[tokio::test]
async fn what_one_transport_sends_all_others_receive_in_the_same_order() {
    let service = serve(Limits::default()).await;
    let (at, user) = (service.address(), &service.credentials()[0]);
    let mut ws = Ws::open(at, "/ws?room=location:7", "").await.ok().unwrap();
    assert_eq!(ws.json().await["seq"], 0);
    let cursor = long(&service, "7", &Value::Null).await.json()["next"].clone();
    assert_eq!(notify(&service, "7", r#"{"lat":37.50}"#).await.json(), json!({"ok": true, "seq": 1}));
    ws.text(r#"{"type":"send","content":[1],"id":"a"}"#).await;
    let path = format!("/location/long/7/notify?token={}", user.token);
    assert_eq!(post(at, &path, "", "").await.json()["seq"], 3);
    let mut live = Vec::new();
    while live.len() < 3 {
        let mut message = ws.json_of("message").await;
        message.as_object_mut().unwrap().retain(|name, _| name != "type" && name != "room");
        live.push(message);
    }
    let said: Vec<(&Value, &Value)> = live.iter().map(|one| (&one["content"], &one["senderId"])).collect();
    let sender = json!(user.id);
    let (first, second) = (json!({"lat": 37.5}), json!([1]));
    assert_eq!(said, [(&first, &json!(0)), (&second, &json!(0)), (&json!({}), &sender)]);
    let polled = get(at, "/cur/7", "").await.json();
    assert_eq!(polled, json!({"group": "7", "messages": live, "next": 3, "gap": false}));
    let polled = get(at, "/cur/7?after=2", "").await;
    assert_eq!(polled.header("cache-control"), Some("no-store"));
    assert_eq!(polled.json(), json!({"group": "7", "messages": [live[2]], "next": 3, "gap": false}));
    assert_eq!(get(at, "/cur/7?after=3", "").await.json()["messages"], json!([]));
    let waited = long(&service, "7", &cursor).await.json();
    assert_eq!((&waited["messages"], &waited["gap"]), (&json!(live), &false.into()));
    let last = long(&service, "7", &Value::Null).await.json();
    assert_eq!((&last["messages"], &last["next"]), (&json!([live[2]]), &waited["next"]));
    let metrics = service.metrics();
    assert_eq!(metric(&metrics, "chat_polls_total"), 4);
    assert_eq!(metric(&metrics, "chat_polls_empty_total"), 2);
}

#[tokio::test]
async fn a_long_poll_is_answered_by_the_next_message_of_its_group() {
    let service = serve(Limits::default()).await;
    notify(&service, "7", "1").await;
    let cursor = long(&service, "7", &Value::Null).await.json()["next"].clone();
    let poll = long(&service, "7", &cursor);
    let send = async {
        until(&service, WAITING, 1).await;
        notify(&service, "8", "\"elsewhere\"").await;
        assert_eq!(metric(&service.metrics(), WAITING), 1);
        notify(&service, "7", "2").await;
    };
    let (answer, ()) = tokio::join!(poll, send);
    let answer = answer.json();
    assert_eq!((contents(&answer), &answer["gap"]), (vec![json!(2)], &false.into()));
    let next = answer["next"].as_str().unwrap();
    assert_eq!(next, format!("{}2", cursor.as_str().unwrap().trim_end_matches('1')));
    assert_eq!(metric(&service.metrics(), WAITING), 0);
}

#[tokio::test]
async fn a_cursor_asked_with_twice_finds_what_was_said_in_between() {
    let service = serve(Limits::default()).await;
    for count in 1..=3 {
        notify(&service, "7", &count.to_string()).await;
        let said: Vec<Value> = (1..=count).map(|n| json!(n)).collect();
        for _ in 0..2 {
            assert_eq!(contents(&get(service.address(), "/cur/7?after=0", "").await.json()), said);
        }
    }
}

#[tokio::test]
async fn an_answer_that_was_cut_says_that_there_is_more() {
    // Half of it is in memory; an answer ends by its count from the store, by its bytes in memory.
    let limits = Limits { history_page: 3, history_bytes: 120, recent_messages: 5, ..Limits::default() };
    let service = serve(limits).await;
    for count in 1..=10 {
        notify(&service, "7", &count.to_string()).await;
    }
    let (mut after, mut said, mut answers) = (json!(0), Vec::new(), Vec::new());
    loop {
        let answer = get(service.address(), &format!("/cur/7?after={after}"), "").await.json();
        said.extend(contents(&answer));
        after = answer["next"].clone();
        answers.push((contents(&answer).len(), answer.get("more").cloned()));
        if answer["more"] != true {
            break;
        }
    }
    assert_eq!(said, (1..=10).map(|n| json!(n)).collect::<Vec<_>>(), "{answers:?}");
    assert!(answers.len() >= 4 && answers.iter().all(|(count, _)| *count > 0), "{answers:?}");
    assert_eq!(answers.last().unwrap().1, None, "said only where there is more");
    let cursor = long(&service, "7", &Value::Null).await.json()["next"].as_str().unwrap().to_owned();
    let first = cursor.replace(".10", ".0");
    assert_eq!(long(&service, "7", &json!(first)).await.json()["more"], true);
}

#[tokio::test]
async fn a_long_poll_that_waited_for_nothing_says_so_and_its_cursor_goes_on() {
    for (long_expiry_503, status) in [(false, 204), (true, 503)] {
        let hold = Duration::from_millis(50);
        let limits = Limits { long_hold: hold, ..Limits::default() };
        let config = Config { limits, long_expiry_503, ..Config::default() };
        let service = sonagi_chat::start(config).await.unwrap();
        let first = long(&service, "7", &Value::Null).await.json();
        assert_eq!((contents(&first), &first["gap"]), (vec![], &false.into()));
        let started = Instant::now();
        let expired = long(&service, "7", &first["next"]).await;
        assert_eq!((expired.status, expired.body.as_str()), (status, ""));
        assert_eq!(expired.header("cache-control"), Some("no-store"));
        assert!(started.elapsed() >= hold);
        notify(&service, "7", "1").await;
        assert_eq!(contents(&long(&service, "7", &first["next"]).await.json()), [json!(1)]);
        assert_eq!(metric(&service.metrics(), "chat_polls_empty_total"), 2);
    }
}

#[tokio::test]
async fn a_poll_given_up_waits_no_more_and_a_drain_answers_those_that_wait() {
    let service = serve(Limits::default()).await;
    let cursor = long(&service, "7", &Value::Null).await.json()["next"].clone();
    let mut stream = TcpStream::connect(service.address()).await.unwrap();
    let text = format!("GET /location/long/7?after={} HTTP/1.1\r\nHost: a\r\n\r\n", cursor.as_str().unwrap());
    stream.write_all(text.as_bytes()).await.unwrap();
    until(&service, WAITING, 1).await;
    drop(stream);
    until(&service, WAITING, 0).await;
    let started = Instant::now();
    let at = service.address();
    let poll = tokio::spawn(async move {
        get(at, &format!("/location/long/7?after={}", cursor.as_str().unwrap()), "").await
    });
    until(&service, WAITING, 1).await;
    service.drain(Duration::from_secs(15)).await;
    let answer = poll.await.unwrap();
    assert_eq!((answer.status, answer.error_code().as_str()), (503, "draining"));
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

#[tokio::test]
async fn what_is_shared_is_any_json_within_the_bounds_of_a_message() {
    let service = serve(Limits::default()).await;
    let deep = format!("{}{}", "[".repeat(101), "]".repeat(101));
    let long = format!("\"{}\"", "x".repeat(64 * 1024));
    let check = async |body: &str, status: u16, code: &str| {
        let reply = notify(&service, "7", body).await;
        assert_eq!((reply.status, reply.error_code().as_str()), (status, code), "{}", reply.body);
    };
    for wrong in ["{", "1 2", "'x'", deep.as_str()] {
        check(wrong, 400, "bad_request").await;
    }
    check(&long, 413, "too_large").await;
    for right in [" \r\n ", "1", "null", "{\"f\":1.10,\n\"n\":12345678901234567890123}"] {
        check(right, 200, "").await;
    }
    let polled = get(service.address(), "/cur/7", "").await.body;
    assert!(polled.contains("{\"f\":1.10,\n\"n\":12345678901234567890123}"), "{polled}");
    assert_eq!(contents(&serde_json::from_str(&polled).unwrap())[..3], [json!({}), json!(1), json!(null)]);
}

#[tokio::test]
async fn a_user_s_repeated_share_is_published_once_and_nobody_s_every_time() {
    let service = serve(Limits::default()).await;
    let users = service.credentials();
    let share = async |token: &str, key: &str| {
        let authorization =
            if token.is_empty() { String::new() } else { format!("Authorization: Bearer {token}\r\n") };
        let text = format!(
            "POST /location/long/7/notify HTTP/1.1\r\nHost: a\r\n{authorization}Idempotency-Key: {key}\r\n\
             Connection: close\r\nContent-Length: 1\r\n\r\n1"
        );
        let reply = crate::client::exchange(service.address(), text.as_bytes()).await;
        reply.json()["seq"].as_u64().unwrap()
    };
    let (one, two) = (&users[0].token, &users[1].token);
    assert_eq!((share(one, "a").await, share(one, "\"a\"").await, share(one, "b").await), (1, 1, 2));
    assert_eq!((share(two, "a").await, share("", "a").await, share("", "a").await), (3, 4, 5));
}

#[tokio::test]
async fn without_a_token_there_are_location_groups_and_nothing_else() {
    let service = serve(Limits::default()).await;
    let at = service.address();
    let mut ws = Ws::open(at, "/ws", "").await.ok().unwrap();
    for frame in [
        r#"{"type":"join","room":"lobby"}"#,
        r#"{"type":"send","room":"lobby","content":1}"#,
        r#"{"type":"join","room":"nowhere"}"#,
    ] {
        ws.text(frame).await;
        assert_eq!(ws.json().await["code"], "unauthorized", "{frame}");
    }
    ws.text(r#"{"type":"join","room":"location:7"}"#).await;
    assert_eq!(ws.json().await["room"], "location:7");
    for path in ["/ws?room=location:7&token=made-up", "/ws?room=lobby"] {
        let refused = Ws::open(at, path, "").await.err().unwrap();
        assert_eq!((refused.status, refused.error_code().as_str()), (401, "unauthorized"), "{path}");
    }
    for (method, path) in [
        ("GET", "/cur/7?token=made-up"),
        ("GET", "/location/long/7?token=made-up"),
        ("POST", "/location/long/7/notify?token="),
    ] {
        let refused = request(at, method, path, "", "").await;
        assert_eq!((refused.status, refused.error_code().as_str()), (401, "unauthorized"), "{path}");
    }
    let history = get(at, "/rooms/location:7/messages", &service.credentials()[0].token).await;
    assert_eq!(history.json()["messages"], json!([]));
}

#[tokio::test]
async fn a_group_has_a_name_that_is_the_same_however_it_is_written() {
    let service = serve(Limits::default()).await;
    let at = service.address();
    let mut ws = Ws::open(at, "/ws", "").await.ok().unwrap();
    ws.text(r#"{"type":"join","room":"location:방 1"}"#).await;
    let room = ws.json().await["room"].as_str().unwrap().to_owned();
    let group = room.strip_prefix("location:").unwrap();
    for name in ["%EB%B0%A9%201", group] {
        assert_eq!(notify(&service, name, "1").await.status, 200);
        assert_eq!(ws.json().await["room"], room.as_str());
    }
    assert_eq!(get(at, "/cur/%EB%B0%A9%201", "").await.json()["group"], group);
    ws.text(r#"{"type":"leave","room":"location:방 1"}"#).await;
    assert_eq!(ws.json().await["type"], "left");
    let long = "x".repeat(65);
    for (path, status) in [
        (format!("/cur/{long}"), 400),
        ("/cur".to_owned(), 404),
        ("/cur/7?after=-1".to_owned(), 400),
        ("/location/long/7?after=7".to_owned(), 400),
    ] {
        assert_eq!(get(at, &path, "").await.status, status, "{path}");
    }
}

#[tokio::test]
async fn each_path_takes_its_method_and_no_other() {
    let service = serve(Limits::default()).await;
    for (method, path) in [
        ("POST", "/cur/7"),
        ("PUT", "/location/long/7"),
        ("DELETE", "/location/long/7/notify"),
        ("GET", "/location/long/7/notify"),
    ] {
        let reply = request(service.address(), method, path, "", "").await;
        assert_eq!(
            (reply.status, reply.error_code().as_str()),
            (405, "method_not_allowed"),
            "{method} {path}"
        );
    }
    let mut stream = TcpStream::connect(service.address()).await.unwrap();
    stream.write_all(b"HEAD /cur/7 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    within("the end of the answer", stream.read_to_string(&mut answer)).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 405 "), "{answer}");
}

#[tokio::test]
async fn there_are_only_so_many_groups() {
    // The lobby is one.
    let service = serve(Limits { rooms: 3, ..Limits::default() }).await;
    for (group, status) in [("1", 200), ("2", 200), ("3", 409), ("1", 200)] {
        assert_eq!(notify(&service, group, "1").await.status, status, "{group}");
    }
    let refused = get(service.address(), "/cur/4", "").await;
    assert_eq!((refused.status, refused.error_code().as_str()), (409, "too_many_rooms"));
}
