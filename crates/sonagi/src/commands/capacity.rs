//! `sonagi capacity`: the highest load that a target holds, as a bracket of confirmed trials.

use crate::capacity::{
    self, ArtilleryTrials, Asked, Machine, REPEATS_ITSELF, Record, TrialLength, Trials, Varied, Varying,
};
use crate::error::Error;
use crate::exit::Exit;
use crate::k6::{K6Asked, K6Trials};
use crate::page::{self, Listen, PageWish, Server, Subject};
use crate::run_options::RunOptions;
use crate::runs::{self, RunSession};
use crate::target_watch::{self, WatchWish};
use crate::terminal::Terminal;
use crate::{invocation, k6, load, values};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use sonagi_artillery::Overrides;
use sonagi_measure::summary::FailOnStatus;
use sonagi_measure::thresholds::Threshold;
use sonagi_report::Capacity;
use sonagi_report::capacity::time;
use sonagi_verdict::capacity::{End, Found, Goal};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(super) const NAME: &str = "capacity";

/// The lowest and the highest load, of a rate or of users.
const RANGE: (u64, u64) = (10, 10_000);
/// Longer than an open page waits before it asks again.
const LAST_LOOK: Duration = Duration::from_millis(2500);

pub(super) fn define() -> Command {
    Command::new(NAME)
        .about("Find the highest load that a target holds: a bracket of confirmed trials")
        .long_about(
            "Find the highest load that a target holds: a load at which the expression held in three trials of three, \
             and one at most --width above it at which it failed. Trials climb from --from, close in, and confirm both \
             ends (MLRsearch, RFC 9971); between them, the target recovers. What is varied is the arrival rate, the \
             number of users, or a variable of the script.\n\n\
             A trial in which the generator fell behind says nothing of the target: the answer is then `at least`. \
             Trials are kept in a folder of --runs, and `sonagi report FOLDER` prints the answer again \
             (docs/capacity.md).",
        )
        .arg(
            Arg::new("script")
                .value_name("SCRIPT")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("An Artillery script (YAML or JSON), or a k6 script (JavaScript or TypeScript)"),
        )
        .args(question())
        .args(range())
        .args(lengths())
        .args(load::changes())
        .args(conduct())
        .args(page::arguments_of_search())
        .args(target_watch::arguments())
}

fn question() -> [Arg; 2] {
    [
        Arg::new("until").long("until").value_name("EXPRESSION").required(true).help(
            "What a load must hold, in the words of thresholds, e.g. 'delivery.ratio >= 0.999 and \
             delivery.latency_ms.p99 < 300'",
        ),
        Arg::new("vary").long("vary").value_name("WHAT").default_value("rate").help(
            "What is varied: `rate` (arrivals per second), `users` (at a time), or the name of a variable or matrix \
             axis; of a k6 script, of a variable in __ENV",
        ),
    ]
}

fn range() -> [Arg; 3] {
    let load = |name: &'static str| {
        Arg::new(name).long(name).value_name("LOAD").value_parser(value_parser!(u64).range(1..=1_000_000_000))
    };
    [
        load("from").help("The lowest load, which must hold; default: 10 of a rate or of users"),
        load("to").help("The highest load; default: 10,000 of a rate or of users"),
        Arg::new("width")
            .long("width")
            .value_name("PERCENT")
            .default_value("5%")
            .help("The widest bracket, as a share of its upper end"),
    ]
}

fn lengths() -> [Arg; 2] {
    let time = |name: &'static str, default| {
        Arg::new(name)
            .long(name)
            .value_name("TIME")
            .default_value(default)
            .value_parser(values::positive_duration)
    };
    [
        time("budget", "15m").help("The longest that it may take; no trial begins that would end later"),
        time("trial", "20s").help(
            "The length of a trial that confirms; longer where that has too few events to assert the expression",
        ),
    ]
}

