//! The run folder of a k6 test, if `--runs` asks for one: like k6, we leave no file that nobody named.

use super::flags::GivenFlags;
use crate::queued_sink::QueuedSink;
use crate::runs;
use crate::terminal::Terminal;
use sonagi_engine::RunEvent;
use sonagi_report::Sinks;
use sonagi_report::sink::{self, Trouble};
use std::path::{Path, PathBuf};

/// A run folder, or none.
pub(super) struct TestFolder {
    /// The folder's sink, if there is a folder.
    sinks: Sinks,
    path: Option<PathBuf>,
    terminal: Terminal,
    /// Whether anything was written.
    has_begun: bool,
}

impl TestFolder {
    /// Reserves the folder that `--runs` asks for.
    pub(super) fn wanted(given: &GivenFlags, terminal: &Terminal) -> Result<TestFolder, String> {
        let reserve = |runs: String| {
            let started = runs::now().map_err(|error| error.to_string())?;
            let stem = given.script.file_stem().unwrap_or_default().to_string_lossy();
            let name = sonagi_measure::folder::name(&started, &stem);
            sink::Folder::reserve(Path::new(&runs), &name)
                .map_err(|error| format!("cannot write a run folder in {runs}: {error}"))
        };
        let folder = given.one("runs").map(reserve).transpose()?;
        let path = folder.as_ref().map(|folder| folder.path().to_owned());
        let mut sinks = Sinks::new();
        if let Some(folder) = folder {
            sinks.add(QueuedSink::start(folder).map_err(|error| error.to_string())?);
        }
        Ok(TestFolder { sinks, path, terminal: *terminal, has_begun: false })
    }

    /// Records an event. The test goes on after an error of the disk, which is reported once.
    pub(super) fn note(&mut self, event: &RunEvent<'_>) {
        self.has_begun = true;
        let terminal = self.terminal;
        let warn = |Trouble { sink, error }| {
            let warning = "the test goes on, but its record may be incomplete";
            terminal.say(&format!("warning: {sink}: {error}; {warning}"));
        };
        self.sinks.each(|sink| runs::pass(sink, event), warn);
    }

    /// Prints the folder's path, and whether it holds the whole test. An empty folder is removed.
    pub(super) fn finish(mut self, is_quiet: bool) -> bool {
        let Some(path) = &self.path else { return true };
        if !self.has_begun {
            let _ = std::fs::remove_dir(path);
        } else if !is_quiet {
            self.terminal.say(&format!("run folder  {}", path.display()));
        }
        let incomplete = self.sinks.incomplete().map(runs::incomplete);
        incomplete.iter().for_each(|why| self.terminal.say(&why.to_string()));
        incomplete.is_none()
    }
}
