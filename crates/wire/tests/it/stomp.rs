//! STOMP: the vectors of each version, how a session settles its version, and what is the same for many receivers.

use sonagi_wire::stomp::{
    AckId, AckMode, Agreed, Command, Decoder, Event, HeartBeat, Limits, Side, Unwritable, Version, Versions,
    Violation, Writer,
};

use proptest::collection::vec;
use proptest::prelude::*;

use crate::checks::stomp::{StompSeen, stomp_decode, stomp_encoded, stomped};
use crate::vectors::{self, Vector};

fn words(version: Version, vector: &Vector) -> String {
    let stream: String = serde_json::from_str(vector.input).unwrap();
    let first = stream.trim_start().lines().next().unwrap_or("");
    let sent_by = Command::from_name(first.trim_end().as_bytes()).map_or(Side::Server, Command::sent_by);
    let us = if sent_by == Side::Server { Side::Client } else { Side::Server };
    let whole = stomped(us, Some(version), Limits::default(), stream.as_bytes(), &[]);
    for at in 1..stream.len() {
        let cut = stomped(us, Some(version), Limits::default(), stream.as_bytes(), &[at, stream.len()]);
        assert_eq!(cut, whole, "{}: cut at {at}", vector.place);
    }
    let (seen, idle) = whole;
    let failed = matches!(seen.last(), Some(StompSeen::Violation(_)));
    let mut words: Vec<String> = seen.iter().map(word).collect();
    if !idle && !failed {
        words.push("half".into());
    }
    words.join(" ")
}

fn word(seen: &StompSeen) -> String {
    match seen {
        StompSeen::HeartBeat => "EOL".into(),
        StompSeen::Violation(violation) => format!("{violation:?}"),
        StompSeen::Frame { command, headers, body, .. } => {
            let mut words = vec![command.name().to_owned()];
            words.extend(headers.iter().map(|header| match header {
                Ok(pair) => format!("{pair:?}"),
                Err(violation) => format!("{violation:?}"),
            }));
            words.push(format!("{:?}", String::from_utf8_lossy(body)));
            words.join(" ")
        }
    }
}

#[test]
fn a_session_of_1_0_reads_what_its_document_says() {
    vectors::check("stomp10.txt", include_str!("vectors/stomp10.txt"), |vector| words(Version::V1_0, vector));
}

#[test]
fn a_session_of_1_1_reads_what_its_document_says() {
    vectors::check("stomp11.txt", include_str!("vectors/stomp11.txt"), |vector| words(Version::V1_1, vector));
}

#[test]
fn a_session_of_1_2_reads_what_its_document_says() {
    vectors::check("stomp12.txt", include_str!("vectors/stomp12.txt"), |vector| words(Version::V1_2, vector));
}

/// The version a server takes, or a client accepts, after `opening`.
fn settled(us: Side, ours: Versions, opening: &str) -> Result<Option<Version>, Violation> {
    let mut decoder = Decoder::new(us, ours, Limits::default());
    decoder.feed(opening.as_bytes(), |event| {
        if let (Event::Frame(frame), Side::Server) = (event, us) {
            assert_eq!(frame.header("login"), Ok(Some("a\\nb".into())), "CONNECT escapes nothing");
        }
    })?;
    Ok(decoder.version())
}

