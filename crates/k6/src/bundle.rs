//! The script and all it loads: read, stripped of types and compiled once, and loaded as bytecode by every user.
//!
//! The first user's init code discovers all files. Then the bundle is closed, as k6's is: later users find only what is
//! in it, so no user waits for a disk.

use rquickjs::Ctx;
use sonagi_transpile::{Fault, Places, Plain};
use std::collections::HashMap;
use std::mem::take;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::interpreter::{Intrinsics, Language, raw};
use crate::jslib;

/// The JSON texts of a list's elements.
pub(crate) type SharedList = Arc<[Box<str>]>;

/// A file as users load it.
#[derive(Debug)]
pub(crate) struct Unit {
    pub(crate) bytecode: Vec<u8>,
    pub(crate) format: Format,
    /// It asks `import.meta` something.
    pub(crate) asks_meta: bool,
    /// It awaits at its top level.
    pub(crate) awaits: bool,
    /// The names it imports: from where, and which.
    names: Vec<(String, String)>,
    /// Maps places in the code that is run to places in the file.
    places: Places,
    /// The code that is run, and where functions stand in it, once that is asked.
    code: String,
    functions: OnceLock<HashMap<(usize, usize), Range<usize>>>,
}

impl Unit {
    fn new(bytecode: Vec<u8>, format: Format, asks_meta: bool) -> Unit {
        let (names, places, code, functions) = Default::default();
        Unit { bytecode, format, asks_meta, awaits: false, names, places, code, functions }
    }
}

/// How a file is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// An ECMAScript module.
    Module,
    /// The body of a function of `module`, `exports` and `require`.
    CommonJs,
    /// A value.
    Json,
}

/// Why a file cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unusable {
    #[error("The moduleSpecifier {specifier:?} couldn't be found on local disk: {cause}")]
    Unread { specifier: String, kind: std::io::ErrorKind, cause: String },
    #[error(
        "{specifier:?} was not loaded by the first virtual user's init code, so no other user can load it"
    )]
    Late { specifier: String },
    #[error(
        "{path}:{line}:{column}: {what}",
        path = .path.display(), line = .fault.line, column = .fault.column, what = .fault.what
    )]
    Syntax { path: PathBuf, fault: Fault },
    /// The interpreter does not take it.
    #[error("{0}")]
    Refused(String),
}

/// The beginning of a file's address.
const ADDRESS: &str = "file:///";

/// All files of a test, shared by all users.
#[derive(Debug)]
pub(crate) struct Bundle {
    /// The script.
    pub(crate) entry: PathBuf,
    files: RwLock<Files>,
    /// The lists all users share, by name.
    shared: RwLock<HashMap<String, SharedList>>,
}

#[derive(Debug)]
struct Files {
    units: HashMap<PathBuf, Arc<Unit>>,
    opened: HashMap<PathBuf, Arc<[u8]>>,
    intrinsics: Intrinsics,
    is_closed: bool,
}

impl Bundle {
    /// A bundle of this script, which was read already; `path` is absolute.
    pub(crate) fn new(path: PathBuf, source: Vec<u8>) -> Bundle {
        let opened = HashMap::from([(path.clone(), source.into())]);
        let files =
            Files { units: HashMap::new(), opened, intrinsics: Intrinsics::default(), is_closed: false };
        Bundle { entry: path, files: RwLock::new(files), shared: RwLock::default() }
    }

