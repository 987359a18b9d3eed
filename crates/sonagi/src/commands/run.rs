//! `sonagi run`: runs scripts against a target, each to its verdict.

use crate::artillery_flags;
use crate::environment;
use crate::error::Error;
use crate::exit::Exit;
use crate::load::{self, Script};
use crate::rounds;
use crate::run_options::{self, RunOptions};
use crate::runs;
use crate::terminal::Terminal;
use crate::values;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use sonagi_artillery::Overrides;
use sonagi_engine::Speaker;
use std::net::IpAddr;

pub(super) const NAME: &str = "run";

pub(super) fn define() -> Command {
    Command::new(NAME)
        .about("Run scripts against a target and report whether every message arrived")
        .long_about(
            "Run scripts against a target and report whether every message arrived. Several scripts run one after \
             another, each with its own verdict; all are checked before the first one starts. A script with a \
             `matrix:` runs once for each combination of its values, and a table compares the runs; `repeat:` runs \
             each several times, and `compare:` says which is best, by how much, and how sure that is \
             (docs/matrix.md).\n\n\
             Progress goes to standard error, the summary to standard output. The first Ctrl-C or SIGTERM ends the \
             run gracefully, the second at once; either way, the run folder keeps everything recorded so far.\n\n\
             A k6 script (its name ends in .js, .ts, .mjs, .mts, .cjs or .cts, or its text is JavaScript) is run as k6 \
             runs it, \
             with k6's flags and exit codes: `sonagi run script.js --help` lists them, `sonagi run -` reads one from \
             standard input.",
        )
        .args(load::arguments())
        .arg(load::strict_argument())
        .args(run_options::arguments())
        .arg(Arg::new("name").long("name").value_name("NAME").help("Name of the run; default: the script's"))
        .arg(
            Arg::new("seed")
                .long("seed")
                .value_name("N")
                .value_parser(value_parser!(u64))
                .help("Seed of all random choices in the run; default: a new one, recorded in run.json"),
        )
        .arg(
            Arg::new("repeat")
                .long("repeat")
                .value_name("N")
                .value_parser(value_parser!(u16).range(1..=1000))
                .help("Run each combination of the matrix (or the script, if it has none) so many times, in shuffled \
                       rounds; instead of the script's `repeat`"),
        )
        .arg(
            Arg::new("compare")
                .long("compare")
                .value_name("AXIS")
                .help("Compare the values of this axis of the matrix; instead of the script's `compare.across`"),
        )
        .arg(
            Arg::new("source-address")
                .long("source-address")
                .value_name("IP")
                .action(ArgAction::Append)
                .value_parser(values::addresses)
                .help("Connect from this address or range, e.g. 127.0.0.2-127.0.0.9; repeatable, used in turn"),
        )
        .args(artillery_flags::arguments())
}

pub(super) fn run(matches: &ArgMatches, terminal: &Terminal) -> Result<Exit, Error> {
    let name = matches.get_one::<String>("name").cloned();
    let strict = matches.get_flag("strict");
    let overrides = Overrides { name, strict, ..load::overrides(matches, terminal)? };
    let ranges = matches.get_many::<Vec<IpAddr>>("source-address").into_iter().flatten();
    let options = RunOptions {
        seed: matches.get_one::<u64>("seed").copied(),
        source_addresses: ranges.flatten().copied().collect(),
        ..RunOptions::of(matches)
    };
    let mut tell = |speaker: Speaker, text: &str| match speaker {
        Speaker::Engine if !options.quiet => terminal.say(text),
        _ => runs::speak(speaker, text, &options, terminal),
    };
    let mut scripts = load::all(&load::scripts(matches), &overrides, &mut tell)?;
    for script in &mut scripts {
        if let Some(axis) = matches.get_one::<String>("compare") {
            script.compare_across(axis)?;
        }
        let repeat = matches.get_one::<u16>("repeat").map(|repeat| usize::from(*repeat));
        rounds::schedule(script, repeat, options.seed.unwrap_or_else(runs::any_seed))?;
    }
    artillery_flags::judge(matches, &options, terminal)?;
    if !options.quiet {
        for notice in scripts.iter().flat_map(|script| &script.notices) {
            terminal.say(&format!("notice: {notice}"));
        }
        unused_proxy(&scripts, terminal);
    }
    runs::all(scripts, &options, terminal)
}

/// Warns about a proxy in the environment, which Artillery would use and Sonagi does not, unless the target is on this
/// machine.
fn unused_proxy(scripts: &[Script], terminal: &Terminal) {
    let is_near =
        |target: &str| ["://127.", "://localhost", "://[::1]"].iter().any(|near| target.contains(near));
    if scripts.iter().flat_map(Script::targets).all(is_near) {
        return;
    }
    for proxy in [&environment::HTTP_PROXY, &environment::HTTPS_PROXY] {
        if proxy.get().is_some() {
            terminal.say(&format!(
                "notice: {} is set and not used: connections go straight to the target",
                proxy.name
            ));
        }
    }
}
