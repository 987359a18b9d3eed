//! The pages of one command: a server while its runs go on, and afterwards a file and a plot of each.

use super::file::Links;
use super::flags::PageWish;
use super::server::{Server, Subject};
use super::{browser, file};
use crate::error::Error;
use crate::languages::LANGUAGES;
use crate::signals::StopRequests;
use crate::temp_folder::TempFolder;
use crate::terminal::Terminal;
use sonagi_report::Matrix;
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
        let subject = Subject::Own { is_temporary };
        let serve = |listen| Server::start(listen, "--page-listen", &library, subject.clone());
        let server = wish.served.as_ref().map(serve).transpose()?;
        if let Some(server) = &server {
            terminal.say(&format!("page        {}", server.url_with_token()));
            if wish.open {
                browser::open(&server.url_with_token());
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

    /// A run begins in this folder; `stop` ends it gracefully.
    pub(crate) fn begin(&self, folder: &Path, stop: impl FnOnce() + Send + 'static) {
        if let Some(server) = &self.server
            && let Err(error) = server.show(folder, stop)
        {
            self.terminal.say(&format!("warning: the page: {error}; it does not show this run"));
        }
    }

    /// The run is over, though its folder may not be complete: it cannot be stopped any more.
    pub(crate) fn over(&self) {
        self.server.iter().for_each(Server::end_own);
    }

    /// The run's folder is complete, or it has none after all: its page gets the last lines.
    pub(crate) fn settle(&self) {
        self.server.iter().for_each(Server::settle);
    }

    /// Writes the file of a run whose folder is complete. Whether it is the only run of the command decides on the
    /// file's name.
    pub(crate) fn write(&self, folder: &Path, is_only: bool) -> Result<(), Error> {
        let Some(named) = &self.wish.file else { return Ok(()) };
        let written = file::write(folder, &file::of_run(named, folder, is_only)?, self.is_temporary())?;
        self.terminal.say(&format!("report      {}", written.display()));
        Ok(())
    }

    /// Writes the file that compares the runs of a matrix, whose folder this is, beside those of its runs. Whether the
    /// command has no other runs decides on its name.
    pub(crate) fn write_matrix(&self, matrix: &Matrix, folder: &Path, is_only: bool) -> Result<(), Error> {
        let Some(named) = &self.wish.file else { return Ok(()) };
        let boot = file::of_matrix(matrix, Some(&Links::files(named)?));
        let path = file::of_run(named, folder, is_only)?;
        let written = file::write_several(&boot, &matrix.started, &path)?;
        self.terminal.say(&format!("report      {}", written.display()));
        Ok(())
    }

    /// The plot of a run, if it is wanted and there is something to plot.
    pub(crate) fn plot(&self, folder: &Path) -> Option<String> {
        if self.wish.plot { plotted(folder, &self.terminal) } else { None }
    }

    /// All runs are over: ends the server, or serves until the next signal.
    pub(crate) fn finish(self, stop_requests: &StopRequests) {
        let Some(server) = &self.server else { return };
        server.end_runs();
        if self.wish.keep {
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
