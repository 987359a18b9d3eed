//! What must hold for SockJS.

use sonagi_wire::sockjs::{Frame, Messages, Path, Stream, StreamError, decode, messages};

/// What a stream of lines says when it is cut into pieces of `size`, and whether it ended between frames.
pub fn sockjs_lines(stream: &[u8], max_line: u32, size: usize) -> (Vec<String>, Result<bool, StreamError>) {
    let mut lines = Stream::new(max_line);
    let mut seen = Vec::new();
    let mut failed = None;
    for piece in stream.chunks(size.max(1)) {
        let fed = lines.feed(piece, |frame| {
            seen.push(match frame {
                Frame::Messages(messages) => format!("{:?}", messages.collect::<Vec<_>>()),
                frame => format!("{frame:?}"),
            });
        });
        if let Err(error) = fed {
            assert!(failed.is_none(), "one error");
            failed = Some(error);
        }
    }
    let ended = match failed {
        Some(error) => Err(error),
        None => Ok(lines.is_idle()),
    };
    (seen, ended)
}

/// First byte: the pieces; the rest is a response's body, each line of it a frame, a client's payload and a path, too.
pub fn sockjs_decode(input: &[u8]) {
    let [cut, stream @ ..] = input else { return };
    let whole = sockjs_lines(stream, 0, stream.len());
    for size in [1, 2, usize::from(*cut) + 1] {
        assert_eq!(sockjs_lines(stream, 0, size), whole, "in pieces of {size}");
    }
    for line in stream.split(|&byte| byte == b'\n') {
        let Ok(text) = std::str::from_utf8(line) else { continue };
        if let Ok(Frame::Messages(found)) = decode(text) {
            rewritten(found);
        }
        if let Ok(found) = Messages::decode(text) {
            rewritten(found);
        }
        if let Some(Path::Session { server, session, .. }) = Path::parse(text) {
            assert!(text.starts_with(&format!("/{server}/{session}/")));
        }
    }
}

/// Messages survive being written again, and are the same however they are taken.
fn rewritten(found: Messages<'_>) {
    let mut buffer = String::new();
    let mut one_by_one = found.clone();
    let texts: Vec<_> = found.collect();
    for text in &texts {
        assert_eq!(one_by_one.next_in(&mut buffer), Some(text.as_ref()));
    }
    assert_eq!(one_by_one.next_in(&mut buffer), None);
    let mut out = Vec::new();
    messages(texts.iter().map(AsRef::as_ref), &mut out);
    let again = std::str::from_utf8(&out).expect("what is written is text");
    assert!(out.iter().all(|byte| *byte >= 0x20), "a frame is one line");
    let back = Messages::decode(again).expect("what is written is read");
    assert_eq!(back.collect::<Vec<_>>(), texts, "decode after encode");
}
