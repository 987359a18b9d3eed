//! The flags of every command that runs plans, and what they come to.

use crate::output::{self, Vocabulary};
use crate::page::{self, PageWish};
use crate::target_watch::{self, WatchWish};
use clap::builder::PossibleValue;
use clap::{Arg, ArgAction, ArgMatches, value_parser};
use sonagi_measure::summary::FailOnStatus;
use std::net::IpAddr;
use std::path::PathBuf;

/// How plans are run and shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunOptions {
    pub(crate) quiet: bool,
    pub(crate) json: bool,
    pub(crate) vocabulary: Vocabulary,
    pub(crate) output: Option<PathBuf>,
    /// The parent of run folders; None: no folder.
    pub(crate) runs: Option<PathBuf>,
    pub(crate) shards: Option<usize>,
    pub(crate) seed: Option<u64>,
    pub(crate) source_addresses: Vec<IpAddr>,
    pub(crate) fail_on_status: FailOnStatus,
    pub(crate) pages: PageWish,
    pub(crate) watch: WatchWish,
}

/// The flags of every command that runs plans.
pub(crate) fn arguments() -> Vec<Arg> {
    let mut arguments = vec![
        Arg::new("quiet")
            .short('q')
            .long("quiet")
            .action(ArgAction::SetTrue)
            .help("Print neither progress nor summary; use the exit code, --output or --json"),
        Arg::new("output")
            .short('o')
            .long("output")
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .help("Write a report to this file or folder: Artillery's JSON, with Sonagi's summary in it (an array if \
                   there are several runs)"),
        Arg::new("json")
            .long("json")
            .action(ArgAction::SetTrue)
            .conflicts_with("summary")
            .help("Print the summary as one JSON document (an array if there are several runs; nothing if the only one \
                   could not start)"),
        output::vocabulary_argument(),
        Arg::new("runs")
            .long("runs")
            .value_name("DIR")
            .default_value("runs")
            .value_parser(value_parser!(PathBuf))
            .help("Write run folders into this folder"),
        Arg::new("no-folder").long("no-folder").action(ArgAction::SetTrue).help("Write no run folder"),
        Arg::new("fail-on-status")
            .long("fail-on-status")
            .value_name("WHEN")
            .value_parser([
                PossibleValue::new("all").help("if every answer has one, unless the script asks for it"),
                PossibleValue::new("any").help("if any answer has one"),
                PossibleValue::new("never").help("statuses alone never fail a run"),
            ])
            .default_value("all")
            .help("Fail a run because of HTTP error statuses (4xx, 5xx)"),
        Arg::new("shards")
            .long("shards")
            .value_name("N")
            .value_parser(value_parser!(u16).range(1..=1024))
            .help("Threads that generate load; default: one per core"),
    ];
    arguments.extend(page::arguments());
    arguments.extend(target_watch::arguments());
    arguments
}

impl RunOptions {
    /// Whether standard output has Sonagi's summaries.
    pub(crate) fn shows_console(&self) -> bool {
        !self.quiet && !self.json && self.vocabulary == Vocabulary::Sonagi
    }

    /// The options given by the flags of [`arguments`].
    pub(crate) fn of(matches: &ArgMatches) -> RunOptions {
        let path = |name: &str| matches.get_one::<PathBuf>(name).cloned();
        RunOptions {
            quiet: matches.get_flag("quiet"),
            json: matches.get_flag("json"),
            vocabulary: Vocabulary::of(matches),
            output: path("output"),
            runs: path("runs").filter(|_| !matches.get_flag("no-folder")),
            shards: matches.get_one::<u16>("shards").map(|n| usize::from(*n)),
            seed: None,
            source_addresses: Vec::new(),
            fail_on_status: match matches.get_one::<String>("fail-on-status").map(String::as_str) {
                Some("any") => FailOnStatus::Any,
                Some("never") => FailOnStatus::Never,
                _ => FailOnStatus::All,
            },
            pages: PageWish::of(matches),
            watch: WatchWish::of(matches),
        }
    }
}
