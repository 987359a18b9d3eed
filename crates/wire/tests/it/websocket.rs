//! RFC 6455: the vectors, in every cut; and what the encoders write.

use sonagi_wire::websocket::{
    self, Decoder, Event, Opcode, Role, Violation, accept_key, close_payload, encode, shared,
};

use crate::checks::{Seen, decoded};
use crate::vectors;

const LIMIT: usize = 70_000;
const KEY: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

#[test]
fn a_stream_means_what_the_rfc_says_however_it_is_cut() {
    vectors::check("websocket.txt", include_str!("vectors/websocket.txt"), |vector| {
        let (role, stream) = stream(vector.input);
        let whole = decoded(role, LIMIT, &stream, &[]);
        for length in 1..=stream.len().min(20) {
            assert_eq!(
                decoded(role, LIMIT, &stream, &[length]),
                whole,
                "{} in pieces of {length}",
                vector.place
            );
        }
        for first in 1..stream.len().min(200) {
            let cut = decoded(role, LIMIT, &stream, &[first, stream.len() - first]);
            assert_eq!(cut, whole, "{} cut at {first}", vector.place);
        }
        rendered(&whole)
    });
}

/// `client|server`, then the pieces of the stream.
fn stream(input: &str) -> (Role, Vec<u8>) {
    let (role, pieces) = input.split_once(' ').unwrap();
    let role = if role == "client" { Role::Client } else { Role::Server };
    let mut stream = Vec::new();
    for piece in pieces.split_ascii_whitespace() {
        match piece.strip_prefix('^') {
            None => stream.extend(bytes(piece)),
            Some(piece) => {
                stream.extend(bytes(piece).iter().zip(KEY.iter().cycle()).map(|(byte, key)| byte ^ key));
            }
        }
    }
    (role, stream)
}

fn bytes(piece: &str) -> Vec<u8> {
    if let Some((byte, count)) = piece.split_once('*') {
        return bytes(byte).repeat(count.parse().unwrap());
    }
    if let Some((hex, text)) = piece.split_once('\'') {
        let mut all = bytes(hex);
        all.extend_from_slice(text.strip_suffix('\'').unwrap().as_bytes());
        return all;
    }
    let digits: Vec<u32> = piece.chars().map(|digit| digit.to_digit(16).unwrap()).collect();
    digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect()
}

