//! `sonagi man`: the manual page, from the command line's own definition.

use crate::error::Error;
use crate::exit::Exit;
use crate::terminal::Terminal;
use clap::{Arg, ArgMatches, Command};

pub(super) const NAME: &str = "man";

pub(super) fn define() -> Command {
    Command::new(NAME)
        .about("Print the manual page (roff)")
        .long_about("Print the manual page (roff).\n\n`sonagi man | man -l -`, `sonagi man run | man -l -`")
        .arg(
            Arg::new("command")
                .value_name("COMMAND")
                .help("The page of one command instead of all of Sonagi"),
        )
}

pub(super) fn run(matches: &ArgMatches, terminal: &Terminal) -> Result<Exit, Error> {
    let mut whole = crate::cli::command();
    whole.build();
    let page = match matches.get_one::<String>("command") {
        None => whole,
        Some(name) => whole
            .find_subcommand(name)
            .ok_or_else(|| Error::flag("COMMAND", format_args!("there is no command `{name}`")))?
            .clone(),
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page)
        .render(&mut text)
        .map_err(|error| Error::could_not(format_args!("cannot render the page: {error}")))?;
    terminal.print(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Pass)
}
