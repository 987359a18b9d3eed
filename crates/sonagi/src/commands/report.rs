//! `sonagi report`: prints a run's summary again, from its folder or from its report file.

use crate::compared_runs;
use crate::destination::Destination;
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{self, Vocabulary};
use crate::page;
use crate::recorded::{of_report, open, unread};
use crate::terminal::Terminal;
use crate::{capacity_folder, languages, matrix_folder};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::Value;
use sonagi_artillery::names;
use sonagi_artillery::report::Periods;
use sonagi_k6::summary::Recorded;
use sonagi_measure::folder::{self, RUN, RunState};
use sonagi_measure::summary::Summary;
use sonagi_report::console::{self, CUT_OFF, UNDER_WAY};
use sonagi_report::figures::counted;
use sonagi_report::{Capacity, Matrix};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) const NAME: &str = "report";

/// Limit on the runs of a folder that are listed.
const LISTED: usize = 20;

pub(super) fn define() -> Command {
    Command::new(NAME)
        .about("Print a run's summary again, from its folder")
        .long_about(
            "Print a run's summary again, from its folder: of a k6 script k6's own, as it was when the test ended \
             (what `handleSummary` made of it is not made again). A run that was cut off is read up to its last second \
             on disk, one under way up to now. For the folder of a matrix it prints the table that compares the runs, \
             for that of a search for a capacity its answer; for any other folder of runs, such as `runs`, a list of \
             them, newest first. The exit code is 0 whatever the verdict; 4 if the folder cannot be read.",
        )
        .arg(
            Arg::new("folder")
                .value_name("RUNFOLDER")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("A run folder, a folder of run folders, or a report file of `sonagi run --output`"),
        )
        .arg(
            Arg::new("json")
                .long("json")
                .action(ArgAction::SetTrue)
                .conflicts_with("summary")
                .help("Print the summary as one JSON document"),
        )
        .arg(
            Arg::new("csv")
                .long("csv")
                .action(ArgAction::SetTrue)
                .conflicts_with_all(["json", "summary"])
                .help("Print a table instead, a row a second (docs/metrics.md); with --output, write it there"),
        )
        .arg(
            Arg::new("output")
                .short('o')
                .long("output")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("Write a report to this file: a page with everything in it if its name ends in .html, else (and \
                       into a folder) that of `sonagi run --output`. Of a matrix or a search a page alone"),
        )
        .arg(
            Arg::new("plot")
                .long("plot")
                .action(ArgAction::SetTrue)
                .conflicts_with_all(["json", "csv"])
                .help("Print latencies and rate as a small plot below the summary"),
        )
        .arg(output::vocabulary().help("Summary format; default: k6's of a k6 script's run, else sonagi"))
}

pub(super) fn run(matches: &ArgMatches, terminal: &Terminal) -> Result<Exit, Error> {
    let folder = matches.get_one::<PathBuf>("folder").expect("clap requires it");
    if let Some(runs) = matrix_folder::read(folder) {
        let mut runs = runs?;
        compared_runs::judge(&mut runs, folder);
        return compare(folder, &runs, matches, terminal);
    }
    if let Some(search) = capacity_folder::read(folder) {
        return searched(&search?, matches, terminal);
    }
    if let Some(runs) = runs_in(folder) {
        return list(&runs, matches, terminal);
    }
    if matches.get_flag("csv") {
        return table(folder, matches, terminal);
    }
    let is_file = folder.is_file();
    // Before it is read: what a run had when it was over is then read.
    let state = if is_file { RunState::Complete } else { RunState::of(folder) };
    let own = if is_file { None } else { sonagi_k6::summary::recorded(&open(folder)?, state) };
    let summary = match &own {
        Some(recorded) => recorded.record.clone(),
        None if is_file => of_report(folder)?,
        None => folder::read(folder, names::NAMING).map_err(|error| unread(folder, &error))?,
    };
    let is_watch = !is_file && languages::is_watch(open(folder)?.header());
    let summary = if is_watch { languages::unjudged(summary) } else { summary };
    let is_under_way = state == RunState::Running && !summary.complete && !summary.interrupted;
    let written = matches.get_one::<PathBuf>("output").map_or(Ok(()), |path| match is_page(path) {
        true => page(path, folder, terminal),
        false => write(path, folder, &summary),
    });
    if matches.get_flag("json") {
        terminal.print(&sonagi_report::json::summary(&summary))?;
    } else if let Some(recorded) = own.filter(|_| !matches.contains_id("summary")) {
        print_own(&recorded, is_under_way, terminal)?;
    } else if is_under_way && Vocabulary::of(matches) == Vocabulary::Sonagi {
        terminal.print(&console::under_way(&summary, terminal.columns, terminal.colour))?;
    } else if is_watch {
        terminal.print(&console::watched(&summary, terminal.columns, terminal.colour))?;
    } else {
        Vocabulary::of(matches).print(&summary, terminal)?;
    }
    if let Some(plot) = matches.get_flag("plot").then(|| page::plotted(folder, terminal)).flatten() {
        terminal.print(&format!("\n{plot}"))?;
    }
    written.map(|()| Exit::Pass)
}

