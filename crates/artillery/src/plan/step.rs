//! The steps of a flow: a closed vocabulary every script language compiles to.

use sonagi_measure::outcome::CountedAs;
use sonagi_transport::link::{SocketioRevision, SocketioTransport};
use std::sync::Arc;
use std::time::Duration;

use super::hooks::{Call, Condition};
use super::request::HttpStep;
use super::source::Awaited;
use super::template::{Expression, JsonTemplate, Template, ValueTemplate};
use super::transports::{PollOpen, SseOpen, StompConnect, StompSend, StompSubscribe, Subscribe};

/// A step of a virtual user.
#[derive(Clone, Debug)]
pub enum Step {
    /// Pauses.
    Think(Think),
    /// Says a line; the engine's caller prints it.
    Log(Template),
    /// Sets a variable.
    Set {
        /// The variable's name.
        name: String,
        /// To what.
        value: Expression,
    },
    /// Walks its body several times.
    Loop(Loop),
    /// Takes several steps at the same time.
    Parallel(Parallel),
    /// Calls a function of the processor.
    Call(Call),
    /// Sends a request and reads the response.
    Http(Box<HttpStep>),
    /// A step that opens the user's connection; a reconnect takes it again.
    Open(Arc<Step>),
    /// Steps that subscribe; a reconnect takes them again.
    Subscribe(Arc<Subscribe>),
    /// Cuts the user's connection without a goodbye and opens it again, resuming.
    Reconnect,
    /// Opens an event stream.
    SseOpen(Box<SseOpen>),
    /// Begins to poll.
    PollOpen(Box<PollOpen>),
    /// Opens a STOMP session.
    StompConnect(Box<StompConnect>),
    /// Subscribes to a STOMP destination.
    StompSubscribe(Box<StompSubscribe>),
    /// Sends to a STOMP destination.
    StompSend(Box<StompSend>),
    /// Opens the user's WebSocket.
    WebsocketConnect(Box<WebsocketConnect>),
    /// Sends a message on it.
    WebsocketSend(Box<WebsocketSend>),
    /// Opens the Socket.IO session (and the default namespace) now; other Socket.IO steps open it when it is not open
    /// yet.
    SocketioConnect(Box<SocketioConnect>),
    /// Sends an event, opening session and namespace where needed.
    SocketioEmit(Box<SocketioEmit>),
    /// Waits for a message without sending one.
    Expect(Box<Expect>),
    /// From here on the user counts as a member of the room (its subscription is confirmed).
    Join(Template),
    /// From here on it does not.
    Leave(Template),
    /// Closes the user's real-time connection.
    Disconnect,
    /// Runs `steps` only when the condition holds (`ifTrue`), with the given probability (0 to 1).
    When {
        /// None: always.
        condition: Option<Condition>,
        /// 0 to 1.
        probability: f64,
        /// The conditional steps.
        steps: Vec<Step>,
    },
}

impl Step {
    /// The operation it is counted and timed as, if it is one.
    pub fn operation(&self) -> Option<CountedAs> {
        match self {
            Step::Http(step) => Some(step.operation),
            Step::Call(step) => Some(step.operation),
            Step::WebsocketConnect(step) => Some(step.operation),
            Step::WebsocketSend(step) => Some(step.operation),
            Step::SocketioConnect(step) => Some(step.operation),
            Step::SocketioEmit(step) => Some(step.operation),
            Step::Expect(step) => Some(step.operation),
            Step::StompConnect(step) => Some(step.operation),
            Step::StompSubscribe(step) => Some(step.operation),
            Step::StompSend(step) => Some(step.operation),
            Step::SseOpen(step) => Some(step.operation),
            Step::PollOpen(step) => Some(step.operation),
            _ => None,
        }
    }

    /// Whether it, or a step in it, calls a function of the processor.
    pub fn calls_functions(&self) -> bool {
        let any = |steps: &[Step]| steps.iter().any(Step::calls_functions);
        match self {
            Step::Call(_) => true,
            Step::Http(step) => step.hooks.is_some(),
            Step::WebsocketConnect(step) => step.function.is_some(),
            Step::Open(step) => step.calls_functions(),
            Step::Subscribe(subscribe) => any(&subscribe.steps),
            Step::Parallel(parallel) => parallel.branches.iter().any(|branch| any(branch)),
            Step::Loop(of) => {
                matches!(&of.repeat, Repeat::While(condition) if condition.may_call()) || any(&of.body)
            }
            Step::When { condition, steps, .. } => {
                condition.as_ref().is_some_and(Condition::may_call) || any(steps)
            }
            _ => false,
        }
    }
}

/// A pause; the length may come from a variable, in seconds.
#[derive(Clone, Debug)]
pub struct Think {
    /// Length in seconds, from the end of the step before.
    pub seconds: Expression,
    /// Spread around it.
    pub jitter: Jitter,
}

/// Uniform spread around a think time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Jitter {
    /// Exactly the think time.
    None,
    /** ± milliseconds */
    Millis(f64),
    /** ± share of the think time, 0 to 1 */
    Share(f64),
}

/// Steps that are repeated.
#[derive(Clone, Debug)]
pub struct Loop {
    /// The steps of an iteration.
    pub body: Vec<Step>,
    /// How often.
    pub repeat: Repeat,
    /// When its iterations are due; None: each right after the one before.
    pub pace: Option<Pace>,
}

