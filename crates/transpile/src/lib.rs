//! TypeScript, JSX and mixed modules → JavaScript that Node ≥ 18 loads, as a bundler would treat them.
//!
//! [`module`] treats one source, [`graph`] an entry with every file it reaches by relative paths. A module is parsed,
//! its types taken away and printed again (`draft`); what the printed text imports and exports is then read from it
//! (`shape`) and rewritten by place (`link`), line by line, so that the source map stays right. Nothing is bundled:
//! each file stays a module of its own, Node's cache keeps it single, and packages are Node's to find.
//!
//! Whatever a bundler forgives is forgiven: imports that only types used are gone, names that Node cannot see in a
//! CommonJS package are found at run time, `require`, `module` and `__dirname` work in a file that also imports, JSON
//! is imported without ceremony, and a file that is `require`d is made CommonJS whatever its syntax. `tsconfig.json` is
//! not read.
//!
//! [`plain`] stops before all that: for an interpreter of our own, which does its own linking.
//!
//! The transpiler runs no JavaScript, looks into no package, and does not check types.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod builtin;
mod draft;
mod edit;
mod functions;
mod graph;
mod link;
mod package;
mod place;
mod resolve;
mod shape;

use std::path::{Path, PathBuf};

pub use functions::functions;
pub use graph::graph;
pub use place::Places;

/// A module made ready for Node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// JavaScript, with an inline source map where its lines are not the source's.
    pub code: String,
    /// How Node must take it.
    pub format: Format,
    /// The names it imports or requires that are known beforehand, each once, in the order of the code.
    pub imports: Vec<Import>,
}

/// A source as an engine that is no Node takes it: types gone, imports and exports as they were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plain {
    /// JavaScript, without a source map.
    pub code: String,
    /// Where its places are in the source.
    pub places: Places,
    /// Whether it imports, exports or awaits at its top level: a script cannot.
    pub is_module: bool,
    /// Whether it awaits at its top level.
    pub awaits: bool,
    /// Whether it has regular expressions among its literals.
    pub has_regexps: bool,
    /// The names it imports, `default` too: from where, and which; in the order of the source.
    pub names: Vec<(String, String)>,
}

/// The two kinds of module Node knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `import` and `export`.
    Esm,
    /// `require` and `module.exports`.
    CommonJs,
}

/// A module that the code names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The specifier in the code made.
    pub specifier: String,
    /// Where the source names it first, from 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
}

/// Why a source cannot be made a module, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// A lowercase fragment.
    pub what: String,
}

/// A module of a graph, and where its relative imports lead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Canonical, as Node has it.
    pub path: PathBuf,
    /// Its code.
    pub module: Module,
    /// Relative specifiers as they are written in the code, each with the file it means: one of the graph, or one that
    /// Node loads as it stands.
    pub links: Vec<(String, PathBuf)>,
}

/// A fault and the file it is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFault {
    /// Canonical, as far as there is such a file.
    pub path: PathBuf,
    /// The fault.
    pub fault: Fault,
}

/// Makes one source plain JavaScript. `path` says which language it is in, and nothing else.
///
/// # Errors
/// Every syntax error, in the order of the source.
pub fn plain(path: &Path, source: &str) -> Result<Plain, Vec<Fault>> {
    let draft = draft::draft(path, source).map_err(|broken| broken.faults)?;
    Ok(draft.plain())
}

/// Makes a source a module by itself: nothing is known of the files it imports, their extensions apart. `path` says
/// which language it is in, and (by the nearest `package.json`) what Node would take it for.
///
/// # Errors
/// Every syntax error, in the order of the source.
pub fn module(path: &Path, source: &str) -> Result<Module, Vec<Fault>> {
    let draft = draft::draft(path, source).map_err(|broken| broken.faults)?;
    let format = draft.format(path);
    let made = link::link(&draft, format, &link::Alone { node_rules: draft::has_node_rules(path) });
    made.map_err(|faults| draft.at_imports(source, faults)).map(|code| draft.module(source, code, format))
}
