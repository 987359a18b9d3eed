//! The contents of an answer to a poll: its messages, or that there are none, and the next cursor.
//!
//! A body is parsed only as deep as its messages: they are handed on verbatim, and no value is built of them. Only a
//! cursor that lies deeper than a member of the answer's object costs a full parse.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;
use serde_json_path::JsonPath;

use crate::http::Response;

/// Bytes of a refusal's body shown in the detail.
const SHOWN_BODY: usize = 200;

/// The part of an answer to a poll that holds a value.
#[derive(Clone, Debug)]
pub enum PollField {
    /// The first node of its JSON selected by the path (RFC 9535).
    Json(JsonPath),
    /// A header, lower case.
    Header(String),
}

/// The place in an answer of the cursor, or of the word that there is more.
pub(super) enum CompiledField {
    /// A member of its object: nearly all paths are of this kind.
    Member(String),
    Other(Box<PollField>),
}

impl CompiledField {
    pub(super) fn new(field: PollField) -> CompiledField {
        let name = match &field {
            PollField::Json(path) => member(&path.to_string()),
            PollField::Header(_) => None,
        };
        name.map_or_else(|| CompiledField::Other(Box::new(field)), CompiledField::Member)
    }
}

/// The name in a path of one step, `$.name` or `$['name']`.
fn member(path: &str) -> Option<String> {
    let rest = path.strip_prefix('$')?;
    let name = match rest.strip_prefix('.') {
        Some(name) => name,
        None => {
            let quoted = rest.strip_prefix('[')?.strip_suffix(']')?;
            let quote = quoted.chars().next().filter(|quote| ['\'', '"'].contains(quote))?;
            quoted.strip_prefix(quote)?.strip_suffix(quote)?
        }
    };
    let is_name = !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.chars().all(|c| c == '_' || c.is_alphanumeric());
    is_name.then(|| name.to_owned())
}

/// A parsed answer.
pub(super) enum PollAnswer<'a> {
    /// A status that means neither messages nor none.
    Refusal,
    /// An empty body.
    Blank,
    /// A JSON object and the messages it lists.
    Object { members: BTreeMap<String, &'a RawValue>, messages: Vec<&'a RawValue> },
    /// A JSON array of messages.
    List(Vec<&'a RawValue>),
    /// One message.
    One(Cow<'a, str>),
}

impl<'a> PollAnswer<'a> {
    /// Parses an answer. `is_told_empty`: the status says that there is nothing new. `list` names the member with the
    /// messages.
    pub(super) fn read(response: &'a Response, is_told_empty: bool, list: &str) -> PollAnswer<'a> {
        if !is_told_empty && !(200..300).contains(&response.status) {
            return PollAnswer::Refusal;
        }
        let body = response.body.trim_ascii();
        if is_told_empty || body.is_empty() || body == b"null" {
            return PollAnswer::Blank;
        }
        let text = match std::str::from_utf8(body) {
            Ok(text) => text,
            Err(_) => return PollAnswer::One(String::from_utf8_lossy(&response.body)),
        };
        let read = match body[0] {
            b'[' => serde_json::from_str(text).ok().map(PollAnswer::List),
            b'{' => serde_json::from_str::<BTreeMap<String, &RawValue>>(text).ok().and_then(|members| {
                let messages = serde_json::from_str(members.get(list)?.get()).ok()?;
                Some(PollAnswer::Object { members, messages })
            }),
            _ => None,
        };
        read.unwrap_or(PollAnswer::One(Cow::Borrowed(text)))
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            PollAnswer::Blank => true,
            PollAnswer::Refusal | PollAnswer::One(_) => false,
            PollAnswer::Object { messages, .. } | PollAnswer::List(messages) => messages.is_empty(),
        }
    }

    /// Hands over the messages in order.
    pub(super) fn each(&self, mut on: impl FnMut(&str)) {
        match self {
            PollAnswer::Refusal | PollAnswer::Blank => {}
            PollAnswer::One(text) => on(text),
            PollAnswer::Object { messages, .. } | PollAnswer::List(messages) => {
                messages.iter().for_each(|message| on(message.get()));
            }
        }
    }

    /// The answer's cursor as text; None: it has none.
    pub(super) fn cursor(&self, place: &CompiledField, response: &Response) -> Option<String> {
        spelt(self.value(place, response)?)
    }

    /// Whether the value there is truthy.
    pub(super) fn says(&self, place: &CompiledField, response: &Response) -> bool {
        self.value(place, response).is_some_and(|value| is_truthy(&value))
    }

    fn value(&self, place: &CompiledField, response: &Response) -> Option<Value> {
        match place {
            CompiledField::Member(name) => match self {
                PollAnswer::Object { members, .. } => serde_json::from_str(members.get(name)?.get()).ok(),
                // An object without a list of messages is one message, and may give a cursor.
                PollAnswer::One(text) => {
                    let mut members: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
                    serde_json::from_str(members.remove(name)?.get()).ok()
                }
                PollAnswer::Refusal | PollAnswer::Blank | PollAnswer::List(_) => None,
            },
            CompiledField::Other(field) => find(field, response),
        }
    }
}

fn find(field: &PollField, response: &Response) -> Option<Value> {
    match field {
        PollField::Header(name) => {
            let value = response.headers.get(name)?;
            Some(String::from_utf8_lossy(value).into())
        }
        PollField::Json(path) => {
            let body: Value = serde_json::from_slice(&response.body).ok()?;
            path.query(&body).first().map(|value| (*value).clone())
        }
    }
}

/// Whether JavaScript takes the value for true.
pub fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Bool(true) | Value::Array(_) | Value::Object(_) => true,
    }
}

