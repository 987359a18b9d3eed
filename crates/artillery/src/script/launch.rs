//! `config.launch`: the service that is started anew for every run.
//!
//! Only its templates are filled in here. What may stand in it is the caller's to say, who is given JSON and names
//! mistakes by JSON pointers ([`crate::script::Overrides::launch`]): every script language has the same rules, written
//! down once.

use crate::script::config;
use crate::script::reader::{Fields, Reader};
use crate::script::yaml::{Kind, Node, Place};
use serde_json::Value;

/// A mistake in what is said of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedLaunch {
    /// Where it is, as a JSON pointer: `/limits/cpu`.
    pub pointer: String,
    /// Whether it is the key at that place and not its value.
    pub is_key: bool,
    /// The rule and what breaks it.
    pub what: String,
    /// The remedy.
    pub hint: Option<String>,
}

/// Finds what is wrong with what is said of a service.
pub type RefusesLaunch = fn(&Value) -> Vec<RefusedLaunch>;

/// Reads `config.launch`, its templates filled in.
pub(crate) fn launch(
    reader: &mut Reader,
    config: &Fields<'_>,
    refuses: Option<RefusesLaunch>,
) -> Option<Value> {
    let node = config.get("launch")?;
    if !matches!(node.kind, Kind::Map(_)) {
        reader.wrong(config, "launch", node);
        return None;
    }
    let problems = reader.problems.len();
    let value = config::filled(reader, node);
    // What could not be filled in would be reported twice.
    if let Some(refuses) = refuses.filter(|_| reader.problems.len() == problems) {
        report(reader, node, refuses(&value));
    }
    Some(value)
}

/// Reports what is wrong with what this mapping says of a service.
pub(crate) fn report(reader: &mut Reader, node: &Node, refused: Vec<RefusedLaunch>) {
    for RefusedLaunch { pointer, is_key, what, hint } in refused {
        reader.problem(place(node, &pointer, is_key), what, hint);
    }
}

/// Where a JSON pointer leads, as far as it leads anywhere.
fn place(root: &Node, pointer: &str, is_key: bool) -> Place {
    let (mut node, mut place) = (root, root.place);
    for name in pointer.split('/').skip(1).map(|name| name.replace("~1", "/").replace("~0", "~")) {
        match &node.kind {
            Kind::Map(entries) => {
                let Some(entry) = entries.iter().find(|entry| entry.key == name) else { break };
                place = if is_key { entry.place } else { entry.value.place };
                node = &entry.value;
            }
            Kind::List(items) => {
                let Some(item) = name.parse().ok().and_then(|at: usize| items.get(at)) else { break };
                place = item.place;
                node = item;
            }
            _ => break,
        }
    }
    place
}
