//! Server-sent events: the vectors, what is borrowed and kept, and events written.

use std::borrow::Cow;

use proptest::collection::vec;
use proptest::prelude::*;
use sonagi_wire::sse::{Decoder, Item, MAX_ID, Message, Unwritable, Violation, is_event_stream, retry};

use crate::checks::sse::{Seen, decoded};
use crate::vectors;

const LIMIT: usize = 1 << 20;

fn words((seen, last_id): &(Vec<Seen>, String)) -> String {
    let text = |bytes: &Vec<u8>| String::from_utf8(bytes.clone()).unwrap();
    let mut words: Vec<String> = seen
        .iter()
        .map(|item| match item {
            Seen::Event { name, data, id } if id.is_empty() => format!("{name}({:?})", text(data)),
            Seen::Event { name, data, id } => format!("{name}#{id}({:?})", text(data)),
            Seen::Comment(bytes) => format!("comment({:?})", text(bytes)),
            Seen::Retry(ms) => format!("retry({ms})"),
            Seen::Violation(violation) => format!("!{violation:?}"),
        })
        .collect();
    if !last_id.is_empty() {
        words.push(format!("@{last_id}"));
    }
    words.join(" ")
}

#[test]
fn a_stream_holds_the_events_the_specification_says() {
    vectors::check("sse.txt", include_str!("vectors/sse.txt"), |vector| {
        let stream: String = serde_json::from_str(vector.input).unwrap();
        let limit = if vector.place.contains("Our limit") { 30 } else { LIMIT };
        let whole = decoded(limit, stream.as_bytes(), &[]);
        for length in 1..8 {
            assert_eq!(decoded(limit, stream.as_bytes(), &[length]), whole, "{} by {length}", vector.place);
        }
        words(&whole)
    });
}

#[test]
fn an_event_of_one_data_line_that_came_whole_is_borrowed() {
    let piece = b"id: 1\nevent: moved\ndata: {\"x\":1}\n\n";
    let mut events = 0;
    Decoder::new(LIMIT)
        .feed(piece, |item| {
            let Item::Event(event) = item else { panic!("{item:?}") };
            assert!(piece.as_ptr_range().contains(&event.data.as_ptr()));
            assert!(matches!(event.name, Cow::Borrowed("moved")));
            events += 1;
        })
        .unwrap();
    assert_eq!(events, 1);
}

#[test]
fn nothing_is_held_between_events() {
    let mut decoder = Decoder::new(LIMIT);
    let mut states = Vec::new();
    for piece in [&b"data: 1"[..], b"\n", b"\r\n", b": hi\n", b"id: 3\n", b"\n"] {
        decoder.feed(piece, |_| {}).unwrap();
        states.push(decoder.is_idle());
    }
    assert_eq!(states, [false, false, true, true, false, true]);
    assert!(size_of::<Decoder>() <= 48, "{}", size_of::<Decoder>());
}

#[test]
fn a_reconnect_keeps_the_last_id_and_forgets_what_was_half_read() {
    let mut decoder = Decoder::new(LIMIT);
    decoder.feed(b"id: 5\ndata: a\n\nid: 6\ndata: b", |_| {}).unwrap();
    decoder.restart();
    assert_eq!((decoder.last_id(), decoder.is_idle()), ("5", true));
    let mut ids = Vec::new();
    let stream = b"\xef\xbb\xbfdata: c\n\n";
    decoder
        .feed(stream, |item| {
            let Item::Event(event) = item else { panic!("{item:?}") };
            ids.push((event.id.to_owned(), event.text().into_owned()));
        })
        .unwrap();
    assert_eq!(ids, [("5".to_owned(), "c".to_owned())]);
}

#[test]
fn what_is_not_utf_8_is_replaced_and_ends_no_line() {
    let (seen, last_id) = decoded(LIMIT, b"event: \xff\nid: \xf0\ndata: \xe2\x82\ndata: \xac\n\n", &[]);
    let data = b"\xe2\x82\n\xac".to_vec();
    assert_eq!(seen, [Seen::Event { name: "\u{fffd}".into(), data, id: "\u{fffd}".into() }]);
    assert_eq!(last_id, "\u{fffd}");
}

#[test]
fn half_a_byte_order_mark_is_part_of_its_line() {
    for half in [&b"\xef"[..], b"\xef\xbb"] {
        let stream = [half, b"data: no field\ndata: x\n\n"].concat();
        for cuts in [&[][..], &[1], &[half.len()]] {
            let event = Seen::Event { name: "message".into(), data: b"x".to_vec(), id: String::new() };
            assert_eq!(decoded(LIMIT, &stream, cuts).0, [event], "{half:?}, {cuts:?}");
        }
    }
}

