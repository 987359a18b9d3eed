//! Engine.IO and Socket.IO packets, by the codecs alone.

use sonagi_wire::{engineio, socketio};
use std::hint::black_box;

/// A chat message as a Socket.IO event in its Engine.IO packet, with a stamp in it.
pub(super) const CHAT: &str =
    r#"42["newMessage",{"room":"r1","from":"u17","text":"소나기","stamp":"~sngAAABAAA_AABA_____8"}]"#;

pub(super) fn decode_event(operations: u64) {
    let mut seen = 0;
    for _ in 0..operations {
        let Ok(engineio::Packet::Text(text)) = engineio::decode(black_box(CHAT)) else { continue };
        let Ok(packet) = socketio::decode(&text) else { continue };
        seen += u64::from(socketio::event_name(&packet.data).is_some_and(|name| name == "newMessage"));
    }
    assert_eq!(seen, operations);
}

pub(super) fn encode_event(operations: u64) {
    let mut text = String::new();
    for id in 0..operations {
        text.clear();
        text.push('4');
        // Ids of one length, so that the number of operations does not change what one is.
        let id = Some(1_000_000 + id);
        let event = socketio::Packet::event("/", id, "sendMessage", [black_box(r#"{"text":"hi"}"#)]);
        socketio::encode(&event, &mut text);
        black_box(&text);
    }
    assert_eq!(text.len(), r#"421000000["sendMessage",{"text":"hi"}]"#.len());
}

pub(super) fn polled(operations: u64) {
    const IN_A_BODY: u64 = 10;
    let packet = engineio::Packet::Text(CHAT[1..].into());
    let packets = vec![packet; IN_A_BODY as usize];
    let mut seen = 0;
    for _ in 0..operations / IN_A_BODY {
        let body = engineio::encode_payload(black_box(&packets));
        seen += engineio::payload(black_box(&body)).filter(Result::is_ok).count() as u64;
    }
    assert_eq!(seen, operations);
}
