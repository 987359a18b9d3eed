//! An entry and every file it reaches by relative paths, those that Node cannot load as they stand made ready for it.

use crate::draft::{self, Broken, Draft, extension};
use crate::link::{self, Around, Target};
use crate::{Fault, File, FileFault, Format, builtin, package, place, resolve};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

/// More files than this are not read: something leads into a folder that was not meant.
const MOST_FILES: usize = 5_000;

/// A file of source, read and understood.
struct Source {
    text: String,
    draft: Draft,
    /// Its own format; a file that requires it may want it otherwise.
    format: Format,
    /// Relative specifiers and the files they mean.
    links: BTreeMap<String, PathBuf>,
}

/// All of them.
struct Graph {
    sources: BTreeMap<PathBuf, Source>,
    /// Modules by their syntax that someone requires: they are made CommonJS.
    lowered: HashSet<PathBuf>,
    faults: Vec<FileFault>,
}

/// Reads `entry` and what it reaches. The result has the entry first, if Node cannot load it as it stands, then the
/// others by their paths. A plain JavaScript file that Node can load itself is not among them, nor JSON, nor anything
/// in `node_modules`.
///
/// # Errors
/// Every fault of every file, by path and place.
pub fn graph(entry: &Path) -> Result<Vec<File>, Vec<FileFault>> {
    let Ok(entry) = std::fs::canonicalize(entry) else {
        return Err(vec![fault(entry, 1, 1, "there is no such file")]);
    };
    let mut graph = Graph { sources: BTreeMap::new(), lowered: HashSet::new(), faults: Vec::new() };
    graph.read_all(&entry);
    graph.lower_required();
    let mut files = Vec::new();
    for path in graph.sources.keys().cloned().collect::<Vec<_>>() {
        if graph.must_be_made(&path) {
            files.extend(graph.make(&path));
        }
    }
    if !graph.faults.is_empty() {
        graph.faults.sort_by(|a, b| {
            (&a.path, a.fault.line, a.fault.column).cmp(&(&b.path, b.fault.line, b.fault.column))
        });
        return Err(graph.faults);
    }
    files.sort_by_key(|file| file.path != entry);
    Ok(files)
}

fn fault(path: &Path, line: usize, column: usize, what: impl Into<String>) -> FileFault {
    FileFault { path: path.to_owned(), fault: Fault { line, column, what: what.into() } }
}

/// Whether the file is JavaScript or something made into it, and ours to read.
fn is_source(path: &Path) -> bool {
    matches!(extension(path), "ts" | "tsx" | "mts" | "cts" | "jsx" | "js" | "mjs" | "cjs")
        && !path.components().any(|part| part.as_os_str() == "node_modules")
}

fn is_plain_javascript(path: &Path) -> bool {
    matches!(extension(path), "js" | "mjs" | "cjs")
}

impl Graph {
    fn read_all(&mut self, entry: &Path) {
        let mut waiting = vec![entry.to_owned()];
        let mut seen: HashSet<PathBuf> = HashSet::from([entry.to_owned()]);
        while let Some(path) = waiting.pop() {
            if seen.len() > MOST_FILES {
                self.faults.push(fault(entry, 1, 1, format!("it reaches more than {MOST_FILES} files")));
                return;
            }
            let read = read(&path);
            self.faults.extend(read.faults.into_iter().map(|fault| FileFault { path: path.clone(), fault }));
            for target in read.leads_to {
                if is_source(&target) && seen.insert(target.clone()) {
                    waiting.push(target);
                }
            }
            if let Some(source) = read.source {
                self.sources.insert(path, source);
            }
        }
    }

    /// Follows `require`: what it leads to must be CommonJS, and what that imports in turn is then required too.
    fn lower_required(&mut self) {
        let mut waiting: Vec<(PathBuf, PathBuf, String)> = Vec::new();
        for (path, source) in &self.sources {
            let is_module = source.format == Format::Esm;
            waiting.extend(required(path, source, !is_module));
        }
        while let Some((from, path, specifier)) = waiting.pop() {
            let Some(source) = self.sources.get(&path) else { continue };
            if source.format == Format::CommonJs || self.lowered.contains(&path) {
                continue;
            }
            if source.draft.shape.awaits {
                let what = format!("{specifier} cannot be required, it awaits at its top level; import it");
                let by = &self.sources[&from];
                let (line, column) = by.draft.place(&by.text, &specifier);
                self.faults.push(fault(&from, line, column, what));
                continue;
            }
            waiting.extend(required(&path, source, true));
            self.lowered.insert(path);
        }
    }

