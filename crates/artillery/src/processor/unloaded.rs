//! Why a processor could not be started, and what to do about it.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use crate::plan::Processor;

/// The oldest Node the processor's side is written for.
const OLDEST_NODE: u32 = 18;

/// Why a processor could not be started.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Unloaded {
    /// There is no Node.
    #[error(
        "the processor {module} needs Node 18 or newer, and `node` was not found\n  hint: install Node, or put it on \
         the PATH"
    )]
    NoNode {
        /// The processor.
        module: String,
    },
    /// There is one, and it is too old.
    #[error(
        "the processor {module} needs Node 18 or newer, and `node` is {version}\n  hint: put a newer one first on the \
         PATH"
    )]
    OldNode {
        /// The processor.
        module: String,
        /// Its version.
        version: String,
    },
    /// The module could not be loaded.
    #[error("the processor {module} could not be loaded: {cause}\n  hint: {hint}")]
    Module {
        /// The processor.
        module: String,
        /// Node's error.
        cause: String,
        /// The advice.
        hint: String,
    },
    /// The module was not loaded in time.
    #[error(
        "the processor {module} was not loaded within {limit_ms} ms\n  hint: look for an `await` at its top level that \
         nobody answers, or a loop that does not end"
    )]
    Slow {
        /// The processor.
        module: String,
        /// How long that may take.
        limit_ms: u128,
    },
    /// The script calls what the module does not export.
    #[error("the processor {module} exports no function {wanted}\n  hint: it exports {exported}")]
    Missing {
        /// The processor.
        module: String,
        /// The functions that the script calls.
        wanted: String,
        /// The functions that the module exports.
        exported: String,
    },
    /// The process could not be started or spoken with.
    #[error("the processor {module} could not be started: {cause}")]
    Start {
        /// The processor.
        module: String,
        /// The system's error.
        cause: Arc<io::Error>,
    },
}

impl Unloaded {
    /// The system could not start it, or not speak with it.
    pub(super) fn start(processor: &Processor, cause: io::Error) -> Unloaded {
        Unloaded::Start { module: processor.module.display().to_string(), cause: Arc::new(cause) }
    }

    /// The error of a module that took longer than its limit to load.
    pub(super) fn slow(processor: &Processor, limit: Duration) -> Unloaded {
        Unloaded::Slow { module: processor.module.display().to_string(), limit_ms: limit.as_millis() }
    }

    /// The module is at fault, Node says.
    pub(super) fn module(module: &Path, cause: String) -> Unloaded {
        let hint = match missing(&cause) {
            Some(Missing::Package(name)) => format!("run `npm install {name}` in the script's folder"),
            Some(Missing::File(path)) => format!("look at the path it imports: {path}"),
            None => {
                let name = module.file_name().unwrap_or_default().to_string_lossy();
                format!("`node` runs the module itself: try `node -e 'import(\"./{name}\")'` in its folder")
            }
        };
        // Node lists who required whom below it.
        let cause = cause.lines().next().unwrap_or_default().to_owned();
        Unloaded::Module { module: module.display().to_string(), cause, hint }
    }

    /// Node has ended without a word. One that is too old does so, for it cannot read what it is to run.
    pub(super) fn speechless(module: &Path) -> Unloaded {
        let asked = Command::new("node").arg("--version").stdin(Stdio::null()).output();
        let version = asked.map(|asked| String::from_utf8_lossy(&asked.stdout).trim().to_owned());
        let is_old = version.ok().and_then(|version| check_version(module, &version).err());
        is_old.unwrap_or_else(|| Unloaded::module(module, "Node ended before it was loaded".to_owned()))
    }
}

/// The missing target of an import.
#[derive(Debug, PartialEq)]
enum Missing<'c> {
    Package(&'c str),
    File(&'c str),
}

/// The missing target, from Node's message.
fn missing(cause: &str) -> Option<Missing<'_>> {
    let begins = ["Cannot find package '", "Cannot find module '"];
    let name = begins.iter().find_map(|begin| cause.split_once(begin))?.1.split_once('\'')?.0;
    if name.starts_with(['.', '/']) || name.contains(':') {
        return Some(Missing::File(name));
    }
    // The rest after the name is a path within the package.
    let parts = if name.starts_with('@') { 2 } else { 1 };
    let end = name.match_indices('/').nth(parts - 1).map_or(name.len(), |(at, _)| at);
    Some(Missing::Package(&name[..end]))
}

/// Whether a Node is new enough.
pub(super) fn check_version(module: &Path, version: &str) -> Result<(), Unloaded> {
    let major = version.trim_start_matches('v').split('.').next().and_then(|major| major.parse().ok());
    if major.is_some_and(|major: u32| major < OLDEST_NODE) {
        let module = module.display().to_string();
        return Err(Unloaded::OldNode { module, version: version.to_owned() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_that_is_not_installed_is_named_with_the_command_that_installs_it() {
        for (cause, what) in [
            ("Cannot find package 'uuid' imported from /p.mjs", Some(Missing::Package("uuid"))),
            (
                "Cannot find module '@faker-js/faker/locale/de'\nRequire stack:\n- /p.cjs",
                Some(Missing::Package("@faker-js/faker")),
            ),
            ("Cannot find module 'lodash/get'", Some(Missing::Package("lodash"))),
            ("Cannot find module './gone.js'", Some(Missing::File("./gone.js"))),
            ("Cannot find module '/x/gone.js' imported from /p.mjs", Some(Missing::File("/x/gone.js"))),
            ("Unexpected token '}'", None),
        ] {
            assert_eq!(missing(cause), what, "{cause}");
        }
        let told = Unloaded::module(
            Path::new("p.cjs"),
            "Cannot find module 'uuid'\nRequire stack:\n- /p.cjs".to_owned(),
        );
        let expected = "the processor p.cjs could not be loaded: Cannot find module 'uuid'\n  hint: run `npm install \
                        uuid` in the script's folder";
        assert_eq!(told.to_string(), expected);
    }
}
