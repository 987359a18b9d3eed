//! One run after another: plan → engine → sinks → verdict → exit code.
//!
//! The one decision a reader would question: runs of one command line never overlap. Each has the machine to itself,
//! so that its generator's health is its own.

use crate::error::Error;
use crate::exit::Exit;
use crate::output;
use crate::output::Vocabulary;
use crate::signals::{self, Asked};
use crate::terminal::Terminal;
use clap::{Arg, ArgAction, ArgMatches, value_parser};
use sonagi_engine::plan::Plan;
use sonagi_engine::{Control, Happening};
use sonagi_measure::summary::Summary;
use sonagi_report::sink::{Folder, Sink, Trouble};
use sonagi_report::{Sinks, console, json};
use sonagi_script::Loaded;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

/// How plans are run and what is told of them.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) quiet: bool,
    pub(crate) json: bool,
    pub(crate) vocabulary: Vocabulary,
    pub(crate) output: Option<PathBuf>,
    /// Where run folders go; None: no folder.
    pub(crate) runs: Option<PathBuf>,
    pub(crate) shards: Option<usize>,
    pub(crate) seed: Option<u64>,
    pub(crate) source_addresses: Vec<IpAddr>,
}

/// The flags every command that runs plans has.
pub(crate) fn arguments() -> [Arg; 7] {
    [
        Arg::new("quiet")
            .short('q')
            .long("quiet")
            .action(ArgAction::SetTrue)
            .help("Print neither progress nor summary; the exit code, --output and --json tell"),
        Arg::new("output")
            .short('o')
            .long("output")
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .help("Write the summary as JSON to this file (an array when there are several scripts)"),
        Arg::new("json")
            .long("json")
            .action(ArgAction::SetTrue)
            .conflicts_with("summary")
            .help("Print the summary as one JSON document (an array when there are several scripts)"),
        output::vocabulary_argument(),
        Arg::new("runs")
            .long("runs")
            .value_name("DIR")
            .default_value("runs")
            .value_parser(value_parser!(PathBuf))
            .help("Where run folders are written"),
        Arg::new("no-folder").long("no-folder").action(ArgAction::SetTrue).help("Write no run folder"),
        Arg::new("shards")
            .long("shards")
            .value_name("N")
            .value_parser(value_parser!(u16).range(1..=1024))
            .help("Threads that generate load; default: one per core"),
    ]
}

impl Options {
    /// What [`arguments`] say.
    pub(crate) fn of(matches: &ArgMatches) -> Options {
        let path = |name: &str| matches.get_one::<PathBuf>(name).cloned();
        Options {
            quiet: matches.get_flag("quiet"),
            json: matches.get_flag("json"),
            vocabulary: Vocabulary::of(matches),
            output: path("output"),
            runs: path("runs").filter(|_| !matches.get_flag("no-folder")),
            shards: matches.get_one::<u16>("shards").map(|n| usize::from(*n)),
            seed: None,
            source_addresses: Vec::new(),
        }
    }
}

/// Runs every plan, unless a signal ends it sooner, and says what came of each.
pub(crate) fn all(scripts: Vec<Loaded>, options: &Options, terminal: &Terminal) -> Result<Exit, Error> {
    if let Some(path) = &options.output {
        writable(path)?;
    }
    let control = Control::new();
    let asked = listen(&control, terminal)?;
    let scripts_planned = scripts.len();
    let names: Vec<String> = scripts.iter().map(|script| script.plan.name.clone()).collect();
    let mut summaries = Vec::with_capacity(scripts_planned);
    let mut trouble = None;
    for script in scripts {
        if asked.to_stop() {
            break;
        }
        match one(script.plan, options, &control, terminal) {
            Ok(summary) => {
                tell(&summary, options, terminal)?;
                summaries.push(summary);
            }
            Err(error) => {
                trouble = Some(error);
                break;
            }
        }
    }
    conclude(&summaries, scripts_planned, options, terminal)?;
    for name in names.iter().skip(summaries.len() + usize::from(trouble.is_some())) {
        terminal.say(&format!("not run: {name}"));
    }
    match trouble {
        Some(error) => Err(error),
        None => Ok(exit(&summaries, scripts_planned, &asked)),
    }
}

