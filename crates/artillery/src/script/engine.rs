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

/// What a script calls an engine, and what works with the reference service.
struct Row {
    engine: Engine,
    /// What an `engine:` may be called; its own name first.
    names: &'static [&'static str],
    /// The key of its settings in `config`.
    block: &'static str,
    /// What its messages are called where they say nothing that an `expect` could name as their channel.
    channelless: Option<&'static str>,
    /// An example of that block: how a room is subscribed to, and how a message is sent to one.
    subscribe: &'static str,
    publish: &'static str,
}

const EMIT_TO_SUBSCRIBE: &str =
    "{subscribe: {emit: [joinRoom, {roomId: \"location:{{ $room }}\"}], acknowledge: true}}";
const EMIT_TO_PUBLISH: &str = "{publish: {emit: [sendMessage, {roomId: \"location:{{ $room }}\", content: \"{{ \
                               $message }}\"}], acknowledge: true}}";
const POST_TO_PUBLISH: &str =
    "{publish: {post: {url: \"/location/long/{{ $room }}/notify\", json: \"{{ $message }}\"}}}";

/// Every engine; what reads its steps is in `engine_steps`.
const ROWS: [Row; 8] = [
    Row {
        engine: Engine::Http,
        names: &["http"],
        block: "http",
        channelless: None,
        subscribe: EMIT_TO_SUBSCRIBE,
        publish: EMIT_TO_PUBLISH,
    },
    Row {
        engine: Engine::Websocket,
        names: &["ws", "websocket"],
        block: "ws",
        channelless: Some("WebSocket"),
        subscribe: "{url: /ws, subscribe: {send: {payload: {type: join, room: \"location:{{ $room }}\"}, match: \
                    {json: $.type, value: joined}}}}",
        publish: "{url: /ws, publish: {send: {type: send, room: \"location:{{ $room }}\", content: \"{{ $message \
                  }}\"}}}",
    },
    Row {
        engine: Engine::Socketio,
        names: &["socketio", "socket.io"],
        block: "socketio",
        channelless: None,
        subscribe: EMIT_TO_SUBSCRIBE,
        publish: EMIT_TO_PUBLISH,
    },
    Row {
        engine: Engine::SocketioV3,
        names: &["socketio-v3"],
        block: "socketio",
        channelless: None,
        subscribe: EMIT_TO_SUBSCRIBE,
        publish: EMIT_TO_PUBLISH,
    },
    Row {
        engine: Engine::Poll,
        names: &["poll"],
        block: "poll",
        channelless: Some("polled"),
        subscribe: "{url: \"/cur/{{ $room }}\", every: 3, cursor: {json: $.next, as: after}}",
        publish: POST_TO_PUBLISH,
    },
    Row {
        engine: Engine::Longpoll,
        names: &["longpoll"],
        block: "longpoll",
        channelless: Some("polled"),
        subscribe: "{url: \"/location/long/{{ $room }}\", cursor: {json: $.next, as: after}}",
        publish: POST_TO_PUBLISH,
    },
    Row {
        engine: Engine::Sse,
        names: &["sse"],
        block: "sse",
        channelless: None,
        subscribe: "{url: \"/location/sse/connect?group={{ $room }}\"}",
        publish: "{publish: {post: {url: \"/location/sse/share?group={{ $room }}\", json: \"{{ $message }}\"}}}",
    },
    Row {
        engine: Engine::Stomp,
        names: &["stomp"],
        block: "stomp",
        channelless: None,
        subscribe: "{url: /location, subscribe: {destination: \"/sub/location/{{ $room }}\"}}",
        publish: "{url: /location, publish: {destination: \"/pub/share/{{ $room }}\"}}",
    },
];

impl Engine {
    pub(crate) fn all() -> impl Iterator<Item = Engine> {
        ROWS.iter().map(|row| row.engine)
    }

    fn row(self) -> &'static Row {
        ROWS.iter().find(|row| row.engine == self).expect("every engine has its row")
    }

    pub(crate) fn name(self) -> &'static str {
        self.row().names[0]
    }

    /// The key of its settings in `config`.
    pub(crate) fn block(self) -> &'static str {
        self.row().block
    }

    /// How that block says with the reference service what `publish` or `subscribe` does.
    pub(crate) fn example(self, key: &str) -> &'static str {
        if key == "publish" { self.row().publish } else { self.row().subscribe }
    }

    /// What its messages are called, if they have no channel.
    pub(crate) fn channelless(self) -> Option<&'static str> {
        self.row().channelless
    }

    /// Whether it only receives, over requests: opening is subscribing, and sending is a request of its own.
    pub(crate) fn is_pull(self) -> bool {
        matches!(self, Engine::Poll | Engine::Longpoll | Engine::Sse)
    }

    pub(crate) fn is_socketio(self) -> bool {
        matches!(self, Engine::Socketio | Engine::SocketioV3)
    }
}

/// The engine a key names.
pub(crate) fn named_engine(reader: &mut Reader, fields: &Fields<'_>, key: &str) -> Option<Engine> {
    let node = fields.get(key)?;
    let name = reader.text(fields, key)?;
    if let Some(row) = ROWS.iter().find(|row| row.names.contains(&name.as_str())) {
        return Some(row.engine);
    }
    let hint = match nearest(&name, ROWS.iter().flat_map(|row| row.names.iter().copied())) {
        Some(meant) => format!("did you mean \"{meant}\"?"),
        None => format!("engines of this version: {}", names()),
    };
    reader.problem(node.place, format!("unknown engine \"{name}\""), Some(hint));
    None
}

/// `http, ws (or websocket), …`
fn names() -> String {
    let named = |row: &Row| match row.names {
        [own, other, ..] => format!("{own} (or {other})"),
        names => names.concat(),
    };
    ROWS.iter().map(named).collect::<Vec<_>>().join(", ")
}