#[test]
fn a_server_takes_the_highest_version_both_know() {
    for (accept, expected) in [
        ("", Some(Version::V1_0)),
        ("accept-version:1.0,1.1,2.0\n", Some(Version::V1_1)),
        ("accept-version:1.2,1.0\n", Some(Version::V1_2)),
        ("accept-version: 1.1 , 1.0 \n", Some(Version::V1_1)),
        ("accept-version:1.2\naccept-version:1.0\n", Some(Version::V1_2)),
        ("accept-version:2.0\n", None),
        ("accept-version:\n", None),
    ] {
        for command in ["CONNECT", "STOMP"] {
            let opening = format!("{command}\n{accept}login:a\\nb\n\n\0");
            assert_eq!(settled(Side::Server, Versions::ALL, &opening), Ok(expected), "{opening:?}");
            let opening = opening.replace('\n', "\r\n");
            assert_eq!(settled(Side::Server, Versions::ALL, &opening), Ok(expected), "{opening:?}");
        }
    }
    let old = Versions::only(Version::V1_0).and(Version::V1_1);
    let opening = "CONNECT\naccept-version:1.0,1.1,1.2\nlogin:a\\nb\n\n\0";
    assert_eq!(settled(Side::Server, old, opening), Ok(Some(Version::V1_1)));
    assert_eq!(Versions::ALL.to_header(), "1.0,1.1,1.2");
    assert_eq!(old.to_header(), "1.0,1.1");
}

#[test]
fn a_client_refuses_a_version_it_did_not_offer() {
    let ours = Versions::only(Version::V1_2);
    assert_eq!(settled(Side::Client, ours, "CONNECTED\nversion:1.2\n\n\0"), Ok(Some(Version::V1_2)));
    assert_eq!(settled(Side::Client, ours, "CONNECTED\nversion:1.1\n\n\0"), Err(Violation::Version));
    assert_eq!(settled(Side::Client, ours, "CONNECTED\n\n\0"), Err(Violation::Version));
    assert_eq!(settled(Side::Client, Versions::ALL, "CONNECTED\n\n\0"), Ok(Some(Version::V1_0)));
    assert_eq!(settled(Side::Client, ours, "ERROR\nversion:1.0\n\nno\0"), Ok(None));
}

#[test]
fn nothing_comes_before_the_frame_that_opens_the_session() {
    let early = settled(Side::Server, Versions::ALL, "SEND\ndestination:/a\n\n\0");
    assert_eq!(early, Err(Violation::NotConnected { command: Command::Send }));
    let early = settled(Side::Client, Versions::ALL, "MESSAGE\n\n\0");
    assert_eq!(early, Err(Violation::NotConnected { command: Command::Message }));
}

#[test]
fn a_frame_longer_than_a_limit_is_refused_as_soon_as_that_is_known() {
    let limits = Limits { line: 20, headers: 2, body: 4 };
    let at = |stream: &str| match stomped(Side::Client, Some(Version::V1_2), limits, stream.as_bytes(), &[1])
        .0
        .pop()
    {
        Some(StompSeen::Violation(violation)) => Some(violation),
        _ => None,
    };
    assert_eq!(at("MESSAGE\na:345678901234567890\n\n\0"), None);
    assert_eq!(at("MESSAGE\na:3456789012345678901"), Some(Violation::LineTooLong { limit: 20 }));
    assert_eq!(at("MESSAGEMESSAGEMESSAGE"), Some(Violation::LineTooLong { limit: 20 }));
    assert_eq!(at("MESSAGE\na:1\nb:2\n\n\0"), None);
    assert_eq!(at("MESSAGE\na:1\nb:2\nc:3\n"), Some(Violation::TooManyHeaders { limit: 2 }));
    assert_eq!(at("MESSAGE\n\n1234\0"), None);
    assert_eq!(at("MESSAGE\n\n12345"), Some(Violation::BodyTooLong { limit: 4 }));
    assert_eq!(at("MESSAGE\ncontent-length:4\n\n1234\0"), None);
    assert_eq!(at("MESSAGE\ncontent-length:5\n"), Some(Violation::BodyTooLong { limit: 4 }));
}

#[test]
fn a_decoder_is_small_between_frames() {
    assert!(size_of::<Decoder>() <= 32, "{}", size_of::<Decoder>());
}

