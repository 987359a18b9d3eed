//! Sonagi, the load tester for real-time services: argv, environment, files, signals, terminal and exit codes.
//!
//! The only crate that prints and exits. Each command is one file in `commands` and one line in its table.
#![cfg_attr(test, allow(clippy::unwrap_used))]
#![allow(clippy::disallowed_methods, clippy::exit)]

mod artillery_flags;
mod baseline;
mod capacity;
mod capacity_folder;
mod cli;
mod commands;
mod compared_runs;
mod destination;
mod diagnosed;
#[cfg(test)]
mod docs;
mod dotenv;
mod environment;
mod error;
mod exit;
mod fingerprint;
mod invocation;
mod k6;
mod languages;
mod launch;
mod limits;
mod load;
mod matrix;
mod matrix_folder;
mod matrix_record;
mod nginx;
mod output;
mod page;
mod queued_sink;
mod recorded;
mod results;
mod rounds;
mod run_events;
mod run_options;
mod runs;
mod signals;
mod stop;
mod target_watch;
mod temp_folder;
mod terminal;
mod values;
mod warm_up;
mod watched_service;
mod watching;

use std::process::ExitCode;
use terminal::Terminal;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    if let Some(exit) = launch::in_its_service(&arguments) {
        return exit;
    }
    let terminal = Terminal::from_environment();
    if k6::is_meant(&arguments) {
        return k6::main(&arguments, &terminal).into();
    }
    let matches = match cli::matches(&arguments) {
        Ok(matches) => matches,
        Err(help_or_error) => return cli::answer(&help_or_error, &terminal).into(),
    };
    let exit = match commands::run(&matches, &terminal) {
        Ok(exit) => exit,
        Err(error) => {
            terminal.say(&error.to_string());
            error.exit()
        }
    };
    exit.into()
}