/// The rhythm of a loop. Iteration n is *planned* at the loop's start + phase + n × every: the n-th send is due then,
/// however late the previous one ended.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// From one iteration to the next.
    pub every: Duration,
    /// From the loop's start to its first iteration. None: drawn between none and `every` each time the loop begins.
    /// Users that a stall of the target holds up begin together once it is over; without a phase of its own each would
    /// then stay in step with the stalls, and never meet one.
    pub phase: Option<Duration>,
}

impl Pace {
    /// A rhythm that begins with its loop.
    pub fn at_once(every: Duration) -> Pace {
        Pace { every, phase: Some(Duration::ZERO) }
    }
}

/// Steps that a user takes at the same time: requests, pauses, calls, and loops of them. The user's one real-time
/// connection is nothing a branch can use.
#[derive(Clone, Debug)]
pub struct Parallel {
    /// Each is walked in its order, beside the others.
    pub branches: Vec<Vec<Step>>,
    /// Limit on concurrent iterations; the next begins when one has ended.
    pub limit: usize,
}

/// How often a loop's body is walked.
#[derive(Clone, Debug)]
pub enum Repeat {
    /// Until the run is over, or, of a closed model, the user's time: then its turn is the last, and the flow goes on
    /// behind it.
    Forever,
    /// Once per number of the range; `$loopCount` is the number.
    Count {
        /// The first one.
        from: u64,
        /// The one after the last.
        to: u64,
    },
    /// A count, or a text with a range (`"9-12"`), worked out for each entry of the loop; not at all when it is
    /// neither, -1: for ever.
    CountOf(Expression),
    /// Once per element of the list; `$loopElement` is the element. Not at all when it is no list.
    Over(Expression),
    /// The same of a list whose elements have holes.
    OverList(ValueTemplate),
    /// After each iteration, again while it holds (do-while).
    While(Condition),
}

/// Opening a WebSocket.
#[derive(Clone, Debug)]
pub struct WebsocketConnect {
    /// The operation it is counted and timed as.
    pub operation: CountedAs,
    /// Absolute (ws, wss, http, https), or relative to the target.
    pub url: Template,
    /// Names and values; with any, the plan's are not sent.
    pub headers: Vec<(String, Template)>,
    /// Offered in this order.
    pub subprotocols: Vec<String>,
    /// Longest wait before it counts as failed.
    pub timeout: Duration,
    /// A function that says where and how, over what stands here.
    pub function: Option<String>,
}

impl WebsocketConnect {
    /// Its own headers, or the plan's when it has none.
    pub(crate) fn headers_under<'p>(&'p self, defaults: &'p WebsocketOptions) -> &'p [(String, Template)] {
        if self.headers.is_empty() { &defaults.headers } else { &self.headers }
    }
}

/// Sending a WebSocket message.
#[derive(Clone, Debug)]
pub struct WebsocketSend {
    /// The operation it is counted and timed as.
    pub operation: CountedAs,
    /// The message's content.
    pub payload: Content,
    /// Waits for an answer: the operation then ends when it arrives.
    pub response: Option<Awaited>,
}

/// The content of a WebSocket message.
#[derive(Clone, Debug)]
pub enum Content {
    /// Text as rendered.
    Text(Template),
    /// JSON.
    Json(JsonTemplate),
    /// Bytes as they are.
    Binary(Vec<u8>),
}

/// Opening a Socket.IO session and namespace.
#[derive(Clone, Debug)]
pub struct SocketioConnect {
    /// The operation it is counted and timed as.
    pub operation: CountedAs,
    /// Where and how.
    pub options: SocketioOptions,
    /// `/` is the default one.
    pub namespace: Template,
}

/// Sending a Socket.IO event.
#[derive(Clone, Debug)]
pub struct SocketioEmit {
    /// The operation it is counted and timed as.
    pub operation: CountedAs,
    /// `/` is the default one.
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

/// An argument of an emit.
#[derive(Clone, Debug)]
pub enum Argument {
    /// JSON.
    Json(JsonTemplate),
    /** Sent as a binary attachment. */
    Binary(Vec<u8>),
}

/// Waiting for a message: a Socket.IO event by name, or any WebSocket message, that fits.
#[derive(Clone, Debug)]
pub struct Expect {
    /// The operation it is counted and timed as.
    pub operation: CountedAs,
    /// The event's name; None: any message.
    pub event: Option<Template>,
    /// The demands on the message, with the time limit.
    pub awaited: Awaited,
}

/// Defaults of WebSocket connections.
#[derive(Clone, Debug)]
pub struct WebsocketOptions {
    /// Names and values; a step's own win over defaults.
    pub headers: Vec<(String, Template)>,
    /// Offered in this order.
    pub subprotocols: Vec<String>,
    /// Largest message accepted, in bytes.
    pub max_message: usize,
    /// Longest wait before it counts as failed.
    pub timeout: Duration,
}

/// How a Socket.IO session is opened.
#[derive(Clone, Debug)]
pub struct SocketioOptions {
    /// Absolute or relative to the target; its path is the default namespace only through `namespace`.
    pub url: Option<Template>,
    /// `/socket.io/` by default.
    pub path: String,
    /// Added to the URL's own, percent-encoded.
    pub query: Vec<(String, Template)>,
    /// Names and values; a step's own win over defaults.
    pub headers: Vec<(String, Template)>,
    /// The CONNECT packet's payload.
    pub auth: Option<JsonTemplate>,
    /// How the session is carried.
    pub transport: SocketioTransport,
    /// The server's protocol.
    pub revision: SocketioRevision,
    /// Longest wait before it counts as failed.
    pub timeout: Duration,
}

/// Time limit of an operation when the script sets none (Artillery's).
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

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
            revision: SocketioRevision::default(),
            timeout: DEFAULT_TIMEOUT,
        }
    }
}
