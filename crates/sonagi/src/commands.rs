//! The commands: one file each, one line each in the table.

mod capacity;
pub(crate) mod check;
mod compare;
mod completions;
mod demo;
pub(crate) mod explain;
mod man;
mod page;
mod quick;
pub(crate) mod report;
mod run;
mod schema;
mod serve;
mod watch;

use crate::error::Error;
use crate::exit::Exit;
use crate::terminal::Terminal;
use clap::{ArgMatches, Command};

/// A command: its definition, and the function that runs it.
pub(crate) struct CommandEntry {
    pub(crate) name: &'static str,
    pub(crate) define: fn() -> Command,
    run: fn(&ArgMatches, &Terminal) -> Result<Exit, Error>,
}

/// All commands, in the order of `--help`.
pub(crate) const COMMANDS: &[CommandEntry] = &[
    CommandEntry { name: run::NAME, define: run::define, run: run::run },
    CommandEntry { name: quick::NAME, define: quick::define, run: quick::run },
    CommandEntry { name: check::NAME, define: check::define, run: check::run },
    CommandEntry { name: schema::NAME, define: schema::define, run: schema::run },
    CommandEntry { name: serve::NAME, define: serve::define, run: serve::run },
    CommandEntry { name: demo::NAME, define: demo::define, run: demo::run },
    CommandEntry { name: report::NAME, define: report::define, run: report::run },
    CommandEntry { name: watch::NAME, define: watch::define, run: watch::run },
    CommandEntry { name: explain::NAME, define: explain::define, run: explain::run },
    CommandEntry { name: compare::NAME, define: compare::define, run: compare::run },
    CommandEntry { name: capacity::NAME, define: capacity::define, run: capacity::run },
    CommandEntry { name: page::NAME, define: page::define, run: page::run },
    CommandEntry { name: completions::NAME, define: completions::define, run: completions::run },
    CommandEntry { name: man::NAME, define: man::define, run: man::run },
];

/// Runs the command of the command line.
pub(crate) fn run(matches: &ArgMatches, terminal: &Terminal) -> Result<Exit, Error> {
    let (name, matches) = matches.subcommand().expect("clap refuses a command line without a command");
    let entry =
        COMMANDS.iter().find(|entry| entry.name == name).expect("clap knows only the table's commands");
    (entry.run)(matches, terminal)
}

/// The arguments of a script's `serve` block that the command `serve` would refuse.
pub(crate) fn refused_of_serve(arguments: &[String]) -> Vec<sonagi_artillery::RefusedArgument> {
    serve::refused(arguments)
}
