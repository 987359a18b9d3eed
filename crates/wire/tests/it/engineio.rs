//! Engine.IO protocols 3 and 4: the vectors, the handshake and the refusals.

use sonagi_wire::engineio::{
    Handshake, Packet, PacketError, Refusal, Version, binary_payload, decode, encode, encode_binary_payload,
    encode_payload, payload,
};

use crate::vectors;

#[test]
fn a_polling_body_holds_the_packets_the_protocol_says() {
    vectors::check("engineio.txt", include_str!("vectors/engineio.txt"), |vector| {
        let body: String = serde_json::from_str(vector.input).unwrap();
        let items: Vec<_> = payload(&body).collect();
        if !body.contains('\u{1e}') {
            assert_eq!(items, [decode(&body)], "{}: alone it is a WebSocket frame's packet", vector.place);
        }
        if let Ok(packets) = items.iter().cloned().collect::<Result<Vec<_>, _>>() {
            assert_eq!(encode_payload(&packets), body, "{}", vector.place);
        }
        let words: Vec<String> = items
            .iter()
            .map(|item| match item {
                Ok(packet) => format!("{packet:?}"),
                Err(error) => format!("{error:?}"),
            })
            .collect();
        words.join(" ")
    });
}

#[test]
fn text_is_borrowed_from_the_frame() {
    let frame = String::from("4hello");
    assert!(matches!(decode(&frame), Ok(Packet::Text(std::borrow::Cow::Borrowed("hello")))));
}

#[test]
fn a_packet_is_appended_behind_what_is_there() {
    let mut out = String::from("x");
    encode(&Packet::Binary(vec![0xff, 0xee].into()), &mut out);
    encode(&Packet::Pong("probe".into()), &mut out);
    assert_eq!(out, "xb/+4=3probe");
}

#[test]
fn the_handshake_is_read_as_the_protocol_prints_it() {
    let json = r#"{"sid":"lv_VI97HAXpY6yYWAAAC","upgrades":["websocket"],"pingInterval":25000,"pingTimeout":20000,"maxPayload":1000000}"#;
    let handshake = Handshake::from_json(json).unwrap();
    assert_eq!(
        handshake,
        Handshake {
            sid: "lv_VI97HAXpY6yYWAAAC".into(),
            upgrades: vec!["websocket".into()],
            ping_interval: 25_000,
            ping_timeout: 20_000,
            max_payload: 1_000_000,
        }
    );
    assert_eq!(handshake.to_json(), json);
}

#[test]
fn a_handshake_without_max_payload_is_an_older_servers() {
    let json = r#"{"sid":"a","upgrades":[],"pingInterval":300,"pingTimeout":200,"more":true}"#;
    assert_eq!(Handshake::from_json(json).unwrap().max_payload, 0);
}

