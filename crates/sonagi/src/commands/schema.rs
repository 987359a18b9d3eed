//! `sonagi schema`: the JSON Schema of scripts, for editors.

use crate::error::Error;
use crate::exit::Exit;
use crate::terminal::Terminal;
use clap::{ArgMatches, Command};

pub(super) const NAME: &str = "schema";

pub(super) fn define() -> Command {
    Command::new(NAME).about("Print the JSON Schema of scripts, for editors").long_about(
        "Print the JSON Schema (draft 2020-12) of scripts. An editor that knows it completes keys, shows what they \
         mean and \
         marks unknown ones: `sonagi schema > sonagi.schema.json`, and as the first line of a script \
         `# yaml-language-server: $schema=sonagi.schema.json`. `sonagi check` finds more.",
    )
}

pub(super) fn run(_: &ArgMatches, terminal: &Terminal) -> Result<Exit, Error> {
    terminal.print(&format!("{:#}\n", sonagi_artillery::json_schema()))?;
    Ok(Exit::Pass)
}