    fn format(&self, path: &Path) -> Option<Format> {
        let source = self.sources.get(path)?;
        Some(if self.lowered.contains(path) { Format::CommonJs } else { source.format })
    }

    /// Whether Node would not load the file as it stands.
    fn must_be_made(&self, path: &Path) -> bool {
        if !is_plain_javascript(path) || self.lowered.contains(path) {
            return true;
        }
        let source = &self.sources[path];
        let nodes = match extension(path) {
            "mjs" => Format::Esm,
            "cjs" => Format::CommonJs,
            _ if package::is_module(path) => Format::Esm,
            _ => Format::CommonJs,
        };
        let shape = &source.draft.shape;
        let says_nothing =
            shape.statements.is_empty() && !shape.free.any_of_common() && !shape.needs_module();
        if source.format != nodes && !says_nothing || nodes == Format::Esm && shape.free.any_of_common() {
            return true;
        }
        let static_links = shape.statements.iter().filter_map(|statement| statement.source());
        let imported = static_links.map(|source| (&source.specifier, source.json, false));
        let called = shape.calls.iter().map(|call| (&call.specifier, false, call.is_require));
        imported.chain(called).any(|(specifier, json, is_require)| match source.links.get(specifier) {
            Some(target) if is_require => !resolve::node_requires(path, specifier, target),
            // Nodes differ in how an import says that it is of JSON.
            Some(target) => json || !resolve::node_imports(path, specifier, target),
            None => json && !is_require,
        })
    }

    fn make(&mut self, path: &Path) -> Option<File> {
        let source = &self.sources[path];
        let format = self.format(path)?;
        match link::link(&source.draft, format, &At { graph: self, path }) {
            Ok(code) => {
                let module = source.draft.module(&source.text, code, format);
                let links =
                    source.links.iter().map(|(specifier, target)| (specifier.clone(), target.clone()));
                Some(File { path: path.to_owned(), module, links: links.collect() })
            }
            Err(faults) => {
                let placed = source.draft.at_imports(&source.text, faults);
                self.faults
                    .extend(placed.into_iter().map(|fault| FileFault { path: path.to_owned(), fault }));
                None
            }
        }
    }

    /// Whether the module at `path` may export `name`. `asked` are the questions under way: a circle of `export *`
    /// gives nothing.
    fn gives(&self, path: &Path, name: &str, asked: &mut HashSet<(PathBuf, String)>) -> bool {
        use crate::shape::Statement;
        let Some(source) = self.sources.get(path) else { return true };
        let shape = &source.draft.shape;
        if source.format == Format::CommonJs || shape.free.gives_exports() {
            return true;
        }
        if !asked.insert((path.to_owned(), name.to_owned())) {
            return false;
        }
        let mut from = |specifier: &str, name: &str| match source.links.get(specifier) {
            Some(target) => self.gives(target, name, asked),
            None => true,
        };
        // A name that is imported and exported again is there if the other module has it.
        let imported = |local: &str| {
            shape.statements.iter().find_map(|statement| match statement {
                Statement::Import { source, names, .. } => names
                    .iter()
                    .find(|one| one.local == local)
                    .map(|one| (&source.specifier, one.name.as_deref())),
                _ => None,
            })
        };
        shape.statements.iter().any(|statement| match statement {
            Statement::From { source, names, .. } => {
                names.iter().any(|(theirs, exported)| exported == name && from(&source.specifier, theirs))
            }
            Statement::All { source, name: None, .. } => name != "default" && from(&source.specifier, name),
            Statement::All { name: exported, .. } => exported.as_deref() == Some(name),
            Statement::Names { names, .. } => names.iter().any(|(local, exported)| {
                exported == name
                    && match imported(local) {
                        Some((specifier, Some(theirs))) => from(specifier, theirs),
                        Some((_, None)) | None => true,
                    }
            }),
            Statement::Declared { names, .. } => names.iter().any(|declared| declared == name),
            Statement::Default { .. } => name == "default",
            Statement::Import { .. } => false,
        })
    }
}

