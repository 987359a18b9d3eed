//! Flags of `artillery run` that have no effect here: accepted, so that a command line need not be rewritten, with a
//! notice.

use crate::error::Error;
use crate::run_options::RunOptions;
use crate::terminal::Terminal;
use clap::{Arg, ArgAction, ArgMatches};

/// Flags of Artillery Cloud.
const CLOUD: [&str; 4] = ["record", "key", "tags", "note"];

/// Hidden in the help: only users who come from Artillery need them.
pub(crate) fn arguments() -> Vec<Arg> {
    let hidden = |name: &'static str| Arg::new(name).long(name).hide(true);
    let mut arguments: Vec<Arg> = ["key", "tags", "note", "count", "platform"].map(hidden).into();
    arguments.push(hidden("record").action(ArgAction::SetTrue));
    arguments.push(hidden("platform-opt").action(ArgAction::Append));
    arguments
}

/// Prints a notice about those given.
pub(crate) fn judge(matches: &ArgMatches, options: &RunOptions, terminal: &Terminal) -> Result<(), Error> {
    use clap::parser::ValueSource::CommandLine;
    let is_given = |name: &str| matches.value_source(name) == Some(CommandLine);
    let platform = matches.get_one::<String>("platform").filter(|platform| *platform != "local");
    if let Some(platform) = platform {
        let rule = "load comes from this machine only";
        return Err(Error::flag(
            "--platform",
            format_args!("{rule}; got `{platform}`\nhint: start `sonagi run` on each machine separately"),
        ));
    }
    if options.quiet {
        return Ok(());
    }
    if let Some(first) = CLOUD.into_iter().find(|name| is_given(name)) {
        terminal.say(&format!(
            "notice: --{first}: no effect; nothing is sent to Artillery Cloud, results are in the run folder"
        ));
    }
    for name in ["count", "platform-opt"].into_iter().filter(|name| is_given(name)) {
        terminal.say(&format!(
            "notice: --{name}: no effect; --shards sets the number of threads that generate load"
        ));
    }
    Ok(())
}
