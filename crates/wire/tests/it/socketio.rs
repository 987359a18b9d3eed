//! Socket.IO protocols 4 and 5: the vectors, packets built from raw JSON, event names, and attachments put back
//! together.

use std::borrow::Cow;

use sonagi_wire::socketio::{
    Assembled, Assembler, Packet, PacketError, Revision, decode, encode, event_name,
};

use crate::vectors;

#[test]
fn a_packet_has_the_parts_the_protocol_says() {
    check("socketio.txt", include_str!("vectors/socketio.txt"), Revision::Five);
}

#[test]
fn a_packet_of_protocol_4_has_the_parts_it_says() {
    check("socketio4.txt", include_str!("vectors/socketio4.txt"), Revision::Four);
}

fn check(file: &str, text: &'static str, revision: Revision) {
    vectors::check(file, text, |vector| {
        let text = if vector.input == r#""""# { "" } else { vector.input };
        match revision.decode(text) {
            Err(error) => format!("{error:?}"),
            Ok(packet) => {
                let again = written(&packet);
                assert_eq!(revision.decode(&again), Ok(packet.clone()), "{} written again", vector.place);
                let ack = packet.ack.map(|ack| format!(" #{ack}")).unwrap_or_default();
                let attachments = match packet.attachments {
                    0 => String::new(),
                    count => format!(" +{count}"),
                };
                let line =
                    format!("{:?} {}{ack}{attachments} {}", packet.kind, packet.namespace, packet.data);
                line.trim_end().to_owned()
            }
        }
    });
}

fn written(packet: &Packet<'_>) -> String {
    let mut out = String::new();
    encode(packet, &mut out);
    out
}

