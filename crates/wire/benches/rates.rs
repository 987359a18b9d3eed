//! How fast one core decodes and encodes: `cargo bench -p sonagi-wire`. Prints the best of several rounds, because
//! what else the machine does can only slow a round down; nothing passes or fails by it.
#![allow(missing_docs)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use sonagi_wire::websocket::{Decoder, Event, Opcode, Role, encode};
use sonagi_wire::{engineio, socketio};

const ROUNDS: usize = 15;

fn main() {
    let chat = r#"42["newMessage",{"room":"r1","from":"u17","text":"소나기","stamp":"~s1.17.r1.42~"}]"#;
    decode("decode 16 B text, unmasked", Role::Client, &b"0123456789abcdef"[..], 1);
    decode("decode chat event, unmasked", Role::Client, chat.as_bytes(), 1);
    decode("decode chat event, masked", Role::Server, chat.as_bytes(), 1);
    decode("decode 4 KiB text, masked", Role::Server, &[b'x'; 4096], 1);
    decode("decode chat event, cut every 64 B", Role::Client, chat.as_bytes(), 64);
    let mut out = Vec::new();
    rate("encode chat event, masked", 10_000, || {
        out.clear();
        for key in 0..10_000_u32 {
            encode(Opcode::Text, black_box(chat.as_bytes()), Some(key.to_ne_bytes()), &mut out);
        }
        black_box(&out);
    });
    rate("chat event through engine.io and socket.io", 10_000, || {
        for _ in 0..10_000 {
            let Ok(engineio::Packet::Text(text)) = engineio::decode(black_box(chat)) else { continue };
            let Ok(packet) = socketio::decode(&text) else { continue };
            black_box(socketio::event_name(&packet.data));
        }
    });
    let mut text = String::new();
    rate("write a chat event with an ack id", 10_000, || {
        for id in 0..10_000 {
            text.clear();
            text.push('4');
            let event =
                socketio::Packet::event("/", Some(id), "sendMessage", [black_box(r#"{"text":"hi"}"#)]);
            socketio::encode(&event, &mut text);
            black_box(&text);
        }
    });
}

/// Frames of `payload` in reads of 32 KiB; with `cut` > 1 in reads of that many bytes.
fn decode(name: &str, role: Role, payload: &[u8], cut: usize) {
    let read = 32 * 1024;
    let mut frames = Vec::new();
    let mut count = 0;
    while frames.len() < read {
        let mask = (role == Role::Server).then_some([1, 2, 3, 4]);
        encode(Opcode::Text, payload, mask, &mut frames);
        count += 1;
    }
    let mut decoder = Decoder::new(role, 1 << 20);
    let mut input = frames.clone();
    let piece = if cut > 1 { cut } else { frames.len() };
    let mut seen = 0;
    rate(name, count * 20, || {
        for _ in 0..20 {
            // What a read into the buffer would do; a server's input was unmasked in place.
            input.copy_from_slice(&frames);
            for piece in input.chunks_mut(piece) {
                let fed = decoder.feed(piece, |event| {
                    if let Event::Text(text) = event {
                        seen += black_box(text).len();
                    }
                });
                assert_eq!(fed, Ok(()));
            }
        }
    });
    assert_eq!(seen, (ROUNDS * 20 * count) * payload.len());
}

fn rate(name: &str, operations: usize, mut round: impl FnMut()) {
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let started = Instant::now();
        round();
        best = best.min(started.elapsed());
    }
    println!(
        "{name:<44} {:7.1} M/s {:8.1} ns",
        operations as f64 / best.as_secs_f64() / 1e6,
        best.as_nanos() as f64 / operations as f64
    );
}
