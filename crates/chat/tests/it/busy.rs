//! Coming back to a room in the middle of a burst: what was missed and what is said meanwhile come once and in order,
//! also where an answer has a bound and the next one has to be asked for.

use std::net::SocketAddr;

use serde_json::json;
use sonagi_chat::{Config, Limits};

use crate::client::{Ws, get, post};
use crate::socketio_client::new_message;
use crate::sockjs::{Streamed, frames, poll, send};
use crate::sse_client::Events;
use crate::stomp_client::Frame;

/// Said before anybody comes back: more than the room remembers, and than half a queue.
const MISSED: u64 = 800;
/// Said in one breath, at any time after that.
const BURST: u64 = 300;

#[derive(Clone, Copy, Debug)]
enum How {
    Sse,
    Xhr,
    XhrStreaming,
    EngineIoPolled,
}

/// Says so many messages in one write and waits until they are stored.
async fn say(at: SocketAddr, messages: u64) {
    let mut ws = Ws::open(at, "/ws", "").await.ok().unwrap();
    let send = json!({"type": "send", "room": "location:0", "content": "x".repeat(100)}).to_string();
    ws.texts((0..messages).map(|_| send.clone())).await;
    for _ in 0..messages {
        ws.json_of("ack").await;
    }
}

const CONNECT: &str = "CONNECT\naccept-version:1.2\n\n\0";
const SUBSCRIBE: &str = "SUBSCRIBE\nid:s\ndestination:/sub/location/0\nafter:0\n\n\0";

/// The numbers in some lines of a SockJS answer.
fn seqs_of(lines: &str) -> Vec<u64> {
    let arrays: String =
        lines.lines().filter(|line| line.starts_with('a')).flat_map(|line| [line, "\n"]).collect();
    frames(&arrays).iter().filter(|frame| frame.command == "MESSAGE").map(Frame::seq).collect()
}

/// Goes on behind number 0 until the last one has come; how many answers that took, too.
async fn back(how: How, at: SocketAddr) -> (Vec<u64>, usize) {
    let (mut seqs, mut answers) = (Vec::new(), 1);
    let is_over = |seqs: &[u64]| seqs.last().is_some_and(|last| *last >= MISSED + BURST);
    match how {
        How::Sse => {
            let mut events = Events::open(at, "group=0", "Last-Event-ID: 0\r\n").await.ok().unwrap();
            while !is_over(&seqs) {
                seqs.push(events.seq().await);
            }
        }
        How::Xhr => {
            let session = "/location/0/polled";
            assert_eq!(poll(at, session).await, "o\n");
            send(at, session, &[CONNECT, SUBSCRIBE]).await;
            while !is_over(&seqs) {
                seqs.extend(seqs_of(&poll(at, session).await));
                answers += 1;
            }
        }
        How::XhrStreaming => {
            let session = "/location/0/streamed";
            let mut streamed = Streamed::open(at, session).await;
            assert_eq!(streamed.line().await.as_deref(), Some("o"));
            send(at, session, &[CONNECT, SUBSCRIBE]).await;
            while !is_over(&seqs) {
                match streamed.line().await {
                    Some(line) => seqs.extend(seqs_of(&line)),
                    None => {
                        streamed = Streamed::open(at, session).await;
                        answers += 1;
                    }
                }
            }
        }
        How::EngineIoPolled => {
            let polling = "/socket.io/?EIO=4&transport=polling";
            let open = get(at, polling, "").await.body;
            let open: serde_json::Value = serde_json::from_str(open.strip_prefix('0').unwrap()).unwrap();
            let session = format!("{polling}&sid={}", open["sid"].as_str().unwrap());
            let join = r#"42["joinRoom",{"roomId":"location:0","after":0}]"#;
            for packet in ["40", join] {
                assert_eq!(post(at, &session, "", packet).await.body, "ok");
            }
            while !is_over(&seqs) {
                let answer = get(at, &session, "").await.body;
                let messages = answer.split('\u{1e}').filter_map(new_message);
                seqs.extend(messages.map(|message| message["seq"].as_u64().unwrap()));
                answers += 1;
            }
        }
    }
    (seqs, answers)
}

#[tokio::test]
async fn a_burst_while_somebody_comes_back_brings_all_once_and_in_order() {
    for how in [How::Sse, How::Xhr, How::XhrStreaming, How::EngineIoPolled] {
        let limits = Limits { recent_messages: 50, queue_bytes: 256 * 1024, ..Limits::default() };
        let service = sonagi_chat::start(Config { limits, ..Config::default() }).await.unwrap();
        let at = service.address();
        say(at, MISSED).await;
        let speaker = tokio::spawn(say(at, BURST));
        let (seqs, answers) = back(how, at).await;
        speaker.await.unwrap();
        assert_eq!(seqs, (1..=MISSED + BURST).collect::<Vec<u64>>(), "{how:?}");
        assert!(matches!(how, How::Sse) || answers > 1, "{how:?}: {answers} answers");
    }
}