fn conduct() -> [Arg; 6] {
    [
        Arg::new("env")
            .long("env")
            .value_name("NAME=VALUE")
            .action(ArgAction::Append)
            .help("Set a variable of __ENV of a k6 script; repeatable"),
        Arg::new("fresh")
            .long("fresh")
            .action(ArgAction::SetTrue)
            .help("Start the service of `serve:` or `launch` anew for each trial; default: once for all"),
        Arg::new("quiet").short('q').long("quiet").action(ArgAction::SetTrue).help("Print no progress"),
        Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print one JSON document"),
        Arg::new("runs")
            .long("runs")
            .value_name("DIR")
            .default_value("runs")
            .value_parser(value_parser!(PathBuf))
            .help("Write the folder of the trials into this folder"),
        Arg::new("shards")
            .long("shards")
            .value_name("N")
            .value_parser(value_parser!(u16).range(1..=1024))
            .help("Threads that generate load; default: one per core"),
    ]
}

/// What the flags come to.
struct Flags {
    script: PathBuf,
    until: String,
    varied: Varied,
    goal: Goal,
    budget: Duration,
    fresh: bool,
    quiet: bool,
    runs: PathBuf,
    shards: Option<usize>,
    watch: WatchWish,
    /// Where the page is served.
    page: Option<Listen>,
}

impl Flags {
    /// The flags, and all that is wrong with them.
    fn of(matches: &ArgMatches) -> (Flags, Vec<String>) {
        let text = |name: &str| matches.get_one::<String>(name).cloned().unwrap_or_default();
        let path = |name: &str| matches.get_one::<PathBuf>(name).cloned().unwrap_or_default();
        let duration = |name: &str| matches.get_one::<Duration>(name).copied().unwrap_or_default();
        let mut problems = Vec::new();
        let varied = Varied::named(&text("vary"));
        let bound = |name: &str| matches.get_one::<u64>(name).copied();
        let (from, to) = match (&varied, bound("from"), bound("to")) {
            (Varied::Variable(name), from, to) if from.is_none() || to.is_none() => {
                problems.push(format!(
                    "error: --vary {name}: a variable has no usual range, and --from or --to is missing\nhint: e.g. \
                     --from 10 --to 1000"
                ));
                let from = from.unwrap_or(1);
                (from, to.unwrap_or(from + 1))
            }
            (_, from, to) => (from.unwrap_or(RANGE.0), to.unwrap_or(RANGE.1)),
        };
        if from >= to {
            problems.push(format!(
                "error: --to: the highest load is above the lowest; got {to}, and --from is {from}"
            ));
        }
        let width =
            values::width(&text("width")).map_err(|why| problems.push(format!("error: --width: {why}")));
        let width = width.unwrap_or(0.05);
        let watch = WatchWish::of(matches);
        problems.extend(target_watch::judge(&watch.texts).err().map(|why| format!("error: --watch: {why}")));
        let flags = Flags {
            script: path("script"),
            until: text("until"),
            goal: Goal::of(from, to, width, duration("trial").as_secs_f64()),
            varied,
            budget: duration("budget"),
            fresh: matches.get_flag("fresh"),
            quiet: matches.get_flag("quiet"),
            runs: path("runs"),
            shards: matches.get_one::<u16>("shards").map(|n| usize::from(*n)),
            watch,
            page: PageWish::of(matches).served,
        };
        (flags, problems)
    }

    /// Asks for trials as they can be had; the problem of a budget that has no room for one.
    fn fit(&mut self, length: TrialLength) -> Option<String> {
        self.goal = length.fitted(self.goal);
        let (trial_s, budget_s) = (self.goal.final_s, self.budget.as_secs_f64());
        (budget_s < trial_s).then(|| {
            format!(
                "error: --budget: it is shorter than one trial ({trial_s} s); got {budget_s} s\nhint: a search takes \
                 about fifteen trials; the default is 15m"
            )
        })
    }

