//! Lists of users, their pages, and the login in front of them.

use std::collections::HashSet;

use serde_json::{Value, json};
use sonagi_chat::{Account, Config, Limits, Rate, Service, StoreLocation};

use crate::client::{Ws, get, post, serve};

async fn page(service: &Service, path: &str) -> Value {
    let reply = get(service.address(), path, &service.credentials()[0].token).await;
    assert_eq!(reply.status, 200, "{path}: {}", reply.body);
    reply.json()
}

fn ids(page: &Value) -> Vec<u64> {
    page["users"].as_array().unwrap().iter().map(|user| user["id"].as_u64().unwrap()).collect()
}

fn account(email: &str, password: &str) -> Account {
    Account { email: email.to_owned(), password: password.to_owned() }
}

#[tokio::test]
async fn the_login_below_api_makes_a_token_and_says_so() {
    let service = serve(1).await;
    let login = |password| format!(r#"{{"email":"user1@example.test","password":"{password}"}}"#);
    let made = post(service.address(), "/api/auth/login", "", &login("password")).await;
    assert_eq!(made.status, 201);
    let made = made.json();
    assert_eq!(made["user"]["email"], "user1@example.test");
    let listed = get(service.address(), "/api/user/list-all", made["token"].as_str().unwrap()).await;
    assert_eq!(listed.status, 200);
    let wrong = post(service.address(), "/api/auth/login", "", &login("wrong")).await;
    assert_eq!((wrong.status, wrong.error_code().as_str()), (401, "wrong_credentials"));
}

#[tokio::test]
async fn everybody_is_listed_page_by_page_the_newest_first() {
    let service = serve(25).await;
    let first = page(&service, "/api/user/list-all").await;
    assert_eq!(ids(&first), (16..=25).rev().collect::<Vec<u64>>());
    assert_eq!((&first["totalPage"], &first["currentPage"]), (&json!(3), &json!(1)));
    assert_eq!(ids(&page(&service, "/api/user/list-all?page=3").await), [5, 4, 3, 2, 1]);
    let twenty = page(&service, "/api/user/list-all?page=2&limit=20").await;
    assert_eq!((ids(&twenty), &twenty["totalPage"]), (vec![5, 4, 3, 2, 1], &json!(2)));
    assert_eq!(ids(&page(&service, "/api/user/list-all?page=9223372036854775807").await), [0; 0]);
}

#[tokio::test]
async fn a_list_goes_on_behind_a_user() {
    let service = serve(25).await;
    let mut next = json!(26);
    for (last, count) in [(16, 10), (6, 10), (1, 5)] {
        let behind = page(&service, &format!("/api/user/list-all?after={next}")).await;
        let expected: Vec<u64> = (last..last + count).rev().collect();
        assert_eq!(ids(&behind), expected);
        next = if count == 10 { json!(last) } else { Value::Null };
        assert_eq!(behind, json!({"users": behind["users"], "next": next}));
    }
    let sponsored = page(&service, "/api/user/list?search=sponsored&after=2").await;
    assert_eq!((ids(&sponsored), &sponsored["next"]), (vec![3], &Value::Null));
}

#[tokio::test]
async fn lists_know_who_sponsors_whom_and_what_was_said() {
    let service = serve(5).await;
    let (at, token) = (service.address(), &service.credentials()[1].token);
    let mut ws = Ws::in_room(at, "lobby", token).await;
    ws.say("hi", "1").await;
    ws.json_of("ack").await;
    let sponsored = page(&service, "/api/user/list?search=sponsored").await;
    assert_eq!(ids(&sponsored), [2, 3], "a user sponsors the next two of the ring");
    let second =
        json!({"id": 2, "email": "user2@example.test", "username": "user2", "posts": 1, "sponsors": 2});
    assert_eq!(sponsored["users"][0], second);
    assert_eq!(ids(&page(&service, "/api/user/list?search=sponsor").await), [4, 5]);
    assert_eq!(ids(&page(&service, "/api/user/list?search=allSponsored&limit=3").await), [5, 4, 3]);
}

#[tokio::test]
async fn a_random_page_has_nobody_twice_and_is_another_each_time() {
    let service = serve(30).await;
    let mut orders = HashSet::new();
    for _ in 0..5 {
        let random = page(&service, "/api/user/list?search=random&limit=20").await;
        let shown = ids(&random);
        assert_eq!(shown.iter().collect::<HashSet<_>>().len(), 20, "{shown:?}");
        assert_eq!(random["totalPage"], 2);
        orders.insert(shown);
    }
    // Two alike of five: one in 30!/10!.
    assert_eq!(orders.len(), 5);
    assert_eq!(ids(&page(&service, "/api/user/list?search=random&limit=99").await).len(), 30);
}

#[tokio::test]
async fn a_list_wants_a_token_and_a_search_it_knows() {
    let service = serve(1).await;
    let token = &service.credentials()[0].token;
    for (path, token, status, code) in [
        ("/api/user/list-all", "", 401, "unauthorized"),
        ("/api/user/list?search=random", "made-up", 401, "unauthorized"),
        ("/api/user/list", token, 400, "bad_request"),
        ("/api/user/list?search=everyone", token, 400, "bad_request"),
        ("/api/user/list-all?page=0", token, 400, "bad_request"),
        ("/api/user/list-all?after=3&page=2", token, 400, "bad_request"),
        ("/api/user/list?search=random&after=3", token, 400, "bad_request"),
        ("/api/user/list-all?limit=x", token, 400, "bad_request"),
    ] {
        let reply = get(service.address(), path, token).await;
        assert_eq!((reply.status, reply.error_code().as_str()), (status, code), "{path}");
    }
    let posted = post(service.address(), "/api/user/list-all", token, "").await;
    assert_eq!((posted.status, posted.error_code().as_str()), (405, "method_not_allowed"));
}

#[tokio::test]
async fn given_accounts_are_there_with_their_password_and_their_friends() {
    let folder = tempfile::tempdir().unwrap();
    let store = StoreLocation::File(folder.path().join("chat.db"));
    let config = |password| Config {
        store: store.clone(),
        seed_users: 3,
        accounts: vec![account("test@test.com", password)],
        ..Config::default()
    };
    let login = |password| format!(r#"{{"email":"test@test.com","password":"{password}"}}"#);
    let service = sonagi_chat::start(config("1234")).await.unwrap();
    let made = post(service.address(), "/api/auth/login", "", &login("1234")).await;
    assert_eq!(made.status, 201);
    let token = made.json()["token"].as_str().unwrap().to_owned();
    let sponsored = get(service.address(), "/api/user/list?search=sponsored", &token).await.json();
    assert_eq!(ids(&sponsored), [1, 2]);
    let friends = get(service.address(), "/users/friends", &token).await.json();
    assert_eq!(friends["friends"].as_array().unwrap().len(), 3);
    let last = service.credentials().last().unwrap();
    assert_eq!((last.email.as_str(), last.password.as_str()), ("test@test.com", "1234"));
    service.drain(std::time::Duration::ZERO).await;
    let service = sonagi_chat::start(config("5678")).await.unwrap();
    for (password, status) in [("1234", 401), ("5678", 201)] {
        let reply = post(service.address(), "/api/auth/login", "", &login(password)).await;
        assert_eq!(reply.status, status, "{password}");
    }
}

#[tokio::test]
async fn logins_of_one_account_are_as_many_as_the_limit_says() {
    let limits = Limits { login_per_email: Rate::of_logins(3), ..Limits::default() };
    let config = Config { accounts: vec![account("test@test.com", "1234")], limits, ..Config::default() };
    let service = sonagi_chat::start(config).await.unwrap();
    let login = r#"{"email":"test@test.com","password":"1234"}"#;
    let mut granted = 0;
    for _ in 0..40 {
        granted += u32::from(post(service.address(), "/api/auth/login", "", login).await.status == 201);
    }
    // Twelve at once, and what flowed back meanwhile.
    assert!((12..30).contains(&granted), "{granted}");
}
