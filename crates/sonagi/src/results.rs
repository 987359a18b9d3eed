//! What the runs of a command line came to, printed and written: each run when it is over, and all of them at the end.

use crate::destination::Destination;
use crate::error::Error;
use crate::output::Vocabulary;
use crate::run_options::RunOptions;
use crate::runs::Finished;
use crate::terminal::Terminal;
use serde_json::Value;
use sonagi_measure::summary::Summary;
use sonagi_report::{console, json};

/// Prints the finished run as the options ask; documents wait until all runs are over.
pub(crate) fn tell(run: &Finished, options: &RunOptions, terminal: &Terminal) -> Result<(), Error> {
    if options.quiet || options.json {
        return Ok(());
    }
    options.vocabulary.print(&run.summary, terminal)?;
    if let Some(diagnosis) = run.diagnosed.text(run.summary.run_folder.as_deref(), terminal) {
        match options.vocabulary {
            Vocabulary::Sonagi => terminal.print(&format!("\n{diagnosis}"))?,
            Vocabulary::Artillery => terminal.say(diagnosis.trim_end()),
        }
    }
    terminal.print("\n")
}

/// How all runs are shown together.
pub(crate) struct ResultsLayout {
    pub(crate) is_array: bool,
    /// Whether there are several scripts.
    pub(crate) several: bool,
    /// Whether a quiet run's report could not be written: its summary must not be lost with it.
    pub(crate) is_last_resort: bool,
}

/// Prints the results of all runs together.
pub(crate) fn conclude(
    summaries: &[Summary],
    shown: ResultsLayout,
    options: &RunOptions,
    terminal: &Terminal,
) -> Result<(), Error> {
    if options.json {
        return match summaries {
            [] if !shown.is_array => Ok(()),
            [only] if !shown.is_array => terminal.print(&json::summary(only)),
            several => terminal.print(&json::summaries(several)),
        };
    }
    if shown.is_last_resort {
        summaries.iter().try_for_each(|summary| options.vocabulary.print(summary, terminal))?;
    }
    if options.shows_console() && shown.several && summaries.len() > 1 {
        terminal.print(&console::verdicts(summaries, terminal.columns, terminal.colour))?;
    }
    Ok(())
}

/// Writes the file of `--output`: all runs that were begun, however they ended.
pub(crate) fn report(
    destination: &Destination,
    mut reports: Vec<Value>,
    is_array: bool,
    options: &RunOptions,
    terminal: &Terminal,
) -> Result<(), Error> {
    if reports.is_empty() {
        return Ok(());
    }
    let document = if is_array { Value::Array(reports) } else { reports.remove(0) };
    destination.write(&format!("{document:#}\n"))?;
    if !options.quiet {
        terminal.say(&format!("report      {}", destination.path().display()));
    }
    Ok(())
}
