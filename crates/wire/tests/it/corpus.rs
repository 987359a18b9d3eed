//! The fuzzers' corpus, run by what the fuzzers run: what they once found stays fixed without them.

use std::path::Path;

use crate::checks;

fn run(target: &str, check: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut files = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        println!("{}", path.display()); // shown when the check panics: the file to look at
        check(&std::fs::read(&path).unwrap());
        files += 1;
    }
    assert!(files > 5, "{} has {files} files", folder.display());
}

#[test]
fn the_websocket_corpus_decodes_alike_in_pieces() {
    run("websocket_decode", checks::websocket_decode);
}

#[test]
fn the_polling_corpus_is_written_as_it_was_read() {
    run("engineio_payload", checks::engineio_payload);
}

#[test]
fn the_socket_io_corpus_is_written_as_it_was_read() {
    run("socketio_decode", checks::socketio_decode);
}

#[test]
fn the_http_corpus_is_read_alike_in_pieces() {
    run("http1_response", checks::http1_response);
}

#[test]
fn the_event_stream_corpus_is_read_alike_in_pieces() {
    run("sse_decode", checks::sse::sse_decode);
}

#[test]
fn the_stomp_corpus_is_read_alike_in_pieces() {
    run("stomp_decode", checks::stomp::stomp_decode);
}

#[test]
fn the_sockjs_corpus_is_read_alike_in_pieces() {
    run("sockjs_decode", checks::sockjs::sockjs_decode);
}