    fn run_options(&self) -> RunOptions {
        RunOptions {
            quiet: true,
            runs: Some(self.runs.clone()),
            shards: self.shards,
            fail_on_status: FailOnStatus::Never,
            watch: self.watch.clone(),
            ..RunOptions::default()
        }
    }

    fn asked(&self, until: Threshold, machine: Machine) -> Asked {
        Asked {
            goal: self.goal,
            varied: self.varied.clone(),
            until,
            budget: self.budget,
            recovers: !self.fresh,
            quiet: self.quiet,
            machine,
        }
    }

    /// The record of a search that begins now.
    fn record(&self) -> Result<Record, Error> {
        let name = self.script.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let capacity = Capacity {
            name,
            started: runs::now()?,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command: invocation::command(),
            varied: self.varied.to_string(),
            until: self.until.clone(),
            goal: self.goal,
            end: None,
            found: Found::default(),
            operate_at: None,
            limited_by: None,
            preflight: None,
            generator_limit: None,
            trouble: None,
            trials: Vec::new(),
            recoveries: Vec::new(),
            budget_s: self.budget.as_secs_f64(),
            used_s: 0.0,
        };
        Record::begin(&self.runs, capacity)
    }
}

pub(super) fn run(matches: &ArgMatches, terminal: &Terminal) -> Result<Exit, Error> {
    let (mut flags, mut problems) = Flags::of(matches);
    let until = Threshold::new(flags.until.clone(), true);
    let (record, is_well) = if k6::is_script(&flags.script) {
        problems.extend(flags.fit(K6Trials::LENGTH));
        problems.extend(until.error().map(|error| {
            let hint = error.hint.as_ref().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
            format!("error: --until: {}{hint}", error.what)
        }));
        problems.extend(of_yaml(matches));
        let asked = of_k6(matches, &flags, &until)?;
        // Before there is a service of ours, which must not be taken for what others use.
        let machine = Machine::read();
        let mut trials = K6Trials::start(asked, problems, terminal)?;
        let record = searched(&mut trials, &flags.asked(until, machine), &flags, terminal);
        let is_well = trials.end();
        (record?, is_well)
    } else {
        of_artillery(matches, flags, problems, terminal)?
    };
    Ok(shown(record, matches, terminal)?.worst(if is_well { Exit::Pass } else { Exit::CouldNotRun }))
}

/// A flag that changes scripts and means something for those of k6, too.
const OF_BOTH: &str = "scenario-name";

/// A problem for each flag that was given and changes YAML scripts alone: of a k6 script it would change nothing, and
/// the answer would be to another question.
fn of_yaml(matches: &ArgMatches) -> Vec<String> {
    let is_given =
        |flag: &&str| matches.value_source(flag) == Some(ValueSource::CommandLine) && *flag != OF_BOTH;
    let problem = |flag: &str| {
        let hint = match flag {
            "insecure" => "options.insecureSkipTLSVerify",
            _ => "--env NAME=VALUE sets a variable of __ENV, which the script may read",
        };
        format!("error: --{flag}: it changes YAML scripts, and nothing of a k6 script\nhint: {hint}")
    };
    let changes = load::changes();
    changes.iter().map(|flag| flag.get_id().as_str()).filter(is_given).map(problem).collect()
}

fn of_k6(matches: &ArgMatches, flags: &Flags, until: &Threshold) -> Result<K6Asked, Error> {
    let pairs = matches.get_many::<String>("env").into_iter().flatten();
    let pair = |text: &String| {
        let (name, value) = text.split_once('=').ok_or_else(|| {
            Error::flag("--env", format_args!("a variable is given as NAME=VALUE; got `{text}`"))
        })?;
        Ok((name.to_owned(), value.to_owned()))
    };
    Ok(K6Asked {
        script: flags.script.clone(),
        varied: flags.varied.clone(),
        until: until.clone(),
        range: (flags.goal.from, flags.goal.to),
        environment: pairs.map(pair).collect::<Result<_, Error>>()?,
        scenario: matches.get_one::<String>("scenario-name").cloned(),
        shards: flags.shards,
        watch: flags.watch.clone(),
        fresh: flags.fresh,
    })
}

