//! Responses of HTTP/1.1: the framing of RFC 9112 as a table, every row whole, cut at every byte, and byte by byte.

use sonagi_wire::http1::{Keep, MAX_HEAD, MAX_HEADERS, Reader, RequestKind, Violation};

use crate::checks::{Answer, answered};

const ALL: Keep = Keep { headers: true, body: usize::MAX };

/// The reading of a stream, however it is cut; `ends`: the peer ends its side after it.
#[track_caller]
fn answer(asked: RequestKind, stream: &[u8], ends: bool) -> Answer {
    let whole = answered(asked, ALL, &[stream], ends);
    for cut in 0..=stream.len() {
        let (one, two) = stream.split_at(cut);
        assert_eq!(answered(asked, ALL, &[one, two], ends), whole, "cut at {cut}");
    }
    let bytes: Vec<&[u8]> = stream.chunks(1).collect();
    assert_eq!(answered(asked, ALL, &bytes, ends), whole, "byte by byte");
    whole
}

/// A response that is whole without the connection's end: its body, and whether the connection can be used again.
#[track_caller]
fn framed(asked: RequestKind, stream: &str) -> (String, bool) {
    let answer = answer(asked, stream.as_bytes(), false);
    assert_eq!((answer.violation, answer.is_done), (None, true), "{stream:?}");
    assert_eq!(answer.body_bytes, answer.body.len() as u64);
    (String::from_utf8(answer.body).unwrap(), answer.is_reusable)
}

#[track_caller]
fn refused(stream: &str, violation: Violation) {
    assert_eq!(answer(RequestKind::Other, stream.as_bytes(), true).violation, Some(violation), "{stream:?}");
}

#[test]
fn a_body_ends_where_its_framing_says() {
    let table = [
        ("200 OK\r\nContent-Length: 2\r\n\r\nhi", "hi", true),
        ("200 OK\r\ncontent-length: 0\r\n\r\n", "", true),
        ("200\r\nContent-Length: 2, 2\r\n\r\nhi", "hi", true),
        ("200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nhi", "hi", true),
        ("200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nh\r\n1\r\ni\r\n0\r\n\r\n", "hi", true),
        (
            "200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n0A;x=\"y\"\r\n0123456789\r\n00\r\n\r\n",
            "0123456789",
            true,
        ),
        ("200 OK\r\nTransfer-Encoding: chunked, ,\r\n\r\n2\r\nhi\r\n0\r\n\r\n", "hi", true),
        (
            "200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding:\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
            "hi",
            true,
        ),
        ("200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nhi", "hi", true),
        ("200 OK\r\nTransfer-Encoding: identity, chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", "hi", true),
        ("200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2 \t\r\nhi\r\n0\r\n\r\n", "hi", true),
        ("200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n\r\n\r\n0\r\nA: b\r\nC: d\r\n\r\n", "\r\n", true),
        // With both, the length does not count, and somebody may have thought otherwise.
        (
            "200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
            "hi",
            false,
        ),
        ("200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi", "hi", false),
        ("200 OK\r\nConnection: x, Close\r\nContent-Length: 2\r\n\r\nhi", "hi", false),
        ("204 No Content\r\n\r\n", "", true),
        ("304 Not Modified\r\nContent-Length: 9\r\n\r\n", "", true),
        (
            "100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
            "hi",
            true,
        ),
        ("101 Switching Protocols\r\n\r\n", "", false),
        // What nobody asked for makes the connection useless, but the answer stands.
        ("200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 200 OK\r\n", "hi", false),
        ("204 No Content\r\n\r\nx", "", false),
    ];
    for (stream, body, reusable) in table {
        let got = framed(RequestKind::Other, &format!("HTTP/1.1 {stream}"));
        assert_eq!(got, (body.to_owned(), reusable), "{stream:?}");
    }
}

#[test]
fn a_head_request_and_a_tunnel_have_no_body() {
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
    assert_eq!(framed(RequestKind::Head, answer), (String::new(), true));
    assert_eq!(framed(RequestKind::Connect, answer), (String::new(), false));
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_eq!(framed(RequestKind::Head, chunked), (String::new(), true));
    let refused = "HTTP/1.1 407 No\r\nContent-Length: 2\r\n\r\nno";
    assert_eq!(framed(RequestKind::Connect, refused), ("no".to_owned(), true));
}

