//! `sonagi page`: serves a library of runs, or one run.

use crate::error::Error;
use crate::exit::Exit;
use crate::page::{self, Listen, Server, Subject};
use crate::signals;
use crate::terminal::Terminal;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use sonagi_measure::folder::RUN;
use std::path::{Path, PathBuf};

pub(super) const NAME: &str = "page";

pub(super) fn define() -> Command {
    Command::new(NAME)
        .about("Show runs on a page in the browser: a library of them, or one")
        .long_about(
            "Show runs on a page in the browser, until Ctrl-C: the runs in a folder as a table, to open or to lay two \
             over one another, or the one run whose folder is named. A run under way, of whatever process, is live in \
             it. `sonagi report RUNFOLDER -o report.html` writes the page as a file.",
        )
        .arg(
            Arg::new("folder")
                .value_name("DIR")
                .default_value("runs")
                .value_parser(value_parser!(PathBuf))
                .help("A folder of run folders, or a run folder"),
        )
        .arg(page::listen_argument("listen"))
        .arg(Arg::new("open").long("open").action(ArgAction::SetTrue).help("Open it in the browser"))
}

pub(super) fn run(matches: &ArgMatches, terminal: &Terminal) -> Result<Exit, Error> {
    let folder = matches.get_one::<PathBuf>("folder").expect("it has a default");
    let address = matches.get_one::<Listen>("listen").expect("it has a default");
    let (library, subject) = subject(folder)?;
    let stop_requests = signals::listen(*terminal, || {}, || {})?;
    let server = Server::start(address, "--listen", &library, subject)?;
    if matches.get_flag("open") {
        page::open(&server.url());
    }
    server.keep(&stop_requests, terminal);
    Ok(Exit::Pass)
}

/// The library, and what of it the address itself shows.
fn subject(folder: &Path) -> Result<(PathBuf, Subject), Error> {
    let unread = |error| Error::file("read", folder, error);
    let folder = folder.canonicalize().map_err(unread)?;
    if folder.join(RUN).is_file() {
        let library = folder.parent().map_or_else(|| folder.clone(), Path::to_owned);
        return Ok((library, Subject::Run(page::id(&folder))));
    }
    std::fs::read_dir(&folder).map_err(unread)?;
    Ok((folder, Subject::Library))
}