/// Prints the summary that a k6 script's run has of its own.
fn print_own(recorded: &Recorded, is_under_way: bool, terminal: &Terminal) -> Result<(), Error> {
    if recorded.is_handled {
        terminal.say("notice: the script's handleSummary() is not called again; this is k6's own summary");
    }
    if recorded.is_cut_off {
        let why = if is_under_way { UNDER_WAY } else { CUT_OFF };
        terminal.print(&format!("\n{why}\n"))?;
    }
    terminal.print(&format!("\n{}\n", recorded.summary.text(terminal.colour)))
}

/// Writes every second as a row.
fn table(folder: &Path, matches: &ArgMatches, terminal: &Terminal) -> Result<Exit, Error> {
    if folder.is_file() {
        let what = "a report file has no seconds to make a table of";
        return Err(Error::could_not(format_args!("{what}\nhint: name the run folder")));
    }
    let run = open(folder)?;
    match matches.get_one::<PathBuf>("output") {
        Some(path) => Destination::of_table(path, &run.header().started)?
            .fill(|file| sonagi_report::table::write(&run, BufWriter::new(file)))?,
        None => terminal.fill(|out| sonagi_report::table::write(&run, out))?,
    }
    Ok(Exit::Pass)
}

/// Whether a file of this name is a page.
fn is_page(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "html" || ending == "htm")
}

/// Writes the page with the run in it.
fn page(path: &Path, folder: &Path, terminal: &Terminal) -> Result<(), Error> {
    if folder.is_file() {
        let what = "a report file has no seconds to make a page of";
        return Err(Error::could_not(format_args!("{what}\nhint: name the run folder")));
    }
    let written = page::write(folder, path, false)?;
    terminal.say(&format!("page        {}", written.display()));
    Ok(())
}

/// Writes the report to a file.
fn write(path: &Path, folder: &Path, summary: &Summary) -> Result<(), Error> {
    if folder.is_file() {
        let what = "a report file has no seconds to make a report of";
        return Err(Error::could_not(format_args!("{what}\nhint: name the run folder")));
    }
    Destination::prepare(path, &summary.started)?.write(&format!("{:#}\n", again(folder, summary)?))
}

/// The runs in a folder that is no run itself, newest first: their names begin with their time. None: it holds no run.
fn runs_in(folder: &Path) -> Option<Vec<PathBuf>> {
    let is_run = |path: &PathBuf| {
        [RUN, matrix_folder::DOCUMENT, capacity_folder::DOCUMENT].iter().any(|name| path.join(name).is_file())
    };
    if is_run(&folder.to_owned()) {
        return None;
    }
    let entries = std::fs::read_dir(folder).ok()?;
    let mut runs: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_run).collect();
    runs.sort_by(|one, other| other.cmp(one));
    (!runs.is_empty()).then_some(runs)
}

