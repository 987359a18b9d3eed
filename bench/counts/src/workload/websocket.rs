//! Frames in and out, by the codec alone.

use sonagi_wire::websocket::{Decoder, Event, Opcode, Role, encode, shared};
use std::hint::black_box;

use super::packets::CHAT;

/// What a read of a busy connection holds.
const READ: usize = 32 * 1024;

pub(super) fn decode_small(operations: u64) {
    decode(Role::Client, b"0123456789abcdef", None, operations);
}

pub(super) fn decode_chat(operations: u64) {
    decode(Role::Client, CHAT.as_bytes(), None, operations);
}

pub(super) fn decode_masked(operations: u64) {
    decode(Role::Server, CHAT.as_bytes(), None, operations);
}

pub(super) fn decode_large(operations: u64) {
    decode(Role::Server, &[b'x'; 4096], None, operations);
}

pub(super) fn decode_cut(operations: u64) {
    decode(Role::Client, CHAT.as_bytes(), Some(64), operations);
}

/// Frames of `payload` in reads of 32 KiB, or in reads of `cut` bytes. The copy into the buffer stands for the read: a
/// server's input is unmasked in place.
fn decode(role: Role, payload: &[u8], cut: Option<usize>, operations: u64) {
    let mask = (role == Role::Server).then_some([1, 2, 3, 4]);
    let mut frame = Vec::new();
    encode(Opcode::Text, payload, mask, &mut frame);
    let in_a_read = (READ / frame.len()).max(1) as u64;
    let frames = frame.repeat(in_a_read as usize);
    let mut buffer = frames.clone();
    let mut decoder = Decoder::new(role, 1 << 20);
    let (mut left, mut seen) = (operations, 0);
    while left > 0 {
        let now = left.min(in_a_read);
        let input = &mut buffer[..now as usize * frame.len()];
        input.copy_from_slice(&frames[..now as usize * frame.len()]);
        for piece in input.chunks_mut(cut.unwrap_or(READ)) {
            let fed = decoder.feed(piece, |event| {
                if let Event::Text(text) = event {
                    seen += black_box(text).len();
                }
            });
            assert_eq!(fed, Ok(()));
        }
        left -= now;
    }
    assert_eq!(seen as u64, operations * payload.len() as u64);
}

pub(super) fn encode_masked(operations: u64) {
    let mut out = Vec::new();
    for key in 0..operations as u32 {
        out.clear();
        encode(Opcode::Text, black_box(CHAT.as_bytes()), Some(key.to_ne_bytes()), &mut out);
        black_box(&out);
    }
}

pub(super) fn shared_frame(operations: u64) {
    for _ in 0..operations {
        black_box(shared(Opcode::Text, black_box(CHAT.as_bytes())));
    }
}
