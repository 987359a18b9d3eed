//! In which words a run is told.

use crate::error::Error;
use crate::terminal::Terminal;
use clap::builder::PossibleValue;
use clap::{Arg, ArgMatches};
use serde_json::Value;
use sonagi_artillery::report::{self as artillery, Periods};
use sonagi_measure::summary::Summary;
use sonagi_report::{Sink, SinkEvent};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The vocabulary of a printed summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Vocabulary {
    #[default]
    Sonagi,
    Artillery,
}

/// `--summary`.
pub(crate) fn vocabulary_argument() -> Arg {
    vocabulary().default_value("sonagi").help("Summary format")
}

/// `--summary`, where the run itself says what is usual.
pub(crate) fn vocabulary() -> Arg {
    Arg::new("summary").long("summary").value_name("WORDS").value_parser([
        PossibleValue::new("sonagi").help("verdict, delivery, latency, errors, the generator's health"),
        PossibleValue::new("artillery")
            .help("Artillery's dotted metric names; checks and verdict go to standard error"),
    ])
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
                terminal.print(&artillery::summary(summary))?;
                terminal.say(artillery::checks(summary).trim_end());
                Ok(())
            }
        }
    }
}

/// Artillery's report of a run under way: one hand follows the run, another takes the document when it is over.
#[derive(Clone, Default)]
pub(crate) struct Report(Arc<Mutex<Periods>>);

impl Report {
    fn periods(&self) -> MutexGuard<'_, Periods> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The document of what was followed, with the run's summary in it.
    pub(crate) fn document(&self, run: &Summary) -> Value {
        std::mem::take(&mut *self.periods()).document(run)
    }
}

impl Sink for Report {
    fn name(&self) -> &str {
        "the report"
    }
    fn event(&mut self, event: &SinkEvent) -> io::Result<()> {
        match event {
            SinkEvent::Began(header) => self.periods().began(header),
            SinkEvent::Second(snapshot) => self.periods().second(snapshot),
            _ => {}
        }
        Ok(())
    }
}
