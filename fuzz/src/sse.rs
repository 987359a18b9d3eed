//! Event streams.

use sonagi_wire::sse::{Decoder, Item, MAX_ID, Message, Violation};

/// An item that outlives its input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    Event { name: String, data: Vec<u8>, id: String },
    Comment(Vec<u8>),
    Retry(u64),
    Violation(Violation),
}

/// Everything a decoder says about `stream` in pieces of the given lengths, repeated, and the last id it knows then.
pub fn decoded(max_event: usize, stream: &[u8], lengths: &[usize]) -> (Vec<Seen>, String) {
    let mut decoder = Decoder::new(max_event);
    let mut seen = Vec::new();
    let mut lengths = lengths.iter().copied().cycle();
    let mut rest = stream;
    while !rest.is_empty() {
        let length = lengths.next().unwrap_or(rest.len()).clamp(1, rest.len());
        let (piece, after) = rest.split_at(length);
        rest = after;
        let fed = decoder.feed(piece, |item| {
            seen.push(match item {
                Item::Event(event) => Seen::Event {
                    name: event.name.clone().into_owned(),
                    data: event.data.to_owned(),
                    id: event.id.to_owned(),
                },
                Item::Comment(text) => Seen::Comment(text.to_owned()),
                Item::Retry(ms) => Seen::Retry(ms),
            });
        });
        if let Err(violation) = fed {
            seen.push(Seen::Violation(violation));
        }
    }
    (seen, decoder.last_id().to_owned())
}

/// First byte: the limit; second: the pieces; the rest is the stream.
pub fn sse_decode(input: &[u8]) {
    let [options, cut, stream @ ..] = input else { return };
    let max_event = if options & 1 == 0 { 1 << 16 } else { 20 };
    let whole = decoded(max_event, stream, &[]);
    let cut = usize::from(*cut);
    for lengths in [&[1][..], &[cut % 7 + 1, cut / 7 + 1], &[2, cut % 13 + 1, 1, cut + 1]] {
        assert_eq!(decoded(max_event, stream, lengths), whole, "in pieces of {lengths:?}");
    }
    for (at, item) in whole.0.iter().enumerate() {
        match item {
            Seen::Violation(_) => assert!(at + 1 == whole.0.len(), "items after the end"),
            // What replaces bytes that are not UTF-8 is longer than they are.
            Seen::Event { id, .. } if id.len() > MAX_ID => {}
            Seen::Event { name, data, id } => {
                assert!(data.len() <= max_event && !data.contains(&b'\r'));
                let data = String::from_utf8_lossy(data);
                let message = Message { id: Some(id), name: Some(name), data: &data };
                let again = decoded(1 << 20, &message.to_bytes().expect("what was read can be written"), &[]);
                let event =
                    Seen::Event { name: name.clone(), data: data.as_bytes().to_vec(), id: id.clone() };
                assert_eq!(again, (vec![event], id.clone()), "decode after encode");
            }
            Seen::Comment(_) | Seen::Retry(_) => {}
        }
    }
}
