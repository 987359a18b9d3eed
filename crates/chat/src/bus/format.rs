//! How it is written on the bus: bytes for one version, refused by every other.
//!
//! | | bytes |
//! |---|---|
//! | every payload | version, kind, instance (8) |
//! | messages | key, first number, then of each its length and its object |
//! | beat | nothing more |
//! | room made | its id |
//!
//! Numbers are LEB128. A service that is replaced by one with another version hears nothing of it and reads the store
//! instead, so both may run side by side for a while.

use std::io::Write;

use bytes::Bytes;

use super::{Heard, Said};
use crate::model::message::Message;

const VERSION: u8 = 1;
const MESSAGES: u8 = 1;
const BEAT: u8 = 2;
const MADE: u8 = 3;

/// The longest payload that is read, and messages in it.
const MOST: usize = 8 * 1024 * 1024;
const MOST_MESSAGES: usize = 65_536;

fn payload(kind: u8, instance: u64) -> Vec<u8> {
    let mut out = vec![VERSION, kind];
    out.extend_from_slice(&instance.to_le_bytes());
    out
}

/// Messages whose numbers have no gaps.
pub(crate) fn messages(instance: u64, key: i64, messages: &[Message]) -> Vec<u8> {
    let mut out = payload(MESSAGES, instance);
    put(key as u64, &mut out);
    put(messages.first().map_or(0, |first| first.seq), &mut out);
    for message in messages {
        put(message.object.len() as u64, &mut out);
        out.extend_from_slice(&message.object);
    }
    out
}

pub(crate) fn beat(instance: u64) -> Vec<u8> {
    payload(BEAT, instance)
}

pub(crate) fn made(instance: u64, room: &str) -> Vec<u8> {
    let mut out = payload(MADE, instance);
    out.extend_from_slice(room.as_bytes());
    out
}

/// What a payload says to this instance; `None` when that is nothing, as of most that it said itself.
pub(crate) fn read(own: u64, room: &str, payload: &[u8]) -> Option<Heard> {
    let Some((kind, instance, rest)) = opened(payload) else { return Some(Heard::Unreadable) };
    let heard = match (kind, instance == own) {
        (BEAT, true) => Some(Heard::Beat),
        (_, true) | (BEAT, false) => return None,
        (MADE, false) => std::str::from_utf8(rest).ok().map(|id| Heard::Made(id.into())),
        (MESSAGES, false) => said(room, rest).map(Heard::Said),
        _ => None,
    };
    Some(heard.unwrap_or(Heard::Unreadable))
}

fn opened(payload: &[u8]) -> Option<(u8, u64, &[u8])> {
    let [VERSION, kind, rest @ ..] = payload else { return None };
    let (instance, rest) = rest.split_first_chunk()?;
    (payload.len() <= MOST).then(|| (*kind, u64::from_le_bytes(*instance), rest))
}

fn said(room: &str, mut rest: &[u8]) -> Option<Said> {
    let key = i64::try_from(take(&mut rest)?).ok()?;
    let first = take(&mut rest)?;
    let mut messages = Vec::new();
    while !rest.is_empty() {
        let length = usize::try_from(take(&mut rest)?).ok()?;
        let (object, behind) = rest.split_at_checked(length)?;
        rest = behind;
        let seq = first.checked_add(messages.len() as u64)?;
        if messages.len() == MOST_MESSAGES || !is_object_of(seq, object) {
            return None;
        }
        // A copy of its own: a few that are kept should not keep the whole payload.
        messages.push(Message { seq, serial: 0, object: Bytes::copy_from_slice(object) });
    }
    (key > 0 && first > 0 && !messages.is_empty()).then(|| Said { room: room.into(), key, messages })
}

/// Whether it is the object that a message of that number is written as, as far as that costs little.
fn is_object_of(seq: u64, object: &[u8]) -> bool {
    let mut start = [0; 40];
    let mut left = &mut start[..];
    let written = write!(left, r#"{{"seq":{seq},"senderId":"#).is_ok();
    let length = 40 - left.len();
    written
        && object.starts_with(&start[..length])
        && object.ends_with(b"}")
        && std::str::from_utf8(object).is_ok()
}

fn put(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn take(from: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = from.split_first()?;
        *from = rest;
        let bits = u64::from(byte & 0x7f);
        // The tenth byte has one bit left.
        if shift == 63 && bits > 1 {
            return None;
        }
        number |= bits << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Vec<Message> {
        (127..130).map(|seq| Message::new(seq, 9, 3, r#""한""#, 1_764_000_000_000)).collect()
    }

    #[test]
    fn what_is_said_is_heard_by_all_but_the_speaker_who_hears_its_beats_alone() {
        let payload = messages(7, 300, &some());
        let Some(Heard::Said(said)) = read(8, "lobby", &payload) else { panic!("{payload:?}") };
        let expected: Vec<Message> =
            some().into_iter().map(|message| Message { serial: 0, ..message }).collect();
        assert_eq!((&*said.room, said.key, said.messages), ("lobby", 300, expected));
        assert_eq!(read(8, "", &made(7, "dm-1-2")), Some(Heard::Made("dm-1-2".into())));
        assert_eq!((read(7, "lobby", &payload), read(7, "", &made(7, "dm-1-2"))), (None, None));
        assert_eq!((read(7, "", &beat(7)), read(8, "", &beat(7))), (Some(Heard::Beat), None));
        // A message costs its object and a length.
        let objects: usize = some().iter().map(|message| message.object.len()).sum();
        assert_eq!(payload.len(), 10 + 2 + 1 + objects + 3);
    }

    #[test]
    fn numbers_of_every_length_come_back_and_one_that_is_too_long_is_none() {
        for number in [0, 1, 127, 128, 16_383, 16_384, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            let mut out = Vec::new();
            put(number, &mut out);
            let mut left = &out[..];
            assert_eq!((take(&mut left), left.len()), (Some(number), 0));
        }
        for wrong in [&[0xff; 11][..], &[0xff; 10], &[0xff; 3], &[], &[0x80; 10]] {
            assert_eq!(take(&mut &wrong[..]), None, "{wrong:?}");
        }
    }

    #[test]
    fn what_is_cut_changed_or_of_another_version_is_unreadable_and_never_a_panic() {
        let payload = messages(7, 300, &some());
        let is_refused = |bytes: &[u8]| read(8, "lobby", bytes) == Some(Heard::Unreadable);
        for length in 0..payload.len() {
            let rest = read(8, "lobby", &payload[..length]);
            // Cut between two messages, it is a payload of fewer.
            let fewer = matches!(&rest, Some(Heard::Said(said)) if said.messages.len() < 3);
            assert!(fewer || rest == Some(Heard::Unreadable), "{length}: {rest:?}");
        }
        for (at, byte) in [(0, 2), (1, 0), (1, 9), (12, 0)] {
            let mut changed = payload.clone();
            changed[at] = byte;
            assert!(is_refused(&changed), "{at}");
        }
        let gap = messages(7, 300, &[some()[0].clone(), some()[2].clone()]);
        assert!(
            is_refused(&gap) && is_refused(&messages(7, 300, &[])) && is_refused(&messages(7, 0, &some()))
        );
        assert!(is_refused(&vec![VERSION; MOST + 1]));
        for seed in 0..2000 {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut changed = payload.clone();
            for _ in 0..random.usize(1..6) {
                let at = random.usize(..changed.len());
                changed[at] = random.u8(..);
            }
            let _ = read(8, "lobby", &changed);
        }
    }
}
