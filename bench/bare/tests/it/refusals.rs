//! When `bare` ends without a line, and how.

use crate::server::Server;
use crate::{bare, refusal};

#[test]
fn a_target_elsewhere_is_refused_before_anything_is_sent() {
    let (code, told) = refusal(&bare("http", "http://192.0.2.1:80/", ""));
    assert_eq!((code, told.trim_end()), (2, "bare: only 127.0.0.0/8 is loaded, got 192.0.2.1:80"));
}

#[test]
fn an_unknown_mode_is_answered_with_those_there_are() {
    let (code, told) = refusal(&bare("htpp", "http://127.0.0.1:1/", ""));
    assert_eq!(code, 2);
    assert!(told.contains("bare http URL --connections 50 --seconds 5"), "{told}");
}

#[test]
fn a_room_refuses_messages_without_room_for_an_instant() {
    let (code, told) = refusal(&bare("room", "http://127.0.0.1:1/", "--bytes 15"));
    assert_eq!((code, told.trim_end()), (2, "bare: --bytes wants at least 16 in a room, got 15"));
}

#[test]
fn an_answer_that_was_not_asked_for_ends_the_run() {
    let server = Server::start();
    let (code, told) = refusal(&bare("http", &server.url("/busy"), "--seconds 0.2"));
    assert_eq!(
        (code, told.trim_end()),
        (1, "bare: the server answers \"HTTP/1.1 503 Busy\", wanted status 200")
    );
}

#[test]
fn a_server_that_leaves_ends_the_run() {
    let server = Server::start();
    for driver in ["", "--uring"] {
        let (code, told) =
            refusal(&bare("echo", &server.url("/ws/leaves"), &format!("--seconds 5 {driver}")));
        assert!(code == 1 && told.contains("closed a connection that was in use") || code == 3, "{told}");
    }
}

#[test]
fn a_target_that_does_not_listen_ends_the_run() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/ws/echo", listener.local_addr().unwrap());
    drop(listener);
    let (code, told) = refusal(&bare("echo", &url, "--seconds 0.2"));
    assert_eq!(code, 1);
    assert!(told.contains("refused"), "{told}");
}

#[test]
fn a_stream_in_chunks_is_refused() {
    let server = Server::start();
    let (code, told) = refusal(&bare("events", &server.url("/chunks"), "--seconds 1"));
    assert_eq!((code, told.trim_end()), (1, "bare: a stream in chunks"));
}

#[test]
fn a_stream_that_ends_ends_the_run() {
    let server = Server::start();
    let (code, told) = refusal(&bare("events", &server.url("/ends"), "--seconds 1"));
    assert_eq!((code, told.trim_end()), (1, "bare: the server closed a connection that was in use"));
}
