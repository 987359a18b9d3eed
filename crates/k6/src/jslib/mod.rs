//! The libraries scripts import from jslib.k6.io, written anew: they are here, so a test needs no net to begin.
//!
//! Every published version's address leads to the one we have. A library is compiled when a script of the test first
//! imports it.

use std::path::Path;

/// A library, by its name at jslib.k6.io.
struct Library {
    name: &'static str,
    /// The name of the interpreter's module.
    module: &'static str,
    source: &'static str,
}

macro_rules! libraries {
    ($($name:literal),*) => {
        &[$(Library {
            name: $name,
            module: concat!("sonagi:jslib/", $name, ".js"),
            source: include_str!(concat!($name, ".js")),
        }),*]
    };
}

const LIBRARIES: &[Library] = libraries!("k6-utils", "k6-summary", "url", "httpx", "papaparse", "formdata");

const HOST: &str = "jslib.k6.io/";

/// The module that an address leads to: `https://jslib.k6.io/NAME/VERSION/index.js`.
pub(crate) fn named(specifier: &str) -> Option<&'static str> {
    let rest = specifier.strip_prefix("https://").or_else(|| specifier.strip_prefix("http://"));
    let name = rest?.strip_prefix(HOST)?.split('/').next()?;
    LIBRARIES.iter().find(|library| library.name == name).map(|library| library.module)
}

/// The source of a module of [`named`].
pub(crate) fn source(module: &Path) -> Option<&'static str> {
    let library = LIBRARIES.iter().find(|library| Path::new(library.module) == module);
    library.map(|library| library.source)
}

/// Why a script from elsewhere in the net is not loaded, and what can be done.
pub(crate) fn unloaded(specifier: &str) -> String {
    let known: Vec<&str> = LIBRARIES.iter().map(|library| library.name).collect();
    format!(
        "{specifier} is not loaded: no script comes from the net\nhint: save it beside the script and import it by its \
         path; of https://jslib.k6.io there are {}, in any version",
        known.join(", ")
    )
}