#[test]
fn http_1_0_keeps_a_connection_only_when_it_says_so() {
    let keeps = "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi";
    assert_eq!(framed(RequestKind::Other, keeps), ("hi".to_owned(), true));
    let silent = "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    assert_eq!(framed(RequestKind::Other, silent), ("hi".to_owned(), false));
}

#[test]
fn a_body_without_a_length_ends_with_the_connection() {
    for head in [
        "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\n",
    ] {
        let stream = format!("{head}to the end");
        let open = answer(RequestKind::Other, stream.as_bytes(), false);
        assert!(!open.is_done && open.violation.is_none());
        let ended = answer(RequestKind::Other, stream.as_bytes(), true);
        assert_eq!((ended.is_done, ended.is_reusable, &ended.body[..]), (true, false, &b"to the end"[..]));
    }
}

#[test]
fn a_response_that_breaks_off_is_not_done() {
    for stream in [
        "",
        "HTT",
        "HTTP/1.1 200 O",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nh",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n",
    ] {
        let answer = answer(RequestKind::Other, stream.as_bytes(), true);
        assert_eq!(
            (answer.violation, answer.is_done, answer.is_cut_short),
            (None, false, true),
            "{stream:?}"
        );
    }
}

#[test]
fn what_breaks_the_protocol_is_refused_by_the_rule_it_breaks() {
    let table = [
        ("220 mail.example ESMTP\r\n", Violation::Version),
        ("SSH-2.0-x\r\n", Violation::Version),
        ("\u{15}\u{3}\u{1}\0\u{2}", Violation::Tls),
        ("HTTP/2 200 OK\r\n\r\n", Violation::Version),
        ("HTTP/1.1 2x0 OK\r\n\r\n", Violation::Status),
        ("HTTP/1.1 099 No\r\n\r\n", Violation::Status),
        ("HTTP/1.1 200 OK\r\nno colon\r\n\r\n", Violation::Header),
        ("HTTP/1.1 200 OK\r\nA: b\r\n folded\r\n\r\n", Violation::Header),
        ("HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nhi", Violation::Header),
    ];
    for (stream, violation) in table {
        refused(stream, violation);
    }
    let with = |headers: &str| format!("HTTP/1.1 200 OK\r\n{headers}\r\n\r\n");
    for length in ["", "x", "-1", "+1", "1 2", "0x2", "1,", "18446744073709551616"] {
        refused(&with(&format!("Content-Length: {length}")), Violation::Length);
    }
    refused(&with("Content-Length: 1\r\nContent-Length: 2"), Violation::Lengths);
    refused(&with("Content-Length: 1, 2"), Violation::Lengths);
    refused("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", Violation::Transfer);
}

#[test]
fn what_cannot_become_http_is_refused_before_its_line_ends() {
    for (stream, violation) in [
        ("SSH-2.0-x", Violation::Version),
        ("\u{15}\u{3}\u{1}", Violation::Tls),
        ("HTTP/2 ", Violation::Version),
    ] {
        let answer = answer(RequestKind::Other, stream.as_bytes(), false);
        assert_eq!(answer.violation, Some(violation), "{stream:?}");
    }
}

#[test]
fn a_chunk_that_is_none_is_refused() {
    let chunked = |body: &str| format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}");
    for size in ["\r\n", "x\r\n", " 1\r\n", "-1\r\n", "1 1\r\n", "00000000000000001\r\n", "1\n", ";x\r\n"] {
        refused(&chunked(size), Violation::ChunkSize);
    }
    for end in ["1\rx", "1\r\nab\r\n", "1\r\na\n", "1;x\n", "0\r\n\n", "0\r\nA: b\n", "0\r\n\rx", "1;x\rx"] {
        refused(&chunked(end), Violation::ChunkEnd);
    }
}

