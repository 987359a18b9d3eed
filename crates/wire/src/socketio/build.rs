//! Packets from raw JSON arguments, and an event's name back from its raw JSON.

use std::borrow::Cow;

use super::{Kind, Packet};

impl<'a> Packet<'a> {
    /// Asks for a namespace, or grants it. `object` is raw JSON (the client's auth, the server's `{"sid":"…"}`),
    /// "" for none.
    pub fn connect(namespace: &'a str, object: &'a str) -> Packet<'a> {
        Packet::plain(Kind::Connect, namespace, None, object.into())
    }

    /// Asks for a namespace in protocol 4, where parameters are a query (URL-encoded, so without a comma).
    pub fn connect_with_query(namespace: &str, query: &str) -> Packet<'a> {
        Packet::plain(Kind::Connect, format!("{namespace}?{query}"), None, "".into())
    }

    /// The namespace, and the query behind it that a CONNECT of protocol 4 may have.
    pub fn namespace_and_query(&self) -> (&str, Option<&str>) {
        match self.namespace.split_once('?') {
            Some((namespace, query)) => (namespace, Some(query)),
            None => (&self.namespace, None),
        }
    }

    /// Leaves a namespace.
    pub fn disconnect(namespace: &'a str) -> Packet<'a> {
        Packet::plain(Kind::Disconnect, namespace, None, "".into())
    }

    /// Refuses a namespace: `{"message":…}`, the message given as plain text.
    pub fn connect_error(namespace: &'a str, message: &str) -> Packet<'a> {
        let mut data = String::from(r#"{"message":"#);
        push_json_string(message, &mut data);
        data.push('}');
        Packet::plain(Kind::ConnectError, namespace, None, data.into())
    }

    /// Refuses a namespace in protocol 4: the message, given as plain text, is a JSON string.
    pub fn error(namespace: &'a str, message: &str) -> Packet<'a> {
        let mut data = String::new();
        push_json_string(message, &mut data);
        Packet::plain(Kind::ConnectError, namespace, None, data.into())
    }

    /// An event with its name as plain text and its arguments as raw JSON, one item each. With an id it asks to be
    /// acknowledged.
    pub fn event<'j>(
        namespace: &'a str,
        ack: Option<u64>,
        name: &str,
        args: impl IntoIterator<Item = &'j str>,
    ) -> Packet<'a> {
        let mut data = String::with_capacity(64);
        data.push('[');
        push_json_string(name, &mut data);
        for arg in args {
            data.push(',');
            data.push_str(arg);
        }
        data.push(']');
        Packet::plain(Kind::Event, namespace, ack, data.into())
    }

    /// The answer to the event that carried `id`, its arguments as raw JSON.
    pub fn ack<'j>(namespace: &'a str, id: u64, args: impl IntoIterator<Item = &'j str>) -> Packet<'a> {
        let mut data = String::from("[");
        for (index, arg) in args.into_iter().enumerate() {
            if index > 0 {
                data.push(',');
            }
            data.push_str(arg);
        }
        data.push(']');
        Packet::plain(Kind::Ack, namespace, Some(id), data.into())
    }

    /// The same event or acknowledgement, announcing `attachments` that its arguments name by
    /// `{"_placeholder":true,"num":i}`. None make it plain again; other kinds stay as they are.
    pub fn with_attachments(mut self, attachments: usize) -> Packet<'a> {
        self.kind = match (self.kind, attachments) {
            (Kind::Event | Kind::BinaryEvent, 0) => Kind::Event,
            (Kind::Event | Kind::BinaryEvent, _) => Kind::BinaryEvent,
            (Kind::Ack | Kind::BinaryAck, 0) => Kind::Ack,
            (Kind::Ack | Kind::BinaryAck, _) => Kind::BinaryAck,
            (kind, _) => return Packet { kind, ..self },
        };
        self.attachments = attachments;
        self
    }

    fn plain(
        kind: Kind,
        namespace: impl Into<Cow<'a, str>>,
        ack: Option<u64>,
        data: Cow<'a, str>,
    ) -> Packet<'a> {
        Packet { kind, namespace: namespace.into(), ack, attachments: 0, data }
    }
}

/// Appends `text` as a JSON string. Names are nearly always plain, so runs without anything to escape are copied.
fn push_json_string(text: &str, out: &mut String) {
    out.push('"');
    if text.bytes().any(|byte| byte < 0x20 || byte == b'"' || byte == b'\\') {
        let quoted = serde_json::Value::from(text).to_string();
        out.push_str(&quoted[1..quoted.len() - 1]);
    } else {
        out.push_str(text);
    }
    out.push('"');
}

/// The event's name without parsing the arguments: the first string of the JSON array; None when it is not one.
/// Borrowed unless the name has an escape in it.
pub fn event_name(data: &str) -> Option<Cow<'_, str>> {
    let rest = data.trim_ascii_start().strip_prefix('[')?.trim_ascii_start();
    let body = rest.strip_prefix('"')?;
    let bytes = body.as_bytes();
    let mut at = memchr::memchr2(b'"', b'\\', bytes)?;
    let escaped = bytes[at] == b'\\';
    while bytes[at] == b'\\' {
        // A backslash and what it escapes: never the end.
        let next = at + 2;
        at = next + memchr::memchr2(b'"', b'\\', bytes.get(next..)?)?;
    }
    if !matches!(body[at + 1..].trim_ascii_start().as_bytes().first(), Some(b',' | b']')) {
        return None;
    }
    if escaped {
        return serde_json::from_str(&rest[..at + 2]).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(&body[..at]))
}
