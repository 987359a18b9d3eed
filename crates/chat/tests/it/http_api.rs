//! Login, users, friends, rooms and history over HTTP.

use sonagi_chat::{Config, Limits, Rate};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::client::{Ws, exchange, get, post, read_reply, request, serve, within};
use crate::socketio_client::polled;

#[tokio::test]
async fn a_login_gives_a_token_that_opens_the_rest() {
    let service = serve(3).await;
    let at = service.address();
    let login = post(at, "/auth/login", "", r#"{"email":"user1@example.test","password":"password"}"#).await;
    assert_eq!(login.status, 200);
    let login = login.json();
    assert_eq!(login["user"]["email"], "user1@example.test");
    let token = login["access_token"].as_str().unwrap();
    let friends = get(at, "/users/friends", token).await.json();
    let ids: Vec<u64> =
        friends["friends"].as_array().unwrap().iter().map(|friend| friend["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, [2, 3]);
    let mine = post(at, "/rooms/find-or-create", token, r#"{"friendId":2}"#).await.json();
    // A template of a script makes text of the number.
    let same = post(at, "/rooms/find-or-create", token, r#"{"friendId":"2"}"#).await.json();
    assert_eq!(mine["roomId"], "dm-1-2");
    assert_eq!(mine, same);
    let user = get(at, "/users/getUserSecure/user2%40example.test", "").await.json();
    assert_eq!(user, serde_json::json!({"id": 2, "email": "user2@example.test", "username": "user2"}));
}

#[tokio::test]
async fn what_is_not_allowed_is_refused_with_a_status_and_a_code() {
    let service = serve(6).await;
    let token = &service.credentials()[0].token;
    let wrong = r#"{"email":"user1@example.test","password":"wrong"}"#;
    let nobody = r#"{"email":"nobody@example.test","password":"password"}"#;
    let cases = [
        ("POST", "/auth/login", "", wrong, 401, "wrong_credentials"),
        ("POST", "/auth/login", "", nobody, 401, "wrong_credentials"),
        ("POST", "/auth/login", "", "{", 400, "bad_request"),
        ("GET", "/auth/login", "", "", 405, "method_not_allowed"),
        ("GET", "/users/friends", "", "", 401, "unauthorized"),
        ("GET", "/users/friends", "made-up", "", 401, "unauthorized"),
        ("GET", "/users/getUserSecure/nobody@example.test", "", "", 404, "no_such_user"),
        ("POST", "/rooms/find-or-create", token, r#"{"friendId":4}"#, 403, "forbidden"),
        ("POST", "/rooms/find-or-create", token, r#"{"friendId":"x"}"#, 400, "bad_request"),
        ("POST", "/rooms/find-or-create", token, "{}", 400, "bad_request"),
        ("POST", "/rooms/find-or-create", token, r#"{"name":""}"#, 400, "bad_request"),
        ("GET", "/rooms/nowhere/messages", token, "", 404, "no_such_room"),
        ("GET", "/rooms/lobby/messages?after=x", token, "", 400, "bad_request"),
        ("DELETE", "/healthz", "", "", 405, "method_not_allowed"),
        ("GET", "/nothing", "", "", 404, "not_found"),
        ("GET", "/ws", token, "", 426, "upgrade_required"),
    ];
    for (method, path, token, body, status, code) in cases {
        let reply = request(service.address(), method, path, token, body).await;
        assert_eq!((reply.status, reply.error_code().as_str()), (status, code), "{method} {path}");
    }
}

#[tokio::test]
async fn a_login_at_a_service_without_accounts_is_told_what_makes_some() {
    let login = r#"{"email":"user1@example.test","password":"password"}"#;
    let message = async |service: &sonagi_chat::Service| {
        let refused = post(service.address(), "/auth/login", "", login).await;
        assert_eq!((refused.status, refused.error_code().as_str()), (401, "wrong_credentials"));
        refused.json()["error"]["message"].as_str().unwrap().to_owned()
    };
    let empty = serve(0).await;
    assert_eq!(empty.accounts(), 0);
    let expected = "the email or the password is wrong: this service has no accounts; \
        `--seed-users N` or `--account EMAIL:PASSWORD` makes some when it starts";
    assert_eq!(message(&empty).await, expected);
    let account = sonagi_chat::Account { email: "ann@example.test".to_owned(), password: "x".to_owned() };
    let config = Config { accounts: vec![account], ..Config::default() };
    let service = sonagi_chat::start(config).await.unwrap();
    assert_eq!(service.accounts(), 1);
    assert_eq!(message(&service).await, "the email or the password is wrong");
}

#[tokio::test]
async fn a_client_that_hammers_the_login_is_told_when_to_come_back() {
    let limits = Limits { login_per_email: Rate { burst: 2.0, per_second: 0.5 }, ..Limits::default() };
    let config = Config { seed_users: 2, limits, ..Config::default() };
    let service = sonagi_chat::start(config).await.unwrap();
    let login = |n: usize| format!(r#"{{"email":"user{n}@example.test","password":"password"}}"#);
    let at = service.address();
    for status in [200, 200] {
        assert_eq!(post(at, "/auth/login", "", &login(1)).await.status, status);
    }
    let limited = post(at, "/auth/login", "", &login(1)).await;
    assert_eq!((limited.status, limited.error_code().as_str()), (429, "too_many_logins"));
    assert_eq!(limited.header("retry-after"), Some("2"));
    assert_eq!(post(at, "/auth/login", "", &login(2)).await.status, 200);
}

#[tokio::test]
async fn what_is_no_email_address_by_its_length_takes_no_bucket() {
    let limits = Limits { login_per_email: Rate { burst: 1.0, per_second: 0.001 }, ..Limits::default() };
    let service = sonagi_chat::start(Config { limits, ..Config::default() }).await.unwrap();
    let login = |length: usize| format!(r#"{{"email":"{}","password":"x"}}"#, "e".repeat(length));
    for (length, status) in [(255, 400), (255, 400), (60_000, 400), (254, 401), (254, 429)] {
        let reply = post(service.address(), "/auth/login", "", &login(length)).await;
        assert_eq!(reply.status, status, "{length}");
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused() {
    let service = serve(1).await;
    let body = "x".repeat(64 * 1024 + 1);
    assert_eq!(post(service.address(), "/auth/login", "", &body).await.status, 413);
}

#[tokio::test]
async fn whoever_writes_all_of_a_body_that_is_too_large_before_it_reads_gets_its_answer() {
    let service = serve(0).await;
    let mut stream = TcpStream::connect(service.address()).await.unwrap();
    let body = vec![b'x'; 8_000_000];
    let head = format!("POST /auth/login HTTP/1.1\r\nHost: chat\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).await.unwrap();
    within("the body", stream.write_all(&body)).await.unwrap();
    let reply = within("the answer", read_reply(&mut stream)).await.unwrap();
    assert_eq!((reply.status, reply.error_code().as_str()), (413, "too_large"));
    // All of it was read: the connection goes on.
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: chat\r\n\r\n").await.unwrap();
    assert_eq!(within("the next answer", read_reply(&mut stream)).await.unwrap().status, 200);
}

#[tokio::test]
async fn a_request_names_its_host_once() {
    let service = serve(0).await;
    for (version, hosts, status) in [
        ("1.1", "Host: chat\r\n", 200),
        ("1.1", "Host: [::1]:8080\r\n", 200),
        ("1.1", "Host:\r\n", 200),
        ("1.1", "", 400),
        ("1.1", "Host: chat\r\nHost: chat\r\n", 400),
        ("1.1", "Host: chat\r\nHost: other\r\n", 400),
        ("1.1", "Host: chat other\r\n", 400),
        ("1.1", "Host: user@chat\r\n", 400),
        ("1.1", "Host: chat/path\r\n", 400),
        ("1.0", "", 200),
        ("1.0", "Host: chat\r\nHost: chat\r\n", 400),
    ] {
        let text = format!("GET /healthz HTTP/{version}\r\n{hosts}Connection: close\r\n\r\n");
        let reply = exchange(service.address(), text.as_bytes()).await;
        assert_eq!(reply.status, status, "{version} {hosts:?}");
    }
}

#[tokio::test]
async fn whoever_asks_whether_to_send_a_body_that_is_too_large_is_told_at_once_that_it_may_not() {
    let service = serve(1).await;
    let polled = polled(service.address(), "EIO=4").await;
    for (path, length, first) in [
        ("/auth/login", 64 * 1024, 100),
        ("/auth/login", 64 * 1024 + 1, 413),
        ("/location/long/7/notify", 100_000_000, 413),
        (polled.as_str(), 100_000_000, 413),
    ] {
        let text = format!(
            "POST {path} HTTP/1.1\r\nHost: chat\r\nExpect: 100-continue\r\nContent-Length: {length}\r\n\r\n"
        );
        assert_eq!(exchange(service.address(), text.as_bytes()).await.status, first, "{path} {length}");
    }
}

#[tokio::test]
async fn only_listed_origins_may_come_in() {
    let origins = vec!["https://chat.example.test".to_owned()];
    let service = sonagi_chat::start(Config { seed_users: 1, origins, ..Config::default() }).await.unwrap();
    let ask = |origin: &'static str| {
        let at = service.address();
        async move {
            let text = format!("GET /healthz HTTP/1.1\r\nHost: chat\r\n{origin}Connection: close\r\n\r\n");
            exchange(at, text.as_bytes()).await
        }
    };
    let listed = ask("Origin: https://chat.example.test\r\n").await;
    assert_eq!(listed.status, 200);
    assert_eq!(listed.header("access-control-allow-origin"), Some("https://chat.example.test"));
    assert_eq!(ask("Origin: https://chat.example.test.evil\r\n").await.status, 403);
    assert_eq!(ask("").await.status, 200);
    let open = serve(0).await;
    let any = "GET /healthz HTTP/1.1\r\nHost: chat\r\nOrigin: https://any.test\r\nConnection: close\r\n\r\n";
    let any = exchange(open.address(), any.as_bytes()).await;
    assert_eq!(any.header("access-control-allow-origin"), Some("*"));
    assert_eq!(any.header("access-control-allow-credentials"), None);
    let token = &service.credentials()[0].token;
    let path = format!("/ws?room=lobby&token={token}");
    let refused = Ws::open(service.address(), &path, "Origin: https://evil.test\r\n").await.err().unwrap();
    assert_eq!(refused.status, 403);
}

#[tokio::test]
async fn there_may_be_so_many_rooms_and_no_more() {
    let limits = Limits { rooms: 2, ..Limits::default() };
    let service = sonagi_chat::start(Config { seed_users: 2, limits, ..Config::default() }).await.unwrap();
    let token = &service.credentials()[0].token;
    for (wanted, status) in [
        (r#"{"name":"second"}"#, 200),
        (r#"{"name":"third"}"#, 409),
        (r#"{"friendId":2}"#, 409),
        (r#"{"name":"second"}"#, 200),
        (r#"{"name":"lobby"}"#, 200),
    ] {
        let reply = post(service.address(), "/rooms/find-or-create", token, wanted).await;
        assert_eq!(reply.status, status, "{wanted}");
    }
}

#[tokio::test]
async fn history_is_paged_by_a_dense_sequence() {
    let service = serve(1).await;
    let (at, token) = (service.address(), &service.credentials()[0].token);
    let mut ws = Ws::in_room(at, "lobby", token).await;
    for n in 1..=5 {
        ws.say(&format!("message {n}"), &n.to_string()).await;
        assert_eq!(ws.json_of("ack").await["seq"], n);
    }
    let page = get(at, "/rooms/lobby/messages?after=2&limit=2", token).await.json();
    let seqs: Vec<u64> =
        page["messages"].as_array().unwrap().iter().map(|m| m["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, [3, 4]);
    assert_eq!((&page["next"], &page["last"]), (&4.into(), &5.into()));
    assert_eq!(page["messages"][0]["content"], "message 3");
}

#[tokio::test]
async fn a_file_keeps_users_rooms_and_messages_over_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let store = sonagi_chat::StoreLocation::File(folder.path().join("chat.db"));
    let config = Config { seed_users: 2, store, ..Config::default() };
    let service = sonagi_chat::start(config.clone()).await.unwrap();
    let mut ws = Ws::in_room(service.address(), "lobby", &service.credentials()[0].token).await;
    ws.say("kept", "a").await;
    assert_eq!(ws.json_of("ack").await["seq"], 1);
    drop(ws);
    service.drain(std::time::Duration::ZERO).await;

    let service = sonagi_chat::start(config).await.unwrap();
    let (at, token) = (service.address(), &service.credentials()[0].token);
    let page = get(at, "/rooms/lobby/messages", token).await.json();
    assert_eq!(page["messages"][0]["content"], "kept");
    let mut ws = Ws::in_room(at, "lobby", token).await;
    ws.say("kept", "a").await;
    assert_eq!(ws.json_of("ack").await["seq"], 1, "the id of the first run is known");
    ws.say("new", "b").await;
    assert_eq!(ws.json_of("ack").await["seq"], 2);
}

#[tokio::test]
async fn a_page_of_history_is_bounded_in_bytes_and_next_goes_on() {
    let limits = Limits { history_bytes: 100_000, ..Limits::default() };
    let service = sonagi_chat::start(Config { seed_users: 1, limits, ..Config::default() }).await.unwrap();
    let (at, token) = (service.address(), &service.credentials()[0].token);
    let mut ws = Ws::in_room(at, "lobby", token).await;
    // The third alone is over none of the limits but leaves no room for a neighbour.
    for length in [40_000, 50_000, 65_000, 10, 20] {
        ws.say(&"x".repeat(length), "").await;
        ws.json_of("ack").await;
    }
    let mut after = 0;
    for seqs in [vec![1, 2], vec![3, 4, 5], vec![]] {
        let path = format!("/rooms/lobby/messages?after={after}&limit=500");
        let reply = get(at, &path, token).await;
        assert!(reply.body.len() < 101_000, "{}", reply.body.len());
        let page = reply.json();
        let got: Vec<u64> =
            page["messages"].as_array().unwrap().iter().map(|m| m["seq"].as_u64().unwrap()).collect();
        assert_eq!(got, seqs);
        after = page["next"].as_u64().unwrap();
    }
    assert_eq!(after, 5);
}

#[tokio::test]
async fn a_page_of_history_has_at_least_one_message() {
    let limits = Limits { history_bytes: 10, ..Limits::default() };
    let service = sonagi_chat::start(Config { seed_users: 1, limits, ..Config::default() }).await.unwrap();
    let (at, token) = (service.address(), &service.credentials()[0].token);
    let mut ws = Ws::in_room(at, "lobby", token).await;
    for _ in 0..2 {
        ws.say(&"x".repeat(1000), "").await;
        ws.json_of("ack").await;
    }
    let page = get(at, "/rooms/lobby/messages", token).await.json();
    assert_eq!((&page["next"], page["messages"].as_array().unwrap().len()), (&1.into(), 1));
}