#[test]
fn an_id_over_the_limit_is_refused() {
    let stream = |length| [b"id: ", vec![b'1'; length].as_slice(), b"\n\n"].concat();
    assert_eq!(decoded(LIMIT, &stream(MAX_ID), &[]).1.len(), MAX_ID);
    let error = Violation::IdTooLong { length: MAX_ID + 1 };
    assert_eq!(decoded(LIMIT, &stream(MAX_ID + 1), &[7]).0, [Seen::Violation(error)]);
    assert_eq!(error.to_string(), "an event's id must have at most 1024 bytes, got 1025");
}

#[test]
fn a_line_in_ten_thousand_pieces_is_one_line() {
    let mut decoder = Decoder::new(LIMIT);
    let mut lengths = Vec::new();
    for piece in std::iter::once(&b"data: "[..]).chain(std::iter::repeat_n(&b"0123456789"[..], 10_000)) {
        decoder.feed(piece, |_| panic!("an event without an end")).unwrap();
    }
    decoder
        .feed(b"\n\n", |item| {
            let Item::Event(event) = item else { panic!("{item:?}") };
            lengths.push(event.data.len());
        })
        .unwrap();
    assert_eq!(lengths, [100_000]);
}

#[test]
fn events_are_written_as_the_specification_prints_them() {
    let plain = Message { id: None, name: None, data: "" };
    let cases = [
        (plain, "data: \n\n"),
        (Message { data: " a", ..plain }, "data:  a\n\n"),
        (Message { data: "a\nb\r\nc\rd", ..plain }, "data: a\ndata: b\ndata: c\ndata: d\n\n"),
        (Message { data: "a\n", ..plain }, "data: a\ndata: \n\n"),
        (Message { data: "\r\n\n\r", ..plain }, "data: \ndata: \ndata: \ndata: \n\n"),
        (Message { id: Some("7"), name: Some("add"), data: "1" }, "id: 7\nevent: add\ndata: 1\n\n"),
        (Message { id: Some(""), ..plain }, "id: \ndata: \n\n"),
    ];
    for (message, text) in cases {
        assert_eq!(message.to_bytes().unwrap(), text.as_bytes(), "{message:?}");
    }
    let mut out = Vec::new();
    retry(3000, &mut out);
    assert_eq!(out, b"retry: 3000\n");
}

#[test]
fn a_field_that_would_become_two_is_not_written() {
    let mut out = b"x".to_vec();
    for (id, name, field) in [
        ("1\n", "a", "id"),
        ("\r1", "a", "id"),
        ("1\0", "a", "id"),
        ("1", "a\ndata: b", "name"),
        ("1", "\r", "name"),
    ] {
        let message = Message { id: Some(id), name: Some(name), data: "" };
        assert_eq!(message.encode(&mut out), Err(Unwritable { field }), "{message:?}");
    }
    assert_eq!(out, b"x");
}

#[test]
fn an_event_stream_is_told_by_its_type() {
    for yes in [
        "text/event-stream",
        "Text/Event-Stream",
        "text/event-stream;charset=utf-8",
        " text/event-stream ; a",
    ] {
        assert!(is_event_stream(yes), "{yes}");
    }
    for no in ["", "text/event-streams", "text/plain; text/event-stream", "application/json"] {
        assert!(!is_event_stream(no), "{no}");
    }
}

proptest! {
    #[test]
    fn any_stream_means_the_same_in_any_cut(
        parts in vec(prop_oneof![
            prop::sample::select(&["data", "id", "event", "retry", ":", " ", "\n", "\r", "\r\n", "\n\n", "\0", "12", "x", "\u{feff}"][..])
                .prop_map(|part| part.as_bytes().to_vec()),
            vec(any::<u8>(), 0..3),
        ], 0..60),
        limit in prop_oneof![Just(LIMIT), 0..30_usize],
        lengths in vec(1..9_usize, 1..6),
    ) {
        let stream = parts.concat();
        prop_assert_eq!(decoded(limit, &stream, &lengths), decoded(limit, &stream, &[]));
    }

    #[test]
    fn an_event_survives_its_text(
        id in "[^\r\n\0]{0,12}",
        name in "[^\r\n]{1,12}",
        lines in vec("[^\r\n]{0,12}", 1..5),
        lengths in vec(1..9_usize, 1..6),
    ) {
        let data = lines.join("\n");
        let message = Message { id: Some(&id), name: Some(&name), data: &data };
        let mut out = Vec::new();
        out.extend_from_slice(b": hi\n");
        message.encode(&mut out).unwrap();
        let event = Seen::Event { name, data: data.into_bytes(), id: id.clone() };
        prop_assert_eq!(decoded(LIMIT, &out, &lengths), (vec![Seen::Comment(b"hi".to_vec()), event], id));
    }
}
