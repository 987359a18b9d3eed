//! What must hold for any bytes, one function a fuzz target. The tests of `sonagi-wire` include this file and run it
//! over the committed corpus, so it uses nothing but that crate and panics when something does not hold.

pub mod sockjs;
pub mod sse;
pub mod stomp;

use sonagi_wire::http1::{self, Keep, Reader, RequestKind};
use sonagi_wire::websocket::{self, Decoder, Event, Opcode, Role};
use sonagi_wire::{engineio, socketio};

/// An event that outlives its input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    Text(String),
    Binary(Vec<u8>),
    Ping(Vec<u8>),
    Pong(Vec<u8>),
    Close(Option<u16>, String),
    Violation(websocket::Violation),
}

/// Everything a decoder says about `stream` when it is cut into pieces of the given lengths, repeated.
/// The bool is whether it ended between messages.
pub fn decoded(role: Role, max_message: usize, stream: &[u8], lengths: &[usize]) -> (Vec<Seen>, bool) {
    let mut decoder = Decoder::new(role, max_message);
    let mut seen = Vec::new();
    let mut lengths = lengths.iter().copied().cycle();
    let mut stream = stream.to_vec();
    let mut rest = stream.as_mut_slice();
    while !rest.is_empty() {
        let length = lengths.next().unwrap_or(rest.len()).clamp(1, rest.len());
        let (piece, after) = rest.split_at_mut(length);
        rest = after;
        let fed = decoder.feed(piece, |event| {
            seen.push(match event {
                Event::Text(text) => Seen::Text(text.to_owned()),
                Event::Binary(bytes) => Seen::Binary(bytes.to_owned()),
                Event::Ping(bytes) => Seen::Ping(bytes.to_owned()),
                Event::Pong(bytes) => Seen::Pong(bytes.to_owned()),
                Event::Close { code, reason } => Seen::Close(code, reason.to_owned()),
            });
        });
        if let Err(violation) = fed {
            assert!(matches!(violation.code(), 1002 | 1007 | 1009));
            seen.push(Seen::Violation(violation));
        }
    }
    (seen, decoder.is_idle())
}

/// The bytes of `event` as a peer of `role` sends them; None for a violation.
pub fn encoded(role: Role, event: &Seen, key: [u8; 4]) -> Option<Vec<u8>> {
    let (opcode, payload) = match event {
        Seen::Text(text) => (Opcode::Text, text.clone().into_bytes()),
        Seen::Binary(bytes) => (Opcode::Binary, bytes.clone()),
        Seen::Ping(bytes) => (Opcode::Ping, bytes.clone()),
        Seen::Pong(bytes) => (Opcode::Pong, bytes.clone()),
        Seen::Close(None, _) => (Opcode::Close, Vec::new()),
        Seen::Close(Some(code), reason) => (Opcode::Close, websocket::close_payload(*code, reason)),
        Seen::Violation(_) => return None,
    };
    let mut out = Vec::new();
    websocket::encode(opcode, &payload, (role == Role::Client).then_some(key), &mut out);
    Some(out)
}

/// First byte: role and limit; second: the pieces; the rest is the stream.
pub fn websocket_decode(input: &[u8]) {
    let [options, cut, stream @ ..] = input else { return };
    let (us, peer) =
        if options & 1 == 0 { (Role::Client, Role::Server) } else { (Role::Server, Role::Client) };
    let max_message = if options & 2 == 0 { 1 << 16 } else { 100 };
    let whole = decoded(us, max_message, stream, &[stream.len()]);
    let cut = usize::from(*cut);
    for lengths in [&[1][..], &[cut % 7 + 1, cut / 7 + 1], &[2, cut % 13 + 1, 1, cut + 1]] {
        assert_eq!(decoded(us, max_message, stream, lengths), whole, "in pieces of {lengths:?}");
    }
    for (at, event) in whole.0.iter().enumerate() {
        let last = at + 1 == whole.0.len();
        assert!(last || !matches!(event, Seen::Close(..) | Seen::Violation(_)), "events after the end");
        if let Some(frame) = encoded(peer, event, [options.wrapping_mul(31), 2, 3, 4]) {
            let again = decoded(us, max_message, &frame, &[]);
            assert_eq!(again, (vec![event.clone()], true), "decode after encode");
        }
    }
}

/// A polling body. The packets before the first error must survive being written again.
pub fn engineio_payload(input: &[u8]) {
    let Ok(body) = std::str::from_utf8(input) else { return };
    let items: Vec<_> = engineio::payload(body).collect();
    assert!(!items.is_empty(), "a body gives a packet or an error");
    assert!(items[..items.len() - 1].iter().all(Result::is_ok), "packets after an error");
    let whole: Result<Vec<_>, _> = items.into_iter().collect();
    if let Ok(packets) = whole {
        assert_eq!(engineio::encode_payload(&packets), body, "encode after decode");
        assert!(packets.len() == body.split(engineio::SEPARATOR).count());
    }
    if let Ok(handshake) = engineio::Handshake::from_json(body) {
        assert_eq!(engineio::Handshake::from_json(&handshake.to_json()), Ok(handshake));
    }
    let _ = engineio::Refusal::from_json(body);
    engineio3_payload(body);
}

