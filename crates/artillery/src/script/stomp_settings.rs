//! Settings of STOMP sessions: `config.stomp`.

use crate::plan::Template;
use sonagi_transport::link::{StompAck, StompVersion};
use std::time::Duration;

use crate::script::engine::Engine;
use crate::script::options::{Settings, lay_over, placed_texts, time_limit};
use crate::script::problem::nearest;
use crate::script::reader::{Fields, Reader};
use crate::script::schema;
use crate::script::yaml::{Kind, Node};

/// Settings of sessions.
#[derive(Clone)]
pub(crate) struct Stomp {
    /// Where sessions are opened that do not say it, as the script writes it: steps compile it where they use it.
    pub(crate) url: Option<Node>,
    pub(crate) headers: Vec<(String, Template)>,
    pub(crate) connect_headers: Vec<(String, Template)>,
    pub(crate) versions: Vec<StompVersion>,
    pub(crate) heart_beat: (u32, u32),
    pub(crate) sockjs: bool,
    pub(crate) ack: StompAck,
    pub(crate) subscribe_receipt: bool,
    pub(crate) send_receipt: bool,
    pub(crate) timeout: Duration,
}

impl Default for Stomp {
    fn default() -> Stomp {
        Stomp {
            url: None,
            headers: Vec::new(),
            connect_headers: Vec::new(),
            versions: vec![StompVersion::V1_0, StompVersion::V1_1, StompVersion::V1_2],
            heart_beat: (0, 0),
            sockjs: false,
            ack: StompAck::Auto,
            subscribe_receipt: false,
            send_receipt: false,
            timeout: crate::plan::DEFAULT_TIMEOUT,
        }
    }
}

/// Reads `config.stomp`.
pub(crate) fn settings(reader: &mut Reader, config: &Fields<'_>, settings: &mut Settings) {
    settings.stomp.timeout = settings.timeout;
    let Some(fields) = reader.section(config, "stomp", &schema::STOMP) else { return };
    settings.stomp.read(reader, &fields);
    settings.stomp.url = fields.get("url").cloned();
    reader.remark(&fields, "url");
    settings.blocks.lay(reader, Engine::Stomp, &fields);
}

impl Stomp {
    fn read(&mut self, reader: &mut Reader, fields: &Fields<'_>) {
        self.lay(reader, fields);
        if let Some(ack) = ack(reader, fields) {
            self.ack = ack;
        }
        for (item, text) in placed_texts(reader, fields, "receipts") {
            match text.as_str() {
                "subscribe" => self.subscribe_receipt = true,
                "send" => self.send_receipt = true,
                other => match nearest(other, ["subscribe", "send"]) {
                    Some(meant) => {
                        let what = format!("receipts are asked for `subscribe` and `send`; got {other:?}");
                        reader.problem(item.place, what, Some(format!("did you mean \"{meant}\"?")));
                    }
                    None => reader.wrong(fields, "receipts", item),
                },
            }
        }
    }

    /// The keys of both `config.stomp` and a `connect` step.
    pub(crate) fn lay(&mut self, reader: &mut Reader, fields: &Fields<'_>) {
        let headers = reader.headers(fields, "headers");
        lay_over(&mut self.headers, headers, true);
        let connect_headers = reader.templates(fields, "connectHeaders");
        refuse_own(reader, fields, "connectHeaders", &["accept-version", "heart-beat"]);
        lay_over(&mut self.connect_headers, connect_headers, false);
        if let Some(versions) = versions(reader, fields) {
            self.versions = versions;
        }
        if let Some(heart_beat) = heart_beat(reader, fields) {
            self.heart_beat = heart_beat;
        }
        if let Some(sockjs) = reader.boolean(fields, "sockjs") {
            self.sockjs = sockjs;
        }
        if let Some(timeout) = time_limit(reader, fields) {
            self.timeout = timeout;
        }
    }
}

/// Headers the protocol sets cannot be set by hand.
pub(crate) fn refuse_own(reader: &mut Reader, fields: &Fields<'_>, key: &str, own: &[&str]) {
    for entry in fields.get(key).map(Node::entries).unwrap_or_default() {
        if own.contains(&entry.key.as_str()) {
            let what = format!("{key}: the header {} is set by the protocol", entry.key);
            let hint = match entry.key.as_str() {
                "accept-version" => Some("use `versions`".to_owned()),
                "heart-beat" => Some("use `heartBeat`".to_owned()),
                "receipt" => Some("write `receipt: true` beside `headers`".to_owned()),
                "ack" => Some("write `ack:` beside `headers`".to_owned()),
                "destination" => Some("write `destination:` beside `headers`".to_owned()),
                _ => None,
            };
            reader.problem(entry.place, what, hint);
        }
    }
}

fn versions(reader: &mut Reader, fields: &Fields<'_>) -> Option<Vec<StompVersion>> {
    let given = fields.get("versions")?;
    let mut versions = Vec::new();
    for (item, text) in placed_texts(reader, fields, "versions") {
        // YAML takes an unquoted 1.0 for the number 1.
        match text.as_str() {
            "1.0" | "1" => versions.push(StompVersion::V1_0),
            "1.1" => versions.push(StompVersion::V1_1),
            "1.2" => versions.push(StompVersion::V1_2),
            _ => {
                reader.wrong(fields, "versions", item);
                return None;
            }
        }
    }
    if versions.is_empty() && matches!(&given.kind, Kind::List(items) if items.is_empty()) {
        reader.wrong(fields, "versions", given);
    }
    (!versions.is_empty()).then_some(versions)
}

fn heart_beat(reader: &mut Reader, fields: &Fields<'_>) -> Option<(u32, u32)> {
    let given = fields.get("heartBeat")?;
    let mut numbers = Vec::new();
    for (item, text) in placed_texts(reader, fields, "heartBeat") {
        match text.trim().parse::<u32>() {
            Ok(number) => numbers.push(number),
            Err(_) => {
                reader.wrong(fields, "heartBeat", item);
                return None;
            }
        }
    }
    match numbers.as_slice() {
        [ours, theirs] => Some((*ours, *theirs)),
        _ => {
            reader.wrong(fields, "heartBeat", given);
            None
        }
    }
}

/// How received messages are acknowledged.
pub(crate) fn ack(reader: &mut Reader, fields: &Fields<'_>) -> Option<StompAck> {
    let text = reader.text(fields, "ack")?;
    match text.as_str() {
        "auto" => Some(StompAck::Auto),
        "client" => Some(StompAck::Client),
        "client-individual" => Some(StompAck::Individual),
        _ => {
            reader.wrong(fields, "ack", fields.get("ack")?);
            None
        }
    }
}
