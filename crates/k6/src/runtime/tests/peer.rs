//! A WebSocket server for scripts: it echoes, and does what it is told.
//!
//! | path | what it does |
//! |---|---|
//! | `/refuse` | answers 403 with a body |
//! | `/hangup` | ends the connection |
//! | `/page` | answers 200 with a page |
//! | `/moved` | answers 301 |
//! | `/forged` | accepts with a key that is not the asked one's |
//! | `/greet` | says `welcome` along with the upgrade |
//! | `/socket.io/…` | speaks Socket.IO: accepts all but `/closed`, answers events, echoes attachments |
//! | `/stomp…` | speaks STOMP, as [`super::stomp`] has it |
//! | any other | echoes everything but commands |

use super::stomp::Broker;
use sonagi_transport::link::WebsocketEvent;
use sonagi_wire::websocket::{Decoder, Opcode, Role, accept_key, close_payload, encode};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

/// Whether this asks for an upgrade.
pub(super) fn is_asked(request: &str) -> bool {
    header(request, "upgrade").is_some_and(|value| value.eq_ignore_ascii_case("websocket"))
}

fn header<'a>(request: &'a str, name: &str) -> Option<&'a str> {
    request.lines().find_map(|line| {
        let (own, value) = line.split_once(':')?;
        own.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

/// Paths at which nothing is opened, and what is answered there before the connection ends.
const UNOPENED: [(&str, &str); 5] = [
    ("/refuse", "HTTP/1.1 403 No\r\nX-Why: because\r\nContent-Length: 4\r\n\r\nwhy?"),
    ("/hangup", ""),
    ("/page", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage"),
    ("/moved", "HTTP/1.1 301 Gone\r\nLocation: https://a/\r\nContent-Length: 0\r\n\r\n"),
    (
        "/forged",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: no\r\n\r\n",
    ),
];

/// Answers the upgrade and lives to the connection's end.
pub(super) async fn serve(mut pipe: DuplexStream, request: &str) {
    let path = request.split(' ').nth(1).unwrap_or_default();
    if let Some((_, answer)) = UNOPENED.iter().find(|(unopened, _)| path.starts_with(unopened)) {
        let _ = pipe.write_all(answer.as_bytes()).await;
        return;
    }
    let mut out =
        Vec::from("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n");
    let accept = accept_key(header(request, "sec-websocket-key").unwrap_or_default());
    out.extend(format!("Sec-WebSocket-Accept: {accept}\r\nSet-Cookie: from=shake\r\nx-own: 1\r\n").bytes());
    if let Some(offered) = header(request, "sec-websocket-protocol") {
        let chosen = offered.split(',').next().unwrap_or_default();
        out.extend(format!("Sec-WebSocket-Protocol: {chosen}\r\n").bytes());
    }
    out.extend(b"\r\n");
    let is_socketio = path.starts_with("/socket.io/");
    if is_socketio {
        let open = r#"0{"sid":"s","upgrades":[],"pingInterval":25000,"pingTimeout":20000}"#;
        encode(Opcode::Text, open.as_bytes(), None, &mut out);
    }
    if path == "/greet" {
        encode(Opcode::Text, b"welcome", None, &mut out);
    }
    if path == "/bytes" {
        encode(Opcode::Binary, b"raw", None, &mut out);
    }
    if path.starts_with("/headers") {
        encode(Opcode::Text, request.as_bytes(), None, &mut out);
    }
    let mut broker = path.starts_with("/stomp").then(Broker::default);
    let mut decoder = Decoder::new(Role::Server, 1 << 20);
    let mut buffer = vec![0; 16 << 10];
    loop {
        if pipe.write_all(&out).await.is_err() {
            return;
        }
        out.clear();
        let Ok(read @ 1..) = pipe.read(&mut buffer).await else { return };
        let mut goes_on = true;
        let _ = decoder.feed(&mut buffer[..read], |event| {
            goes_on &= match event {
                WebsocketEvent::Text(text) if is_socketio => socketio(text, &mut out),
                WebsocketEvent::Text(_) | WebsocketEvent::Binary(_) if broker.is_some() => {
                    let frame = match &event {
                        WebsocketEvent::Text(text) => text.as_bytes(),
                        WebsocketEvent::Binary(bytes) => bytes,
                        _ => &[],
                    };
                    let mut said = Vec::new();
                    let goes_on = broker.as_mut().is_none_or(|broker| broker.feed(frame, &mut said));
                    said.iter().for_each(|frame| encode(Opcode::Binary, frame, None, &mut out));
                    goes_on
                }
                event => answer(event, &mut out),
            };
        });
        if !goes_on {
            let _ = pipe.write_all(&out).await;
            return;
        }
    }
}

/// False: the connection is over.
fn answer(event: WebsocketEvent<'_>, out: &mut Vec<u8>) -> bool {
    match event {
        WebsocketEvent::Text(text) => return obey(text, out),
        WebsocketEvent::Binary(bytes) => encode(Opcode::Binary, bytes, None, out),
        WebsocketEvent::Ping(payload) => encode(Opcode::Pong, payload, None, out),
        WebsocketEvent::Pong(payload) => {
            encode(
                Opcode::Text,
                format!("ponged {}", String::from_utf8_lossy(payload)).as_bytes(),
                None,
                out,
            );
        }
        WebsocketEvent::Close { code, reason } => {
            let payload = code.map_or_else(Vec::new, |code| close_payload(code, reason));
            encode(Opcode::Close, &payload, None, out);
            return false;
        }
    }
    true
}

fn obey(text: &str, out: &mut Vec<u8>) -> bool {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    match word {
        "bye" => {
            let (code, reason) = rest.split_once(' ').unwrap_or((rest, ""));
            encode(Opcode::Close, &close_payload(code.parse().unwrap(), reason), None, out);
        }
        "leave" => encode(Opcode::Close, b"", None, out),
        "drop" => return false,
        "broken" => out.extend([0x83, 0]),
        "ping" => encode(Opcode::Ping, rest.as_bytes(), None, out),
        "many" => {
            for number in 0..rest.parse().unwrap() {
                encode(Opcode::Text, format!("word {number}").as_bytes(), None, out);
            }
        }
        _ => encode(Opcode::Text, text.as_bytes(), None, out),
    }
    true
}

fn socketio(text: &str, out: &mut Vec<u8>) -> bool {
    let mut say = |text: &str| encode(Opcode::Text, text.as_bytes(), None, out);
    match text {
        _ if text.starts_with("40/closed") => say(r#"44/closed,{"message":"not you"}"#),
        _ if text.starts_with("40") => {
            let (namespace, auth) = text[2..].split_at(text[2..].find('{').unwrap_or(text.len() - 2));
            say(&format!(r#"40{namespace}{{"sid":"x"}}"#));
            say("2");
            say(&format!(r#"42{namespace}["hello",{},2]"#, if auth.is_empty() { "null" } else { auth }));
        }
        "3" => say(r#"42["ponged"]"#),
        r#"420["ask",1]"# => say("430[\"answer\",2]"),
        _ if text.starts_with(r#"420["say""#) => say(&format!("430[{}]", serde_json::Value::from(text))),
        r#"42["ask me"]"# => say(r#"427["question",1]"#),
        r#"42["leave"]"# => say("41"),
        // Says the given frames as they are: texts, and attachments of one byte.
        _ if text.starts_with("42") && text.contains(r#"["raw","#) => {
            let frames = &text[text.find('[').unwrap_or_default()..];
            let frames: Vec<serde_json::Value> = serde_json::from_str(frames).unwrap_or_default();
            for frame in frames.into_iter().skip(1) {
                match frame {
                    serde_json::Value::String(text) => encode(Opcode::Text, text.as_bytes(), None, out),
                    byte => encode(Opcode::Binary, &[byte.as_u64().unwrap_or(0) as u8], None, out),
                }
            }
        }
        _ if text.starts_with("45") => say(text),
        // An acknowledgement with attachments comes back as an event with them.
        _ if text.starts_with("46") => {
            let (count, rest) = text[2..].split_once('-').unwrap_or_default();
            let data = &rest[rest.find('[').map_or(0, |at| at + 1)..];
            say(&format!(r#"45{count}-["acknowledged",{data}"#));
        }
        _ if text.starts_with("42") || text.starts_with("43") => {
            say(&format!(r#"42["heard",{}]"#, serde_json::Value::from(text)));
        }
        _ => return false,
    }
    true
}
