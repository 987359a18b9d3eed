//! The functions of a processor that a script calls, as they are found.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::script::problem::{Problem, nearest};
use crate::script::reader::Reader;
use crate::script::yaml::{Node, Place};

/// The functions a script calls.
#[derive(Default)]
pub(crate) struct Functions {
    pub(super) module: Option<PathBuf>,
    /// Each with where it is called first.
    pub(super) called: BTreeMap<String, Place>,
}

/// A function and where a script calls it first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Called {
    pub(super) name: String,
    pub(super) file: PathBuf,
    pub(super) place: Place,
}

/// Says of functions that a processor does not have that it does not.
pub(crate) fn not_exported(called: &[Called], exported: &[String]) -> Vec<Problem> {
    let known = || exported.iter().map(String::as_str);
    let mut missing: Vec<&Called> = called.iter().filter(|called| !exported.contains(&called.name)).collect();
    missing.sort_by_key(|called| (called.place.line, called.place.column));
    missing
        .into_iter()
        .map(|Called { name, file, place }| {
            let hint = match nearest(name, known()) {
                Some(meant) => format!("did you mean {meant:?}?"),
                None if exported.is_empty() => "it exports no function at all".to_owned(),
                None => format!("it exports {}", known().collect::<Vec<_>>().join(", ")),
            };
            Problem {
                file: file.clone(),
                line: place.line,
                column: place.column,
                what: format!("the processor exports no function {name:?}"),
                hint: Some(hint),
                tolerated: None,
            }
        })
        .collect()
}

impl Functions {
    /// Whether there is a processor whose functions could be called.
    pub(crate) fn has_module(&self) -> bool {
        self.module.is_some()
    }
}

/// Notes that a function is called; without a processor that is a mistake.
pub(crate) fn called(reader: &mut Reader, node: &Node, name: &str) {
    if !reader.functions.has_module() {
        let what = format!("the function {name:?} is called, and the script has no processor");
        reader.problem(node.place, what, Some("add `processor: ./processor.js` to `config`".into()));
    }
    reader.functions.called.entry(name.to_owned()).or_insert(node.place);
}
