//! A matrix's runs: one after another, compared at the end.
//!
//! A run that fails, or cannot be run at all, does not stop the others: their figures could only be had by running the
//! whole matrix again. `matrix.json` and `matrix.md` are written anew after each run, so a killed command leaves its
//! results so far. What the runs say together is answered after each of them as well, of what was run by then.

use crate::error::Error;
use crate::load::Script;
use crate::matrix_record::{MatrixRecord, Planned, begun};
use crate::output::Vocabulary;
use crate::results;
use crate::runs::RunSession;
use sonagi_report::matrix::{Asked, MARGIN};

/// Runs the script's remaining runs.
pub(crate) fn run(session: &mut RunSession<'_>, script: &mut Script) -> Result<(), Error> {
    let (options, terminal) = (session.options, session.terminal);
    let mut record = MatrixRecord::begin(session.pages.runs(), planned(script))?;
    let is_only = session.has_only(script);
    while let Some(job) = session.next(script) {
        let (label, name) = (job.label(), record.folder_name(&job.combination, job.turn));
        let mut run = begun(&job.combination, job.turn);
        run.seed = job.turn.map(|turn| turn.seed);
        if let Some(trouble) = run.before.and_then(|before| before.trouble()).filter(|_| !options.quiet) {
            terminal.say(&format!("notice: {label} begins on a busy machine: {trouble}"));
        }
        let mut folder = None;
        match session.run(script, job, record.folder.as_deref(), Some(name)) {
            Ok(finished) => {
                run.cause = finished.diagnosed.cause();
                if options.vocabulary == Vocabulary::Artillery {
                    results::tell(&finished, options, terminal)?;
                } else if !options.quiet {
                    let cause = run.cause.as_ref().map(|cause| format!("; {cause}")).unwrap_or_default();
                    terminal.say(&format!("{label}: {}{cause}", finished.summary.verdict.result.word()));
                }
                if options.shows_console()
                    && let Some(plot) = finished.folder.as_ref().and_then(|folder| session.pages.plot(folder))
                {
                    terminal.print(&format!("{label}\n{plot}\n"))?;
                }
                folder = finished.folder;
                run.summary = Some(finished.summary);
            }
            Err(error) => {
                session.failed(&error);
                run.error = Some(error.to_string());
            }
        }
        if let Err(error) = record.enter(run, folder.as_deref()) {
            session.failed(&error);
        }
    }
    if let Err(error) = record.write_page(&session.pages, is_only) {
        session.failed(&error);
    }
    if options.quiet || options.json || options.vocabulary == Vocabulary::Artillery {
        return Ok(());
    }
    terminal.print(&record.console(&session.pages, terminal.columns, terminal.colour))
}

/// What is planned of a script's runs.
fn planned(script: &Script) -> Planned {
    let compare = script.experiment.compare.as_ref().map(|compare| Asked {
        across: compare.across.clone(),
        primary: compare.primary.clone(),
        margin: compare.margin.unwrap_or(MARGIN),
    });
    Planned {
        name: script.name(),
        repeat: script.repeat,
        compare,
        runs: script.runs.iter().map(|run| (run.combination.clone(), run.turn)).collect(),
    }
}
