//! Laws for any input: cutting a stream changes nothing, and decoding undoes encoding.

use proptest::collection::vec;
use proptest::prelude::*;
use sonagi_wire::engineio;
use sonagi_wire::socketio::{self, Kind};
use sonagi_wire::websocket::{MAX_CONTROL_PAYLOAD, Opcode, Role, encode, is_valid_close_code};

use crate::checks::{Seen, decoded, encoded};

const LIMIT: usize = 1 << 20;

fn event() -> impl Strategy<Value = Seen> {
    let control = || vec(any::<u8>(), 0..=MAX_CONTROL_PAYLOAD);
    prop_oneof![
        4 => "\\PC{0,200}".prop_map(Seen::Text),
        4 => vec(any::<u8>(), 0..300).prop_map(Seen::Binary),
        1 => vec(any::<u8>(), 65_500..65_600).prop_map(Seen::Binary),
        1 => control().prop_map(Seen::Ping),
        1 => control().prop_map(Seen::Pong),
    ]
}

fn close() -> impl Strategy<Value = Seen> {
    let code = (1000..5000_u16).prop_filter("a code that may be sent", |code| is_valid_close_code(*code));
    prop_oneof![
        Just(Seen::Close(None, String::new())),
        (code, "[a-zé]{0,60}").prop_map(|(code, reason)| Seen::Close(Some(code), reason)),
    ]
}

/// A frame that is not final: `encode` writes none, because we never fragment what we send.
fn fragment(role: Role, opcode: Opcode, payload: &[u8], fin: bool) -> Vec<u8> {
    let mut out = Vec::new();
    encode(opcode, payload, (role == Role::Client).then_some([9, 8, 7, 6]), &mut out);
    out[0] = out[0] & 0x7f | if fin { 0x80 } else { 0 };
    out
}

fn peer_of(role: Role) -> Role {
    if role == Role::Client { Role::Server } else { Role::Client }
}

proptest! {
    #[test]
    fn what_was_sent_arrives_in_any_cut(
        us in prop_oneof![Just(Role::Client), Just(Role::Server)],
        mut events in vec(event(), 0..12),
        close in proptest::option::of(close()),
        key in any::<[u8; 4]>(),
        lengths in vec(1..400_usize, 1..8),
    ) {
        events.extend(close);
        let stream: Vec<u8> =
            events.iter().flat_map(|event| encoded(peer_of(us), event, key).unwrap()).collect();
        prop_assert_eq!(&decoded(us, LIMIT, &stream, &[]), &(events.clone(), true));
        prop_assert_eq!(&decoded(us, LIMIT, &stream, &lengths), &(events, true));
    }

    #[test]
    fn a_message_is_the_same_in_any_fragments(
        us in prop_oneof![Just(Role::Client), Just(Role::Server)],
        text in "\\PC{1,120}",
        cuts in vec(any::<prop::sample::Index>(), 0..6),
        ping in vec(any::<u8>(), 0..10),
        lengths in vec(1..60_usize, 1..4),
    ) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len())).collect();
        cuts.push(text.len());
        cuts.sort_unstable();
        let mut stream = Vec::new();
        let mut expected = Vec::new();
        let mut from = 0;
        for (at, &to) in cuts.iter().enumerate() {
            let opcode = if at == 0 { Opcode::Text } else { Opcode::Continuation };
            let fin = at + 1 == cuts.len();
            if at > 0 {
                stream.extend(fragment(peer_of(us), Opcode::Ping, &ping, true));
                expected.push(Seen::Ping(ping.clone()));
            }
            stream.extend(fragment(peer_of(us), opcode, &text.as_bytes()[from..to], fin));
            from = to;
        }
        expected.push(Seen::Text(text));
        prop_assert_eq!(&decoded(us, LIMIT, &stream, &[]), &(expected.clone(), true));
        prop_assert_eq!(&decoded(us, LIMIT, &stream, &lengths), &(expected, true));
    }

    #[test]
    fn any_bytes_mean_the_same_in_any_cut(
        us in prop_oneof![Just(Role::Client), Just(Role::Server)],
        // Biased towards first bytes of frames and short lengths, or nearly every stream would end at once.
        stream in vec(prop_oneof![
            prop::sample::select(&[0x81, 0x82, 0x01, 0x02, 0x00, 0x80, 0x88, 0x89, 0x8a, 3, 0x83, 126, 0xce, 0xba][..]),
            any::<u8>(),
        ], 0..120),
        lengths in vec(1..20_usize, 1..6),
    ) {
        prop_assert_eq!(decoded(us, 100, &stream, &lengths), decoded(us, 100, &stream, &[]));
    }

    #[test]
    fn a_polling_body_gives_back_its_packets(packets in vec(packet(), 1..10)) {
        let body = engineio::encode_payload(&packets);
        let back: Result<Vec<_>, _> = engineio::payload(&body).collect();
        prop_assert_eq!(back, Ok(packets));
    }

    #[test]
    fn a_socket_io_packet_survives_its_text(
        kind in prop::sample::select(&[Kind::Event, Kind::Ack, Kind::BinaryEvent, Kind::BinaryAck][..]),
        namespace in "/[^,]{0,20}",
        ack in proptest::option::of(any::<u64>()),
        attachments in 1..=socketio::MAX_ATTACHMENTS,
        data in "\\[\\PC{0,40}",
    ) {
        let packet = socketio::Packet {
            kind,
            namespace: namespace.into(),
            ack: if matches!(kind, Kind::Ack | Kind::BinaryAck) { ack.or(Some(0)) } else { ack },
            attachments: if kind.is_binary() { attachments } else { 0 },
            data: data.into(),
        };
        let mut text = String::new();
        socketio::encode(&packet, &mut text);
        prop_assert_eq!(socketio::decode(&text), Ok(packet));
    }

    #[test]
    fn an_events_name_survives_its_json(name in any::<String>(), argument in any::<u32>()) {
        let event = socketio::Packet::event("/", None, &name, [argument.to_string().as_str()]);
        let parsed: serde_json::Value = serde_json::from_str(&event.data).unwrap();
        prop_assert_eq!(parsed[0].as_str(), Some(name.as_str()));
        let read = socketio::event_name(&event.data);
        prop_assert_eq!(read.as_deref(), Some(name.as_str()));
    }
}

fn packet() -> impl Strategy<Value = engineio::Packet<'static>> {
    use engineio::Packet;
    let text = || "[^\u{1e}]{0,30}";
    prop_oneof![
        text().prop_map(|data| Packet::Open(data.into())),
        Just(Packet::Close),
        text().prop_map(|data| Packet::Ping(data.into())),
        text().prop_map(|data| Packet::Pong(data.into())),
        text().prop_map(|data| Packet::Text(data.into())),
        vec(any::<u8>(), 0..40).prop_map(|bytes| Packet::Binary(bytes.into())),
        Just(Packet::Upgrade),
        Just(Packet::Noop),
    ]
}