fn rendered((seen, idle): &(Vec<Seen>, bool)) -> String {
    let hex = |name: &str, bytes: &[u8]| match bytes.len() {
        0..=20 => format!("{name}({})", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
        length => format!("{name}[{length}]"),
    };
    let mut words: Vec<String> = seen
        .iter()
        .map(|seen| match seen {
            Seen::Text(text) if text.len() > 20 => format!("text[{}]", text.len()),
            Seen::Text(text) => format!("text({})", printable(text)),
            Seen::Binary(bytes) => hex("binary", bytes),
            Seen::Ping(bytes) => hex("ping", bytes),
            Seen::Pong(bytes) => hex("pong", bytes),
            Seen::Close(None, _) => "close()".to_owned(),
            Seen::Close(Some(code), reason) if reason.len() > 20 => {
                format!("close({code},[{}])", reason.len())
            }
            Seen::Close(Some(code), reason) => format!("close({code},{reason})"),
            Seen::Violation(violation) => format!("!{} {violation:?}", violation.code()),
        })
        .collect();
    if !idle && !matches!(seen.last(), Some(Seen::Violation(_))) {
        words.push("…".to_owned());
    }
    words.join(" ")
}

fn printable(text: &str) -> String {
    text.replace('\0', "\\u{0}").replace('\u{ffff}', "\\u{ffff}").replace('\u{10ffff}', "\\u{10ffff}")
}

#[test]
fn an_idle_decoder_is_small() {
    assert!(size_of::<Decoder>() <= 24, "{}", size_of::<Decoder>());
}

#[test]
fn a_decoder_knows_whether_the_connection_ended_between_messages() {
    let mut decoder = Decoder::new(Role::Client, LIMIT);
    assert!(decoder.is_idle());
    for (byte, idle) in [
        (0x81, false),
        (0x01, false),
        (b'x', true),
        (0x01, false),
        (0x00, false),
        (0x80, false),
        (0x00, true),
    ] {
        decoder.feed(&mut [byte], |_| {}).unwrap();
        assert_eq!(decoder.is_idle(), idle, "after {byte:#x}");
    }
    assert!(!decoder.is_closed());
    decoder.feed(&mut [0x88, 0x00], |_| {}).unwrap();
    assert!(decoder.is_idle() && decoder.is_closed());
}

#[test]
fn input_after_a_violation_is_ignored() {
    let mut decoder = Decoder::new(Role::Client, LIMIT);
    assert_eq!(decoder.feed(&mut [0x83], |_| {}), Err(Violation::ReservedOpcode { opcode: 3 }));
    assert_eq!(decoder.feed(&mut [0x81, 0x00], |event| panic!("{event:?}")), Ok(()));
    assert!(!decoder.is_idle() && !decoder.is_closed());
}

#[test]
fn whole_messages_are_borrowed_from_the_input() {
    let mut stream = Vec::new();
    encode(Opcode::Text, b"drop", None, &mut stream);
    let range = stream.as_ptr_range();
    let mut seen = 0;
    Decoder::new(Role::Client, LIMIT)
        .feed(&mut stream, |event| {
            assert!(matches!(event, Event::Text(text) if range.contains(&text.as_ptr())));
            seen += 1;
        })
        .unwrap();
    assert_eq!(seen, 1);
}

#[test]
fn a_control_frame_passes_where_no_message_may() {
    let mut frame = shared(Opcode::Ping, b"alive").to_vec();
    let mut pings = 0;
    Decoder::new(Role::Client, 0)
        .feed(&mut frame, |event| {
            assert_eq!(event, Event::Ping(b"alive"));
            pings += 1;
        })
        .unwrap();
    assert_eq!(pings, 1);
}

#[test]
fn frames_are_written_as_the_rfc_prints_them() {
    let check = |opcode, payload: &[u8], mask, expected: &[u8]| {
        let mut out = vec![0xee];
        encode(opcode, payload, mask, &mut out);
        assert_eq!(out[0], 0xee, "what was there stays");
        assert_eq!(&out[1..], expected);
    };
    // RFC 6455 §5.7
    check(Opcode::Text, b"Hello", None, &[0x81, 5, b'H', b'e', b'l', b'l', b'o']);
    check(Opcode::Ping, b"Hello", None, &[0x89, 5, b'H', b'e', b'l', b'l', b'o']);
    let mut masked = Vec::new();
    encode(Opcode::Text, b"Hello", Some(KEY), &mut masked);
    assert_eq!(masked, [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58]);
    masked.clear();
    encode(Opcode::Pong, b"Hello", Some(KEY), &mut masked);
    assert_eq!(masked, [0x8a, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58]);
}

#[test]
fn lengths_are_written_in_the_fewest_bytes() {
    let cases: [(usize, &[u8]); 7] = [
        (0, &[0x82, 0]),
        (125, &[0x82, 125]),
        (126, &[0x82, 126, 0, 126]),
        (256, &[0x82, 126, 1, 0]),
        (65535, &[0x82, 126, 0xff, 0xff]),
        (65536, &[0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0]),
        (70000, &[0x82, 127, 0, 0, 0, 0, 0, 1, 0x11, 0x70]),
    ];
    for (length, header) in cases {
        let frame = shared(Opcode::Binary, &vec![7; length]);
        assert_eq!(&frame[..header.len()], header);
        assert_eq!(&frame[header.len()..], &vec![7; length]);
        let mut masked = Vec::new();
        encode(Opcode::Binary, &vec![7; length], Some(KEY), &mut masked);
        assert_eq!(masked[1], header[1] | 0x80);
        assert_eq!(masked[2..header.len()], header[2..]);
        assert_eq!(masked[header.len()..header.len() + 4], KEY);
        assert_eq!(masked.len(), header.len() + 4 + length);
    }
}

#[test]
#[should_panic(expected = "at most 125 bytes, got 126")]
fn a_control_frame_of_126_bytes_is_never_written() {
    encode(Opcode::Ping, &[0; 126], None, &mut Vec::new());
}

#[test]
fn a_close_reason_is_cut_to_what_fits_without_breaking_a_character() {
    assert_eq!(close_payload(1000, ""), [0x03, 0xe8]);
    assert_eq!(close_payload(3008, "slow"), b"\x0b\xc0slow");
    assert_eq!(close_payload(1001, &"x".repeat(200)).len(), 125);
    let cut = close_payload(1001, &"é".repeat(100));
    assert_eq!(std::str::from_utf8(&cut[2..]).unwrap(), "é".repeat(61));
}

#[test]
fn the_accept_key_is_the_rfcs() {
    // RFC 6455 §1.3
    assert_eq!(accept_key("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

#[test]
fn a_violation_says_the_rule_and_what_came() {
    assert_eq!(
        Violation::MessageTooBig { length: 70_001, limit: LIMIT }.to_string(),
        "websocket message must be at most 70000 bytes, got at least 70001"
    );
    assert_eq!(
        Violation::ReservedBits { bits: 0b100 }.to_string(),
        "websocket reserved bits must be zero without an extension, got 100"
    );
    assert!(websocket::is_valid_close_code(1000) && !websocket::is_valid_close_code(1005));
}