/// A line for each run: its verdict and its folder.
fn list(runs: &[PathBuf], matches: &ArgMatches, terminal: &Terminal) -> Result<Exit, Error> {
    if matches.get_flag("json")
        || matches.get_flag("csv")
        || matches.contains_id("output")
        || Vocabulary::of(matches) == Vocabulary::Artillery
    {
        let what = "the folder holds several runs, and a report is of one";
        let newest = runs.first().map_or_else(String::new, |run| run.display().to_string());
        return Err(Error::could_not(format_args!("{what}\nhint: name one of them, e.g. {newest}")));
    }
    for run in runs.iter().take(LISTED) {
        terminal.print(&format!("{:<11} {}\n", verdict(run), run.display()))?;
    }
    if let Some(left_out) = runs.len().checked_sub(LISTED).filter(|left_out| *left_out > 0) {
        terminal.print(&format!("and {}\n", counted(left_out as u64, "older run")))?;
    }
    Ok(Exit::Pass)
}

/// The verdict in one word, without reading the run's seconds.
fn verdict(run: &Path) -> String {
    if run.join(matrix_folder::DOCUMENT).is_file() {
        return "matrix".to_owned();
    }
    if run.join(capacity_folder::DOCUMENT).is_file() {
        return "capacity".to_owned();
    }
    if folder::header(run).is_ok_and(|header| languages::is_watch(&header)) {
        return console::WATCHED.to_owned();
    }
    let text = std::fs::read(run.join(RUN)).unwrap_or_default();
    let document: Value = serde_json::from_slice(&text).unwrap_or_default();
    let result = document["summary"]["verdict"]["result"].as_str();
    match (result, RunState::of(run)) {
        (Some(result), _) => result.to_uppercase(),
        (None, RunState::Running) => "running".to_owned(),
        (None, _) => "cut off".to_owned(),
    }
}

/// The report with its periods, from the folder's seconds.
fn again(folder: &Path, summary: &Summary) -> Result<Value, Error> {
    let run = open(folder)?;
    let mut periods = Periods::default();
    periods.began(run.header());
    run.seconds(&Arc::default()).for_each(|second| periods.second(&second));
    Ok(periods.document(summary))
}

/// Prints a search for a capacity again.
fn searched(search: &Capacity, matches: &ArgMatches, terminal: &Terminal) -> Result<Exit, Error> {
    let what = "the folder holds the trials of a search, and tables, plots and other reports are of one run";
    if let Some(path) = page_of_several(matches, &["csv", "plot"], what, "capacity.html")? {
        let written = page::write_several(&page::of_capacity(search, false, None), &search.started, path)?;
        terminal.say(&format!("page        {}", written.display()));
    }
    super::capacity::print(search, matches.get_flag("json"), terminal).map(|()| Exit::Pass)
}

/// The file for the page of several runs, if one is wanted. These flags, Artillery's words and other files are for one
/// run, and refused.
fn page_of_several<'m>(
    matches: &'m ArgMatches,
    of_one: &[&str],
    what: &str,
    example: &str,
) -> Result<Option<&'m PathBuf>, Error> {
    let output = matches.get_one::<PathBuf>("output");
    let is_of_one = of_one.iter().any(|flag| matches.get_flag(flag))
        || output.is_some_and(|path| !is_page(path))
        || Vocabulary::of(matches) == Vocabulary::Artillery;
    if is_of_one {
        let hint = format!("name one of the folders in it, or a page (`-o {example}`)");
        return Err(Error::could_not(format_args!("{what}\nhint: {hint}")));
    }
    Ok(output)
}

/// Prints a matrix's runs side by side again.
fn compare(folder: &Path, runs: &Matrix, matches: &ArgMatches, terminal: &Terminal) -> Result<Exit, Error> {
    let what =
        "the folder holds runs over a matrix, and Artillery's words, reports and tables are for one run";
    if let Some(path) = page_of_several(matches, &["csv"], what, "matrix.html")? {
        let written = page::write_several(&page::of_matrix(runs, None), &runs.started, path)?;
        terminal.say(&format!("page        {}", written.display()));
    }
    match matches.get_flag("json") {
        true => terminal.print(&runs.document())?,
        false => terminal.print(&runs.console(terminal.columns, terminal.colour))?,
    }
    if matches.get_flag("plot") {
        for run in &runs.runs {
            let plot =
                matrix_folder::folder_of(folder, run).and_then(|folder| page::plotted(&folder, terminal));
            plot.map_or(Ok(()), |plot| terminal.print(&format!("\n{}\n{plot}", run.label())))?;
        }
    }
    Ok(Exit::Pass)
}