/// The same bytes as a body of protocol 3, in its text form and its binary one.
fn engineio3_payload(body: &str) {
    use engineio::{Packet, PacketError, Version, binary_payload, encode_binary_payload};
    let text: Result<Vec<Packet<'_>>, PacketError> = Version::Three.payload(body).collect();
    let binary: Result<Vec<Packet<'_>>, PacketError> = binary_payload(body.as_bytes()).collect();
    for packets in [text, binary].into_iter().flatten() {
        let written = Version::Three.encode_payload(&packets);
        let again: Result<Vec<_>, _> = Version::Three.payload(&written).collect();
        assert_eq!(again.as_ref(), Ok(&packets), "protocol 3, decode after encode");
        let written = encode_binary_payload(&packets);
        let again: Result<Vec<_>, _> = binary_payload(&written).collect();
        assert_eq!(again.as_ref(), Ok(&packets), "protocol 3 binary, decode after encode");
    }
}

/// Lines of a Socket.IO conversation: a line that begins with a tab is an attachment, any other a text packet.
pub fn socketio_decode(input: &[u8]) {
    let mut assembler = socketio::Assembler::default();
    for line in input.split(|&byte| byte == b'\n') {
        let before = assembler.is_waiting();
        if let [b'\t', bytes @ ..] = line {
            match assembler.attachment(bytes) {
                Ok(Some(whole)) => assert_eq!(whole.attachments.len(), whole.packet.attachments),
                Ok(None) => assert!(assembler.is_waiting()),
                Err(_) => assert!(!before),
            }
            continue;
        }
        let Ok(text) = std::str::from_utf8(line) else { continue };
        let packet = match (socketio::decode(text), assembler.text(text)) {
            (Ok(packet), Ok(now)) => {
                assert_eq!(now.is_some(), packet.attachments == 0);
                packet
            }
            (Ok(packet), Err(_)) => {
                assert!(before);
                packet
            }
            (Err(_), said) => {
                assert!(said.is_err());
                continue;
            }
        };
        assert!(packet.attachments <= socketio::MAX_ATTACHMENTS);
        let mut again = String::new();
        socketio::encode(&packet, &mut again);
        assert_eq!(socketio::decode(&again).as_ref(), Ok(&packet), "decode after encode");
        if let Some(name) = socketio::event_name(&packet.data) {
            let event = socketio::Packet::event("/", None, &name, ["1"]);
            assert_eq!(socketio::event_name(&event.data).as_ref(), Some(&name), "the name survives");
        }
    }
}

/// All a reader says of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub headers: http1::Headers,
    pub body: Vec<u8>,
    pub body_bytes: u64,
    pub is_done: bool,
    pub is_reusable: bool,
    /// The peer ended its side before the response was whole.
    pub is_cut_short: bool,
    pub violation: Option<http1::Violation>,
}

/// What a reader makes of these pieces, and then, if `ends`, of the peer's end.
pub fn answered(asked: RequestKind, keep: Keep, pieces: &[&[u8]], ends: bool) -> Answer {
    let mut reader = Reader::new(asked, keep);
    let mut violation = pieces.iter().find_map(|piece| reader.feed(piece).err());
    let mut is_cut_short = false;
    if ends && violation.is_none() {
        match reader.end() {
            Ok(ended) => is_cut_short = ended.is_err(),
            Err(found) => violation = Some(found),
        }
    }
    let (is_done, is_reusable) = (reader.is_done(), reader.is_reusable());
    let Reader { status, headers, body, body_bytes, .. } = reader;
    Answer { status, headers, body, body_bytes, is_done, is_reusable, is_cut_short, violation }
}

/// First byte: what was asked, what is kept, and whether the peer ends its side; second: the pieces; the rest is the stream.
pub fn http1_response(input: &[u8]) {
    let [options, cut, stream @ ..] = input else { return };
    let asked = [RequestKind::Other, RequestKind::Other, RequestKind::Head, RequestKind::Connect]
        [usize::from(options & 3)];
    let keep = Keep { headers: options & 4 == 0, body: if options & 8 == 0 { 1 << 16 } else { 3 } };
    let ends = options & 16 == 0;
    let whole = answered(asked, keep, &[stream], ends);
    let cut = usize::from(*cut) + 1;
    let pieces: Vec<&[u8]> = stream.chunks(cut).collect();
    assert_eq!(answered(asked, keep, &pieces, ends), whole, "in pieces of {cut}");
    let bytes: Vec<&[u8]> = stream.chunks(1).collect();
    assert_eq!(answered(asked, keep, &bytes, ends), whole, "byte by byte");
    assert!(whole.body.len() <= keep.body.min(stream.len()) && whole.body.len() as u64 <= whole.body_bytes);
    assert!(!whole.is_reusable || whole.is_done && !ends, "an end or half a response leave nothing to use");
    assert!(!whole.is_done || whole.violation.is_none() && whole.status >= 101, "done well or not at all");
    for (name, value) in whole.headers.iter() {
        assert!(!name.is_empty() && !value.contains(&b'\n'), "{name:?}: {value:?}");
    }
}
