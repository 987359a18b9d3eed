//! The messages between a shard and its processor: JSON lists in frames of four bytes of length (little-endian).
//!
//! | from | message | with |
//! |---|---|---|
//! | Node | `hello` | its `version`, before anything else |
//! | us | `load` | the `module`, and the `modules` we turned into JavaScript |
//! | us | `share` | `shared`: the variables all users begin with, before any of them calls |
//! | Node | `ready`, `failed` | the `names` of its functions; the `error` |
//! | us | `call` | `id`, `user`, `name`, `kind`; `set`, `unset`: changes of the user's variables; the kind's own |
//! | Node | `done` | `id`; `set` and `unset` likewise, and the same of `params`; `value` of a condition; `error` |
//! | us | `abandon`, `forget` | the `id` of a call nobody waits for; a `user` that is gone |
//! | Node | `metric`, `printed`, `exit` | unasked: a metric, lines on a `stream`, the exit `code` wanted |
//! | Node | `log` | what the runner says of functions |

use serde_json::{Map, Value, json};

use super::Said;
use crate::plan::Processor;
use sonagi_measure::metrics::{Kind as MetricKind, Unit};

/// The kind of a call, which decides the function's arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A step of the flow: (context, events).
    Function,
    /// Before a request: (request, context, events).
    Before,
    /// After a response: (request, response, context, events).
    After,
    /// After a failure: (error, request, context, events).
    Error,
    /// Before a WebSocket is opened: (arguments, context).
    Connect,
    /// Whether a loop goes on: (context).
    While,
    /// Whether a step is taken: (variables).
    If,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Function => "function",
            Kind::Before => "before",
            Kind::After => "after",
            Kind::Error => "error",
            Kind::Connect => "connect",
            Kind::While => "while",
            Kind::If => "if",
        }
    }
}

/// A call of a user's.
pub(crate) struct Call<'c> {
    pub(crate) user: u32,
    pub(crate) kind: Kind,
    pub(crate) function: &'c str,
    /// Variables that are new or changed since the last call.
    pub(crate) set: Map<String, Value>,
    /// The rest of the arguments: `params`, `response`, `error`; with a user's first call `scenario`, and in `unset`
    /// the shared variables that the user has none of.
    pub(crate) extra: Map<String, Value>,
}

/// A function's own metric.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Metric {
    pub(crate) kind: (MetricKind, Unit),
    pub(crate) name: String,
    pub(crate) value: f64,
}

/// An error as a function threw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Described {
    pub(crate) message: String,
    /// Node's own code of a system error (`ECONNREFUSED`), or the function's.
    pub(crate) code: Option<String>,
    /// The innermost line of the stack that is no part of Node.
    pub(crate) at: Option<String>,
}

impl Described {
    fn of(value: &Value) -> Described {
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        Described { message: text("message").unwrap_or_default(), code: text("code"), at: text("at") }
    }

    /// The name under which Artillery counts it.
    pub(crate) fn called(&self) -> &str {
        self.code.as_deref().filter(|code| !code.is_empty()).unwrap_or(&self.message)
    }

    /// In one line.
    pub(crate) fn told(&self) -> String {
        let at = self.at.as_ref().map(|at| format!(" ({at})")).unwrap_or_default();
        format!("{}{at}", self.message)
    }
}

/// The result of a function.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FunctionResult {
    /// Variables it set or changed, and those it deleted.
    pub(crate) set: Map<String, Value>,
    pub(crate) unset: Vec<String>,
    /// The same of a request's parameters.
    pub(crate) params: Map<String, Value>,
    pub(crate) dropped_params: Vec<String>,
    /// A condition's word.
    pub(crate) value: Option<Value>,
    pub(crate) error: Option<Described>,
}

/// A message from a process.
pub(super) enum Inbound {
    Hello(String),
    Ready(Vec<String>),
    Failed(Described),
    Done(u64, Box<FunctionResult>),
    Said(Said),
}

/// The first message to a process.
pub(super) struct Loading<'p> {
    pub(super) processor: &'p Processor,
    pub(super) hooks: &'static str,
}