/// A cursor's value as it is sent in a query.
fn spelt(value: Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text),
        other => Some(other.to_string()),
    }
}

/// The beginning of a body, for an error message.
pub(super) fn excerpt(body: &[u8]) -> String {
    let words = String::from_utf8_lossy(&body[..body.len().min(SHOWN_BODY)]);
    match words.trim() {
        "" => String::new(),
        words => format!(": {words}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Headers;
    use bytes::Bytes;
    use sonagi_measure::At;

    fn response(status: u16, body: &'static str) -> Response {
        Response {
            status,
            reason: Box::default(),
            headers: [("X-Next", &b"h7"[..])].into_iter().collect::<Headers>(),
            body: Bytes::from_static(body.as_bytes()),
            body_bytes: body.len() as u64,
            first_byte: At(0),
            ended: At(0),
            reused: true,
            redirected: None,
        }
    }

    fn messages(response: &Response) -> (bool, Vec<String>) {
        let answer = PollAnswer::read(response, response.status == 204, "messages");
        let mut messages = Vec::new();
        answer.each(|text| messages.push(text.to_owned()));
        (answer.is_empty(), messages)
    }

    #[test]
    fn an_answer_is_split_into_its_messages_word_for_word() {
        let table: [(u16, &str, bool, &[&str]); 12] = [
            (
                200,
                r#"{"group":"g","messages":[{"seq": 1},"two", 3],"next":9}"#,
                false,
                &[r#"{"seq": 1}"#, r#""two""#, "3"],
            ),
            (200, r#"{"messages":[],"next":9}"#, true, &[]),
            (200, r#" [{"a":1},{"b":[2]}] "#, false, &[r#"{"a":1}"#, r#"{"b":[2]}"#]),
            (200, "[]", true, &[]),
            (200, "", true, &[]),
            (200, " \r\n", true, &[]),
            (200, "null", true, &[]),
            (204, "", true, &[]),
            (200, r#"{"messages":"none"}"#, false, &[r#"{"messages":"none"}"#]),
            (200, r#"{"lat":1}"#, false, &[r#"{"lat":1}"#]),
            (200, "[1,2", false, &["[1,2"]),
            (200, "plain", false, &["plain"]),
        ];
        for (status, body, is_empty, expected) in table {
            let expected: Vec<String> = expected.iter().map(|&text| text.to_owned()).collect();
            assert_eq!(messages(&response(status, body)), (is_empty, expected), "{status} {body}");
        }
        for status in [302, 400, 404, 500, 503] {
            let answer = response(status, "x");
            assert!(matches!(PollAnswer::read(&answer, false, "messages"), PollAnswer::Refusal), "{status}");
        }
    }

    #[test]
    fn a_cursor_is_found_where_the_script_says() {
        let json = |path: &str| PollField::Json(JsonPath::parse(path).unwrap());
        let body = r#"{"messages":[{"seq":4},{"seq":5}],"next":5,"page":{"next":"a b"},"none":null}"#;
        for (source, expected) in [
            (json("$.next"), Some("5")),
            (json("$['next']"), Some("5")),
            (json("$.page.next"), Some("a b")),
            (json("$.messages[-1].seq"), Some("5")),
            (json("$.none"), None),
            (json("$.missing"), None),
            (PollField::Header("x-next".into()), Some("h7")),
        ] {
            let (response, said) = (response(200, body), format!("{source:?}"));
            let answer = PollAnswer::read(&response, false, "messages");
            assert_eq!(answer.cursor(&CompiledField::new(source), &response).as_deref(), expected, "{said}");
        }
        let one = response(200, r#"{"lat":1,"next":"e.7"}"#);
        let answer = PollAnswer::read(&one, false, "messages");
        assert_eq!(answer.cursor(&CompiledField::new(json("$.next")), &one).as_deref(), Some("e.7"));
    }

    #[test]
    fn what_says_yes_is_neither_missing_nor_null_nor_false_nor_nothing() {
        let body =
            r#"{"messages":[],"a":true,"b":false,"c":null,"d":0,"e":7,"f":"","g":"/next","h":{"i":true}}"#;
        let (response, mut yes) = (response(200, body), String::new());
        let answer = PollAnswer::read(&response, false, "messages");
        for name in ["a", "b", "c", "d", "e", "f", "g", "h", "h.i", "j"] {
            let place = CompiledField::new(PollField::Json(JsonPath::parse(&format!("$.{name}")).unwrap()));
            if answer.says(&place, &response) {
                yes.push_str(name);
            }
        }
        assert_eq!(yes, "aeghh.i");
    }

    #[test]
    fn only_a_path_of_one_plain_step_names_a_member() {
        for (path, name) in [
            ("$.next", Some("next")),
            ("$['next']", Some("next")),
            ("$.a.b", None),
            ("$[0]", None),
            ("$['a b']", None),
            ("$.*", None),
            ("$", None),
        ] {
            let spelt = JsonPath::parse(path).unwrap().to_string();
            assert_eq!(member(&spelt).as_deref(), name, "{path} is {spelt}");
        }
    }
}