fn of_artillery(
    matches: &ArgMatches,
    mut flags: Flags,
    mut problems: Vec<String>,
    terminal: &Terminal,
) -> Result<(Record, bool), Error> {
    let overrides = load::overrides(matches, terminal)?;
    if overrides.solo {
        problems.push("error: --solo: one user alone has no load to be varied".to_owned());
    }
    if matches.contains_id("env") {
        problems.push(
            "error: --env: it sets variables of k6 scripts\nhint: --variables '{\"name\": 1}'".to_owned(),
        );
    }
    let overrides = Overrides { until: Some(flags.until.clone()), ..overrides };
    let range = (flags.goal.from, flags.goal.to);
    let varying = Varying::of(&flags.script, overrides, flags.varied.clone(), range);
    problems.extend(flags.fit(varying.as_ref().map_or(TrialLength::AS_ASKED, Varying::length)));
    let is_another = varying.as_ref().is_ok_and(Varying::service_follows) && !flags.fresh;
    problems.extend(is_another.then(|| capacity::service_is_varied(&flags.varied)));
    let varying = match varying {
        Ok(varying) if problems.is_empty() => varying,
        other => {
            problems.extend(other.err().map(|found| found.to_string()));
            return Err(Error::Problems(problems.join("\n")));
        }
    };
    if varying.length().is_of_script() && !flags.quiet {
        terminal.say(&format!(
            "notice: the script's phases say how long a trial is: users come for {}, and it lasts until the last is \
             done; --trial changes nothing (a script with one phase of `arrivalRate` or `users` leaves it to us)",
            time(flags.goal.final_s)
        ));
    }
    if varying.is_experiment() && !flags.quiet {
        terminal.say(REPEATS_ITSELF);
    }
    // Its threshold is the script's own reading of the expression, in which names of the script are quoted.
    let until = varying.until()?;
    let machine = Machine::read();
    let options = flags.run_options();
    let session = RunSession::start(&options, terminal, 1)?;
    let mut trials = ArtilleryTrials::start(session, varying, flags.fresh)?;
    // From here on a service may run: whatever happens, it is ended, and what goes wrong around that is told.
    let record = searched(&mut trials, &flags.asked(until, machine), &flags, terminal);
    let is_well = trials.end();
    Ok((record?, is_well))
}

fn searched(
    trials: &mut dyn Trials,
    asked: &Asked,
    flags: &Flags,
    terminal: &Terminal,
) -> Result<Record, Error> {
    // First: an address that is taken leaves no folder behind.
    let server = flags.page.as_ref().map(|listen| served(listen, &flags.runs)).transpose()?;
    let mut record = flags.record()?;
    if let Some(server) = &server {
        terminal.say(&format!("page        {}/capacities/{}", server.url(), page::id(record.folder())));
    }
    capacity::search(trials, asked, &mut record, terminal)?;
    if server.is_some() {
        // Whoever looks on has the answer before the page is gone.
        std::thread::sleep(LAST_LOOK);
    }
    if !flags.quiet {
        terminal.say(&format!("trials      {}", record.folder().display()));
    }
    Ok(record)
}

/// Serves the pages of the searches in `runs`.
fn served(listen: &Listen, runs: &Path) -> Result<Server, Error> {
    std::fs::create_dir_all(runs).map_err(|error| Error::file("write", runs, error))?;
    let library = runs.canonicalize().map_err(|error| Error::file("read", runs, error))?;
    Server::start(listen, "--page-listen", &library, Subject::Library)
}

