//! The pages of one command: a server while its runs go on, and afterwards a file and a plot of each.

use super::flags::PageWish;
use super::server::{Server, Subject};
use super::{browser, file};
use crate::error::Error;
use crate::languages::LANGUAGES;
use crate::signals::StopRequests;
use crate::temp_folder::TempFolder;
use crate::terminal::Terminal;
use sonagi_report::html;
use sonagi_report::plot;
use std::path::{Path, PathBuf};

/// The pages of a command.
pub(crate) struct Pages {
    wish: PageWish,
    terminal: Terminal,
    /// The parent of run folders.
    runs: Option<PathBuf>,
    // Before the folder: it serves what is in it until it is dropped.
    server: Option<Server>,
    /// `runs`, where the user wants none.
    temporary: Option<TempFolder>,
}

impl Pages {
    /// Starts the server, if one is wanted, and tells its address. Pages are made of run folders: where the user wants
    /// none (`runs` is None), they are temporary.
    pub(crate) fn start(wish: PageWish, runs: Option<PathBuf>, terminal: &Terminal) -> Result<Pages, Error> {
        let is_temporary = runs.is_none() && wish.is_any();
        let temporary = is_temporary.then(|| TempFolder::create("runs")).transpose()?;
        let runs = runs.or_else(|| temporary.as_ref().map(|folder| folder.path().to_owned()));
        let library = runs.clone().unwrap_or_default();
        let serve = |address| Server::start(address, &library, Subject::Own);
        let server = wish.served.map(serve).transpose()?;
        if let Some(server) = &server {
            terminal.say(&format!("page        {}", server.url()));
            if wish.open {
                browser::open(&server.url());
            }
        }
        Ok(Pages { wish, terminal: *terminal, runs, server, temporary })
    }

    /// The parent of run folders; None: no folder is written.
    pub(crate) fn runs(&self) -> Option<&Path> {
        self.runs.as_deref()
    }

    /// Whether the folders are gone after the command: nobody should be told of them.
    pub(crate) fn is_temporary(&self) -> bool {
        self.temporary.is_some()
    }

    /// A run begins in this folder.
    pub(crate) fn begin(&self, folder: &Path) {
        if let Some(server) = &self.server
            && let Err(error) = server.show(folder)
        {
            self.terminal.say(&format!("warning: the page: {error}; it does not show this run"));
        }
    }

    /// A run is over, and its folder complete: its page gets the last lines, its file is written. Whether it is the
    /// only run of the command decides on the file's name.
    pub(crate) fn end(&self, folder: &Path, is_only: bool) -> Result<(), Error> {
        if let Some(server) = &self.server {
            server.settle();
        }
        let Some(named) = &self.wish.file else { return Ok(()) };
        let written = file::write(folder, &file::of_run(named, folder, is_only)?)?;
        self.terminal.say(&format!("report      {}", written.display()));
        Ok(())
    }

    /// The plot of a run, if it is wanted and there is something to plot.
    pub(crate) fn plot(&self, folder: &Path) -> Option<String> {
        if self.wish.plot { plotted(folder, &self.terminal) } else { None }
    }

    /// All runs are over: ends the server, or serves until the next signal.
    pub(crate) fn finish(self, stop_requests: &StopRequests) {
        if let Some(server) = self.server.as_ref().filter(|_| self.wish.keep) {
            server.keep(stop_requests, &self.terminal);
        }
    }
}

/// The plot of the run in this folder.
pub(crate) fn plotted(folder: &Path, terminal: &Terminal) -> Option<String> {
    let lines = html::lines(folder, "", &LANGUAGES).ok()?;
    let style = if terminal.is_unicode { plot::Style::Braille } else { plot::Style::Ascii };
    plot::of(&lines, style)
}