#[test]
fn a_body_of_many_pieces_and_nuls_is_read_once() {
    let body = [0_u8; 100_000];
    let mut stream = Vec::new();
    Writer::new(Command::Message, Version::V1_2, &mut stream)
        .header("a", &"b".repeat(8000))
        .body(&body)
        .unwrap();
    let (seen, idle) = stomped(Side::Client, Some(Version::V1_2), Limits::default(), &stream, &[1]);
    assert!(idle);
    assert!(matches!(&seen[..], [StompSeen::Frame { body: read, .. }] if read[..] == body));
}

#[test]
fn heart_beats_go_at_the_slower_of_what_one_can_and_the_other_wants() {
    let beat = |can, wants| HeartBeat { can, wants };
    for (ours, theirs, send, receive) in [
        (beat(0, 0), beat(10, 10), None, None),
        (beat(10, 20), beat(30, 5), Some(10), Some(30)),
        (beat(10, 20), beat(15, 40), Some(40), Some(20)),
        (beat(10, 20), beat(0, 40), Some(40), None),
        (beat(10, 0), beat(15, 0), None, None),
    ] {
        assert_eq!(
            ours.agree(theirs),
            Agreed { send_every: send, receive_every: receive },
            "{ours:?} {theirs:?}"
        );
        assert_eq!(theirs.agree(ours), Agreed { send_every: receive, receive_every: send });
        assert_eq!(HeartBeat::from_header(Some(&ours.to_header())), Ok(ours));
    }
    assert_eq!(HeartBeat::from_header(None), Ok(beat(0, 0)));
    for wrong in ["", "1", "1,", ",1", "1,2,3", "-1,0", "+1,0", "a,b", "1.5,0", "4294967296,0"] {
        assert_eq!(HeartBeat::from_header(Some(wrong)), Err(Violation::HeartBeat), "{wrong}");
    }
}

/// The id a MESSAGE is acknowledged by, and the ACK that does it.
fn acknowledged(version: Version, message: &str) -> Result<Option<String>, Violation> {
    let mut decoder = Decoder::new(Side::Client, Versions::ALL, Limits::default());
    let stream = format!("CONNECTED\nversion:{}\n\n\0{message}", version.name());
    let mut result = Ok(None);
    decoder.feed(stream.as_bytes(), |event| {
        let Event::Frame(frame) = event else { return };
        if frame.command != Command::Message {
            return;
        }
        result = AckId::of(&frame).map(|id| {
            id.map(|id| {
                let mut out = Vec::new();
                id.frame(Command::Ack, version, &mut out).end().unwrap();
                String::from_utf8(out).unwrap()
            })
        });
    })?;
    result
}

#[test]
fn every_version_acknowledges_in_its_own_way() {
    let message = "MESSAGE\nsubscription:s\nmessage-id:7\nack:x\\c1\n\n\0";
    let ack = |version| acknowledged(version, message).unwrap().unwrap();
    assert_eq!(ack(Version::V1_0), "ACK\nmessage-id:7\nsubscription:s\n\n\0");
    assert_eq!(ack(Version::V1_1), "ACK\nmessage-id:7\nsubscription:s\n\n\0");
    assert_eq!(ack(Version::V1_2), "ACK\nid:x\\c1\n\n\0");
    let bare = "MESSAGE\nmessage-id:7\n\n\0";
    assert_eq!(acknowledged(Version::V1_0, bare), Ok(Some("ACK\nmessage-id:7\n\n\0".into())));
    let missing = Violation::HeaderMissing { command: Command::Message, name: "subscription" };
    assert_eq!(acknowledged(Version::V1_1, bare), Err(missing));
    assert_eq!(acknowledged(Version::V1_2, bare), Ok(None));
    assert_eq!(AckMode::from_header(None, Version::V1_0), Ok(AckMode::Auto));
    assert_eq!(AckMode::from_header(Some("client-individual"), Version::V1_0), Err(Violation::AckMode));
    assert_eq!(AckMode::from_header(Some("client-individual"), Version::V1_1), Ok(AckMode::ClientIndividual));
}

