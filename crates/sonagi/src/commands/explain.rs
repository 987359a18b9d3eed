//! `sonagi explain`: what broke first in a run, from its folder.

use crate::error::Error;
use crate::exit::Exit;
use crate::languages::{self, LANGUAGES};
use crate::terminal::Terminal;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use sonagi_measure::At;
use sonagi_measure::folder::{Follower, ReadError};
use sonagi_measure::frame::Framer;
use sonagi_verdict::{Diagnosis, Investigation};
use std::path::{Path, PathBuf};

pub(super) const NAME: &str = "explain";

pub(super) fn define() -> Command {
    Command::new(NAME)
        .about("Say what broke first in a run: cause, evidence, what was ruled out, and what to try")
        .long_about(
            "Say what broke first in a run, from its folder: the cause, what it stands on, what was ruled out, and \
             what to try, the best first. A target that kept up is not accused. The exit code is 0 whatever is found; \
             4 if the folder cannot be read.",
        )
        .arg(
            Arg::new("folder")
                .value_name("RUNFOLDER")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("A run folder"),
        )
        .arg(
            Arg::new("json")
                .long("json")
                .action(ArgAction::SetTrue)
                .help("Print the diagnosis as one JSON document"),
        )
}

pub(super) fn run(matches: &ArgMatches, terminal: &Terminal) -> Result<Exit, Error> {
    let folder = matches.get_one::<PathBuf>("folder").expect("clap requires it");
    let unread = |error: ReadError| {
        Error::could_not(format_args!("cannot read the run folder {}: {error}", folder.display()))
    };
    if languages::is_watch(&sonagi_measure::folder::header(folder).map_err(unread)?) {
        return Err(Error::could_not(format_args!(
            "{} is a watch's: it had no load, so nothing can have broken under it\nhint: `sonagi page {0}` shows what \
             was seen; `sonagi run … --watch …` watches under a load",
            folder.display()
        )));
    }
    let diagnosis = explained(folder).map_err(unread)?;
    if matches.get_flag("json") {
        let text = serde_json::to_string_pretty(&diagnosis).map_err(Error::could_not)?;
        terminal.print(&format!("{text}\n"))?;
    } else {
        let text = sonagi_report::diagnosis::text(&diagnosis, terminal.columns, terminal.colour);
        terminal.print(&text)?;
    }
    Ok(Exit::Pass)
}

/// The diagnosis of a run, of all that its folder has.
pub(crate) fn explained(folder: &Path) -> Result<Diagnosis, ReadError> {
    let mut follower = Follower::open(folder, LANGUAGES.naming, LANGUAGES.store, LANGUAGES.judge)?;
    let (header, registry) = (follower.header().clone(), follower.registry().clone());
    let mut framer = Framer::new(header, registry, LANGUAGES.about);
    // Nothing else waits for the memory that a run of days takes here.
    let mut investigation = Investigation::of_at_most(usize::MAX);
    while let Some(snapshot) = follower.second() {
        investigation.frame(framer.frame(&snapshot));
    }
    std::iter::from_fn(|| follower.event(At(i64::MAX))).for_each(|event| investigation.event(&event));
    let summary = follower.end()?;
    Ok(investigation.conclude(&summary).expect("no run is longer than that"))
}