    fn read(&self) -> RwLockReadGuard<'_, Files> {
        self.files.read().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Files> {
        self.files.write().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Nothing joins it any more.
    pub(crate) fn close(&self) {
        self.write().is_closed = true;
    }

    /// Whether the first user has read all there is.
    pub(crate) fn is_closed(&self) -> bool {
        self.read().is_closed
    }

    /// Everything the files read so far may reach; all, until the first user has read them.
    pub(crate) fn intrinsics(&self) -> Intrinsics {
        let files = self.read();
        if files.is_closed { files.intrinsics } else { Intrinsics::ALL }
    }

    /// A file's bytes (`open()`).
    pub(crate) fn open(&self, path: &Path) -> Result<Arc<[u8]>, Unusable> {
        if let Some(bytes) = self.read().opened.get(path) {
            return Ok(Arc::clone(bytes));
        }
        let specifier = path.display().to_string();
        if self.read().is_closed {
            return Err(Unusable::Late { specifier });
        }
        let bytes = std::fs::read(path).map_err(|error| {
            let (kind, cause) = (error.kind(), error.to_string());
            Unusable::Unread { specifier, kind, cause }
        })?;
        let bytes: Arc<[u8]> = bytes.into();
        self.write().opened.insert(path.to_owned(), Arc::clone(&bytes));
        Ok(bytes)
    }

    /// A file as code, compiled by whoever asks first; and what of the language it is the first file to use.
    pub(crate) fn unit(&self, path: &Path) -> Result<(Arc<Unit>, Option<Language>), Unusable> {
        if let Some(unit) = self.read().units.get(path) {
            return Ok((Arc::clone(unit), None));
        }
        let (unit, plain) = match jslib::source(path) {
            Some(source) => compiled(path, source)?,
            None => compiled(path, &String::from_utf8_lossy(&self.open(path)?))?,
        };
        let language = plain.map(|plain| {
            let is_ours = jslib::source(path).is_some();
            let of_ours = |plain: &Plain| Intrinsics::named(&plain.code, plain.has_regexps);
            self.reach(if is_ours { of_ours(&plain) } else { Intrinsics::of(&plain) })
        });
        self.write().units.insert(path.to_owned(), Arc::clone(&unit));
        Ok((unit, language))
    }

    /// A list that was shared before.
    pub(crate) fn shared(&self, name: &str) -> Option<SharedList> {
        self.shared.read().unwrap_or_else(std::sync::PoisonError::into_inner).get(name).cloned()
    }

    /// Shares a list, unless another user was faster; which one it is now.
    pub(crate) fn share(&self, name: &str, list: SharedList) -> SharedList {
        let mut shared = self.shared.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        shared.entry(name.to_owned()).or_insert(list).clone()
    }

    /// A script of ours, which no file of the test can be.
    pub(crate) fn own(&self, ctx: &Ctx<'_>, name: &str, source: &str) -> rquickjs::Result<Arc<Unit>> {
        if let Some(unit) = self.read().units.get(Path::new(name)) {
            return Ok(Arc::clone(unit));
        }
        let bytecode = with_room(|| raw::compiled_script(name, source)).map_err(|why| refused(ctx, &why))?;
        self.reach(Intrinsics { language: Language::default(), ..Intrinsics::named(source, false) });
        Ok(self.keep(name, Unit::new(bytecode, Format::CommonJs, false)))
    }

    /// A module of ours that stands for another one; made by who imports it first.
    pub(crate) fn stand_in(
        &self,
        ctx: &Ctx<'_>,
        name: &str,
        make: impl FnOnce() -> rquickjs::Result<String>,
    ) -> rquickjs::Result<Arc<Unit>> {
        if let Some(unit) = self.read().units.get(Path::new(name)) {
            return Ok(Arc::clone(unit));
        }
        let code = make()?;
        let bytecode = with_room(|| raw::compiled_module(name, &code)).map_err(|why| refused(ctx, &why))?;
        Ok(self.keep(name, Unit::new(bytecode, Format::Module, false)))
    }

    fn keep(&self, name: &str, unit: Unit) -> Arc<Unit> {
        let unit = Arc::new(unit);
        self.write().units.insert(PathBuf::from(name), Arc::clone(&unit));
        unit
    }

    /// The names that a file imports by a specifier.
    pub(crate) fn asked(&self, file: &Path, specifier: &str) -> Vec<String> {
        let files = self.read();
        let names = files.units.get(file).map_or(&[][..], |unit| &unit.names);
        names.iter().filter(|(from, _)| from == specifier).map(|(_, name)| name.clone()).collect()
    }

    /// The place in a file's source of one in what is run of it.
    pub(crate) fn place(&self, path: &str, line: u32, column: u32) -> (u32, u32) {
        let files = self.read();
        files.units.get(Path::new(path)).map_or((line, column), |unit| unit.places.of(line, column))
    }

    /// The text of the function that begins at a place of what is run of a file.
    pub(crate) fn function_text(&self, path: &str, line: usize, column: usize) -> Option<String> {
        let unit = Arc::clone(self.read().units.get(Path::new(path))?);
        let is_module = unit.format == Format::Module;
        let functions = unit.functions.get_or_init(|| {
            with_room(|| Ok(sonagi_transpile::functions(&unit.code, is_module))).unwrap_or_default()
        });
        // Some of its places count the columns of the first line from 0.
        let near = || if line == 1 { functions.get(&(1, column + 1)) } else { None };
        let range = functions.get(&(line, column)).or_else(near)?;
        Some(unit.code[range.clone()].to_owned())
    }

    /// An error's text, the places of its stack those of the files: what is run of a TypeScript file has other lines.
    pub(crate) fn placed(&self, text: String) -> String {
        let files = self.read();
        if files.units.values().all(|unit| unit.places.is_same()) && !text.contains(ADDRESS) {
            return text;
        }
        let placed = |line: &str| match line.starts_with("\tat ") && line.contains(ADDRESS) {
            // A script that looks at stacks has them as in k6: with addresses, and the files' places.
            true => line.replacen(ADDRESS, "/", 1),
            false => files.placed(line).unwrap_or_else(|| line.to_owned()),
        };
        text.split('\n').map(placed).collect::<Vec<_>>().join("\n")
    }

    /// The parts of the language that were not reached before.
    fn reach(&self, intrinsics: Intrinsics) -> Language {
        let mut files = self.write();
        let spoken = intrinsics.newly_spoken(files.intrinsics);
        files.intrinsics = files.intrinsics.or(intrinsics);
        spoken
    }
}

impl Files {
    /// A line `at NAME (PATH:LINE:COLUMN)` of a stack; None for any other, and of files that are run as they are.
    fn placed(&self, frame: &str) -> Option<String> {
        let (rest, column) = frame.trim_end_matches(')').rsplit_once(':')?;
        let (rest, line) = rest.rsplit_once(':')?;
        let path = rest.rsplit_once('(').or_else(|| rest.split_once("at "))?.1;
        let places = &self.units.get(Path::new(path)).filter(|unit| !unit.places.is_same())?.places;
        let (line, column) = places.of(line.parse().ok()?, column.parse().ok()?);
        Some(format!("{rest}:{line}:{column}{}", if frame.ends_with(')') { ")" } else { "" }))
    }
}

/// A file compiled, and its code if it is any.
fn compiled(path: &Path, source: &str) -> Result<(Arc<Unit>, Option<Plain>), Unusable> {
    let name = path.display().to_string();
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    if path.extension().is_some_and(|extension| extension == "json") {
        let json = Unit::new(source.as_bytes().to_vec(), Format::Json, false);
        return Ok((Arc::new(json), None));
    }
    let (mut plain, bytecode, code) = with_room(|| {
        let plain = match sonagi_transpile::plain(path, source) {
            Ok(plain) => plain,
            Err(faults) => return Ok(Err(syntax(path, faults))),
        };
        let (bytecode, code) = if plain.is_module {
            (raw::compiled_module(&name, &plain.code), plain.code.clone())
        } else {
            // On one line with the code's first, so that lines stay as they are.
            let code = format!("(function (module, exports) {{{}\n}})", plain.code);
            (raw::compiled_script(&name, &code), code)
        };
        bytecode.map(|bytecode| Ok((plain, bytecode, code)))
    })
    .map_err(Unusable::Refused)??;
    let format = if plain.is_module { Format::Module } else { Format::CommonJs };
    let asks_meta = format == Format::Module && plain.code.contains("import.meta");
    let (places, names, awaits) = (take(&mut plain.places), take(&mut plain.names), plain.awaits);
    Ok((
        Arc::new(Unit { places, names, code, awaits, ..Unit::new(bytecode, format, asks_meta) }),
        Some(plain),
    ))
}

/// Room for parsing and compiling, which recurse as deeply as a source nests. Untouched pages cost nothing.
const ROOM: usize = 256 << 20;

/// Does it on a stack of its own: a user's is small, and half of it may be in use.
fn with_room<T: Send>(what: impl FnOnce() -> Result<T, String> + Send) -> Result<T, String> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(ROOM).spawn_scoped(scope, what);
        let thread = thread.map_err(|why| format!("no thread to compile in: {why}"))?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// A source that the interpreter does not take.
fn refused(ctx: &Ctx<'_>, why: &str) -> rquickjs::Error {
    rquickjs::Exception::throw_syntax(ctx, why)
}

fn syntax(path: &Path, faults: Vec<Fault>) -> Unusable {
    let fault = faults.into_iter().next();
    let fault = fault.unwrap_or_else(|| Fault { line: 1, column: 1, what: "cannot be parsed".to_owned() });
    Unusable::Syntax { path: path.to_owned(), fault }
}

/// A path or `file://` URL that `specifier` names, seen from the file `base`.
pub(crate) fn located(base: &Path, specifier: &str) -> PathBuf {
    let specifier = specifier.strip_prefix("file://").unwrap_or(specifier);
    let folder = base.parent().unwrap_or(Path::new("/"));
    let mut path = PathBuf::new();
    for part in folder.join(specifier).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                path.pop();
            }
            part => path.push(part),
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_specifier_is_seen_from_the_file_that_names_it() {
        let table = [
            ("./lib/a.js", "/a/b/lib/a.js"),
            ("../a.js", "/a/a.js"),
            ("/etc/a.js", "/etc/a.js"),
            ("file:///etc/./a.js", "/etc/a.js"),
            ("../../../../a.js", "/a.js"),
        ];
        for (specifier, path) in table {
            assert_eq!(located(Path::new("/a/b/script.js"), specifier), Path::new(path), "{specifier}");
        }
    }
}
