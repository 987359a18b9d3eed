//! Every key a script may hold, by the place it stands in: one table per place.
//!
//! The tables drive the check for unknown keys, the wording of "wrong type" problems and the reference in
//! `docs/scripts.md`. What a key *does* is in the reader of its place.

use crate::script::problem::{IGNORED, nearest};

mod area;
mod config;
mod connections;
mod editor;
mod flow;
mod functions;
mod launch;
mod response;
mod transports;
mod turns;
mod verdict;

pub(crate) use area::{Area, Key, Others, Support};
pub(crate) use config::*;
pub(crate) use connections::*;
pub(crate) use editor::editor;
pub(crate) use flow::*;
pub(crate) use functions::FUNCTION_STEP;
pub(crate) use response::*;
pub(crate) use transports::*;
pub(crate) use turns::{LOG, LOOP, PARALLEL, THINK};
pub(crate) use verdict::*;

/// The keys of `config` that are never ignored: a run without them would load another service than the author thinks,
/// or otherwise.
const LOADING: [&str; 2] = ["target", "phases"];

impl Area {
    /// Whether a key that it does not have means nothing, neither here nor nearby.
    pub(crate) fn ignores(&'static self, name: &str) -> bool {
        let is_meant = || {
            let misplaced = home_of(name, self).and_then(|home| home.key(name));
            misplaced.is_some_and(|key| !key.is_label)
                || nearest(name, self.keys.iter().map(|key| key.name)).is_some()
        };
        match self.others {
            Others::Meant => false,
            Others::Astray if CONFIG.key(name).or(PLUGINS.key(name)).is_some() => !LOADING.contains(&name),
            Others::Ignored | Others::Astray | Others::Unjudged => !is_meant(),
        }
    }

    /// The consequence for a key that it ignores.
    pub(crate) fn outcome(&self) -> &'static str {
        match self.others {
            Others::Unjudged => "it decides nothing, as in Artillery",
            Others::Ignored | Others::Astray | Others::Meant => IGNORED,
        }
    }

    pub(crate) fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }
}

/// Every place, in the order of the reference.
pub(crate) const AREAS: &[&Area] = &[
    &SCRIPT,
    &COMPARE,
    &SERVE,
    &CONFIG,
    &launch::LAUNCH,
    &launch::READY,
    &launch::STOP,
    &launch::LIMITS,
    &launch::NETWORK,
    &launch::CUT,
    &launch::READ,
    &PHASE,
    &PAYLOAD,
    &PAYLOAD_OPTIONS,
    &DEFAULTS,
    &DEFAULT_THINK,
    &HTTP,
    &WS,
    &SOCKETIO,
    &POLL,
    &LONGPOLL,
    &CURSOR,
    &SSE,
    &STOMP,
    &RECONNECT,
    &TLS,
    &ENGINES,
    &PLUGINS,
    &EXPECT_PLUGIN,
    &ENSURE,
    &CONDITION,
    &APDEX,
    &METRICS_BY_ENDPOINT,
    &DELIVERY,
    &FIXED_FLOW,
    &SCENARIO,
    &ROOM,
    &REQUEST_STEP,
    &REQUEST,
    &AUTH,
    &FORM_PART,
    &EXPECTED,
    &CAPTURE,
    &MATCH,
    &FUNCTION_STEP,
    &THINK,
    &LOG,
    &LOOP,
    &PARALLEL,
    &CONNECT_STEP,
    &WS_CONNECT,
    &STOMP_CONNECT,
    &PULL_CONNECT,
    &SUBSCRIBE_STEP,
    &STOMP_SUBSCRIBE,
    &SEND_STEP,
    &SEND_BYTES_STEP,
    &SEND,
    &STOMP_SEND,
    &WAIT_STEP,
    &AWAITED,
    &EMIT_STEP,
    &EMIT,
    &RESPONSE,
    &ACKNOWLEDGE,
    &EXPECT_STEP,
    &EXPECT,
    &DISCONNECT_STEP,
    &RECONNECT_STEP,
];

