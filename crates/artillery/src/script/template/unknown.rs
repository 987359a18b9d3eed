//! Names that begin with `$` and that nothing here goes by.
//!
//! A misspelling of a known name is a mistake. Any other name is, as in Artillery, a variable that nothing sets; and a
//! text that calls an unknown function is undefined as a whole.

use crate::plan::template::Piece;
use crate::plan::{Expression, Template};

use super::{BUILTINS, CONSTANTS, Fault, fault};
use crate::script::problem::nearest;

/// Names authors expect from elsewhere, and what to write instead.
const FOREIGN: &[(&str, &str)] = &[
    ("$randomInt", "{{ $randomNumber(1, 100) }}"),
    ("$randomInteger", "{{ $randomNumber(1, 100) }}"),
    ("$random", "{{ $randomNumber(1, 100) }}"),
    ("$guid", "{{ $uuid }}"),
    ("$randomUUID", "{{ $uuid }}"),
    ("$timestamp", "{{ $now }}"),
    ("$isoTimestamp", "{{ $now }}"),
    ("$randomAlphaNumeric", "{{ $randomString(10) }}"),
];

/// The name to use here in place of a name from elsewhere.
fn instead_of(name: &str) -> Option<&'static str> {
    FOREIGN.iter().find(|(foreign, _)| foreign.eq_ignore_ascii_case(name)).map(|(_, instead)| *instead)
}

/// Whether authors know the name from elsewhere.
pub(super) fn is_foreign(name: &str) -> bool {
    instead_of(name).is_some()
}

/// The mistake a name is beyond doubt: a known one misspelt, or one of another place.
pub(super) fn slip(offset: usize, name: &str) -> Option<Fault> {
    if matches!(name, "$room" | "$message") {
        let hint = "a `publish` template of config knows both, a `subscribe` template $room".to_owned();
        return Some(fault(offset, format!("{name} has no value here"), Some(hint)));
    }
    if is_foreign(name) {
        return None;
    }
    let known = BUILTINS.iter().map(|builtin| builtin.name).chain(CONSTANTS.iter().copied());
    let meant = nearest(name, known)?;
    let meant = match BUILTINS.iter().find(|builtin| builtin.name == meant) {
        Some(builtin) => builtin.example.to_owned(),
        None => format!("{{{{ {meant} }}}}"),
    };
    Some(fault(offset, no_function(name), Some(format!("did you mean {meant}?"))))
}

/// Whether a name is one of ours.
pub(crate) fn is_known(name: &str) -> bool {
    BUILTINS.iter().any(|builtin| builtin.name == name) || CONSTANTS.contains(&name)
}

/// The message for an unknown name or call, and the remedy.
pub(crate) fn told(called: &str) -> (String, String) {
    let name = called.split('(').next().unwrap_or(called);
    if crate::script::fakes::is_known(name.trim_start_matches('$')) {
        let hint = "add `plugins: {fake-data: {}}` to `config`".to_owned();
        return (format!("{name} is a function of the plugin fake-data"), hint);
    }
    let hint = match instead_of(name) {
        Some(instead) => format!("write {instead}"),
        None => format!("functions are {}", super::functions().collect::<Vec<_>>().join(", ")),
    };
    (no_function(name), hint)
}

pub(super) fn no_function(name: &str) -> String {
    format!("there is no template function {name}")
}

/// A call of an unknown function is treated as a variable that nothing can set.
pub(super) fn call(name: &str, arguments: &str) -> String {
    format!("{name}({arguments})")
}

/// Whether a variable stands for such a call.
pub(crate) fn is_call(variable: &str) -> bool {
    variable.starts_with('$') && variable.ends_with(')')
}

/// The template without all that stands around a call of a function there is not.
pub(super) fn alone(template: Template) -> Template {
    let is_call =
        |piece: &&Piece| matches!(piece, Piece::Hole(Expression::Path { variable, .. }) if is_call(variable));
    match template.pieces.iter().find(is_call) {
        Some(piece) => Template { pieces: vec![piece.clone()] },
        None => template,
    }
}
