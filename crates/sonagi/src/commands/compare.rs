//! `sonagi compare`: which of two sides of runs is better, by how much, and how sure that is.

use crate::baseline::Baseline;
use crate::compared_runs::{self, Recent};
use crate::error::Error;
use crate::exit::Exit;
use crate::page;
use crate::runs;
use crate::terminal::Terminal;
use crate::warm_up::WarmUpWish;
use clap::{Arg, ArgAction, ArgMatches, Command, builder::PossibleValuesParser, value_parser};
use sonagi_measure::totals::Header;
use sonagi_verdict::compare::{self, Comparison, Judgement, Observation, Question, Side};
use std::path::{Path, PathBuf};

pub(super) const NAME: &str = "compare";

/// Where runs are kept by default.
const RUNS: &str = "runs";

pub(super) fn define() -> Command {
    Command::new(NAME)
        .about("Compare two sides of runs: better, worse, the same within a margin, or not to be said yet")
        .override_usage(
            "sonagi compare [OPTIONS] RUN… -- RUN…\n       sonagi compare [OPTIONS] --baseline NAME [RUN…]\n       \
             sonagi compare --save-baseline NAME RUN…",
        )
        .long_about(
            "Compare the runs before `--` (side A) with those behind it (side B): the primary figure decides, with the \
             95 % interval of its ratio over the runs. A single run a side is never called better or worse: five \
             are the least, ten a good number, made in turn. Each RUN is a run folder, a folder of runs, a report of \
             `sonagi run --output`, or one of k6's --summary-export or Artillery's --output.\n\n\
             BETTER or WORSE: the difference is beyond the margin and no chance (one in twenty). SAME: the whole \
             interval lies inside the margin. INCONCLUSIVE: so many runs cannot tell; it says how many would. NOT \
             COMPARABLE (exit code 3): script, load, machine, threads or version differ, and --across does not say so.",
        )
        .args(sides())
        .args(question())
        .args(answers())
}

fn runs_argument(id: &'static str) -> Arg {
    Arg::new(id).value_name("RUN").num_args(1..).value_parser(value_parser!(PathBuf))
}

fn sides() -> [Arg; 4] {
    [
        runs_argument("a").help("Runs of side A; with --baseline, of side B"),
        runs_argument("b").last(true).help("Runs of side B"),
        Arg::new("baseline")
            .long("baseline")
            .value_name("NAME")
            .conflicts_with("b")
            .help(
                "Side A is a baseline that was saved; without RUN, side B is what ran of its script in `runs` since \
                 (the newest 100 runs)",
            ),
        Arg::new("save-baseline")
            .long("save-baseline")
            .value_name("NAME")
            .requires("a")
            .conflicts_with_all(["b", "baseline", "fail-on", "report"])
            .help(
                "Save the runs as a baseline: .sonagi/baselines/NAME.json (a name with `/` or `.` is a path)",
            ),
    ]
}

fn question() -> [Arg; 5] {
    [
        Arg::new("primary").long("primary").value_name("FIGURE").help(
            "The figure that decides, by its name in thresholds; default: p99 of deliveries, or of the responses of \
             the kind with most operations",
        ),
        Arg::new("metric")
            .long("metric")
            .value_name("FIGURE")
            .action(ArgAction::Append)
            .help("Compare this figure as well; may be repeated"),
        Arg::new("margin")
            .long("margin")
            .value_name("PERCENT")
            .default_value("5%")
            .value_parser(sonagi_artillery::margin)
            .help("A change of a time or a rate within it does not matter"),
        Arg::new("warm-up")
            .long("warm-up")
            .value_name("CUT")
            .default_value("auto")
            .value_parser(WarmUpWish::parse)
            .help(
                "Leave the times of a run's begin out: what MSER-5 finds (auto), nothing (none), or so long, e.g. 10s",
            ),
        Arg::new("across")
            .long("across")
            .value_name("CONDITION")
            .action(ArgAction::Append)
            .value_delimiter(',')
            .help("What was changed on purpose: script, load, machine, threads, sonagi, an axis of a matrix"),
    ]
}

fn answers() -> [Arg; 4] {
    [
        Arg::new("fail-on")
            .long("fail-on")
            .value_name("VERDICT")
            .value_parser(PossibleValuesParser::new(["worse", "inconclusive", "never"]))
            .default_value("never")
            .help("End with 1 when side B is worse; `inconclusive`: also when that cannot be said"),
        Arg::new("json")
            .long("json")
            .action(ArgAction::SetTrue)
            .help("Print the comparison as one JSON document"),
        Arg::new("markdown")
            .long("markdown")
            .action(ArgAction::SetTrue)
            .conflicts_with("json")
            .help("Print it as Markdown, for a pull request"),
        Arg::new("report").long("report").value_name("FILE").value_parser(value_parser!(PathBuf)).help(
            "Write it as a page that needs nothing but itself, with a dot for each run, e.g. compare.html",
        ),
    ]
}