/// The keys of `config.launch`, by the name of the place they stand in.
pub(crate) fn launch_keys() -> Vec<(&'static str, Vec<&'static str>)> {
    let keys = |area: &&'static Area| (area.name, area.keys.iter().map(|key| key.name).collect());
    launch::AREAS.iter().map(keys).collect()
}

/// Steps, and the tables of their keys.
const STEPS: &[(&str, &Area)] = &[
    ("get", &REQUEST_STEP),
    ("post", &REQUEST_STEP),
    ("put", &REQUEST_STEP),
    ("patch", &REQUEST_STEP),
    ("delete", &REQUEST_STEP),
    ("head", &REQUEST_STEP),
    ("options", &REQUEST_STEP),
    ("function", &FUNCTION_STEP),
    ("think", &THINK),
    ("log", &LOG),
    ("loop", &LOOP),
    ("parallel", &PARALLEL),
    ("connect", &CONNECT_STEP),
    ("subscribe", &SUBSCRIBE_STEP),
    ("join", &SUBSCRIBE_STEP),
    ("send", &SEND_STEP),
    ("sendBytes", &SEND_BYTES_STEP),
    ("wait", &WAIT_STEP),
    ("emit", &EMIT_STEP),
    ("expect", &EXPECT_STEP),
    ("disconnect", &DISCONNECT_STEP),
    ("reconnect", &RECONNECT_STEP),
];

/// The keys of steps of this verb; None: there are none.
pub(crate) fn step(verb: &str) -> Option<&'static Area> {
    STEPS.iter().find(|(known, _)| *known == verb).map(|(_, area)| *area)
}

/// Where else a key stands, if it is one of a place nearby: inside this one, around it or beside it. Farther away the
/// same name means something else, and to send an author there leads astray.
pub(crate) fn home_of(name: &str, area: &'static Area) -> Option<&'static Area> {
    let has_it = |near: &&'static Area| near.path != area.path && near.key(name).is_some();
    next_to(area).find(has_it).or_else(|| next_to(area).flat_map(next_to).find(has_it))
}

/// The places inside this one, then those it stands in.
fn next_to(area: &'static Area) -> impl Iterator<Item = &'static Area> {
    let around = AREAS.iter().copied().filter(|outer| inside(outer).any(|inner| inner.path == area.path));
    inside(area).chain(around)
}

/// The places inside this one; what has a flow has steps in it.
fn inside(area: &'static Area) -> impl Iterator<Item = &'static Area> {
    let steps = STEPS.iter().map(|(_, step)| *step).filter(|_| area.key("flow").is_some());
    area.keys.iter().flat_map(|key| key.of.iter().copied()).chain(steps)
}

/// The tables as Markdown, one section per place: the body of `docs/scripts.md`'s reference.
pub(crate) fn reference() -> String {
    let mut text = String::new();
    for area in AREAS {
        text.push_str(&format!(
            "### {}\n\n{}| key | value | example | meaning |\n|---|---|---|---|\n",
            area.path,
            if area.others == Others::Meant { "Other keys are refused.\n\n" } else { "" }
        ));
        for key in area.keys {
            let row = match key.support {
                Support::Honoured => {
                    format!("| `{}` | {} | `{}` | {} |\n", key.name, key.wants, key.example, key.about)
                }
                Support::Refused => format!(
                    "| `{}` | – | – | Refused: {}. Instead: {}. |\n",
                    key.name, key.wants, key.example
                ),
                Support::Ignored if key.wants.is_empty() => {
                    format!("| `{}` | any | – | Accepted; changes nothing here. |\n", key.name)
                }
                Support::Ignored => format!("| `{}` | any | – | No effect: {}. |\n", key.name, key.wants),
            };
            text.push_str(&row.replace("||", "\\|\\|"));
        }
        text.push('\n');
    }
    text
}