#[test]
fn a_header_cannot_smuggle_another_into_a_frame() {
    for (command, version, name, value) in [
        (Command::Connect, Version::V1_2, "login", "me\nadmin:true"),
        (Command::Connect, Version::V1_2, "log:in", "me"),
        (Command::Send, Version::V1_0, "a", "b\n\nbody"),
        (Command::Send, Version::V1_1, "a", "b\rc"),
        (Command::Send, Version::V1_2, "a", "b\0c"),
        (Command::Send, Version::V1_2, "", "b"),
    ] {
        let mut out = b"before".to_vec();
        let written = Writer::new(command, version, &mut out).header(name, value).header("c", "d").end();
        assert_eq!(written, Err(Unwritable { version, name: name.into() }));
        assert_eq!(out, b"before");
    }
}

#[test]
fn an_error_says_the_rule_and_what_came() {
    let said = Violation::HeaderMissing { command: Command::Send, name: "destination" }.to_string();
    assert_eq!(said, "stomp SEND must carry destination, got none");
    let said = Unwritable { version: Version::V1_0, name: "a".into() }.to_string();
    assert_eq!(said, "stomp 1.0 must be able to say header \"a\", got a character it has no escape for");
}

fn frame(version: Version) -> impl Strategy<Value = StompSeen> {
    let commands = Command::ALL.into_iter().filter(move |command| {
        command.sent_by() == Side::Server && (command.escapes() || version != Version::V1_0)
    });
    let word = || if version == Version::V1_0 { "[a-z\\\\]{1,9}" } else { "[a-z:\n\\\\é]{1,9}" };
    (prop::sample::select(commands.collect::<Vec<_>>()), vec((word(), word()), 0..5), vec(0..4_u8, 0..80))
        .prop_map(move |(command, headers, body)| {
            let plain = |text: String| if command.escapes() { text } else { text.replace([':', '\n'], "-") };
            StompSeen::Frame {
                command,
                version,
                headers: headers.into_iter().map(|(name, value)| Ok((plain(name), plain(value)))).collect(),
                body: if command.has_body() { body } else { Vec::new() },
            }
        })
}

proptest! {
    #[test]
    fn frames_arrive_as_they_were_written_in_any_cut(
        (version, frames) in prop::sample::select(&Version::ALL[..])
            .prop_flat_map(|version| (Just(version), vec(frame(version), 0..6))),
        lengths in vec(1..60_usize, 1..6),
    ) {
        let mut stream = Vec::new();
        for frame in &frames {
            stream.extend(stomp_encoded(frame).unwrap());
            stream.push(b'\n');
        }
        let mut expected = Vec::new();
        for mut frame in frames {
            if let StompSeen::Frame { command, headers, body, .. } = &mut frame
                && command.has_body()
            {
                headers.push(Ok(("content-length".into(), body.len().to_string())));
            }
            expected.extend([frame, StompSeen::HeartBeat]);
        }
        let read = |lengths| stomped(Side::Client, Some(version), Limits::default(), &stream, lengths);
        prop_assert_eq!(&read(&[]), &(expected.clone(), true));
        prop_assert_eq!(&read(&lengths), &(expected, true));
    }

    #[test]
    fn any_bytes_mean_the_same_in_any_cut(
        options in 0..16_u8,
        cut in any::<u8>(),
        parts in vec(prop_oneof![
            prop::sample::select(&[
                "MESSAGE", "SEND", "CONNECT", "CONNECTED", "ERROR", "\n", "\n\n", "\r\n", "\0", "a:b", "\\c", "\\r", ":", "\r",
                "version:1.2", "accept-version:1.1", "content-length:3", "xyz",
            ][..]).prop_map(str::to_owned),
            "\\PC{0,6}",
        ], 0..24),
    ) {
        let mut input = vec![options, cut];
        input.extend(parts.concat().into_bytes());
        stomp_decode(&input);
    }
}
