//! The vocabulary of the printed summary: Sonagi's or Artillery's.

use crate::error::Error;
use crate::terminal::Terminal;
use clap::builder::PossibleValue;
use clap::{Arg, ArgMatches};
use sonagi_measure::summary::Summary;

/// The vocabulary of a printed summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vocabulary {
    Sonagi,
    Artillery,
}

/// `--summary`.
pub(crate) fn vocabulary_argument() -> Arg {
    Arg::new("summary")
        .long("summary")
        .value_name("WORDS")
        .value_parser([
            PossibleValue::new("sonagi").help("verdict, delivery, latency, errors, the generator's health"),
            PossibleValue::new("artillery")
                .help("Artillery's dotted metric names; checks and verdict go to standard error"),
        ])
        .default_value("sonagi")
        .help("Summary format")
}

impl Vocabulary {
    /// The value of `--summary`.
    pub(crate) fn of(matches: &ArgMatches) -> Vocabulary {
        match matches.get_one::<String>("summary").map(String::as_str) {
            Some("artillery") => Vocabulary::Artillery,
            _ => Vocabulary::Sonagi,
        }
    }

    /// Prints the summary. With Artillery's vocabulary standard output holds nothing else, for programs that read it;
    /// the verdict goes to stderr.
    pub(crate) fn print(self, summary: &Summary, terminal: &Terminal) -> Result<(), Error> {
        match self {
            Vocabulary::Sonagi => {
                let (columns, colour) = (terminal.columns, terminal.colour);
                terminal.print(&sonagi_report::console::summary(summary, columns, colour))
            }
            Vocabulary::Artillery => {
                terminal.print(&sonagi_report::artillery::summary(summary))?;
                terminal.say(sonagi_report::artillery::checks(summary).trim_end());
                Ok(())
            }
        }
    }
}
