//! What reads the steps of each engine: a row for each.

use crate::plan::Step;

use crate::script::context::Flow;
use crate::script::engine::Engine;
use crate::script::reader::{Fields, Reader};
use crate::script::yaml::Node;
use crate::script::{pull, socketio, stomp, websocket};

/// How a step of one verb is read.
pub(crate) type ReadStep = fn(&mut Reader, &mut Flow<'_>, &Fields<'_>, &'static str) -> Option<Vec<Step>>;

/// What reads the steps of an engine.
pub(crate) struct EngineSteps {
    /// The connection that the script does not write down.
    pub(crate) open: fn(&mut Reader, &mut Flow<'_>) -> Option<Step>,
    /// `connect`.
    pub(crate) connect: ReadStep,
    /// `send` without `to`; None: a message goes to a room.
    pub(crate) send: Option<ReadStep>,
    /// Where `subscribe` and `publish` of its block are no steps but mappings of its own.
    pub(crate) mappings: Option<Mappings>,
}

/// What reads the mappings of an engine, given the step's name.
pub(crate) struct Mappings {
    pub(crate) subscribe: fn(&mut Reader, &Flow<'_>, &Node, &str) -> Option<Step>,
    /// Given the message, too.
    pub(crate) publish: fn(&mut Reader, &Flow<'_>, &Node, &str, Option<&Node>) -> Option<Step>,
}

const WEBSOCKET: EngineSteps = EngineSteps {
    open: websocket::implicit_connect,
    connect: websocket::connect,
    send: Some(websocket::send),
    mappings: None,
};

const SOCKETIO: EngineSteps =
    EngineSteps { open: socketio::implicit_connect, connect: socketio::connect, send: None, mappings: None };

const PULL: EngineSteps =
    EngineSteps { open: pull::implicit_connect, connect: pull::connect, send: None, mappings: None };

const STOMP: EngineSteps = EngineSteps {
    open: stomp::implicit_connect,
    connect: stomp::connect,
    send: Some(stomp::send_step),
    mappings: Some(Mappings { subscribe: stomp::subscribe, publish: stomp::send }),
};

impl Engine {
    /// None: it has no connection.
    pub(crate) fn steps(self) -> Option<&'static EngineSteps> {
        match self {
            Engine::Http => None,
            Engine::Websocket => Some(&WEBSOCKET),
            Engine::Socketio | Engine::SocketioV3 => Some(&SOCKETIO),
            Engine::Poll | Engine::Longpoll | Engine::Sse => Some(&PULL),
            Engine::Stomp => Some(&STOMP),
        }
    }

    pub(crate) fn mappings(self) -> Option<&'static Mappings> {
        self.steps()?.mappings.as_ref()
    }
}
