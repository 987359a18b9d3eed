//! `sonagi report`: a finished run's summary again, from its folder.

use crate::error::Error;
use crate::exit::Exit;
use crate::matrix;
use crate::output::{self, Vocabulary};
use crate::terminal::Terminal;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use sonagi_report::Matrix;
use std::path::PathBuf;

pub(super) const NAME: &str = "report";

pub(super) fn define() -> Command {
    Command::new(NAME)
        .about("Print a run's summary again, from its folder")
        .long_about(
            "Print a run's summary again, from its folder. A run that was cut off is read up to its last second on \
             disk. Of a folder that holds the runs over a matrix, the table that compares them. The exit code is 0 whatever the verdict was; 4 when the folder cannot be read.",
        )
        .arg(
            Arg::new("folder")
                .value_name("RUNFOLDER")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("A folder that `sonagi run` wrote"),
        )
        .arg(
            Arg::new("json")
                .long("json")
                .action(ArgAction::SetTrue)
                .conflicts_with("summary")
                .help("Print the summary as one JSON document"),
        )
        .arg(output::vocabulary_argument())
}

pub(super) fn run(matches: &ArgMatches, terminal: &Terminal) -> Result<Exit, Error> {
    let folder = matches.get_one::<PathBuf>("folder").expect("clap requires it");
    if let Some(runs) = matrix::read(folder) {
        return compare(&runs?, matches, terminal);
    }
    let summary = sonagi_measure::folder::read(folder).map_err(|error| {
        Error::could_not(format_args!("cannot read the run folder {}: {error}", folder.display()))
    })?;
    if matches.get_flag("json") {
        terminal.print(&sonagi_report::json::summary(&summary))?;
    } else {
        Vocabulary::of(matches).print(&summary, terminal)?;
    }
    Ok(Exit::Pass)
}

/// The runs over a matrix again, beside each other.
fn compare(runs: &Matrix, matches: &ArgMatches, terminal: &Terminal) -> Result<Exit, Error> {
    if Vocabulary::of(matches) == Vocabulary::Artillery {
        let what = "the folder holds runs over a matrix, and Artillery's words are for one run";
        return Err(Error::could_not(format_args!("{what}\nhint: name one of the folders in it")));
    }
    match matches.get_flag("json") {
        true => terminal.print(&runs.document())?,
        false => terminal.print(&runs.console(terminal.columns, terminal.colour))?,
    }
    Ok(Exit::Pass)
}