pub(super) fn run(matches: &ArgMatches, terminal: &Terminal) -> Result<Exit, Error> {
    let named = |id: &str| matches.get_many::<PathBuf>(id).into_iter().flatten().cloned().collect::<Vec<_>>();
    let cut = matches.get_one::<WarmUpWish>("warm-up").copied().unwrap_or_default();
    if let Some(name) = matches.get_one::<String>("save-baseline") {
        return save(name, &compared_runs::all(&named("a"), cut)?, terminal);
    }
    let sides = match matches.get_one::<String>("baseline") {
        Some(name) => against(&Baseline::read(name)?, &named("a"), cut, terminal)?,
        None => two(&named("a"), &named("b"), cut)?,
    };
    let comparison = compare::compare(&sides, &asked(matches));
    if matches.get_flag("json") {
        let text = serde_json::to_string_pretty(&comparison).map_err(Error::could_not)?;
        terminal.print(&format!("{text}\n"))?;
    } else if matches.get_flag("markdown") {
        terminal.print(&sonagi_report::comparison::markdown(&comparison))?;
    } else {
        terminal.print(&sonagi_report::comparison::text(&comparison, terminal.columns, terminal.colour))?;
    }
    if let Some(named) = matches.get_one::<PathBuf>("report") {
        let now = runs::now()?;
        let written = page::write_several(&page::of_comparison(&comparison, &now), &now, named)?;
        terminal.say(&format!("report      {}", written.display()));
    }
    Ok(exit(&comparison, matches.get_one::<String>("fail-on").map_or("never", String::as_str)))
}

fn asked(matches: &ArgMatches) -> Question {
    let all = |id: &str| matches.get_many::<String>(id).into_iter().flatten().cloned().collect();
    Question {
        primary: matches.get_one::<String>("primary").cloned(),
        metrics: all("metric"),
        margin: *matches.get_one::<f64>("margin").expect("it has a default"),
        across: all("across"),
    }
}

fn exit(comparison: &Comparison, fail_on: &str) -> Exit {
    match (comparison.verdict, fail_on) {
        (Judgement::NotComparable, _) => Exit::Invalid,
        (Judgement::Worse, "worse" | "inconclusive") | (Judgement::Inconclusive, "inconclusive") => {
            Exit::Fail
        }
        _ => Exit::Pass,
    }
}

fn save(name: &str, runs: &[Observation], terminal: &Terminal) -> Result<Exit, Error> {
    let baseline = Baseline::of(runs.to_vec())?;
    let path = baseline.write(name)?;
    let count = sonagi_report::figures::counted(baseline.runs.len() as u64, "run");
    terminal.print(&format!("baseline    {count} in {}\n", path.display()))?;
    Ok(Exit::Pass)
}

fn two(a: &[PathBuf], b: &[PathBuf], cut: WarmUpWish) -> Result<[Side; 2], Error> {
    if a.is_empty() || b.is_empty() {
        return Err(Error::Problems(String::from(
            "error: two sides of runs are compared, and one is missing\nhint: sonagi compare runs/old-* -- runs/new-*, \
             or --baseline NAME",
        )));
    }
    Ok([side("A", compared_runs::all(a, cut)?), side("B", compared_runs::all(b, cut)?)])
}

/// The runs named, or what ran since, against a baseline.
fn against(
    baseline: &Baseline,
    named: &[PathBuf],
    cut: WarmUpWish,
    terminal: &Terminal,
) -> Result<[Side; 2], Error> {
    let runs = match named.is_empty() {
        true => since(baseline, cut, terminal)?,
        false => compared_runs::all(named, cut)?,
    };
    Ok([side("baseline", baseline.runs.clone()), side("now", runs)])
}

/// The runs of the baseline's script that were begun since, and which these are.
fn since(baseline: &Baseline, cut: WarmUpWish, terminal: &Terminal) -> Result<Vec<Observation>, Error> {
    let newest = baseline.runs.iter().map(|run| run.started.as_str()).max().unwrap_or_default();
    let is_wanted = |run: &Header| run.started.as_str() > newest && baseline.has_script_of(run);
    let Recent { runs, older } = compared_runs::recent(Path::new(RUNS), &is_wanted, cut)?;
    let count = sonagi_report::figures::counted(runs.len() as u64, "run");
    let of = if older > 0 { format!("the newest {count} of {}", older + runs.len()) } else { count };
    terminal.say(&format!("notice: side B is {of} of this script begun in {RUNS} since {newest}"));
    if runs.is_empty() {
        let what = format!("no run of the baseline's script was begun in {RUNS} since {newest}");
        return Err(Error::could_not(format_args!("{what}\nhint: name the runs: --baseline NAME RUN…")));
    }
    Ok(runs)
}

fn side(label: &str, runs: Vec<Observation>) -> Side {
    Side { label: label.to_owned(), runs }
}
