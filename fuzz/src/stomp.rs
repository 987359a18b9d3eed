//! What must hold for STOMP.

use sonagi_wire::stomp::{Command, Decoder, Event, Limits, Side, Version, Versions, Violation, Writer};

/// An event that outlives its input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StompSeen {
    Frame {
        command: Command,
        version: Version,
        headers: Vec<Result<(String, String), Violation>>,
        body: Vec<u8>,
    },
    HeartBeat,
    Violation(Violation),
}

/// Everything a decoder says about `stream` when it is cut into pieces of the given lengths, repeated. The session has been
/// opened with `version` before, or not at all. The bool is whether it ended between frames.
pub fn stomped(
    us: Side,
    version: Option<Version>,
    limits: Limits,
    stream: &[u8],
    lengths: &[usize],
) -> (Vec<StompSeen>, bool) {
    let mut decoder = Decoder::new(us, Versions::ALL, limits);
    if let Some(version) = version {
        let opening = match us {
            Side::Client => format!("CONNECTED\nversion:{}\n\n\0", version.name()),
            Side::Server => format!("CONNECT\naccept-version:{}\n\n\0", version.name()),
        };
        decoder.feed(opening.as_bytes(), |_| {}).expect("limits let a session open");
        assert_eq!(decoder.version(), Some(version));
    }
    let mut seen = Vec::new();
    let mut lengths = lengths.iter().copied().cycle();
    let mut rest = stream;
    while !rest.is_empty() {
        let length = lengths.next().unwrap_or(rest.len()).clamp(1, rest.len());
        let (piece, after) = rest.split_at(length);
        rest = after;
        let fed = decoder.feed(piece, |event| {
            seen.push(match event {
                Event::HeartBeat => StompSeen::HeartBeat,
                Event::Frame(frame) => {
                    let headers: Vec<_> = frame
                        .headers()
                        .map(|header| header.map(|(name, value)| (name.into_owned(), value.into_owned())))
                        .collect();
                    assert_eq!(frame.check().is_ok(), headers.iter().all(Result::is_ok));
                    for (name, _) in headers.iter().flatten() {
                        let first = headers.iter().flatten().find(|(other, _)| other == name);
                        // An escape nobody needs hides a name from being found; the name as such is not hidden.
                        if let Ok(Some(value)) = frame.header(name) {
                            assert!(
                                first.is_some_and(|(_, first)| *first == value),
                                "the first value of {name:?}"
                            );
                        }
                    }
                    StompSeen::Frame {
                        command: frame.command,
                        version: frame.version,
                        headers,
                        body: frame.body.to_owned(),
                    }
                }
            });
        });
        if let Err(violation) = fed {
            seen.push(StompSeen::Violation(violation));
        }
    }
    (seen, decoder.is_idle())
}

/// The frame as we would write it; None when it holds what cannot be written.
pub fn stomp_encoded(seen: &StompSeen) -> Option<Vec<u8>> {
    let StompSeen::Frame { command, version, headers, body } = seen else { return None };
    let mut out = Vec::new();
    let mut writer = Writer::new(*command, *version, &mut out);
    for header in headers {
        let (name, value) = header.as_ref().ok()?;
        if name != "content-length" {
            writer = writer.header(name, value);
        }
    }
    if command.has_body() { writer.body(body) } else { writer.end() }.ok()?;
    Some(out)
}

/// First byte: our side, the session's version and the limits; second: the pieces; the rest is the stream.
pub fn stomp_decode(input: &[u8]) {
    let [options, cut, stream @ ..] = input else { return };
    let us = if options & 1 == 0 { Side::Client } else { Side::Server };
    let version = Version::ALL.get(usize::from(options >> 1 & 3)).copied();
    let limits = if options & 8 == 0 { Limits::default() } else { Limits { line: 24, headers: 3, body: 16 } };
    let whole = stomped(us, version, limits, stream, &[]);
    let cut = usize::from(*cut);
    for lengths in [&[1][..], &[cut % 7 + 1, cut / 7 + 1], &[2, cut % 13 + 1, 1, cut + 1]] {
        assert_eq!(stomped(us, version, limits, stream, lengths), whole, "in pieces of {lengths:?}");
    }
    for (at, event) in whole.0.iter().enumerate() {
        let last = at + 1 == whole.0.len();
        assert!(last || !matches!(event, StompSeen::Violation(_)), "events after the end");
        let (Some(bytes), StompSeen::Frame { command, version, .. }) = (stomp_encoded(event), event) else {
            continue;
        };
        let us = if command.sent_by() == Side::Client { Side::Server } else { Side::Client };
        let (again, idle) = stomped(us, Some(*version), Limits::default(), &bytes, &[]);
        assert!(idle && again.len() == 1, "one frame: {again:?}");
        assert_eq!(without_length(&again[0]), without_length(event), "decode after encode");
    }
}

/// A frame without the header that the writer sets itself, and without a body that nobody reads.
fn without_length(seen: &StompSeen) -> StompSeen {
    let mut seen = seen.clone();
    if let StompSeen::Frame { command, headers, body, .. } = &mut seen {
        headers.retain(|header| header.as_ref().is_ok_and(|(name, _)| name != "content-length"));
        if !command.has_body() {
            body.clear();
        }
    }
    seen
}
