//! Where a flow opens its connection when no step says so.
//!
//! Before the first step that needs it, but after the HTTP steps before that, because their token usually goes into the
//! handshake.

use crate::script::engine::Engine;
use crate::script::schema;
use crate::script::yaml::{Kind, Node};

/// Where the connection of a flow is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// HTTP only.
    None,
    /// By a `connect` step.
    Explicit,
    /// Before the step of this index.
    Before(usize),
    /// After all steps: HTTP first, then only listening.
    AtEnd,
    /// By the first emit, inside a loop after requests in the same loop.
    Lazy,
}

impl Opening {
    pub(crate) fn of(engine: Engine, items: &[Node]) -> Opening {
        if engine == Engine::Http {
            return Opening::None;
        }
        if engine.is_pull() {
            return Opening::of_pull(items);
        }
        if walk(items).iter().any(|step| step.entries().iter().any(|entry| entry.key == "connect")) {
            return Opening::Explicit;
        }
        let inner = |step: &Node, test: fn(&Node) -> bool| {
            walk(std::slice::from_ref(step)).iter().any(|step| test(step))
        };
        let first = items.iter().position(|step| inner(step, is_realtime));
        let http_before = |end: usize| items[..end].iter().rposition(|step| inner(step, is_http));
        match first {
            Some(first)
                if engine.is_socketio()
                    && items[first].get("loop").is_some()
                    && inner(&items[first], is_http) =>
            {
                Opening::Lazy
            }
            Some(first) => Opening::Before(if http_before(first).is_some() { first } else { 0 }),
            None => match http_before(items.len()) {
                None => Opening::Before(0),
                Some(last) if last + 1 < items.len() => Opening::Before(last + 1),
                Some(_) => Opening::AtEnd,
            },
        }
    }

    /// Where requests bring the messages, subscribing opens; a flow that only sends opens nothing.
    fn of_pull(items: &[Node]) -> Opening {
        let opens =
            |step: &&Node| ["connect", "subscribe", "join"].iter().any(|verb| step.get(verb).is_some());
        if walk(items).iter().any(opens) {
            return Opening::Explicit;
        }
        let needs =
            |step: &&Node| ["expect", "disconnect", "reconnect"].iter().any(|verb| step.get(verb).is_some());
        let first = items.iter().position(|step| walk(std::slice::from_ref(step)).iter().any(needs));
        first.map_or(Opening::None, Opening::Before)
    }
}

/// The first step that subscribes to a room, and what it names.
pub(crate) fn subscription(items: &[Node]) -> Option<(&Node, &Node)> {
    walk(items).into_iter().find_map(|step| {
        let named = step.get("subscribe").or_else(|| step.get("join"))?;
        Some((step, named))
    })
}

/// All steps of a flow, those in loops, in parallel and in lists of their own included, in the order they are written.
pub(crate) fn walk(items: &[Node]) -> Vec<&Node> {
    let mut all = Vec::new();
    for item in items {
        if let Kind::List(inner) = &item.kind {
            all.extend(walk(inner));
            continue;
        }
        all.push(item);
        for verb in ["loop", "parallel"] {
            if let Some(Node { kind: Kind::List(body), .. }) = item.get(verb) {
                all.extend(walk(body));
            }
        }
    }
    all
}

/// Whether a step uses or opens the real-time connection.
pub(crate) fn needs_connection(step: &Node) -> bool {
    is_realtime(step) || step.get("connect").is_some()
}

/// Whether a step itself needs the real-time connection.
pub(crate) fn is_realtime(step: &Node) -> bool {
    const VERBS: [&str; 9] =
        ["subscribe", "join", "emit", "send", "sendBytes", "wait", "expect", "disconnect", "reconnect"];
    VERBS.iter().any(|verb| step.get(verb).is_some())
}

fn is_http(step: &Node) -> bool {
    // A function often fetches the token that opening needs.
    let is_function = step.get("function").is_some();
    is_function || schema::REQUEST_STEP.keys.iter().any(|key| step.get(key.name).is_some())
}