impl Loading<'_> {
    pub(super) fn frame(&self) -> Vec<u8> {
        let file = |file: &crate::plan::ProcessorFile| {
            let imports: Map<String, Value> =
                file.imports.iter().map(|(name, path)| (name.clone(), file_url(path).into())).collect();
            let format = if file.is_common { "commonjs" } else { "module" };
            (file_url(&file.path), json!({ "code": file.code, "format": format, "imports": imports }))
        };
        let files: Map<String, Value> = self.processor.files.iter().map(file).collect();
        let modules = if files.is_empty() {
            json!({})
        } else {
            json!({ "hooks": format!("data:text/javascript,{}", percent(self.hooks)), "files": files })
        };
        let module = Value::from(self.processor.module.display().to_string());
        framed(format!(r#"[{{"do":"load","module":{module},"modules":{modules}}}]"#).into_bytes())
    }
}

/// The variables all users begin with, given as JSON.
pub(super) fn share(shared: &str) -> Vec<u8> {
    framed(format!(r#"[{{"do":"share","shared":{shared}}}]"#).into_bytes())
}

/// Messages that wait to be sent, as the list they will be.
#[derive(Default)]
pub(super) struct Outbox {
    text: Vec<u8>,
    is_over: bool,
}

impl Outbox {
    pub(super) fn call(&mut self, id: u64, call: Call<'_>) {
        let mut message = call.extra;
        message.insert("do".to_owned(), "call".into());
        message.insert("id".to_owned(), id.into());
        message.insert("user".to_owned(), call.user.into());
        message.insert("name".to_owned(), call.function.into());
        message.insert("kind".to_owned(), call.kind.name().into());
        message.insert("set".to_owned(), call.set.into());
        self.push(&message.into());
    }

    pub(super) fn abandon(&mut self, id: u64) {
        self.push(&json!({ "do": "abandon", "id": id }));
    }

    pub(super) fn forget(&mut self, user: u32) {
        self.push(&json!({ "do": "forget", "user": user }));
    }

    /// Nothing follows.
    pub(super) fn end(&mut self) {
        self.is_over = true;
    }

    /// Nothing of it will be sent: those who would have read it are gone.
    pub(super) fn clear(&mut self) {
        self.text.clear();
    }

    /// Whether nothing follows and nothing waits.
    pub(super) fn is_spent(&self) -> bool {
        self.is_over && self.text.is_empty()
    }

    /// All of it as one frame, and whether it was the last.
    pub(super) fn take(&mut self) -> (Option<Vec<u8>>, bool) {
        if self.text.is_empty() {
            return (None, self.is_over);
        }
        self.text.push(b']');
        (Some(framed(std::mem::take(&mut self.text))), self.is_over)
    }

    fn push(&mut self, message: &Value) {
        self.text.push(if self.text.is_empty() { b'[' } else { b',' });
        serde_json::to_writer(&mut self.text, message).expect("JSON can be written into memory");
    }
}

/// A frame's messages; None when it is no list of them.
pub(super) fn parse(frame: &[u8]) -> Option<Vec<Inbound>> {
    let Ok(Value::Array(messages)) = serde_json::from_slice(frame) else { return None };
    messages.into_iter().map(inbound).collect()
}

/// The metric a function emits, by the emitted event's name.
fn emitted(kind: &str) -> Option<(MetricKind, Unit)> {
    match kind {
        "counter" => Some((MetricKind::Counter, Unit::Number)),
        "rate" => Some((MetricKind::Counter, Unit::Events)),
        "histogram" => Some((MetricKind::Trend, Unit::Number)),
        _ => None,
    }
}

fn inbound(mut message: Value) -> Option<Inbound> {
    let text = |message: &Value, key: &str| message[key].as_str().unwrap_or_default().to_owned();
    Some(match message["is"].as_str()? {
        "hello" => Inbound::Hello(text(&message, "version")),
        "ready" => Inbound::Ready(names(&message["names"])),
        "failed" => Inbound::Failed(Described::of(&message["error"])),
        "log" => Inbound::Said(Said::Line(text(&message, "text"))),
        "printed" => {
            let is_error = message["stream"] == "error";
            Inbound::Said(Said::Printed { is_error, text: text(&message, "text") })
        }
        "exit" => Inbound::Said(Said::ExitCode(u8::try_from(message["code"].as_u64()?).ok()?)),
        "metric" => Inbound::Said(Said::Metric(Metric {
            kind: emitted(&text(&message, "kind"))?,
            name: text(&message, "name"),
            value: message["value"].as_f64()?,
        })),
        "done" => {
            let id = message["id"].as_u64()?;
            let error = message.get("error").map(Described::of);
            let (params, dropped_params) = match message.get_mut("params") {
                Some(params) => (object(params["set"].take()), names(&params["unset"])),
                None => (Map::new(), Vec::new()),
            };
            let unset = names(&message["unset"]);
            let value = message.get_mut("value").map(Value::take);
            let set = object(message["set"].take());
            Inbound::Done(id, Box::new(FunctionResult { set, unset, params, dropped_params, value, error }))
        }
        _ => return None,
    })
}

fn object(value: Value) -> Map<String, Value> {
    if let Value::Object(map) = value { map } else { Map::new() }
}

fn names(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn framed(text: Vec<u8>) -> Vec<u8> {
    let mut frame = Vec::with_capacity(4 + text.len());
    frame.extend_from_slice(&(text.len() as u32).to_le_bytes());
    frame.extend(text);
    frame
}

/// A path as Node names it in its loader (`pathToFileURL`).
fn file_url(path: &std::path::Path) -> String {
    // Characters that a URL's path may hold unescaped (RFC 3986 §3.3), and the slash.
    escaped(path.as_os_str().as_encoded_bytes(), b"-_.~/!$&'()*+,;=:@", "file://")
}

/// Text for a `data:` URL.
fn percent(text: &str) -> String {
    escaped(text.as_bytes(), b"", "")
}

/// Bytes behind `begin`, percent-encoded but for letters, digits and what is `plain`.
fn escaped(bytes: &[u8], plain: &[u8], begin: &str) -> String {
    let mut out = begin.to_owned();
    for byte in bytes {
        if byte.is_ascii_alphanumeric() || plain.contains(byte) {
            out.push(char::from(*byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
