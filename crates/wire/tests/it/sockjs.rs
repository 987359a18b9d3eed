//! SockJS: the vectors, what clients send, paths, the info document, and lines of a response in any cut.

use sonagi_wire::sockjs::{
    Frame, FrameError, Info, Messages, PRELUDE, Path, PayloadError, Stream, StreamError, Transport, close,
    decode, messages,
};

use proptest::prelude::*;

use crate::checks::sockjs::{sockjs_decode, sockjs_lines};
use crate::vectors;

#[test]
fn a_frame_is_what_the_protocol_says() {
    vectors::check("sockjs.txt", include_str!("vectors/sockjs.txt"), |vector| {
        let text: String = serde_json::from_str(vector.input).unwrap();
        match decode(&text) {
            Ok(Frame::Open) => "Open".into(),
            Ok(Frame::Heartbeat) => "Heartbeat".into(),
            Ok(Frame::Close { code, reason }) => format!("Close {code} {reason:?}"),
            Ok(Frame::Messages(messages)) => format!("Messages {:?}", messages.collect::<Vec<_>>()),
            Err(error) => format!("{error:?}"),
        }
    });
}

#[test]
fn a_client_sends_an_array_or_a_string() {
    let read =
        |text| Messages::decode(text).map(|messages| messages.map(|m| m.into_owned()).collect::<Vec<_>>());
    assert_eq!(read(r#"["a","b"]"#), Ok(vec!["a".to_owned(), "b".to_owned()]));
    assert_eq!(read(r#" "a\n" "#), Ok(vec!["a\n".to_owned()]));
    assert_eq!(read("[]"), Ok(vec![]));
    assert_eq!(read(""), Err(PayloadError::Expected));
    for broken in [r#"["x"#, "x", "{}", r#""a""b""#, r#""a"#, "[1]", "[[\"a\"]]"] {
        assert_eq!(read(broken), Err(PayloadError::Broken), "{broken}");
    }
    assert_eq!(PayloadError::Expected.to_string(), "Payload expected.");
    assert_eq!(PayloadError::Broken.to_string(), "Broken JSON encoding.");
}

#[test]
fn messages_without_escapes_are_borrowed() {
    let Ok(Frame::Messages(mut found)) = decode(r#"a["plain","\n"]"#) else { panic!() };
    assert!(matches!(found.next(), Some(std::borrow::Cow::Borrowed("plain"))));
    assert!(matches!(found.next(), Some(std::borrow::Cow::Owned(text)) if text == "\n"));
}

#[test]
fn characters_that_browsers_mangle_are_escaped() {
    let mut out = Vec::new();
    messages(["a\"\\\0\n\u{1f}", "\u{200c}\u{2010}\u{2028}\u{206f}\u{fff0}\u{ffef}é€"], &mut out);
    let text = String::from_utf8(out).unwrap();
    assert_eq!(text, "[\"a\\\"\\\\\\u0000\\n\\u001f\",\"\\u200c\u{2010}\\u2028\\u206f\\ufff0\u{ffef}é€\"]");
}

#[test]
fn a_close_frame_is_read_as_it_was_written() {
    let mut out = Vec::new();
    close(3000, "Go away!", &mut out);
    assert_eq!(out, b"c[3000,\"Go away!\"]");
    out.clear();
    close(1002, "a\"b\n", &mut out);
    let text = String::from_utf8(out).unwrap();
    assert_eq!(decode(&text), Ok(Frame::Close { code: 1002, reason: "a\"b\n".into() }));
}

#[test]
fn the_info_document_says_what_is_offered() {
    let info = Info::new(true, 4_294_967_295);
    let json = r#"{"websocket":true,"origins":["*:*"],"cookie_needed":false,"entropy":4294967295}"#;
    assert_eq!(info.to_json(), json);
    assert_eq!(Info::from_json(json), Some(info));
    // Members may be missing, or be new.
    assert_eq!(Info::from_json(r#"{"websocket":false,"more":1}"#), Some(Info::new(false, 0)));
    assert_eq!(Info::from_json(r#"{"entropy":1}"#), None);
}

#[test]
fn a_path_says_what_is_asked() {
    let session = |server, session, transport| Some(Path::Session { server, session, transport });
    for (path, expected) in [
        ("", Some(Path::Greeting)),
        ("/", Some(Path::Greeting)),
        ("/info", Some(Path::Info)),
        ("/websocket", Some(Path::RawWebSocket)),
        ("/iframe.html", Some(Path::Iframe)),
        ("/iframe-0.1.2abc-dirty.2144.html", Some(Path::Iframe)),
        ("/000/abc/websocket", session("000", "abc", Transport::WebSocket)),
        ("/a/a/xhr", session("a", "a", Transport::Xhr)),
        ("/_/_/xhr_send", session("_", "_", Transport::XhrSend)),
        (
            "/abcdefgh_i-j%20/abcdefg_i-j%20/xhr_streaming",
            session("abcdefgh_i-j%20", "abcdefg_i-j%20", Transport::XhrStreaming),
        ),
        ("/1/1/jsonp", session("1", "1", Transport::Other)),
    ] {
        assert_eq!(Path::parse(path), expected, "{path}");
    }
    for path in [
        "/a",
        "/a.html",
        "//",
        "///",
        "/a/a",
        "/a/a/",
        "/a/",
        "/iframe.htm",
        "/iframe",
        "/IFRAME.HTML",
        "/iframe.HTML",
        "/iframe-/.html",
        "///xhr",
        "/a./a/xhr",
        "/a/a./xhr",
        "/././/xhr",
        "/a/a/xhr/",
        "/a/a/other",
        "info",
    ] {
        assert_eq!(Path::parse(path), None, "{path}");
    }
}

#[test]
fn a_streaming_response_begins_with_a_prelude_that_is_no_heartbeat() {
    let mut stream = PRELUDE.to_vec();
    assert_eq!(stream.len(), 2049);
    stream.extend_from_slice(b"o\nh\na[\"x\"]\n");
    let whole = sockjs_lines(&stream, 4096, stream.len());
    assert_eq!(whole.0, ["Open", "Heartbeat", "[\"x\"]"]);
    assert_eq!(whole.1, Ok(true));
    for size in [1, 2, 3, 1000, 2048, 2049, 2050] {
        assert_eq!(sockjs_lines(&stream, 4096, size), whole, "in pieces of {size}");
    }
}

#[test]
fn a_stream_stops_at_its_first_error() {
    let lines = |stream: &[u8]| sockjs_lines(stream, 0, 1);
    assert_eq!(
        lines(b"o\nx\nh\n"),
        (vec!["Open".into()], Err(StreamError::Frame(FrameError::UnknownType { found: 'x' })))
    );
    assert_eq!(lines(b"o\n\xff\n"), (vec!["Open".into()], Err(StreamError::Utf8)));
    assert_eq!(lines(&[b'a'; 2049]), (vec![], Err(StreamError::LineTooLong { limit: 2048 })));
    assert_eq!(lines(b"o\nh"), (vec!["Open".into()], Ok(false)));
    assert!(size_of::<Stream>() <= 32, "{}", size_of::<Stream>());
}

proptest! {
    #[test]
    fn messages_are_what_any_json_reader_takes_them_for(texts in proptest::collection::vec(any::<String>(), 0..6)) {
        let mut out = Vec::new();
        messages(texts.iter().map(String::as_str), &mut out);
        let text = String::from_utf8(out).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Vec<String>>(&text).unwrap(), &texts);
        let theirs = serde_json::to_string(&texts).unwrap();
        for text in [&text, &theirs] {
            let read: Vec<String> = Messages::decode(text).unwrap().map(|text| text.into_owned()).collect();
            prop_assert_eq!(&read, &texts);
        }
    }

    #[test]
    fn what_is_an_array_of_strings_is_decided_as_json_does(
        parts in proptest::collection::vec(prop::sample::select(
            &["[", "]", "\"", ",", "\\", "u", "00e9", "n", " ", "a", "é", "\t", "[\"", "\",\"", "\"]"][..]), 0..12),
    ) {
        let text = format!("[{}", parts.concat());
        let ours = Messages::decode(&text).map(|found| found.map(|text| text.into_owned()).collect::<Vec<_>>());
        prop_assert_eq!(ours.ok(), serde_json::from_str::<Vec<String>>(&text).ok());
    }

    #[test]
    fn any_bytes_mean_the_same_in_any_cut(mut input in proptest::collection::vec(any::<u8>(), 0..60), text in "[aohc\\[\\],\"\n]{0,40}") {
        input.extend(text.into_bytes());
        sockjs_decode(&input);
    }
}
