//! The layers over a script: the chosen environment, then `--overrides` and the command line's other flags
//! ([`inputs`]).
//!
//! The environments that were not chosen are tried too, so that a mistake in one is found before the day it is needed;
//! a run only warns of it. Only mistakes in their own text count: files and environment variables of another place need
//! not be here.

use std::path::Path;

use crate::script::merge::{Lists, merge};
use crate::script::problem::{Problem, nearest};
use crate::script::reader::Reader;
use crate::script::schema;
use crate::script::template::{self, Constants};
use crate::script::yaml::{Entry, Kind, Node, Origin, Place, covers};
use crate::script::{Overrides, constants, inputs, plan};

/// Lays the chosen environment and `--overrides` over the script.
pub(crate) fn overlay(reader: &mut Reader, root: &mut Node, overrides: &Overrides) {
    if let Some(name) = &overrides.environment {
        let environments = root.get("config").and_then(|config| config.get("environments")).cloned();
        match environments.as_ref().and_then(|all| all.entries().iter().find(|entry| entry.key == *name)) {
            Some(chosen) => lay_environment(reader, root, chosen),
            None => unknown_environment(reader, root, environments.as_ref(), name),
        }
    }
    inputs::payload(reader, root, overrides);
    if let Some(value) = &overrides.overrides {
        let place = Place { origin: Origin::Overrides, line: 0, column: 0 };
        merge(root, &Node::from_value(value, place), Lists::Replaced);
    }
    inputs::solo(root, overrides);
    inputs::scenario(reader, root, overrides);
}

fn lay_environment(reader: &mut Reader, root: &mut Node, chosen: &Entry) {
    let Kind::Map(entries) = &mut root.kind else { return };
    let Some(config) = entries.iter_mut().find(|entry| entry.key == "config") else { return };
    if chosen.value.is_null() {
        return;
    }
    let length = |node: Option<&Node>| match node {
        Some(Node { kind: Kind::List(items), .. }) => items.len(),
        _ => 0,
    };
    let (base, over) = (length(config.value.get("phases")), length(chosen.value.get("phases")));
    if over > 0 && over < base {
        let text = format!(
            "the environment \"{}\" has {over} of {base} phases: lists merge by index, so the others stay",
            chosen.key
        );
        reader.notice(chosen.place, text);
    }
    merge(&mut config.value, &chosen.value, Lists::ByIndex);
}

fn unknown_environment(reader: &mut Reader, root: &Node, environments: Option<&Node>, name: &str) {
    let known: Vec<&str> = environments
        .map(|all| all.entries().iter().map(|entry| entry.key.as_str()).collect())
        .unwrap_or_default();
    let place = environments.or_else(|| root.get("config")).unwrap_or(root).place;
    if known.is_empty() {
        // A processor or a template may look at it; only one among others can be a slip of the pen.
        let text = format!("the script has no `environments`: \"{name}\" only sets $environment");
        reader.notice(place, text);
        return;
    }
    let hint = match nearest(name, known.iter().copied()) {
        Some(meant) => format!("did you mean \"{meant}\"?"),
        None => format!("its environments: {}", known.join(", ")),
    };
    reader.problem(place, format!("the script has no environment \"{name}\""), Some(hint));
}

/// Reads the whole script under each environment that was not chosen, and tells what is wrong in that environment's
/// text.
pub(crate) fn try_others(reader: &mut Reader, path: &Path, root: &Node, overrides: &Overrides) {
    let Some(config) = root.get("config").filter(|config| matches!(config.kind, Kind::Map(_))) else {
        return;
    };
    let Some(environments) = config.get("environments") else { return };
    if !matches!(environments.kind, Kind::Map(_) | Kind::Null)
        && let Some(fields) = reader.fields(config, &schema::CONFIG)
    {
        reader.wrong(&fields, "environments", environments);
    }
    for entry in environments.entries() {
        if Some(&entry.key) == overrides.environment.as_ref() {
            continue;
        }
        let outcome = format!("not looked at: the environment \"{}\" is not chosen", entry.key);
        for problem in tried(path, root, entry, overrides) {
            reader.add(Problem { tolerated: Some(outcome.clone()), ..problem });
        }
    }
}

fn tried(path: &Path, root: &Node, entry: &Entry, overrides: &Overrides) -> Vec<Problem> {
    let under = Overrides { environment: Some(entry.key.clone()), ..overrides.clone() };
    let mut trial = Reader::new(path, constants(path, &under));
    trial.is_trial = true;
    trial.inputs.clone_from(&overrides.inputs);
    let mut root = root.clone();
    let judged = without_unset(entry, &trial.constants);
    // Keys are known even where values are not.
    if let Some(fields) = trial.fields(&entry.value, &schema::CONFIG)
        && let Some(Node { kind: Kind::List(phases), .. }) = fields.get("phases")
    {
        for phase in phases {
            trial.fields(phase, &schema::PHASE);
        }
    }
    lay_environment(&mut trial, &mut root, &judged);
    overlay(&mut trial, &mut root, &Overrides { environment: None, ..overrides.clone() });
    plan(&mut trial, path, &root, &under);
    trial.problems.retain(|problem| {
        covers(&entry.value, Place { origin: Origin::Script, line: problem.line, column: problem.column })
    });
    trial.problems
}

/// The environment without what hangs on environment variables that are not set here: nobody can say what it would be.
fn without_unset(entry: &Entry, constants: &Constants) -> Entry {
    let mut judged = entry.clone();
    if let Kind::Map(entries) = &mut judged.value.kind {
        entries.retain(|entry| !hangs_on_unset(&entry.value, constants));
    }
    judged
}

fn hangs_on_unset(node: &Node, constants: &Constants) -> bool {
    match &node.kind {
        Kind::Text { text, .. } => {
            (text.contains("$env") || text.contains("$processEnvironment"))
                && template::parse(text, constants, &mut |_, _| {}).is_err()
        }
        Kind::List(items) => items.iter().any(|item| hangs_on_unset(item, constants)),
        Kind::Map(entries) => entries.iter().any(|entry| hangs_on_unset(&entry.value, constants)),
        _ => false,
    }
}
