//! Connection state recovery: a Socket.IO server may know a lost session by the namespace's private id, given with its
//! confirmation, and by the offset of the last event, which the server appends as its last argument.
//!
//! Like the official client, it takes any last argument that is text for an offset; the server will not find one that
//! is none.

use serde_json::{Map, Value};
use sonagi_wire::socketio::{Kind, Packet};

/// A namespace of a session, with its recovery state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// `/` the default.
    pub namespace: Box<str>,
    pid: Box<str>,
    /// Empty before the first event.
    offset: String,
    /// Whether the server confirmed that this is the session it knew: nothing needs to be asked for again.
    pub is_recovered: bool,
}

impl Recovery {
    /// The payload of a CONNECT that asks for the session; `auth_json` is its object without recovery.
    pub fn auth(&self, auth_json: Option<&str>) -> String {
        let mut auth = Map::new();
        auth.insert("pid".to_owned(), Value::from(&*self.pid));
        if !self.offset.is_empty() {
            auth.insert("offset".to_owned(), Value::from(self.offset.as_str()));
        }
        if let Some(Value::Object(own)) = auth_json.and_then(|json| serde_json::from_str(json).ok()) {
            auth.extend(own);
        }
        Value::Object(auth).to_string()
    }
}

/// Notes a packet's private id or offset.
pub(super) fn note(recoveries: &mut Vec<Recovery>, packet: &Packet<'_>) {
    let namespace = packet.namespace.as_ref();
    match packet.kind {
        Kind::Connect => connected(recoveries, namespace, &packet.data),
        Kind::Event | Kind::BinaryEvent if !recoveries.is_empty() => {
            let known = recoveries.iter_mut().find(|recovery| *recovery.namespace == *namespace);
            if let (Some(recovery), Some(offset)) = (known, last_text(&packet.data)) {
                recovery.offset.clear();
                recovery.offset.push_str(offset);
            }
        }
        _ => {}
    }
}

fn connected(recoveries: &mut Vec<Recovery>, namespace: &str, data: &str) {
    let pid = if data.contains("\"pid\"") { serde_json::from_str::<Value>(data).ok() } else { None };
    let pid = pid.as_ref().and_then(|data| data["pid"].as_str());
    if let (Some(known), Some(pid)) =
        (recoveries.iter_mut().find(|recovery| *recovery.namespace == *namespace), pid)
        && *known.pid == *pid
    {
        known.is_recovered = true;
        return;
    }
    recoveries.retain(|recovery| *recovery.namespace != *namespace);
    if let Some(pid) = pid {
        let (namespace, pid) = (namespace.into(), pid.into());
        recoveries.push(Recovery { namespace, pid, offset: String::new(), is_recovered: false });
    }
}

/// The last argument of an event, when it is text that needs no unescaping.
fn last_text(array_json: &str) -> Option<&str> {
    let text = array_json.trim_end().strip_suffix(']')?.trim_end().strip_suffix('"')?;
    let begin = text.rfind('"')? + 1;
    Some(&text[begin..]).filter(|_| !text[..begin - 1].ends_with('\\'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sonagi_wire::socketio::decode;

    fn after(packets: &[&str]) -> Vec<Recovery> {
        let mut recoveries = Vec::new();
        for packet in packets {
            note(&mut recoveries, &decode(packet).unwrap());
        }
        recoveries
    }

    #[test]
    fn the_last_events_offset_goes_with_the_private_id() {
        let seen = after(&[r#"0{"sid":"s","pid":"p"}"#, r#"2["a",{"x":"y"},"7"]"#, r#"2["b",{"x":"z"}]"#]);
        assert_eq!(seen[0].auth(None), r#"{"pid":"p","offset":"7"}"#);
        assert_eq!(seen[0].auth(Some(r#"{"token":"t"}"#)), r#"{"pid":"p","offset":"7","token":"t"}"#);
        assert_eq!(after(&[r#"0{"sid":"s","pid":"p"}"#])[0].auth(None), r#"{"pid":"p"}"#);
    }

    #[test]
    fn a_server_that_gives_no_private_id_recovers_nothing() {
        assert_eq!(after(&[r#"0{"sid":"s"}"#, r#"2["a","7"]"#]), []);
    }

    #[test]
    fn the_same_private_id_says_that_the_session_is_recovered_and_another_that_it_is_not() {
        let again = |pid: &str| {
            let mut recoveries = after(&[r#"0{"sid":"s","pid":"p"}"#, r#"2["a","7"]"#]);
            // Missed events come before the confirmation.
            note(&mut recoveries, &decode(r#"2["a","8"]"#).unwrap());
            let connected = format!(r#"0{{"sid":"t","pid":"{pid}"}}"#);
            note(&mut recoveries, &decode(&connected).unwrap());
            (recoveries[0].is_recovered, recoveries[0].auth(None))
        };
        assert_eq!(again("p"), (true, r#"{"pid":"p","offset":"8"}"#.to_owned()));
        assert_eq!(again("q"), (false, r#"{"pid":"q"}"#.to_owned()));
    }

    #[test]
    fn only_text_that_comes_last_is_an_offset() {
        for (data, last) in [
            (r#"["a","7"]"#, Some("7")),
            (r#"["a",{"b":"c"}]"#, None),
            (r#"["a",["b"]]"#, None),
            (r#"["a","say \"7"]"#, None),
            ("[]", None),
            ("", None),
            ("\"]", None),
        ] {
            assert_eq!(last_text(data), last, "{data}");
        }
    }
}