/// The files a file requires: from where, which file, by which specifier. In CommonJS, imports are requires too.
fn required(path: &Path, source: &Source, imports_too: bool) -> Vec<(PathBuf, PathBuf, String)> {
    let shape = &source.draft.shape;
    let calls = shape.calls.iter().filter(|call| call.is_require).map(|call| &call.specifier);
    let imports =
        shape.statements.iter().filter_map(|statement| statement.source()).map(|source| &source.specifier);
    let imports = imports.filter(|_| imports_too);
    let found = calls.chain(imports).filter_map(|specifier| {
        source.links.get(specifier).map(|target| (path.to_owned(), target.clone(), specifier.clone()))
    });
    found.collect()
}

/// The result of reading a file.
#[derive(Default)]
struct Read {
    source: Option<Source>,
    leads_to: Vec<PathBuf>,
    faults: Vec<Fault>,
}

fn read(path: &Path) -> Read {
    let broken = |fault| Read { faults: vec![fault], ..Read::default() };
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) => return broken(Fault { line: 1, column: 1, what: format!("cannot be read: {error}") }),
    };
    let text = match place::text(&bytes) {
        Ok(text) => text.to_owned(),
        Err(fault) => return broken(fault),
    };
    let draft = match draft::draft(path, &text) {
        Ok(draft) => draft,
        Err(Broken { faults, named }) => {
            let paths = named.iter().filter(|specifier| resolve::is_path(specifier));
            let leads_to = paths.filter_map(|specifier| resolve::find(path, specifier)).collect();
            return Read { source: None, leads_to, faults };
        }
    };
    let (links, faults) = links(path, &text, &draft);
    let format = draft.format(path);
    let leads_to = links.values().cloned().collect();
    Read { source: Some(Source { text, draft, format, links }), leads_to, faults }
}

/// The files that relative imports mean, and those that mean none.
fn links(path: &Path, text: &str, draft: &Draft) -> (BTreeMap<String, PathBuf>, Vec<Fault>) {
    let (mut links, mut faults) = (BTreeMap::new(), Vec::new());
    for specifier in draft.shape.specifiers().into_iter().filter(|specifier| resolve::is_path(specifier)) {
        let what = match resolve::find(path, specifier) {
            Some(target) if is_loadable(&target) => {
                links.insert(specifier.to_owned(), target);
                continue;
            }
            Some(target) => format!("{specifier} is a .{} file, which is no module", extension(&target)),
            None if is_guarded(draft, specifier) => continue,
            None => format!("{specifier} leads to no file"),
        };
        let (line, column) = draft.place(text, specifier);
        faults.push(Fault { line, column, what });
    }
    (links, faults)
}

fn is_loadable(target: &Path) -> bool {
    let known = ["json", "node", "wasm"].contains(&extension(target)) || extension(target).is_empty();
    known || is_source(target) || target.components().any(|part| part.as_os_str() == "node_modules")
}

/// Whether the specifier is only ever required where the author is ready for it to fail.
fn is_guarded(draft: &Draft, specifier: &str) -> bool {
    let shape = &draft.shape;
    let in_statement =
        shape.statements.iter().filter_map(|one| one.source()).any(|one| one.specifier == specifier);
    let mut calls = shape.calls.iter().filter(|call| call.specifier == specifier);
    !in_statement && calls.all(|call| call.guarded)
}

/// The knowledge a file of the graph has of those it imports.
struct At<'a> {
    graph: &'a Graph,
    path: &'a Path,
}

impl At<'_> {
    fn linked(&self, specifier: &str) -> Option<&PathBuf> {
        self.graph.sources[self.path].links.get(specifier)
    }
}

impl Around for At<'_> {
    fn target(&self, specifier: &str, json: bool) -> Target {
        let Some(path) = self.linked(specifier) else {
            return match json {
                true => Target::Json(specifier.to_owned()),
                false if builtin::is_builtin(specifier) => Target::Native,
                false => Target::Lenient,
            };
        };
        if json || extension(path) == "json" {
            return Target::Json(path.to_string_lossy().into_owned());
        }
        let gives_exports = |path| {
            self.graph.sources.get(path).is_some_and(|one: &Source| one.draft.shape.free.gives_exports())
        };
        match self.graph.format(path) {
            Some(Format::Esm) if !gives_exports(path) => Target::Native,
            Some(Format::Esm | Format::CommonJs) | None => Target::Lenient,
        }
    }

    fn gives(&self, specifier: &str, name: &str) -> bool {
        match self.linked(specifier) {
            Some(path) => self.graph.gives(path, name, &mut HashSet::new()),
            None => true,
        }
    }

    fn node_rules(&self) -> bool {
        draft::has_node_rules(self.path)
    }
}