#[test]
fn packets_are_written_as_the_protocol_prints_them() {
    let none: [&str; 0] = [];
    let placeholder = r#"{"_placeholder":true,"num":0}"#;
    let cases = [
        (Packet::connect("/", ""), "0"),
        (Packet::connect("/", r#"{"token":"123"}"#), r#"0{"token":"123"}"#),
        (Packet::connect("/admin", r#"{"sid":"oSO0"}"#), r#"0/admin,{"sid":"oSO0"}"#),
        (Packet::connect_error("/x", "Invalid namespace"), r#"4/x,{"message":"Invalid namespace"}"#),
        (Packet::disconnect("/"), "1"),
        (Packet::disconnect("/admin"), "1/admin,"),
        (Packet::event("/", None, "foo", none), r#"2["foo"]"#),
        (Packet::event("", None, "hello", ["1"]), r#"2["hello",1]"#),
        (Packet::event("/", None, "tab\there", none), r#"2["tab\there"]"#),
        (Packet::event("/", None, "back\\slash", none), r#"2["back\\slash"]"#),
        (Packet::event("/", None, "say \"비\"\n", ["{}", "[]"]), r#"2["say \"비\"\n",{},[]]"#),
        (
            Packet::event("/admin", Some(456), "project:delete", ["123"]),
            r#"2/admin,456["project:delete",123]"#,
        ),
        (Packet::ack("/admin", 456, none), "3/admin,456[]"),
        (Packet::ack("/", 0, [r#""ok""#, "null"]), r#"30["ok",null]"#),
        (
            Packet::event("/", None, "baz", [placeholder]).with_attachments(1),
            r#"51-["baz",{"_placeholder":true,"num":0}]"#,
        ),
        (
            Packet::ack("/admin", 456, [placeholder]).with_attachments(1),
            r#"61-/admin,456[{"_placeholder":true,"num":0}]"#,
        ),
        (Packet::event("/", None, "x", none).with_attachments(1).with_attachments(0), r#"2["x"]"#),
        (Packet::connect("/", "").with_attachments(3), "0"),
    ];
    for (packet, text) in cases {
        assert_eq!(written(&packet), text);
    }
}

#[test]
fn an_event_may_be_written_straight_into_an_engine_io_message() {
    let mut frame = String::from("4");
    encode(&Packet::event("/", Some(7), "sendMessage", [r#"{"text":"hi"}"#]), &mut frame);
    assert_eq!(frame, r#"427["sendMessage",{"text":"hi"}]"#);
}

#[test]
fn the_parts_are_borrowed_from_the_text() {
    let text = String::from(r#"2/admin,["x"]"#);
    let packet = decode(&text).unwrap();
    assert!(matches!(packet.namespace, Cow::Borrowed("/admin")));
    assert!(matches!(packet.data, Cow::Borrowed(r#"["x"]"#)));
}

#[test]
fn the_limit_of_attachments_holds_in_both_protocols() {
    for revision in [Revision::Four, Revision::Five] {
        assert_eq!(revision.decode("510-[]").unwrap().attachments, 10);
        let refused = Err(PacketError::TooManyAttachments { announced: 11, limit: 10 });
        assert_eq!(revision.decode("511-[]"), refused);
    }
}

#[test]
fn an_events_name_is_the_first_string_of_its_array() {
    let cases = [
        (r#"["newMessage",{"a":["b"]}]"#, Some("newMessage")),
        (r#"["x"]"#, Some("x")),
        (r#"[""]"#, Some("")),
        (r#" [ "x" , 1]"#, Some("x")),
        (r#"["비",1]"#, Some("비")),
        (r#"["a\"b",1]"#, Some("a\"b")),
        (r#"["a\\",1]"#, Some("a\\")),
        (r#"["\ube44\n"]"#, Some("비\n")),
        (r#"["\"\\\""]"#, Some("\"\\\"")),
        (r#"["\비"]"#, None),
        (r#"["\ud800"]"#, None),
        (r#"["x\"#, None),
        (r#"["x\""#, None),
        (r#"["x"#, None),
        (r#"["x""#, None),
        (r#"["x"y]"#, None),
        (r#"[1,"x"]"#, None),
        ("[]", None),
        ("{\"x\":1}", None),
        ("", None),
    ];
    for (data, name) in cases {
        assert_eq!(event_name(data).as_deref(), name, "{data}");
    }
    assert!(matches!(event_name(r#"["plain"]"#), Some(Cow::Borrowed("plain"))));
}

#[test]
fn attachments_join_their_packet_in_the_order_they_came() {
    let text = r#"52-["baz",{"_placeholder":true,"num":1},{"_placeholder":true,"num":0}]"#;
    let mut assembler = Assembler::default();
    assert_eq!(assembler.text(text), Ok(None));
    assert!(assembler.is_waiting());
    assert_eq!(assembler.attachment(b"first"), Ok(None));
    let whole = assembler.attachment(b"").unwrap().unwrap();
    let packet = decode(text).unwrap().into_owned();
    assert_eq!(whole, Assembled { packet, attachments: vec![b"first".to_vec(), Vec::new()] });
    assert!(!assembler.is_waiting());
}

#[test]
fn a_packet_without_attachments_comes_straight_back() {
    let mut assembler = Assembler::default();
    assert_eq!(assembler.text("0"), Ok(Some(Packet::connect("/", ""))));
    assert_eq!(assembler.begin(Packet::connect("/", "")), Err(PacketError::NothingToAssemble));
    assert!(!assembler.is_waiting());
}

#[test]
fn a_text_packet_between_attachments_is_an_error() {
    let mut assembler = Assembler::default();
    assembler.begin(decode("53-[]").unwrap()).unwrap();
    assembler.attachment(b"1").unwrap();
    let error = PacketError::TextBetweenAttachments { missing: 2 };
    assert_eq!(assembler.text("1"), Err(error.clone()));
    assert_eq!(assembler.text("nonsense"), Err(error.clone()));
    assert_eq!(assembler.begin(decode("51-[]").unwrap()), Err(error.clone()));
    assert_eq!(
        error.to_string(),
        "socket.io attachments must follow their packet at once, got a text packet with 2 missing"
    );
}

#[test]
fn an_attachment_nobody_announced_is_an_error() {
    let mut assembler = Assembler::default();
    assert_eq!(assembler.attachment(b"1"), Err(PacketError::UnexpectedAttachment));
    assembler.text("51-[]").unwrap();
    assert!(assembler.attachment(b"1").unwrap().is_some());
    assert_eq!(assembler.attachment(b"2"), Err(PacketError::UnexpectedAttachment));
}

#[test]
fn an_error_says_the_rule_and_what_came() {
    let said = |text| decode(text).unwrap_err().to_string();
    assert_eq!(said("2{}"), "socket.io Event must carry an array, got one that begins with '{'");
    assert_eq!(said("4"), "socket.io ConnectError must carry an object or a string, got none");
    assert_eq!(said("511-[]"), "socket.io packet may have at most 10 attachments, got 11");
}

#[test]
fn protocol_4_asks_with_a_query_and_refuses_with_a_string() {
    let asked = Packet::connect_with_query("/admin", "token=1&uid=a%2Cb");
    assert_eq!(written(&asked), "0/admin?token=1&uid=a%2Cb,");
    assert_eq!(asked.namespace_and_query(), ("/admin", Some("token=1&uid=a%2Cb")));
    assert_eq!(Packet::connect("/admin", "").namespace_and_query(), ("/admin", None));
    assert_eq!(written(&Packet::error("/x", "Invalid \"namespace\"")), r#"4/x,"Invalid \"namespace\"""#);
    assert!(Revision::Four.grants_main_unasked() && !Revision::Five.grants_main_unasked());
}

#[test]
fn an_assembler_reads_by_its_protocol() {
    assert!(Assembler::default().text(r#"0{"sid":"a"}"#).is_ok());
    let error = Assembler::new(Revision::Four).text(r#"0{"sid":"a"}"#).unwrap_err();
    assert_eq!(error.to_string(), "socket.io Connect must carry nothing, got one that begins with '{'");
    let mut assembler = Assembler::new(Revision::Four);
    assert_eq!(assembler.text(r#"51-/a,["x",{"_placeholder":true,"num":0}]"#), Ok(None));
    assert_eq!(assembler.attachment(b"1").unwrap().unwrap().attachments, [b"1"]);
}