fn shown(record: Record, matches: &ArgMatches, terminal: &Terminal) -> Result<Exit, Error> {
    let folder = record.folder().to_owned();
    let capacity = record.into_capacity();
    print(&capacity, matches.get_flag("json"), terminal)?;
    if let Some(path) = matches.get_one::<PathBuf>("report") {
        // The pages of its trials are not written: `sonagi report` writes any of them.
        let written =
            page::write_several(&page::of_capacity(&capacity, false, None), &capacity.started, path)?;
        terminal.say(&format!("report      {}", written.display()));
    } else if !matches.get_flag("quiet") {
        terminal.say(&format!("see it      sonagi report {} -o capacity.html", folder.display()));
    }
    Ok(exit(capacity.end))
}

/// What the end of a search means to a pipeline. "At least N, generator-limited" is no answer to the question: how much
/// the target holds is not known.
fn exit(end: Option<End>) -> Exit {
    match end {
        Some(End::Bracket | End::AtLeast) => Exit::Pass,
        Some(End::Below | End::NotRecovered) => Exit::Fail,
        Some(End::Interrupted) => Exit::Interrupted,
        Some(End::CouldNotRun) => Exit::CouldNotRun,
        Some(End::Generator | End::Budget | End::TooFewEvents) | None => Exit::Invalid,
    }
}

/// Prints what a search has found.
pub(super) fn print(capacity: &Capacity, json: bool, terminal: &Terminal) -> Result<(), Error> {
    terminal.print(&match json {
        true => capacity.document(),
        false => capacity.console(terminal.columns, terminal.colour),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_without_an_answer_is_none_to_a_pipeline() {
        let codes = |ends: &[End]| ends.iter().map(|end| exit(Some(*end))).collect::<Vec<_>>();
        assert_eq!(codes(&[End::Bracket, End::AtLeast]), [Exit::Pass; 2]);
        assert_eq!(codes(&[End::Below, End::NotRecovered]), [Exit::Fail; 2]);
        assert_eq!(codes(&[End::Generator, End::Budget, End::TooFewEvents]), [Exit::Invalid; 3]);
        assert_eq!(exit(None), Exit::Invalid);
    }

    #[test]
    fn flags_that_change_nothing_of_a_k6_script_are_told() {
        let line = "capacity a.js --until x -t http://127.0.0.1:1 --solo -k --env A=1 --matrix a=1";
        let matches = define().try_get_matches_from(line.split(' ')).unwrap();
        let problems = of_yaml(&matches);
        let flags: Vec<&str> = problems.iter().filter_map(|problem| problem.split(": ").nth(1)).collect();
        assert_eq!(flags, ["--target", "--insecure", "--solo", "--matrix"]);
        let plain = define().try_get_matches_from("capacity a.js --until x --fresh".split(' ')).unwrap();
        assert!(of_yaml(&plain).is_empty());
    }

    #[test]
    fn everything_wrong_with_the_flags_is_told_at_once() {
        let line = "capacity a.yml --until x --vary n --from 9 --to 3 --width 0% --budget 5s --trial 20s";
        let matches = define().try_get_matches_from(line.split(' ')).unwrap();
        let (mut flags, mut problems) = Flags::of(&matches);
        problems.extend(flags.fit(TrialLength::AS_ASKED));
        let flags: Vec<&str> = problems.iter().filter_map(|problem| problem.split(": ").nth(1)).collect();
        assert_eq!(flags, ["--to", "--width", "--budget"]);
        let matches = define().try_get_matches_from("capacity a.yml --until x --vary n".split(' ')).unwrap();
        assert!(Flags::of(&matches).1[0].starts_with("error: --vary n: a variable has no usual range"));
    }

    #[test]
    fn a_budget_must_have_room_for_a_trial_as_long_as_it_is() {
        let line = "capacity a.yml --until x --trial 20s --budget 10s";
        let matches = define().try_get_matches_from(line.split(' ')).unwrap();
        let told = |seconds| Flags::of(&matches).0.fit(TrialLength::OfScript { seconds });
        let problem = "error: --budget: it is shorter than one trial (12.5 s); got 10 s\n";
        assert!(told(12.5).unwrap().starts_with(problem));
        assert_eq!(told(10.0), None);
    }
}
