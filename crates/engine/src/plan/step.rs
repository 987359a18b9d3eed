//! The steps of a flow: a closed vocabulary every script language compiles to.

use regex::Regex;
use serde_json_path::JsonPath;
use sonagi_measure::outcome::OperationId;
use std::time::Duration;

use super::template::{Expression, JsonTemplate, Template};

/// One thing a virtual user does.
#[derive(Clone, Debug)]
pub enum Step {
    Think(Think),
    Log(Template),
    /// Sets a variable.
    Set {
        name: String,
        value: Expression,
    },
    Loop(Loop),
    Http(Box<HttpStep>),
    WebsocketConnect(Box<WebsocketConnect>),
    WebsocketSend(Box<WebsocketSend>),
    /// Opens the Socket.IO session (and the default namespace) now; other Socket.IO steps open it when it is not open yet.
    SocketioConnect(Box<SocketioConnect>),
    SocketioEmit(Box<SocketioEmit>),
    /// Waits for a message without sending one.
    Expect(Box<Expect>),
    /// From here on the user counts as a member of the room (its subscription is confirmed).
    Join(Template),
    /// From here on it does not.
    Leave(Template),
    /// Closes the user's real-time connection.
    Disconnect,
    /// Runs `steps` only when the expression is truthy (`ifTrue`), with the given probability (0 to 1).
    When {
        condition: Option<Expression>,
        probability: f64,
        steps: Vec<Step>,
    },
}

/// A pause; the length may come from a variable, in seconds.
#[derive(Clone, Debug)]
pub struct Think {
    pub seconds: Expression,
    pub jitter: Jitter,
}

/// Uniform spread around a think time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Jitter {
    None,
    /** ± milliseconds */
    Millis(f64),
    /** ± share of the think time, 0 to 1 */
    Share(f64),
}

#[derive(Clone, Debug)]
pub struct Loop {
    pub body: Vec<Step>,
    pub repeat: Repeat,
    /// Iteration n is *planned* at the loop's start + n × pace: the n-th send is due then, however late the previous one ended.
    pub pace: Option<Duration>,
}

#[derive(Clone, Debug)]
pub enum Repeat {
    Forever,
    /// The inclusive range is drawn from once per entry of the loop (`"9-12"`); equal ends: a fixed count.
    Count {
        least: u64,
        most: u64,
    },
    /// A count from a variable.
    CountOf(Expression),
    /// Once per element of the list; `$loopElement` is the element.
    Over(Expression),
    /// After each iteration, again while truthy (do-while).
    While(Expression),
}

#[derive(Clone, Debug)]
pub struct HttpStep {
    pub operation: OperationId,
    pub method: String,
    /// Absolute, or relative to the target.
    pub url: Template,
    pub headers: Vec<(String, Template)>,
    pub query: Vec<(String, Template)>,
    pub cookies: Vec<(String, Template)>,
    pub body: Body,
    pub basic_auth: Option<(Template, Template)>,
    pub follow_redirects: bool,
    pub timeout: Duration,
    pub captures: Vec<Capture>,
    pub matches: Vec<Match>,
    /// Statuses that pass (`expect: statusCode`); empty: any.
    pub expect_status: Vec<u16>,
}

#[derive(Clone, Debug)]
pub enum Body {
    Empty,
    Text(Template),
    Json(JsonTemplate),
    /** application/x-www-form-urlencoded */
    Form(Vec<(String, Template)>),
}

/// Keeps a value of a response or message.
#[derive(Clone, Debug)]
pub struct Capture {
    pub from: Source,
    pub name: String,
    /// A strict capture that finds nothing fails the user.
    pub strict: bool,
}

/// Where a captured or matched value is.
#[derive(Clone, Debug)]
pub enum Source {
    Json(JsonPath),
    Regexp { regex: Regex, group: usize },
    Header(String),
    Status,
}

/// Demands a value of a response or message.
#[derive(Clone, Debug)]
pub struct Match {
    pub from: Source,
    pub value: Template,
    pub strict: bool,
}

#[derive(Clone, Debug)]
pub struct WebsocketConnect {
    pub operation: OperationId,
    /// Absolute (ws, wss, http, https), or relative to the target.
    pub url: Template,
    pub headers: Vec<(String, Template)>,
    pub subprotocols: Vec<String>,
    pub timeout: Duration,
}

