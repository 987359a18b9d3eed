//! Polls of scripted servers: the contents of answers, the end of held requests, and of connections.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use serde_json_path::JsonPath;
use sonagi_measure::At;
use sonagi_measure::outcome::Failure;
use sonagi_transport::link::{PollCursor, PollField, PollLink, PollRequest, Rhythm};
use sonagi_transport::net::{Failed, Origin};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::net_servers::{Driven, answering, local, net, read_head, serve};

fn request(origin: &Origin) -> PollRequest {
    let from = PollField::Json(JsonPath::parse("$.next").unwrap());
    PollRequest {
        origin: origin.clone(),
        path: "/location/long/g?x=1".into(),
        headers: vec![("authorization".into(), "Bearer x".into())],
        cookie: Some("sid=1".into()),
        cursor: Some(PollCursor { from, parameter: "after".into() }),
        more: None,
        after: None,
        rhythm: Rhythm::Held(Duration::from_secs(25)),
        empty: Vec::new(),
        messages: "messages".into(),
        timeout: Duration::from_secs(10),
        max_answer: 100_000,
        planned: At(0),
        seed: 1,
    }
}

async fn open(request: PollRequest) -> Result<Driven, Failed> {
    // Time stands still but where a test moves it.
    let link = PollLink::open(&net(), Rc::new(At::default), request).await?;
    Ok(Driven::new(link))
}

/// Answers the n-th request in these words, or holds it when there are none; hangs up after an answer with `true`.
/// Returns the heads of the requests.
async fn scripted(answers: Vec<(String, bool)>) -> (Origin, Rc<RefCell<Vec<String>>>) {
    let heads = Rc::<RefCell<Vec<String>>>::default();
    let noted = Rc::clone(&heads);
    let answers = Rc::new(answers);
    let origin = serve(move |_, mut stream| {
        let (noted, answers) = (Rc::clone(&noted), Rc::clone(&answers));
        async move {
            loop {
                let head = read_head(&mut stream).await;
                if head.is_empty() {
                    return;
                }
                let number = noted.borrow().len();
                noted.borrow_mut().push(head);
                let Some((words, hangs_up)) = answers.get(number) else {
                    let _ = stream.read_u8().await;
                    noted.borrow_mut().push("cut off".into());
                    return;
                };
                stream.write_all(words.as_bytes()).await.unwrap();
                if *hangs_up {
                    return;
                }
            }
        }
    })
    .await;
    (origin, heads)
}

fn ok(body: &str) -> (String, bool) {
    (format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()), false)
}

