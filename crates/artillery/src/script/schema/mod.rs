//! Every key a script may hold, by the place it stands in: one table per place.
//!
//! The tables drive the check for unknown keys, the wording of "wrong type" problems and the reference in
//! `docs/scripts.md`. What a key *does* is in the reader of its place.

use crate::script::problem::{IGNORED, nearest};

mod config;
mod connections;
mod editor;
mod flow;
mod functions;
mod response;
mod transports;
mod turns;
mod verdict;

pub(crate) use config::*;
pub(crate) use connections::*;
pub(crate) use editor::editor;
pub(crate) use flow::*;
pub(crate) use functions::FUNCTION_STEP;
pub(crate) use response::*;
pub(crate) use transports::*;
pub(crate) use turns::{LOG, LOOP, PARALLEL, THINK};
pub(crate) use verdict::*;

/// How a time is written.
const SECONDS: &str = "a time: seconds, or a text like \"500ms\", \"30s\", \"5m\"";

/// A place in a script that has a fixed set of keys.
#[derive(Debug)]
pub(crate) struct Area {
    /// As in "unknown key … in a phase".
    pub(crate) name: &'static str,
    /// Where it stands, for the reference: `config.phases[]`.
    pub(crate) path: &'static str,
    /// What a key may mean that is not among them.
    pub(crate) others: Others,
    pub(crate) keys: &'static [Key],
}

/// What a key may mean that its place does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Others {
    /// Nothing: Artillery does not look at it either. A run goes on without it, unless it is a known key misspelt or in the wrong
    /// place.
    Ignored,
    /// As [`Others::Ignored`], and a key of `config` or a plugin that stands here by mistake is ignored like any other, unless it
    /// says who is loaded and how much ([`LOADING`]).
    Astray,
    /// Nothing to what judges the run, which goes by the keys it knows: as [`Others::Ignored`], and what is said of it is that
    /// it decides nothing.
    Unjudged,
    /// Something: Artillery hands all that stands there on to a client, or the run is judged by it, or the place is Sonagi's own.
    Meant,
}

/// One key of a place.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// As in "arrivalRate wants …".
    pub(crate) wants: &'static str,
    /// A value as one would write it.
    pub(crate) example: &'static str,
    /// One sentence for the reference: what it does, its unit and default.
    pub(crate) about: &'static str,
    pub(crate) support: Support,
    /// The places a mapping under it may be; what is around the mappings (a list, say) is in `wants`.
    pub(crate) of: &'static [&'static Area],
    /// It only says what something is called: in the wrong place it changes nothing.
    is_label: bool,
}

/// What is done about a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Support {
    Honoured,
    /// A problem; `wants` says why, `example` what to write instead.
    Refused,
    /// A notice; `wants` says why it has no effect. No notice when `wants` is empty.
    Ignored,
}

const fn key(name: &'static str, wants: &'static str, example: &'static str, about: &'static str) -> Key {
    Key { name, wants, example, about, support: Support::Honoured, of: &[], is_label: false }
}

const fn refused(name: &'static str, why: &'static str, instead: &'static str) -> Key {
    Key { name, wants: why, example: instead, about: "", support: Support::Refused, of: &[], is_label: false }
}

const fn ignored(name: &'static str, why: &'static str) -> Key {
    Key { name, wants: why, example: "", about: "", support: Support::Ignored, of: &[], is_label: false }
}

impl Key {
    /// With the places a mapping under it may be.
    const fn of(mut self, areas: &'static [&'static Area]) -> Key {
        self.of = areas;
        self
    }

    /// One that only says what something is called.
    const fn label(mut self) -> Key {
        self.is_label = true;
        self
    }

    /// The hint that shows one.
    pub(crate) fn as_written(&self) -> String {
        format!("e.g. `{}: {}`", self.name, self.example)
    }

    /// Whether it wants a number or a time; none of them may be negative.
    pub(crate) fn is_quantity(&self) -> bool {
        ["a number", "a whole number", "a time", "a percentage", "milliseconds"]
            .iter()
            .any(|quantity| self.wants.starts_with(quantity))
    }
}

/// What of `config` is never passed over: a run of it would load another service than the author thinks, or otherwise.
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

    /// What becomes of a key that it ignores.
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
    &SERVE,
    &CONFIG,
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

/// Where else a key stands, if it is one of a place nearby: inside this one, around it or beside it. Farther away the same
/// name means something else, and to send an author there leads astray.
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
    let steps = crate::script::flow::verbs().map(|(_, step)| step).filter(|_| area.key("flow").is_some());
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
