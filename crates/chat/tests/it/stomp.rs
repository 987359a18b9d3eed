//! STOMP: what each version promises, frame by frame.

use std::time::Duration;

use serde_json::json;
use sonagi_chat::{Config, Limits, Service};

use crate::client::{Got, Ws, metric, serve};
use crate::stomp_client::{Frame, Stomp};

async fn serve_with(limits: Limits) -> Service {
    sonagi_chat::start(Config { seed_users: 2, limits, ..Config::default() }).await.unwrap()
}

/// ACK, or NACK, of this message as its version says it.
fn acknowledges(command: &str, version: &str, message: &Frame) -> String {
    let header = |name: &str| message.header(name).unwrap();
    match version {
        "1.0" => format!("{command}\nmessage-id:{}\nreceipt:a\n\n", header("message-id")),
        "1.1" => {
            let (id, subscription) = (header("message-id"), header("subscription"));
            format!("{command}\nmessage-id:{id}\nsubscription:{subscription}\nreceipt:a\n\n")
        }
        _ => format!("{command}\nid:{}\nreceipt:a\n\n", header("ack")),
    }
}

#[tokio::test]
async fn every_version_and_way_to_acknowledge_gets_every_message_in_order() {
    let service = serve(0).await;
    let modes = ["auto", "client", "client-individual"];
    let mut group = 0;
    for version in ["1.0", "1.1", "1.2"] {
        for mode in modes.into_iter().filter(|mode| (version, *mode) != ("1.0", "client-individual")) {
            for path in ["/location", "/location/websocket", "/location/000/abc/websocket"] {
                group += 1;
                let mut stomp = Stomp::connect_to(service.address(), path, version, "").await;
                let destination = format!("/sub/location/{group}");
                let receipt = stomp.subscribe("s", &destination, &format!("ack:{mode}\n")).await;
                assert_eq!(receipt.header("seq"), Some("0"));
                for n in 1..=3 {
                    stomp.share(&group.to_string(), &format!(r#"{{"n":{n}}}"#)).await;
                }
                let mut messages = Vec::new();
                for n in 1..=3 {
                    let message = stomp.next().await;
                    assert_eq!((message.command.as_str(), message.seq()), ("MESSAGE", n));
                    assert_eq!(message.json()["content"], json!({"n": n}));
                    assert_eq!(message.json()["senderId"], 0);
                    assert_eq!(message.header("destination"), Some(destination.as_str()));
                    assert_eq!(message.header("subscription"), Some("s"));
                    assert_eq!(message.header("content-type"), Some("application/json"));
                    assert_eq!(message.header("ack").is_some(), version == "1.2" && mode != "auto");
                    messages.push(message);
                }
                assert_ne!(messages[0].header("message-id"), messages[1].header("message-id"));
                if mode == "auto" {
                    continue;
                }
                // The second for all before it, or for itself.
                for (at, is_first) in [(1, true), (2, true), (0, mode == "client-individual")] {
                    stomp.frame(&acknowledges("ACK", version, &messages[at])).await;
                    if is_first {
                        assert_eq!(stomp.next().await.command, "RECEIPT");
                    } else {
                        assert_eq!(stomp.fails("bad_frame").await.1, Some(1002), "{version} {mode}");
                    }
                }
            }
        }
    }
    assert_eq!(metric(&service.metrics(), "chat_messages_total"), 3 * group);
}

#[tokio::test]
async fn a_subscription_without_an_id_is_1_0_s_and_goes_by_its_destination() {
    let service = serve(0).await;
    let mut stomp = Stomp::connect(service.address(), "1.0").await;
    stomp.frame("SUBSCRIBE\ndestination: /sub/location/7\nreceipt:1\n\n").await;
    assert_eq!(stomp.next().await.command, "RECEIPT");
    stomp.share("7", "1").await;
    let message = stomp.next().await;
    assert_eq!((message.seq(), message.header("subscription")), (1, None));
    stomp.frame("UNSUBSCRIBE\ndestination:/sub/location/7\nreceipt:2\n\n").await;
    assert_eq!(stomp.next().await.header("receipt-id"), Some("2"));
    stomp.share("7", "2").await;
    stomp.frame("SUBSCRIBE\ndestination:/sub/location/7\nafter:2\n\n").await;
    stomp.share("7", "3").await;
    assert_eq!(stomp.seq().await, 3, "what was sent while it was unsubscribed is not its own");
}

#[tokio::test]
async fn two_subscriptions_of_a_destination_are_two_and_share_nothing() {
    let service = serve(0).await;
    let mut stomp = Stomp::connect(service.address(), "1.2").await;
    stomp.subscribe("a", "/sub/location/7", "ack:client\n").await;
    stomp.subscribe("b", "/sub/location/7", "").await;
    stomp.frame("SEND\ndestination:/pub/share/7\nreceipt:0\n\n1").await;
    let mut frames = [stomp.next().await, stomp.next().await, stomp.next().await];
    // One receipt, however many copies there are for it to go with.
    frames.sort_by_key(|frame| frame.command == "RECEIPT");
    assert_eq!(frames[2].header("receipt-id"), Some("0"));
    let both = &frames[..2];
    let mut subscriptions: Vec<_> = both.iter().map(|frame| frame.header("subscription").unwrap()).collect();
    subscriptions.sort_unstable();
    assert_eq!((subscriptions, both[0].seq(), both[1].seq()), (vec!["a", "b"], 1, 1));
    assert_ne!(both[0].header("message-id"), both[1].header("message-id"));
    stomp.frame("UNSUBSCRIBE\nid:a\nreceipt:1\n\n").await;
    assert_eq!(stomp.next().await.command, "RECEIPT");
    // It was on its way when its subscription ended.
    let acked = both.iter().find_map(|frame| frame.header("ack")).unwrap();
    stomp.frame(&format!("ACK\nid:{acked}\nreceipt:2\n\n")).await;
    assert_eq!(stomp.next().await.header("receipt-id"), Some("2"));
    stomp.share("7", "2").await;
    let message = stomp.next().await;
    assert_eq!((message.header("subscription"), message.seq()), (Some("b"), 2));
}

#[tokio::test]
async fn a_body_that_is_no_json_is_passed_on_as_text_and_none_as_an_empty_object() {
    let service = serve(0).await;
    let mut stomp = Stomp::connect(service.address(), "1.2").await;
    stomp.subscribe("s", "/sub/location/7", "").await;
    for (body, content) in
        [("{\"a\": [1.10]}", json!({"a": [1.1]})), ("hello \"you\"", json!("hello \"you\"")), ("", json!({}))]
    {
        stomp.share("7", body).await;
        let message = stomp.next().await;
        assert_eq!(message.json()["content"], content);
        assert!(body != "{\"a\": [1.10]}" || message.body.contains(body), "as it was written");
    }
}

#[tokio::test]
async fn a_frame_is_answered_with_its_receipt_once_it_is_done() {
    let service = serve(0).await;
    let mut stomp = Stomp::connect(service.address(), "1.2").await;
    stomp.subscribe("s", "/sub/location/7", "").await;
    stomp.frame("SEND\ndestination:/pub/share/7\nreceipt:a\\cb\n\n1").await;
    assert_eq!(stomp.seq().await, 1, "its own copy comes first");
    assert_eq!(stomp.next().await.header("receipt-id"), Some("a\\cb"));
    // Without a subscription to what it sends.
    stomp.frame("SEND\ndestination:/pub/share/8\nreceipt:2\n\n1").await;
    assert_eq!(stomp.next().await.header("receipt-id"), Some("2"));
    stomp.frame("DISCONNECT\nreceipt:bye\n\n").await;
    stomp.share("7", "too late").await;
    assert_eq!(stomp.next().await.header("receipt-id"), Some("bye"));
    assert_eq!(stomp.next_if_any().await, Err(Some(1000)));
    assert_eq!(metric(&service.metrics(), "chat_messages_total"), 2);
    assert_eq!(metric(&service.metrics(), "chat_stomp_connected"), 0);
}

#[tokio::test]
async fn whoever_disconnects_hears_first_of_all_that_it_sent() {
    let service = serve(0).await;
    let send = |group: &str, more: &str| format!("SEND\ndestination:/pub/share/{group}\n{more}\n1\0");
    for path in ["/location", "/location/0/s/websocket"] {
        let mut stomp = Stomp::connect_to(service.address(), path, "1.2", "").await;
        let sends = ["a", "b", "c"].map(|id| send(id, &format!("receipt:{id}\n"))).concat();
        let transaction = format!(
            "BEGIN\ntransaction:t\n\n\0{}{}COMMIT\ntransaction:t\nreceipt:committed\n\n\0",
            send("a", "transaction:t\n"),
            send("d", "transaction:t\n")
        );
        let silent = send("a", "");
        // Whatever comes behind it is not looked at.
        let rest = format!("DISCONNECT\nreceipt:bye\n\n\0{}NONSENSE\n\n\0", send("a", "receipt:late\n"));
        stomp.piece(&[sends, transaction, silent, rest].concat()).await;
        let mut told = Vec::new();
        while told.last().is_none_or(|id| id != "bye") {
            let frame = stomp.next().await;
            assert_eq!(frame.command, "RECEIPT", "{frame:?}");
            told.push(frame.header("receipt-id").unwrap().to_owned());
        }
        assert!(stomp.next_if_any().await.is_err());
        told.sort_unstable();
        assert_eq!(told, ["a", "b", "bye", "c", "committed"], "{path}");
    }
    assert_eq!(metric(&service.metrics(), "chat_messages_total"), 12);
}

#[tokio::test]
async fn what_a_transaction_holds_is_done_by_its_commit_in_order_or_not_at_all() {
    let service = serve(0).await;
    let mut stomp = Stomp::connect(service.address(), "1.2").await;
    stomp.subscribe("s", "/sub/location/7", "ack:client-individual\n").await;
    let send = |name: &str, n: u32| {
        format!("SEND\ndestination:/pub/share/7\ntransaction:{name}\nreceipt:held-{n}\n\n{n}")
    };
    stomp.frame("BEGIN\ntransaction:kept\nreceipt:begun\n\n").await;
    stomp.frame("BEGIN\ntransaction:dropped\n\n").await;
    for (name, n) in [("kept", 1), ("dropped", 2), ("kept", 3)] {
        stomp.frame(&send(name, n)).await;
    }
    for receipt in ["begun", "held-1", "held-2", "held-3"] {
        assert_eq!(stomp.next().await.header("receipt-id"), Some(receipt));
    }
    stomp.frame("ABORT\ntransaction:dropped\nreceipt:aborted\n\n").await;
    assert_eq!(stomp.next().await.header("receipt-id"), Some("aborted"));
    stomp.share("7", "0").await;
    let first = stomp.next().await;
    assert_eq!((first.seq(), &first.json()["content"]), (1, &json!(0)), "nothing was published before");
    stomp.frame("COMMIT\ntransaction:kept\nreceipt:committed\n\n").await;
    for (seq, n) in [(2, 1), (3, 3)] {
        let message = stomp.next().await;
        assert_eq!((message.seq(), &message.json()["content"]), (seq, &json!(n)));
    }
    assert_eq!(stomp.next().await.header("receipt-id"), Some("committed"));
    // An acknowledgement is held as well: dropped, it can be given again.
    let ack = first.header("ack").unwrap();
    for (end, is_outstanding) in [("ABORT", true), ("COMMIT", true), ("COMMIT", false)] {
        stomp.frame("BEGIN\ntransaction:ack\n\n").await;
        stomp.frame(&format!("ACK\nid:{ack}\ntransaction:ack\n\n")).await;
        stomp.frame(&format!("{end}\ntransaction:ack\nreceipt:ended\n\n")).await;
        if is_outstanding {
            assert_eq!(stomp.next().await.header("receipt-id"), Some("ended"));
        } else {
            assert_eq!(stomp.fails("bad_frame").await.0.header("receipt-id"), Some("ended"));
        }
    }
}

#[tokio::test]
async fn a_client_that_breaks_a_rule_is_told_and_closed() {
    let limits =
        Limits { stomp_transaction: 2, message_bytes: 100, rooms_per_connection: 2, ..Limits::default() };
    let service = serve_with(limits).await;
    let subscribed = "SUBSCRIBE\nid:s\ndestination:/sub/location/7\nack:client\n\n";
    let long = format!("SEND\ndestination:/pub/share/7\n\n{}", "x".repeat(99));
    let longer = format!("{long}xx");
    for (frames, code, closed) in [
        (vec!["CONNECT\naccept-version:1.2\n\n"], "bad_frame", 1002),
        (vec!["SUBSCRIBE\ndestination:/sub/location/7\n\n"], "bad_frame", 1002),
        (vec!["SUBSCRIBE\nid:s\ndestination:/topic/7\n\n"], "no_such_destination", 1000),
        (vec!["SUBSCRIBE\nid:s\ndestination:/sub/room/lobby\n\n"], "unauthorized", 1000),
        (vec!["SUBSCRIBE\nid:s\ndestination:/sub/location/\n\n"], "bad_request", 1000),
        (vec!["SUBSCRIBE\nid:s\ndestination:/sub/location/7\nafter:x\n\n"], "bad_frame", 1002),
        (vec!["SUBSCRIBE\nid:s\ndestination:/sub/location/7\nack:never\n\n"], "bad_frame", 1002),
        (vec![subscribed, subscribed], "bad_frame", 1002),
        (
            vec![
                subscribed,
                "SUBSCRIBE\nid:t\ndestination:/sub/location/7\n\n",
                "SUBSCRIBE\nid:u\ndestination:/sub/location/7\n\n",
            ],
            "too_many_rooms",
            1000,
        ),
        (vec!["UNSUBSCRIBE\nid:s\n\n"], "bad_frame", 1002),
        (vec!["SEND\ndestination:/pub/room/lobby\n\n1"], "unauthorized", 1000),
        (vec!["SEND\n\n1"], "bad_frame", 1002),
        // As a JSON string it is longer than its text.
        (vec![&long], "too_large", 1000),
        (vec![&longer], "too_large", 1000),
        (vec!["SEND\ndestination:/pub/share/7\ncontent-length:101\n\n"], "too_large", 1000),
        (vec!["SEND\ndestination:/pub/share/7\ntransaction:t\n\n1"], "transaction", 1000),
        (vec!["BEGIN\ntransaction:t\n\n", "BEGIN\ntransaction:t\n\n"], "transaction", 1000),
        (
            vec![
                "BEGIN\ntransaction:t\n\n",
                "SEND\ndestination:/pub/share/7\ntransaction:t\n\n1",
                "SEND\ndestination:/pub/share/7\ntransaction:t\n\n2",
            ],
            "transaction",
            1000,
        ),
        (vec!["COMMIT\ntransaction:t\n\n"], "transaction", 1000),
        (vec![subscribed, "ACK\nid:0-1\n\n"], "bad_frame", 1002),
        (vec![subscribed, "ACK\nid:1-1\n\n"], "bad_frame", 1002),
        (vec!["ACK\nid:nonsense\n\n"], "bad_frame", 1002),
        (vec!["HELLO\n\n"], "bad_frame", 1002),
        (vec!["SEND\ndestination:\\x\n\n"], "bad_frame", 1002),
        (vec!["SEND\nno colon\n\n"], "bad_frame", 1002),
    ] {
        let mut stomp = Stomp::connect(service.address(), "1.2").await;
        for frame in &frames {
            stomp.frame(&frame.replacen('\n', "\nreceipt-of-nobody:1\n", 1)).await;
        }
        let (error, close) = stomp.fails(code).await;
        assert_eq!(close, Some(closed), "{frames:?}: {error:?}");
        match code {
            "too_large" => {
                assert_eq!(error.header("message"), Some("a content may have 100 bytes and an id 128"));
            }
            _ => assert!(error.header("message").is_some_and(|message| !message.is_empty())),
        }
    }
    assert_eq!(metric(&service.metrics(), "chat_messages_total"), 0);
}

#[tokio::test]
async fn an_error_names_the_receipt_of_the_frame_that_was_wrong() {
    let service = serve(0).await;
    let mut stomp = Stomp::connect(service.address(), "1.1").await;
    stomp.frame("SEND\ndestination:/pub/nowhere\nreceipt:77\n\n1").await;
    assert_eq!(stomp.fails("no_such_destination").await.0.header("receipt-id"), Some("77"));
}

#[tokio::test]
async fn nothing_comes_before_connect_and_nothing_else_in_time_ends_the_connection() {
    let limits = Limits { connect_timeout: Duration::from_millis(100), ..Limits::default() };
    let service = serve_with(limits).await;
    let mut early = Stomp::open(service.address(), "/location", "").await.ok().unwrap();
    early.frame("SEND\ndestination:/pub/share/7\n\n1").await;
    assert_eq!(early.fails("bad_frame").await.1, Some(1002));
    let mut silent = Stomp::open(service.address(), "/location", "").await.ok().unwrap();
    assert_eq!(silent.next_if_any().await, Err(Some(4003)));
}

#[tokio::test]
async fn both_ends_settle_on_the_highest_version_they_share() {
    let service = serve(0).await;
    for (offered, chosen) in [
        ("", None),
        ("Sec-WebSocket-Protocol: v10.stomp, v11.stomp\r\n", Some("v11.stomp")),
        ("Sec-WebSocket-Protocol: v12.stomp\r\nSec-WebSocket-Protocol: v10.stomp\r\n", Some("v12.stomp")),
        ("Sec-WebSocket-Protocol: mqtt\r\n", None),
    ] {
        let opened = Ws::open(service.address(), "/location", offered).await.ok().unwrap();
        assert_eq!(opened.answer.header("sec-websocket-protocol"), chosen, "{offered}");
    }
    for (accepts, version) in [
        ("accept-version:1.0,1.1,2.0\n", "1.1"),
        ("accept-version:1.0,1.1,1.2\n", "1.2"),
        ("accept-version:1.0\n", "1.0"),
        ("", "1.0"),
    ] {
        let mut stomp = Stomp::open(service.address(), "/location", "").await.ok().unwrap();
        stomp.frame(&format!("STOMP\n{accepts}host:chat\n\n")).await;
        let connected = stomp.next().await;
        assert_eq!((connected.command.as_str(), connected.header("version")), ("CONNECTED", Some(version)));
        assert!(connected.header("session").is_some());
        assert_eq!(connected.header("heart-beat").is_some(), version != "1.0");
    }
    let mut stomp = Stomp::open(service.address(), "/location", "").await.ok().unwrap();
    stomp.frame("CONNECT\naccept-version:2.0\n\n").await;
    let (error, closed) = stomp.fails("unsupported_version").await;
    assert_eq!((error.header("version"), closed), (Some("1.0,1.1,1.2"), Some(1000)));
}

#[tokio::test]
async fn who_names_a_token_must_have_a_valid_one_and_is_known_by_it() {
    let service = serve(2).await;
    let (at, users) = (service.address(), service.credentials());
    let token = &users[0].token;
    for (path, header) in [
        ("/location".to_owned(), format!("login:{token}\npasscode:x\n")),
        ("/location".to_owned(), format!("Authorization:Bearer {token}\n")),
        (format!("/location?token={token}"), String::new()),
    ] {
        let mut stomp = Stomp::connect_to(at, &path, "1.2", &header).await;
        stomp.subscribe("s", "/sub/room/lobby", "").await;
        stomp.frame("SEND\ndestination:/pub/room/lobby\n\n1").await;
        let message = stomp.next().await;
        assert_eq!(message.json()["senderId"], users[0].id);
        assert_eq!(message.header("destination"), Some("/sub/room/lobby"));
    }
    for header in ["login:wrong\n".to_owned(), "Authorization:Bearer wrong\n".to_owned()] {
        let mut stomp = Stomp::open(at, "/location", "").await.ok().unwrap();
        stomp.frame(&format!("CONNECT\naccept-version:1.2\n{header}\n")).await;
        assert_eq!(stomp.fails("unauthorized").await.1, Some(1000));
    }
    let refused = Stomp::open(at, "/location?token=wrong", "").await.err().unwrap();
    assert_eq!((refused.status, refused.error_code().as_str()), (401, "unauthorized"));
    // A connection is one user's.
    let path = format!("/location?token={token}");
    let mut stomp = Stomp::open(at, &path, "").await.ok().unwrap();
    stomp.frame(&format!("CONNECT\naccept-version:1.2\nlogin:{}\n\n", users[1].token)).await;
    assert_eq!(stomp.fails("unauthorized").await.1, Some(1000));
}

#[tokio::test]
async fn frames_may_be_cut_anywhere_share_a_message_and_be_followed_by_ends_of_lines() {
    let service = serve(0).await;
    let session = "CONNECT\r\naccept-version:1.2\r\n\r\n\0\nSUBSCRIBE\nid:s\ndestination:/sub/location/GROUP\n\n\0\r\n\n\
                   SEND\ndestination:/pub/share/GROUP\ncontent-length:15\n\n\"a nul: \\u0000\"\0\n";
    for cut in 0..session.len() {
        let session = session.replace("GROUP", &format!("{cut:05}"));
        let mut stomp = Stomp::open(service.address(), "/location", "").await.ok().unwrap();
        let (first, second) = session.split_at(cut);
        stomp.piece(first).await;
        stomp.ws.frame(sonagi_wire::websocket::Opcode::Binary, second.as_bytes()).await;
        assert_eq!(stomp.next().await.command, "CONNECTED", "cut at {cut}");
        let message = stomp.next().await;
        assert_eq!((message.seq(), &message.json()["content"]), (1, &json!("a nul: \0")), "cut at {cut}");
    }
}

#[tokio::test]
async fn heart_beats_go_both_ways_and_a_client_that_stops_its_own_is_closed() {
    let limits = Limits { stomp_heartbeat: Duration::from_millis(250), ..Limits::default() };
    let service = serve_with(limits).await;
    for path in ["/location", "/location/000/abc/websocket"] {
        let mut stomp = Stomp::connect_to(service.address(), path, "1.1", "heart-beat:250,250\n").await;
        // The server's beats are the clock: for each we send one, and stay.
        let mut beats = 0;
        while beats < 4 {
            match stomp.ws.next().await {
                Got::Text(text) if text == "\n" || text == "a[\"\\n\"]" => beats += 1,
                Got::Text(text) if text == "h" => {}
                other => panic!("{other:?}"),
            }
            stomp.piece("\n").await;
        }
        let mut left = 0;
        let closed = loop {
            match stomp.ws.next().await {
                Got::Text(_) => left += 1,
                Got::Close(code) => break code,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(closed, Some(4004));
        assert!(left > 0, "one missed beat is borne");
    }
    let mut quiet = Stomp::connect_to(service.address(), "/location", "1.1", "heart-beat:0,0\n").await;
    quiet.subscribe("s", "/sub/location/7", "").await;
    assert_eq!((quiet.seq_of_own("7").await, quiet.beats), (1, 0));
}

#[tokio::test]
async fn a_client_that_acknowledges_nothing_is_told_and_closed_before_too_much_is_outstanding() {
    let limits = Limits { stomp_unacked: 3, ..Limits::default() };
    let service = serve_with(limits).await;
    let mut stomp = Stomp::connect(service.address(), "1.2").await;
    stomp.subscribe("s", "/sub/location/7", "ack:client-individual\n").await;
    for n in 1..=5 {
        stomp.share("7", "1").await;
        let message = stomp.next().await;
        assert_eq!(message.seq(), n);
        if n <= 2 {
            stomp.frame(&format!("NACK\nid:{}\n\n", message.header("ack").unwrap())).await;
        }
    }
    stomp.share("7", "1").await;
    assert_eq!(stomp.fails("too_many_unacknowledged").await.1, Some(1000));
}

#[tokio::test]
async fn whoever_comes_back_gets_what_it_missed_or_is_told_of_the_gap() {
    let limits = Limits { history_kept: 256, recent_messages: 10, ..Limits::default() };
    let service = serve_with(limits).await;
    let mut sender = Stomp::connect(service.address(), "1.2").await;
    sender.subscribe("s", "/sub/location/7", "").await;
    for n in 1..=20 {
        sender.share("7", "1").await;
        assert_eq!(sender.seq().await, n);
    }
    let mut back = Stomp::connect(service.address(), "1.2").await;
    let receipt = back.subscribe("s", "/sub/location/7", "after:17\nack:client\n").await;
    assert_eq!((receipt.header("seq"), receipt.header("gap")), (Some("20"), None));
    assert_eq!([back.seq().await, back.seq().await, back.seq().await], [18, 19, 20]);
    let receipt = back.subscribe("all", "/sub/location/7", "after:0\n").await;
    assert_eq!(receipt.header("gap"), None);
    for n in 1..=20 {
        let message = back.next().await;
        assert_eq!((message.header("subscription"), message.seq()), (Some("all"), n));
    }
    let receipt = back.subscribe("future", "/sub/location/7", "after:1000\nack:client\n").await;
    assert_eq!(receipt.header("gap"), Some("true"));
    let gap = back.next().await;
    assert_eq!(
        (gap.command.as_str(), gap.header("gap"), gap.header("subscription")),
        ("MESSAGE", Some("true"), Some("future"))
    );
    assert_eq!(gap.json(), json!({"gap": true, "after": 1000, "from": 1}));
    for n in 1..=20 {
        assert_eq!(back.seq().await, n);
    }
    back.frame(&format!("ACK\nid:{}\nreceipt:1\n\n", gap.header("ack").unwrap())).await;
    assert_eq!(back.next().await.header("receipt-id"), Some("1"), "a gap may be acknowledged");
}

impl Stomp {
    /// Shares something and returns its number.
    async fn seq_of_own(&mut self, group: &str) -> u64 {
        self.share(group, "1").await;
        self.seq().await
    }
}
