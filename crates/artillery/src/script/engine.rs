//! The protocol of a scenario beside HTTP, and its names.

use crate::script::problem::nearest;
use crate::script::reader::{Fields, Reader};

/// The protocol of a scenario beside HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    Http,
    Websocket,
    Socketio,
    SocketioV3,
    Poll,
    Longpoll,
    Sse,
    Stomp,
}

impl Engine {
    pub(crate) const ALL: [Engine; 8] = [
        Engine::Http,
        Engine::Websocket,
        Engine::Socketio,
        Engine::SocketioV3,
        Engine::Poll,
        Engine::Longpoll,
        Engine::Sse,
        Engine::Stomp,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Engine::Http => "http",
            Engine::Websocket => "ws",
            Engine::Socketio => "socketio",
            Engine::SocketioV3 => "socketio-v3",
            Engine::Poll => "poll",
            Engine::Longpoll => "longpoll",
            Engine::Sse => "sse",
            Engine::Stomp => "stomp",
        }
    }

    /// The key of its settings in `config`.
    pub(crate) fn block(self) -> &'static str {
        if self == Engine::SocketioV3 { "socketio" } else { self.name() }
    }

    /// Whether it only receives, over requests: opening is subscribing, and sending is a request of its own.
    pub(crate) fn is_pull(self) -> bool {
        matches!(self, Engine::Poll | Engine::Longpoll | Engine::Sse)
    }

    pub(crate) fn is_socketio(self) -> bool {
        matches!(self, Engine::Socketio | Engine::SocketioV3)
    }
}

/// Names an `engine:` may have.
const ENGINES: &[(&str, Engine)] = &[
    ("http", Engine::Http),
    ("ws", Engine::Websocket),
    ("websocket", Engine::Websocket),
    ("socketio", Engine::Socketio),
    ("socket.io", Engine::Socketio),
    ("socketio-v3", Engine::SocketioV3),
    ("poll", Engine::Poll),
    ("longpoll", Engine::Longpoll),
    ("sse", Engine::Sse),
    ("stomp", Engine::Stomp),
];

/// The engine a key names.
pub(crate) fn named_engine(reader: &mut Reader, fields: &Fields<'_>, key: &str) -> Option<Engine> {
    let node = fields.get(key)?;
    let name = reader.text(fields, key)?;
    if let Some((_, engine)) = ENGINES.iter().find(|(known, _)| *known == name) {
        return Some(*engine);
    }
    let hint = match nearest(&name, ENGINES.iter().map(|(name, _)| *name)) {
        Some(meant) => format!("did you mean \"{meant}\"?"),
        None => {
            "engines of this version: http, ws (or websocket), socketio (or socket.io), socketio-v3, poll, \
                 longpoll, sse, stomp"
                .to_owned()
        }
    };
    reader.problem(node.place, format!("unknown engine \"{name}\""), Some(hint));
    None
}
