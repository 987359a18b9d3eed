//! The run folder of a k6 test, where one is asked for: k6 leaves no file behind that nobody named, and neither do we.

use super::flags::Given;
use crate::runs;
use crate::terminal::Terminal;
use sonagi_report::sink::{self, Sink, Trouble};
use std::io;
use std::path::Path;

/// A folder, or none.
pub(super) struct Folder {
    folder: Option<sink::Folder>,
    terminal: Terminal,
    /// The first thing that could not be written has been told.
    has_failed: bool,
    /// Why the last thing could not be written, if it could not.
    last: Option<io::Error>,
    /// Something was written.
    has_begun: bool,
}

impl Folder {
    /// Reserves the one that `--runs` asks for.
    pub(super) fn wanted(given: &Given, terminal: &Terminal) -> Result<Folder, String> {
        let reserve = |runs: String| {
            let started = runs::now().map_err(|error| error.to_string())?;
            let stem = given.script.file_stem().unwrap_or_default().to_string_lossy();
            let name = sonagi_measure::folder::name(&started, &stem);
            sink::Folder::reserve(Path::new(&runs), &name)
                .map_err(|error| format!("cannot write a run folder in {runs}: {error}"))
        };
        let folder = given.one("runs").map(reserve).transpose()?;
        Ok(Folder { folder, terminal: *terminal, has_failed: false, last: None, has_begun: false })
    }

    /// The test goes on whatever the disk says; it says so once.
    pub(super) fn tell(&mut self, tell: impl FnOnce(&mut sink::Folder) -> io::Result<()>) {
        let Some(folder) = &mut self.folder else { return };
        self.has_begun = true;
        self.last = tell(folder).err();
        if let Some(error) = self.last.as_ref().filter(|_| !self.has_failed) {
            self.has_failed = true;
            let warning = "the test goes on, but its record may be incomplete";
            self.terminal.say(&format!("warning: the run folder: {error}; {warning}"));
        }
    }

    /// Says where it is; whether it holds all of the test. One in which nothing was written goes again.
    pub(super) fn finish(self, is_quiet: bool) -> bool {
        let Some(folder) = &self.folder else { return true };
        if !self.has_begun {
            let _ = std::fs::remove_dir(folder.path());
        } else if !is_quiet {
            self.terminal.say(&format!("run folder  {}", folder.path().display()));
        }
        let sink = folder.name().to_owned();
        let incomplete = self.last.map(|error| runs::incomplete(Trouble { sink, error }));
        incomplete.iter().for_each(|why| self.terminal.say(&why.to_string()));
        incomplete.is_none()
    }
}
