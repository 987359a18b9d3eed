//! What a mode reports is what the server saw.

use crate::server::Server;
use crate::{bare, line, refusal};
use serde_json::Value;
use std::sync::atomic::Ordering::SeqCst;

/// The line's keys in their order: a harness reads them by name.
fn keys(line: &Value) -> Vec<&str> {
    line.as_object().unwrap().keys().map(String::as_str).collect()
}

fn number(line: &Value, key: &str) -> u64 {
    line[key].as_u64().unwrap()
}

#[test]
fn a_closed_loop_counts_the_requests_that_were_answered() {
    let server = Server::start();
    let line = line(&bare("http", &server.url("/"), "--connections 3 --seconds 0.2"));
    assert_eq!(keys(&line), ["requests", "seconds", "p50_us", "p99_us"]);
    assert!(number(&line, "requests") >= 3);
    assert_eq!(number(&line, "requests"), server.seen.requests.load(SeqCst));
    assert!(line["seconds"].as_f64().unwrap() >= 0.2);
    assert!(line["p50_us"].as_f64().unwrap() <= line["p99_us"].as_f64().unwrap());
}

#[test]
fn an_open_model_sends_exactly_what_it_planned() {
    let server = Server::start();
    let line = line(&bare("open", &server.url("/"), "--rate 1000 --connections 4 --seconds 0.3"));
    assert_eq!(keys(&line), ["planned", "completed", "p50_us", "p99_us"]);
    assert_eq!((number(&line, "planned"), number(&line, "completed")), (300, 300));
    assert_eq!(server.seen.requests.load(SeqCst), 300);
}

#[test]
fn every_idle_user_is_heard_from_once_an_interval() {
    let server = Server::start();
    let line = line(&bare("idle", &server.url("/ws/echo"), "--users 20 --every 0.2 --seconds 0.4"));
    assert_eq!(keys(&line), ["users", "connected_after_ms", "messages"]);
    assert_eq!((number(&line, "users"), number(&line, "messages")), (20, 40));
    assert_eq!(server.seen.messages.load(SeqCst), 40);
    assert_eq!(server.seen.pongs.load(SeqCst), 20);
}

#[test]
fn every_connection_is_upgraded_and_closed_as_the_protocol_wants_it() {
    for (count, concurrency) in [(1, 50), (30, 7), (30, 30)] {
        let server = Server::start();
        let options = format!("--count {count} --concurrency {concurrency}");
        let line = line(&bare("connect", &server.url("/ws/echo"), &options));
        assert_eq!(keys(&line), ["connections", "seconds"]);
        assert_eq!((number(&line, "connections"), server.seen.closes.load(SeqCst)), (count, count));
    }
}

#[test]
fn connections_are_made_until_time_is_up() {
    let server = Server::start();
    let line = line(&bare("connect", &server.url("/ws/echo"), "--seconds 0.2 --concurrency 5"));
    assert!(line["seconds"].as_f64().unwrap() >= 0.2);
    assert!(number(&line, "connections") >= 5);
    assert_eq!(number(&line, "connections"), server.seen.closes.load(SeqCst));
}

#[test]
fn event_streams_are_held_and_their_messages_counted() {
    let server = Server::start();
    let line = line(&bare("events", &server.url("/events"), "--users 7 --seconds 0.3"));
    assert_eq!(keys(&line), ["streams", "messages"]);
    assert_eq!((number(&line, "streams"), number(&line, "messages")), (7, 7 * 3));
    assert_eq!(server.seen.requests.load(SeqCst), 7);
}

/// A mode that runs over either loop, held to the same counts.
fn over_both_loops(mode: &str, path: &str, options: &str, check: impl Fn(&Server, &Value)) {
    for driver in ["", "--gather-us 300", "--uring", "--uring --batch 1"] {
        let server = Server::start();
        let output = bare(mode, &server.url(path), &format!("{options} {driver}"));
        // Where the kernel forbids a ring, that is what the run must say.
        if driver.contains("--uring") && output.status.code() == Some(3) {
            assert!(refusal(&output).1.contains("the kernel forbids io_uring here"));
            continue;
        }
        check(&server, &line(&output));
    }
}

#[test]
fn an_echo_counts_what_came_back_over_either_loop() {
    over_both_loops("echo", "/ws/echo", "--connections 5 --seconds 0.2 --bytes 100", |server, line| {
        assert_eq!(keys(line), ["messages", "seconds", "p50_us", "p99_us"]);
        assert!(number(line, "messages") >= 5);
        assert_eq!(number(line, "messages"), server.seen.messages.load(SeqCst));
        assert_eq!(server.seen.pongs.load(SeqCst), 5);
    });
}

#[test]
fn everyone_in_a_room_receives_everything_over_either_loop() {
    over_both_loops("room", "/ws/room", "--users 20 --seconds 0.5 --bytes 86", |server, line| {
        assert_eq!(keys(line), ["sent", "expected", "received", "p50_us", "p99_us"]);
        let of = |key| number(line, key);
        assert_eq!((of("sent"), of("expected"), of("received")), (10, 200, 200));
        assert_eq!(server.seen.messages.load(SeqCst), 10);
    });
}

#[test]
fn a_flood_is_counted_in_messages_and_bytes_of_payload_over_either_loop() {
    over_both_loops("flood", "/ws/flood", "--seconds 0.2 --connections 2", |_, line| {
        assert_eq!(keys(line), ["messages", "bytes", "seconds"]);
        assert!(number(line, "messages") > 0);
        assert_eq!(number(line, "bytes"), number(line, "messages") * 86);
    });
}
