//! The command line as a whole; each command defines its own flags.

use crate::exit::Exit;
use crate::terminal::Terminal;
use crate::{commands, environment, exit, k6};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Command};
use std::ffi::OsString;

/// The definition behind parsing, `--help`, completions, the man page and `docs/cli.md`.
pub(crate) fn command() -> Command {
    Command::new("sonagi")
        .version(env!("CARGO_PKG_VERSION"))
        .long_version(concat!(env!("CARGO_PKG_VERSION"), env!("SONAGI_COMMIT")))
        .about("Load-tests real-time services and says whether every message arrived")
        .after_help(format!("{}\n{}", exit::help(), environment::help()))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(commands::COMMANDS.iter().map(|command| (command.define)()))
}

/// Parses the command line; a mistake in it is explained.
pub(crate) fn matches(arguments: &[OsString]) -> Result<ArgMatches, clap::Error> {
    let runs = arguments.get(1).is_some_and(|command| command == "run" || command == "check");
    command().try_get_matches_from(arguments).map_err(|error| explained(error, runs))
}

/// Adds a hint where clap has none, or replaces a misleading one.
fn explained(mut error: clap::Error, runs: bool) -> clap::Error {
    match (error.kind(), error.get(ContextKind::InvalidArg), error.get(ContextKind::InvalidSubcommand)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(given)), _) if runs => {
            if let Some(tip) = k6::tip(given) {
                error.remove(ContextKind::SuggestedArg);
                error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
            }
        }
        // For words as short as `rn` clap finds no similar one.
        (ErrorKind::InvalidSubcommand, _, Some(ContextValue::String(given)))
            if error.get(ContextKind::SuggestedSubcommand).is_none() =>
        {
            let names = commands::COMMANDS.iter().map(|command| command.name);
            if let Some(near) = sonagi_artillery::nearest(given, names) {
                let near = ContextValue::Strings(vec![near.to_owned()]);
                error.insert(ContextKind::SuggestedSubcommand, near);
            }
        }
        _ => {}
    }
    error
}

/// Prints clap's answer: help and version are results, everything else is a problem.
pub(crate) fn answer(answer: &clap::Error, terminal: &Terminal) -> Exit {
    let text = answer.render().to_string();
    if !answer.use_stderr() {
        return match terminal.print(&text) {
            Ok(()) => Exit::Pass,
            Err(error) => {
                terminal.say(&error.to_string());
                error.exit()
            }
        };
    }
    terminal.say(text.trim_end());
    Exit::Problems
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_definition_is_sound() {
        super::command().debug_assert();
    }
}