fn bare(status: u16) -> (String, bool) {
    (format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n"), false)
}

#[test]
fn each_request_goes_on_behind_the_answer_before_it() {
    local(async {
        let (origin, heads) = scripted(vec![
            ok(r#"{"group":"g","messages":[{"seq":1}],"next":"e.1"}"#),
            ok(r#"{"messages":[{"seq":2},{"seq":3}],"next":"e 3"}"#),
            ok(r#"{"messages":[],"gap":true}"#),
        ])
        .await;
        let mut driven = open(request(&origin)).await.unwrap();
        driven.until(|driven| driven.seen.len() == 6).await;
        let first = ["polled 200 first", "message : {\"seq\":1}", "polled 200", "message : {\"seq\":2}"];
        assert_eq!(driven.seen[..4], first);
        assert_eq!(driven.seen[4..], ["message : {\"seq\":3}", "polled 200 empty"]);
        // It came at once and brought nothing: the next one waits.
        assert_eq!(driven.connection.expires(), Some(At(100_000_000)));
        assert_eq!(driven.connection.cursor(), Some("e 3"), "an answer without one keeps it");
        driven.now = At(100_000_000);
        while heads.borrow().len() < 4 {
            poll_fn(|cx| {
                assert!(driven.poll(cx).is_pending());
                Poll::Ready(())
            })
            .await;
            tokio::task::yield_now().await;
        }
        let lines: Vec<String> =
            heads.borrow().iter().map(|h| h.lines().next().unwrap().to_owned()).collect();
        assert_eq!(lines[0], "GET /location/long/g?x=1 HTTP/1.1");
        assert_eq!(lines[1], "GET /location/long/g?x=1&after=e.1 HTTP/1.1");
        assert_eq!(lines[3], "GET /location/long/g?x=1&after=e%203 HTTP/1.1");
        assert!(heads.borrow()[3].contains("authorization: Bearer x\r\n"), "{}", heads.borrow()[3]);
        assert!(heads.borrow()[3].contains("cookie: sid=1\r\n"));
        // A held request is cut off; nobody waits for it.
        driven.connection.begin_close();
        assert_eq!(driven.ended().await.failure, None);
        while heads.borrow().len() < 5 {
            tokio::task::yield_now().await;
        }
        assert_eq!(heads.borrow()[4], "cut off");
        let (sent, received) = driven.connection.take_bytes();
        assert!(sent > 300 && received > 200, "{sent} {received}");
    });
}

#[test]
fn polling_goes_on_from_the_cursor_it_is_given() {
    local(async {
        let (origin, heads) = scripted(vec![ok("[]")]).await;
        let mut driven = open(PollRequest { after: Some("41".into()), ..request(&origin) }).await.unwrap();
        assert_eq!(driven.messages(1).await, ["polled 200 empty"]);
        assert!(heads.borrow()[0].starts_with("GET /location/long/g?x=1&after=41 HTTP/1.1\r\n"));
        assert_eq!(driven.connection.cursor(), Some("41"));
    });
}

#[test]
fn on_the_grid_a_request_leaves_when_it_is_due() {
    local(async {
        let (origin, heads) = scripted(vec![ok("[]"), bare(500), bare(204)]).await;
        let every = Rhythm::Every(Duration::from_secs(3));
        let mut driven = open(PollRequest { rhythm: every, ..request(&origin) }).await.unwrap();
        for (count, words) in
            [(1, "polled 200 empty first"), (2, "poll failed poll_refused_500"), (3, "polled 204 empty")]
        {
            driven.messages(count).await;
            assert_eq!(driven.seen.last().unwrap(), words);
            let due = At(count as i64 * 3_000_000_000);
            assert_eq!((driven.connection.expires(), heads.borrow().len()), (Some(due), count));
            driven.now = due;
        }
    });
}

#[test]
fn an_answer_that_was_cut_short_is_followed_up_at_once_and_the_grid_stays() {
    local(async {
        let (origin, heads) = scripted(vec![
            ok(r#"{"messages":[1],"next":1,"more":true}"#),
            ok(r#"{"messages":[2],"next":2,"more":true}"#),
            ok(r#"{"messages":[3],"next":3}"#),
            // Neither of these two would bring anything else if it were asked again.
            ok(r#"{"messages":[3],"next":3,"more":true}"#),
            ok(r#"{"messages":[],"next":4,"more":true}"#),
            ok(r#"{"messages":[5],"next":5,"more":true}"#),
            bare(500),
            ok(r#"{"messages":[6],"next":6,"more":false}"#),
        ])
        .await;
        let more = Some(PollField::Json(JsonPath::parse("$.more").unwrap()));
        let rhythm = Rhythm::Every(Duration::from_secs(3));
        let mut driven = open(PollRequest { rhythm, more, ..request(&origin) }).await.unwrap();
        for (polls, seen) in [(3, 6), (4, 8), (5, 9), (7, 12), (8, 14)] {
            driven.until(|driven| driven.seen.len() == seen).await;
            let due = At(driven.now.0 + 3_000_000_000);
            assert_eq!((driven.connection.expires(), heads.borrow().len()), (Some(due), polls));
            driven.now = due;
        }
        assert!(heads.borrow()[2].contains("&after=2 "), "{}", heads.borrow()[2]);
    });
}

#[test]
fn what_would_be_followed_up_when_the_next_poll_is_due_is_that_poll() {
    local(async {
        let (origin, heads) = scripted(vec![
            ok(r#"{"messages":[1],"next":1,"more":true}"#),
            ok(r#"{"messages":[2],"next":2}"#),
        ])
        .await;
        let more = Some(PollField::Json(JsonPath::parse("$.more").unwrap()));
        let rhythm = Rhythm::Every(Duration::from_secs(3));
        let late = Rc::new(|| At(4_000_000_000));
        let request = PollRequest { rhythm, more, ..request(&origin) };
        let mut driven = Driven::new(PollLink::open(&net(), late, request).await.unwrap());
        driven.now = At(4_000_000_000);
        driven.until(|driven| driven.seen.len() == 4).await;
        // Another one would be there by then.
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!((driven.connection.expires(), heads.borrow().len()), (Some(At(6_000_000_000)), 2));
    });
}

#[test]
fn a_first_poll_that_does_not_subscribe_is_a_refusal() {
    local(async {
        for (answer, failure, words) in [
            (
                &b"HTTP/1.1 403 No\r\nContent-Length: 10\r\n\r\nnot a user"[..],
                Failure::HandshakeRefused(403),
                "403: not a user",
            ),
            (b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", Failure::HandshakeRefused(503), "503"),
            (
                b"HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n",
                Failure::HandshakeRefused(302),
                "302",
            ),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 200\r\n\r\n{\"mess", Failure::ClosedEarly, "in the middle"),
            (b"", Failure::ClosedEarly, "before"),
            (b"hello?\r\n\r\n", Failure::Protocol, "not HTTP"),
        ] {
            let failed = open(request(&answering(answer).await)).await.err().unwrap();
            assert_eq!(failed.failure, failure, "{failed}");
            assert!(failed.detail.contains(words), "{failed}");
        }
        let mut wrong = request(&Origin { host: "127.0.0.1".into(), port: 1, tls: false });
        assert_eq!(open(wrong.clone()).await.err().unwrap().failure, Failure::ConnectRefused);
        wrong.headers = vec![("x".into(), "1\r\ninjected: 2".into())];
        assert_eq!(open(wrong).await.err().unwrap().failure, Failure::Template);
    });
}

#[test]
fn an_answer_cut_short_fails_its_poll_and_three_in_a_row_the_connection() {
    let cut = || ("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{\"messages\":[{".to_owned(), true);
    local(async {
        let (origin, _) = scripted(vec![ok("[1]"), cut(), cut(), ok("[2]"), cut(), cut(), cut()]).await;
        let mut driven = open(request(&origin)).await.unwrap();
        for seen in [3, 4, 6, 7, 8] {
            driven.messages(seen).await;
            // The answer between the failures is followed at once.
            if seen != 6 {
                let wait = driven.connection.expires().unwrap().since(driven.now);
                assert!((500_000_000..=1_500_000_000).contains(&wait), "{wait} ns after {seen}");
                driven.now = driven.now.plus(wait);
            }
        }
        let ended = driven.ended().await;
        let failed = "poll failed closed_early";
        let expected = [
            "polled 200 first",
            "message : 1",
            failed,
            failed,
            "polled 200",
            "message : 2",
            failed,
            failed,
            failed,
        ];
        assert_eq!(driven.seen, expected);
        assert_eq!((ended.failure, ended.is_goodbye), (Some(Failure::ClosedEarly), false));
        assert!(ended.detail.starts_with("3 polls in a row failed, the last: "), "{}", ended.detail);
        assert_eq!(driven.ended().await, ended, "and says so again");
    });
}

#[test]
fn an_answer_beyond_the_limit_is_a_breach_and_ends_the_connection() {
    local(async {
        let large = "x".repeat(100_001);
        let (origin, _) = scripted(vec![ok("[]"), ok(&large)]).await;
        let mut driven = open(request(&origin)).await.unwrap();
        driven.messages(1).await;
        driven.now = At(100_000_000);
        let ended = driven.ended().await;
        assert_eq!(ended.failure, Some(Failure::Protocol));
        assert!(ended.detail.contains("at most 100000 bytes, got 100001"), "{}", ended.detail);
        let (origin, _) = scripted(vec![ok(&large)]).await;
        assert_eq!(open(request(&origin)).await.err().unwrap().failure, Failure::Protocol);
    });
}

#[test]
fn without_a_cursor_a_held_poll_subscribes_once_it_has_left() {
    local(async {
        let (told, mut events) = tokio::sync::mpsc::unbounded_channel();
        let (answer, answers) = tokio::sync::oneshot::channel::<()>();
        let answers = Rc::new(RefCell::new(Some(answers)));
        let origin = serve(move |_, mut stream| {
            let (told, answers) = (told.clone(), answers.borrow_mut().take());
            async move {
                read_head(&mut stream).await;
                told.send(()).unwrap();
                if let Some(answers) = answers {
                    answers.await.unwrap();
                }
                stream.write_all(ok("{\"lat\":1}").0.as_bytes()).await.unwrap();
                let _ = stream.read_u8().await;
            }
        })
        .await;
        let mut driven = open(PollRequest { cursor: None, ..request(&origin) }).await.unwrap();
        events.recv().await.unwrap();
        answer.send(()).unwrap();
        assert_eq!(driven.messages(2).await, ["polled 200", "message : {\"lat\":1}"]);
        assert_eq!(driven.connection.cursor(), None);
    });
}

#[test]
fn a_dropped_first_poll_closes_its_connection() {
    local(async {
        let (origin, heads) = scripted(Vec::new()).await;
        let asked = async {
            while heads.borrow().is_empty() {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            _ = open(request(&origin)) => unreachable!("it is never answered"),
            () = asked => {}
        }
        while heads.borrow().len() < 2 {
            tokio::task::yield_now().await;
        }
        assert_eq!(heads.borrow()[1], "cut off");
    });
}
