//! What follows a k6 test: its diagnosis, and its run folder, if `--runs` asks for one: like k6, we leave no file that
//! nobody named.

use super::flags::GivenFlags;
use crate::diagnosed::Diagnosed;
use crate::invocation;
use crate::page::Pages;
use crate::run_events::{self, WantedSinks, pass};
use crate::runs;
use crate::signals::StopRequests;
use crate::terminal::Terminal;
use sonagi_engine::RunEvent;
use sonagi_measure::summary::Summary;
use sonagi_measure::totals::ScriptFile;
use sonagi_report::Sinks;
use sonagi_report::sink::{self, Trouble};
use std::path::{Path, PathBuf};

/// A run folder, or none.
pub(super) struct TestFolder {
    /// The folder's sink, if there is a folder, and the diagnosis'.
    sinks: Sinks,
    diagnosed: Diagnosed,
    path: Option<PathBuf>,
    terminal: Terminal,
    pages: Pages,
    script: ScriptFile,
    /// Whether anything was written.
    has_begun: bool,
}

impl TestFolder {
    /// Reserves the folder that `--runs` asks for, or that a page is made of; `source` is the script's text, and `stop`
    /// ends the test gracefully.
    pub(super) fn wanted(
        given: &GivenFlags,
        source: &[u8],
        terminal: &Terminal,
        stop: impl FnOnce() + Send + 'static,
    ) -> Result<TestFolder, String> {
        let wish = given.pages()?;
        let pages = Pages::start(wish, given.one("runs").map(PathBuf::from), terminal);
        let pages = pages.map_err(|error| error.to_string())?;
        let reserve = |runs: &Path| {
            let started = runs::now().map_err(|error| error.to_string())?;
            let stem = given.script.file_stem().unwrap_or_default().to_string_lossy();
            let name = sonagi_measure::folder::name(&started, &stem);
            sink::Folder::reserve(runs, &name)
                .map_err(|error| format!("cannot write a run folder in {}: {error}", runs.display()))
        };
        let folder = pages.runs().map(reserve).transpose()?;
        let path = folder.as_ref().map(|folder| folder.path().to_owned());
        if let Some(path) = &path {
            pages.begin(path, stop);
        }
        let diagnosed = Diagnosed::new();
        let wanted = WantedSinks { folder, diagnosed: (!given.has("quiet")).then(|| diagnosed.clone()) };
        let sinks = run_events::sinks(wanted).map_err(|error| error.to_string())?;
        let script = invocation::script(&given.script, source);
        Ok(TestFolder { sinks, diagnosed, path, terminal: *terminal, pages, script, has_begun: false })
    }

    /// Where it is; None: there is none.
    pub(super) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Writes a summary with what the kernel of a run does not know, once everything else is written.
    pub(super) fn amend(&self, summary: &Summary) -> std::io::Result<()> {
        self.path.as_ref().map_or(Ok(()), |path| sonagi_measure::folder::amend(path, summary))
    }

    /// Records an event. The test goes on after an error of the disk, which is reported once.
    pub(super) fn note(&mut self, event: &RunEvent<'_>) {
        self.has_begun = true;
        let terminal = self.terminal;
        let warn = |Trouble { sink, error }| {
            let warning = "the test goes on, but its record may be incomplete";
            terminal.say(&format!("warning: {sink}: {error}; {warning}"));
        };
        pass(&mut self.sinks, event, Some(&self.script), warn);
    }

    /// Prints the folder's path, and how to look at it; whether all outputs hold the whole test. An empty folder is
    /// removed.
    pub(super) fn finish(&mut self, is_quiet: bool) -> bool {
        let mut missed: Vec<_> = self.sinks.incomplete().map(runs::incomplete).into_iter().collect();
        if let Some(path) = &self.path {
            self.pages.over();
            self.pages.settle();
            if !self.has_begun {
                let _ = std::fs::remove_dir(path);
            } else {
                if !is_quiet && !self.pages.is_temporary() {
                    let path = path.display();
                    self.terminal.say(&format!("run folder  {path}\nsee it      sonagi page {path}"));
                }
                missed.extend(self.pages.write(path, true).err());
            }
        }
        missed.iter().for_each(|why| self.terminal.say(&why.to_string()));
        missed.is_empty()
    }

    /// What broke first, if anything did.
    pub(super) fn diagnosis(&self) -> Option<String> {
        let path = self.path.as_ref().filter(|_| !self.pages.is_temporary());
        let path = path.map(|path| path.display().to_string());
        self.diagnosed.text(path.as_deref(), &self.terminal)
    }

    /// The plot of the test, if it is wanted.
    pub(super) fn plot(&self) -> Option<String> {
        self.pages.plot(self.path.as_ref().filter(|_| self.has_begun)?)
    }

    /// The test and its summary are over: the page is served until the next signal, where that is wanted.
    pub(super) fn close(self, stop_requests: &StopRequests) {
        self.pages.finish(stop_requests);
    }
}