#[test]
fn what_has_no_end_is_refused_at_its_limit() {
    let feed = |pieces: &mut dyn Iterator<Item = Vec<u8>>| {
        let mut reader = Reader::new(RequestKind::Other, Keep { headers: false, body: 0 });
        let mut fed = 0;
        for piece in pieces {
            fed += piece.len();
            assert!(fed <= 3 * MAX_HEAD, "not refused");
            if let Err(violation) = reader.feed(&piece) {
                return violation;
            }
        }
        unreachable!("the pieces never end")
    };
    let endless = |start: &str, again: &str| {
        let (start, again) = (start.as_bytes().to_vec(), again.as_bytes().to_vec());
        std::iter::once(start).chain(std::iter::repeat(again))
    };
    let head = "HTTP/1.1 200 OK\r\n";
    assert_eq!(feed(&mut endless(head, "x")), Violation::HeadTooLong);
    assert_eq!(feed(&mut endless("", "\r\n")), Violation::HeadTooLong);
    assert_eq!(feed(&mut endless("", "HTTP/1.1 100 Continue\r\n\r\n")), Violation::HeadTooLong);
    let headers = "x: y\r\n".repeat(MAX_HEADERS + 1);
    assert_eq!(feed(&mut endless(head, &headers)), Violation::TooManyHeaders);
    let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n");
    assert_eq!(feed(&mut endless(&chunked, "1;ext\r\nx\r\n")), Violation::ChunkOverhead);
    assert_eq!(feed(&mut endless(&format!("{chunked}0\r\n"), "A: b\r\n")), Violation::ChunkOverhead);
}

#[test]
fn a_head_of_the_largest_size_is_read_and_one_byte_more_is_not() {
    let head = |size: usize| {
        let empty = "HTTP/1.1 204 No\r\nx: \r\n\r\n".len();
        format!("HTTP/1.1 204 No\r\nx: {}\r\n\r\n", "y".repeat(size - empty)).into_bytes()
    };
    for (size, violation) in [(MAX_HEAD, None), (MAX_HEAD + 1, Some(Violation::HeadTooLong))] {
        let head = head(size);
        let pieces: Vec<&[u8]> = head.chunks(1000).collect();
        for pieces in [&[&head[..]][..], &pieces] {
            let answer = answered(RequestKind::Other, ALL, pieces, false);
            assert_eq!((answer.violation, answer.is_done), (violation, violation.is_none()), "{size}");
        }
    }
}

#[test]
fn a_body_that_is_used_as_it_comes_is_the_same_however_it_is_cut_and_none_of_it_is_kept() {
    for framed in [
        "content-length: 8\r\n\r\nhi there",
        "transfer-encoding: chunked\r\n\r\n3\r\nhi \r\n5\r\nthere\r\n0\r\n\r\n",
        "\r\nhi there",
    ] {
        let stream = format!("HTTP/1.1 200 OK\r\n{framed}");
        for size in 1..=stream.len() {
            let (mut reader, mut body) = (Reader::new(RequestKind::Other, ALL), Vec::new());
            for piece in stream.as_bytes().chunks(size) {
                reader.feed_to(piece, &mut |data| body.extend_from_slice(data)).unwrap();
            }
            assert_eq!((&body[..], reader.body_bytes), (&b"hi there"[..], 8), "{size} bytes at a time");
            assert!(reader.body.is_empty());
        }
    }
}

#[test]
fn only_what_was_asked_for_is_kept() {
    let none = Keep { headers: false, body: 0 };
    let kept = |keep, head: &str| {
        let stream = format!("HTTP/1.1 {head}\r\nX: y\r\nContent-Length: 5\r\n\r\nhello");
        let answer = answered(RequestKind::Other, keep, &[stream.as_bytes()], false);
        (answer.headers.iter().count(), answer.body, answer.body_bytes)
    };
    assert_eq!(kept(none, "200 OK"), (0, Vec::new(), 5));
    assert_eq!(kept(Keep { headers: true, body: 3 }, "200 OK"), (2, b"hel".to_vec(), 5));
    // A cookie and a way elsewhere are always wanted.
    assert_eq!(kept(none, "200 OK\r\nSet-Cookie: a=b").0, 3);
    assert_eq!(kept(none, "302 Found\r\nLocation: /").0, 3);
    assert_eq!(kept(none, "201 Created\r\nLocation: /").0, 0);
    // A body that is kept is of no use to who does not know how it is packed.
    assert_eq!(kept(none, "200 OK\r\nContent-Encoding: gzip").0, 0);
    assert_eq!(kept(Keep { headers: false, body: 9 }, "200 OK\r\nContent-Encoding: gzip").0, 3);
}
