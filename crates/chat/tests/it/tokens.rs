//! A token that has run out opens nothing any more, by whatever way it comes; what it has opened goes on.

use std::time::{Duration, Instant};

use sonagi_chat::{Config, Limits};

use crate::client::{Ws, get, post, within};
use crate::socketio_client::{PATH, Sio};
use crate::stomp_client::Stomp;

#[tokio::test]
async fn a_token_that_has_run_out_is_refused_everywhere_and_ends_no_connection() {
    let token_lifetime = Duration::from_millis(1500);
    let limits = Limits { token_lifetime, ..Limits::default() };
    let service = sonagi_chat::start(Config { seed_users: 2, limits, ..Config::default() }).await.unwrap();
    let at = service.address();
    let begun = Instant::now();
    let credentials = r#"{"email":"user1@example.test","password":"password"}"#;
    let login = post(at, "/auth/login", "", credentials).await.json();
    let token = login["access_token"].as_str().unwrap();
    let mut ws = Ws::in_room(at, "lobby", token).await;
    let mut sio = Sio::in_room(at, "lobby", token).await;
    within("the end of the token", async {
        while get(at, "/users/friends", token).await.status == 200 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    assert!(begun.elapsed() >= token_lifetime, "it ended after {:?}", begun.elapsed());

    let requests = [
        ("/users/friends", true),
        ("/rooms/lobby/messages", true),
        ("/cur/g", true),
        ("/location/long/g", true),
        ("/location/sse/connect?group=g", true),
        (&format!("/cur/g?token={token}"), false),
        (&format!("/location/sse/connect?group=g&token={token}"), false),
    ];
    for (path, in_header) in requests {
        let refused = get(at, path, if in_header { token } else { "" }).await;
        assert_eq!((refused.status, refused.error_code().as_str()), (401, "unauthorized"), "{path}");
    }
    assert_eq!(post(at, "/location/sse/share?group=g", token, "1").await.status, 401);
    assert_eq!(Ws::open(at, &format!("/ws?room=lobby&token={token}"), "").await.err().unwrap().status, 401);
    let mut refused = Ws::open(at, PATH, "").await.ok().unwrap();
    refused.next_text().await;
    refused.text(&format!(r#"40{{"token":"{token}"}}"#)).await;
    assert_eq!(refused.next_text().await, r#"44{"message":"unauthorized"}"#);
    let mut stomp = Stomp::open(at, "/location", "").await.ok().unwrap();
    stomp.frame(&format!("CONNECT\naccept-version:1.2\nhost:chat\nlogin:{token}\n\n")).await;
    assert_eq!(stomp.fails("unauthorized").await.1, Some(1000));

    // Who is in stays in: a connection is not looked at again.
    ws.say("still here", "a").await;
    assert_eq!(ws.json_of("ack").await["seq"], 1);
    assert_eq!(sio.message().await["content"], "still here");
    let again = post(at, "/auth/login", "", credentials).await.json();
    assert_eq!(get(at, "/users/friends", again["access_token"].as_str().unwrap()).await.status, 200);
}