#[derive(Clone, Debug)]
pub struct WebsocketSend {
    pub operation: OperationId,
    pub payload: Content,
    /// Waits for an answer: the operation then ends when it arrives.
    pub response: Option<Awaited>,
}

/// What a WebSocket message carries.
#[derive(Clone, Debug)]
pub enum Content {
    Text(Template),
    Json(JsonTemplate),
    /** The template's text is base64. */
    Binary(Template),
}

#[derive(Clone, Debug)]
pub struct SocketioConnect {
    pub operation: OperationId,
    pub options: SocketioOptions,
    pub namespace: Template,
}

#[derive(Clone, Debug)]
pub struct SocketioEmit {
    pub operation: OperationId,
    pub namespace: Template,
    /// How the session is opened when it is not open yet, and its operation.
    pub connect: std::sync::Arc<SocketioConnect>,
    /// The event's name.
    pub event: Template,
    /// The arguments after the name, each a JSON value.
    pub arguments: Vec<Argument>,
    /// Asks for an acknowledgement and checks it.
    pub acknowledge: Option<Awaited>,
    /// Waits for an event of this name after the emit.
    pub response: Option<(Template, Awaited)>,
}

/// One argument of an emit.
#[derive(Clone, Debug)]
pub enum Argument {
    Json(JsonTemplate),
    /** Sent as a binary attachment. */
    Binary(Vec<u8>),
}

/// What an awaited answer must be like.
#[derive(Clone, Debug)]
pub struct Awaited {
    pub timeout: Duration,
    /// Equality with the (first) argument or the whole arguments; None: anything.
    pub data: Option<JsonTemplate>,
    pub captures: Vec<Capture>,
    pub matches: Vec<Match>,
}

/// Waiting for a message: a Socket.IO event by name, or any WebSocket message, that fits.
#[derive(Clone, Debug)]
pub struct Expect {
    pub operation: OperationId,
    pub event: Option<Template>,
    pub awaited: Awaited,
}

/// Defaults of the HTTP client.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    pub headers: Vec<(String, Template)>,
    pub timeout: Duration,
    /// Connections per origin and shard shared by its users; None: one keep-alive connection per user.
    pub pool: Option<usize>,
    /// Over TLS, offer HTTP/2 by ALPN.
    pub http2: bool,
}

/// Defaults of WebSocket connections.
#[derive(Clone, Debug)]
pub struct WebsocketOptions {
    pub headers: Vec<(String, Template)>,
    pub subprotocols: Vec<String>,
    /// Largest message accepted, in bytes.
    pub max_message: usize,
    pub timeout: Duration,
}

/// How a Socket.IO session is opened.
#[derive(Clone, Debug)]
pub struct SocketioOptions {
    /// Absolute or relative to the target; its path is the default namespace only through `namespace`.
    pub url: Option<Template>,
    /// `/socket.io/` by default.
    pub path: String,
    pub query: Vec<(String, Template)>,
    pub headers: Vec<(String, Template)>,
    /// The CONNECT packet's payload.
    pub auth: Option<JsonTemplate>,
    pub transport: SocketioTransport,
    pub timeout: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketioTransport {
    /// WebSocket from the start.
    Websocket,
    /// Long polling only.
    Polling,
    /// Long polling, then upgraded to WebSocket (the official clients' default).
    Upgrade,
}

/// Time limit of an operation when the script sets none (Artillery's).
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

impl Default for HttpOptions {
    fn default() -> HttpOptions {
        HttpOptions { headers: Vec::new(), timeout: DEFAULT_TIMEOUT, pool: None, http2: true }
    }
}

impl Default for WebsocketOptions {
    fn default() -> WebsocketOptions {
        let max_message = 16 << 20;
        WebsocketOptions {
            headers: Vec::new(),
            subprotocols: Vec::new(),
            max_message,
            timeout: DEFAULT_TIMEOUT,
        }
    }
}

impl Default for SocketioOptions {
    fn default() -> SocketioOptions {
        SocketioOptions {
            url: None,
            path: "/socket.io/".to_owned(),
            query: Vec::new(),
            headers: Vec::new(),
            auth: None,
            transport: SocketioTransport::Upgrade,
            timeout: DEFAULT_TIMEOUT,
        }
    }
}
