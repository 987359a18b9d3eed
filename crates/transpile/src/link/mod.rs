//! From a draft to code: imports written so that Node finds what a bundler would have found.
//!
//! An ECMAScript module keeps its imports of other such modules as they are, with their live bindings and their cycles.
//! A package or a CommonJS file is imported whole and its names are looked up at run time, because Node gives only
//! those names of a CommonJS module that its lexer guesses. JSON is `require`d, which every Node can.
//!
//! All that is added stands on one line, so that lines stay where the source map has them.

mod common;
mod esm;
mod runtime;

use crate::draft::Draft;
use crate::edit::Edits;
use crate::shape::{How, Imported, Statement};
use crate::{Format, builtin, resolve};
use std::collections::HashSet;

/// `babelHelpers`, on one line.
pub(crate) fn helpers() -> String {
    runtime::one_line(runtime::HELPERS)
}

/// The knowledge of the modules that a module imports.
pub(crate) trait Around {
    /// How `specifier` is imported; `json` when the import says that it is JSON.
    fn target(&self, specifier: &str, json: bool) -> Target;
    /// Whether the module that `specifier` means may export `name`: `false` is certain.
    fn gives(&self, specifier: &str, name: &str) -> bool;
    /// Whether a default import of CommonJS is the whole `module.exports`, as Node has it, even when that says it was a
    /// module.
    fn node_rules(&self) -> bool;
}

/// How a module is imported.
pub(crate) enum Target {
    /// Node knows all of its names.
    Native,
    /// Names are looked up at run time.
    Lenient,
    /// By `require` of this.
    Json(String),
}

/// Nothing is known but the specifiers.
pub(crate) struct Alone {
    pub(crate) node_rules: bool,
}

impl Around for Alone {
    fn target(&self, specifier: &str, json: bool) -> Target {
        if json {
            Target::Json(specifier.to_owned())
        } else if resolve::is_path(specifier) || builtin::is_builtin(specifier) {
            Target::Native
        } else {
            Target::Lenient
        }
    }

    fn gives(&self, _: &str, _: &str) -> bool {
        true
    }

    fn node_rules(&self) -> bool {
        self.node_rules
    }
}

/// A fault of an import, or of a name in it.
pub(crate) struct ImportFault {
    pub(crate) specifier: String,
    pub(crate) name: Option<String>,
    pub(crate) what: String,
}

/// The code of a draft, without its source map.
pub(crate) fn link(draft: &Draft, format: Format, around: &dyn Around) -> Result<String, Vec<ImportFault>> {
    let missing = Missing::find(draft, around);
    if !missing.faults.is_empty() {
        return Err(missing.faults);
    }
    if format == Format::CommonJs && draft.shape.awaits {
        let what = "only a module may await at its top level; a .cts or .cjs file is none".to_owned();
        return Err(vec![ImportFault { specifier: String::new(), name: None, what }]);
    }
    match format {
        Format::Esm => esm::link(draft, around, &missing.locals),
        Format::CommonJs if draft.shape.needs_module() => common::lower(draft, around, &missing.locals),
        Format::CommonJs => Ok(common::keep(draft, around)),
    }
}

/// Imported names that their modules do not export. In TypeScript such a name was a type if it is only exported again
/// (a compiler of single files cannot tell), and is left out; everywhere else it is a mistake.
#[derive(Default)]
struct Missing {
    locals: HashSet<String>,
    faults: Vec<ImportFault>,
}

impl Missing {
    fn find(draft: &Draft, around: &dyn Around) -> Self {
        let mut missing = Self::default();
        for statement in &draft.shape.statements {
            match statement {
                Statement::Import { source, names, .. } => {
                    for Imported { name, local } in names {
                        let Some(name) = name else { continue };
                        if around.gives(&source.specifier, name) {
                            continue;
                        }
                        let uses = draft.shape.uses.get(local);
                        let only_exported =
                            uses.is_some_and(|uses| uses.iter().all(|one| one.how == How::Exported));
                        if draft.typescript && only_exported {
                            missing.locals.insert(local.clone());
                        } else {
                            missing.fault(&source.specifier, name);
                        }
                    }
                }
                Statement::From { source, names, .. } if !draft.typescript => {
                    for (name, _) in names.iter().filter(|(name, _)| !around.gives(&source.specifier, name)) {
                        missing.fault(&source.specifier, name);
                    }
                }
                _ => {}
            }
        }
        missing
    }

    fn fault(&mut self, specifier: &str, name: &str) {
        let what = match name {
            "default" => format!("{specifier} has no default export"),
            name => format!("{specifier} exports no {name}"),
        };
        self.faults.push(ImportFault { specifier: specifier.to_owned(), name: Some(name.to_owned()), what });
    }
}

/// The function that rewritten `import()`s call.
#[derive(Default)]
struct Dynamic {
    require: bool,
    wide: bool,
}

impl Dynamic {
    /// `import()` of JSON becomes a `require` (Node would want an attribute); where Node may not see all names of a
    /// module, all of them are given.
    fn rewrite(draft: &Draft, around: &dyn Around, edits: &mut Edits, require: &str) -> Self {
        let mut calls = Self::default();
        for call in draft.shape.calls.iter().filter(|call| !call.is_require) {
            match around.target(&call.specifier, call.specifier.ends_with(".json")) {
                Target::Native => {}
                Target::Lenient => {
                    calls.wide = true;
                    edits.replace(call.range.end..call.range.end, ".then(__sonagi_wide)");
                }
                Target::Json(path) => {
                    calls.require = true;
                    let read = format!("Promise.resolve().then(() => {require}({}))", quoted(&path));
                    let read = format!("{read}.then((json) => ({{ ...json, default: json }}))");
                    edits.replace(call.range.clone(), read);
                }
            }
        }
        calls
    }
}

/// `__sonagi_wide` and `__sonagi_default` ask whose rules hold.
fn rules(around: &dyn Around) -> String {
    format!("const __sonagi_as_node = {}; ", around.node_rules())
}

/// A JavaScript string.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A name as it stands in an import or export clause.
fn clause_name(name: &str) -> String {
    if is_plain(name) { name.to_owned() } else { quoted(name) }
}

fn is_plain(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_' || c == '$';
    name.starts_with(letter) && name.chars().all(|c| letter(c) || c.is_ascii_digit())
}

/// `imported as local`.
fn renamed(name: &str, to: &str) -> String {
    if name == to { clause_name(name) } else { format!("{} as {}", clause_name(name), clause_name(to)) }
}
