//! In which words a summary is printed.

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
            PossibleValue::new("sonagi")
                .help("The verdict, delivery, latency, errors, the generator's health"),
            PossibleValue::new("artillery").help("Artillery's dotted metric names"),
        ])
        .default_value("sonagi")
        .help("In whose words the summary is printed")
}

impl Vocabulary {
    /// What `--summary` says.
    pub(crate) fn of(matches: &ArgMatches) -> Vocabulary {
        match matches.get_one::<String>("summary").map(String::as_str) {
            Some("artillery") => Vocabulary::Artillery,
            _ => Vocabulary::Sonagi,
        }
    }

    /// The summary as text.
    pub(crate) fn render(self, summary: &Summary, terminal: &Terminal) -> String {
        match self {
            Vocabulary::Sonagi => sonagi_report::console::summary(summary, terminal.columns, terminal.colour),
            Vocabulary::Artillery => sonagi_report::artillery::summary(summary),
        }
    }
}