/// One plan, from its folder to its summary.
fn one(plan: Plan, options: &Options, control: &Control, terminal: &Terminal) -> Result<Summary, Error> {
    let started = jiff::Timestamp::now().round(jiff::Unit::Second).map_err(Error::could_not)?.to_string();
    let folder = options.runs.as_deref().map(|runs| reserve(runs, &started, &plan.name)).transpose()?;
    let path = folder.as_ref().map(|folder| folder.path().display().to_string());
    let mut sinks = Sinks::new();
    if let Some(folder) = folder {
        sinks.add(folder);
    }
    if !options.quiet {
        terminal.say(&format!("{} against {}", plan.name, plan.target));
        sinks.add(terminal.live());
    }
    let mut engine = sonagi_engine::Options { started, ..sonagi_engine::Options::default() };
    engine.shards = options.shards.unwrap_or(engine.shards);
    engine.seed = options.seed.unwrap_or_else(any_seed);
    engine.source_addresses.clone_from(&options.source_addresses);
    let mut on = |happening: Happening<'_>| {
        sinks.each(|sink| pass(sink, &happening), |trouble| warn(&trouble, terminal));
    };
    match sonagi_engine::run(plan, engine, control.clone(), &mut on) {
        Ok(summary) => Ok(Summary { run_folder: path, ..summary }),
        Err(error) => {
            // Goes only when it is empty, that is when nothing was run.
            let _ = path.map(std::fs::remove_dir);
            Err(Error::could_not(error))
        }
    }
}

fn reserve(runs: &Path, started: &str, name: &str) -> Result<Folder, Error> {
    let name = sonagi_measure::folder::name(started, name);
    Folder::reserve(runs, &name).map_err(|error| {
        Error::could_not(format_args!(
            "cannot write a run folder in {}: {error}\nhint: choose another place with --runs DIR, or none with --no-folder",
            runs.display()
        ))
    })
}

fn pass(sink: &mut dyn Sink, happening: &Happening<'_>) -> std::io::Result<()> {
    match *happening {
        Happening::Began(header) => sink.began(header),
        Happening::Second(snapshot) => sink.snapshot(snapshot),
        Happening::Phase { at, name } => sink.phase(at, name),
        Happening::Log { at, user, text } => sink.log(at, user, text),
        Happening::Draining { at } => sink.draining(at),
        Happening::Ended(summary) => sink.ended(summary),
    }
}

/// Once per sink: the run goes on, and so does the sink when it can.
fn warn(trouble: &Trouble, terminal: &Terminal) {
    let Trouble { sink, error } = trouble;
    if error.kind() != std::io::ErrorKind::BrokenPipe {
        terminal
            .say(&format!("warning: {sink}: {error}; the run goes on, but this output may be incomplete"));
    }
}

fn listen(control: &Control, terminal: &Terminal) -> Result<Asked, Error> {
    let (first, second, says) = (control.clone(), control.clone(), *terminal);
    let stop = move || {
        says.say("stopping: no new users, the present ones are ended; Ctrl-C again stops at once");
        first.stop();
    };
    let abort = move || {
        says.say("stopping at once");
        second.abort();
    };
    signals::listen(*terminal, stop, abort)
}

/// The finished run, as it is asked for; documents wait until all runs are over.
fn tell(summary: &Summary, options: &Options, terminal: &Terminal) -> Result<(), Error> {
    if options.quiet || options.json {
        return Ok(());
    }
    options.vocabulary.print(summary, terminal)?;
    terminal.print("\n")
}

/// What is said of all runs together.
fn conclude(
    summaries: &[Summary],
    scripts_planned: usize,
    options: &Options,
    terminal: &Terminal,
) -> Result<(), Error> {
    let document = || match summaries {
        [only] if scripts_planned == 1 => json::summary(only),
        several => json::summaries(several),
    };
    if let Some(path) = &options.output {
        std::fs::write(path, document()).map_err(|error| Error::file("write", path, error))?;
    }
    if options.json {
        return terminal.print(&document());
    }
    if !options.quiet && options.vocabulary == Vocabulary::Sonagi && summaries.len() > 1 {
        terminal.print(&console::verdicts(summaries, terminal.columns, terminal.colour))?;
    }
    Ok(())
}

fn exit(summaries: &[Summary], scripts_planned: usize, asked: &Asked) -> Exit {
    if asked.to_stop_at_once() || summaries.len() < scripts_planned {
        return Exit::Interrupted;
    }
    summaries.iter().map(|run| Exit::of(run.verdict.result)).fold(Exit::Pass, Exit::worst)
}

/// An unwritable file is said before the run, and what is in it stays until there is something to write.
fn writable(path: &Path) -> Result<(), Error> {
    std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .map(drop)
        .map_err(|error| Error::file("write", path, error))
}

/// A seed nobody chose; it is written to `run.json`, so that the run can be repeated.
fn any_seed() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}
