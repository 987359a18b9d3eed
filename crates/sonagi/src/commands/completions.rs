//! `sonagi completions`: shell completions, from the command line's own definition.

use crate::error::Error;
use crate::exit::Exit;
use crate::terminal::Terminal;
use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;

pub(super) const NAME: &str = "completions";

pub(super) fn define() -> Command {
    Command::new(NAME)
        .about("Print shell completions")
        .long_about(
            "Print shell completions.\n\n\
             `mkdir -p ~/.local/share/bash-completion/completions && \
             sonagi completions bash > ~/.local/share/bash-completion/completions/sonagi`",
        )
        .arg(
            Arg::new("shell")
                .value_name("SHELL")
                .required(true)
                .value_parser(value_parser!(Shell))
                .help("The shell to print completions for"),
        )
}

pub(super) fn run(matches: &ArgMatches, terminal: &Terminal) -> Result<Exit, Error> {
    let shell = *matches.get_one::<Shell>("shell").expect("clap requires it");
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut crate::cli::command(), "sonagi", &mut text);
    terminal.print(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Pass)
}