#[test]
fn a_handshake_that_lacks_a_member_is_refused_by_name() {
    for json in ["", "[]", "{}", r#"{"sid":1,"upgrades":[],"pingInterval":1,"pingTimeout":1}"#] {
        assert!(matches!(Handshake::from_json(json), Err(PacketError::Handshake { .. })), "{json}");
    }
    let error = Handshake::from_json(r#"{"sid":"a","upgrades":[],"pingInterval":1}"#).unwrap_err();
    assert!(error.to_string().contains("missing field `pingTimeout`"), "{error}");
}

#[test]
fn a_handshakes_strings_are_escaped() {
    let handshake = Handshake {
        sid: "a\"\\".into(),
        upgrades: vec!["w\n".into()],
        ping_interval: u64::MAX,
        ping_timeout: 0,
        max_payload: 1,
    };
    assert_eq!(Handshake::from_json(&handshake.to_json()), Ok(handshake));
}

#[test]
fn refusals_are_the_protocols_bodies() {
    let bodies = [
        r#"{"code":0,"message":"Transport unknown"}"#,
        r#"{"code":1,"message":"Session ID unknown"}"#,
        r#"{"code":2,"message":"Bad handshake method"}"#,
        r#"{"code":3,"message":"Bad request"}"#,
        r#"{"code":4,"message":"Forbidden"}"#,
        r#"{"code":5,"message":"Unsupported protocol version"}"#,
    ];
    for (refusal, body) in Refusal::ALL.into_iter().zip(bodies) {
        assert_eq!(refusal.to_json(), body);
        assert_eq!(Refusal::from_json(body), Some(refusal));
        assert_eq!(refusal.status(), if refusal.code() == 4 { 403 } else { 400 });
    }
    for other in ["", "{}", r#"{"code":6}"#, r#"{"code":-1}"#, r#"{"code":"1"}"#, "Bad Gateway"] {
        assert_eq!(Refusal::from_json(other), None, "{other}");
    }
}

#[test]
fn an_error_says_the_rule_and_what_came() {
    let said = |text| decode(text).unwrap_err().to_string();
    assert_eq!(said("7"), "engine.io packet type must be 0 to 6 or b, got '7'");
    assert_eq!(said("1bye"), "engine.io close packet must be alone, got 3 bytes behind it");
}

#[test]
fn a_version_3_polling_body_holds_the_packets_the_protocol_says() {
    vectors::check("engineio3.txt", include_str!("vectors/engineio3.txt"), |vector| {
        let items: Vec<_> = if let Some(hex) = vector.input.strip_prefix("hex") {
            let body: Vec<u8> =
                hex.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
            let items: Vec<_> =
                binary_payload(&body).map(|item| item.map(|packet| format!("{packet:?}"))).collect();
            if let Ok(packets) = binary_payload(&body).collect::<Result<Vec<_>, _>>()
                && !vector.place.contains("not as we write")
            {
                assert_eq!(encode_binary_payload(&packets), body, "{}", vector.place);
            }
            items
        } else {
            let body: String = serde_json::from_str(vector.input).unwrap();
            if let Ok(packets) = Version::Three.payload(&body).collect::<Result<Vec<_>, _>>()
                && !vector.place.contains("not as we write")
            {
                assert_eq!(Version::Three.encode_payload(&packets), body, "{}", vector.place);
            }
            Version::Three.payload(&body).map(|item| item.map(|packet| format!("{packet:?}"))).collect()
        };
        let words: Vec<String> =
            items.into_iter().map(|item| item.unwrap_or_else(|error| format!("{error:?}"))).collect();
        words.join(" ")
    });
}

#[test]
fn a_version_3_binary_frame_begins_with_the_number_4() {
    let read = |frame| Version::Three.decode_binary(frame);
    assert_eq!(read(&[4, 0, 1]), Ok(Packet::Binary(vec![0, 1].into())));
    assert_eq!(read(&[4]), Ok(Packet::Binary(Vec::new().into())));
    assert_eq!(read(&[]), Err(PacketError::Empty));
    assert_eq!(read(&[2, 1]), Err(PacketError::BinaryType { found: '2' }));
    assert_eq!(read(b"4"), Err(PacketError::BinaryType { found: '4' }));
    let mut frame = Vec::new();
    Version::Three.encode_binary(&[9], &mut frame);
    Version::Four.encode_binary(&[9], &mut frame);
    assert_eq!(frame, [4, 9, 9]);
    assert_eq!(Version::Four.decode_binary(&[9]), Ok(Packet::Binary(vec![9].into())));
}

#[test]
fn a_version_is_the_querys_eio() {
    for version in [Version::Three, Version::Four] {
        assert_eq!(Version::from_query(&version.number().to_string()), Some(version));
    }
    for other in ["", "2", "5", "04", "3 "] {
        assert_eq!(Version::from_query(other), None, "{other}");
    }
    assert!(Version::Three.client_pings() && !Version::Four.client_pings());
}

#[test]
fn a_version_3_handshake_says_nothing_of_max_payload() {
    let json = r#"{"sid":"a","upgrades":["websocket"],"pingInterval":25000,"pingTimeout":5000}"#;
    let handshake = Handshake::from_json(json).unwrap();
    assert_eq!((handshake.max_payload, handshake.to_json().as_str()), (0, json));
}

#[test]
fn an_encoded_packet_joins_any_body() {
    for (version, body) in
        [(Version::Three, "3:4\u{1f327}2:4a1:2"), (Version::Four, "4\u{1f327}\u{1e}4a\u{1e}2")]
    {
        let mut out = String::new();
        for packet in ["4\u{1f327}", "4a", "2"] {
            version.append(packet, &mut out);
        }
        assert_eq!(out, body);
    }
}

#[test]
fn a_version_3_body_of_many_packets_is_borrowed() {
    let body = "3:4ab".repeat(3);
    for packet in Version::Three.payload(&body) {
        assert!(matches!(packet, Ok(Packet::Text(std::borrow::Cow::Borrowed("ab")))));
    }
}
