//! The command line as a whole; each command defines its own flags.

use crate::exit::Exit;
use crate::terminal::Terminal;
use crate::{commands, environment, exit};
use clap::Command;

/// The definition that parsing, `--help`, completions, the man page and `docs/cli.md` share.
pub(crate) fn command() -> Command {
    Command::new("sonagi")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Load-tests real-time services and says whether every message arrived")
        .after_help(format!("{}\n{}", exit::help(), environment::help()))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(commands::COMMANDS.iter().map(|command| (command.define)()))
}

/// Prints what clap answers instead of matches: help and version are results, everything else is a problem.
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
