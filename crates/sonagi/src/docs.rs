//! `docs/cli.md` and `docs/exit-codes.md`: made from the command line's definition, held by tests.
//!
//! After a change of flags: `SONAGI_WRITE_DOCS=1 cargo test -p sonagi --bin sonagi docs`.

use crate::{cli, environment, exit, k6};
use clap::{Arg, Command};
use std::fs;
use std::path::Path;

/// `docs/cli.md`: every command with its usage, arguments and flags.
fn command_line() -> String {
    let mut whole = cli::command();
    whole.build();
    let about = whole.get_about().map(ToString::to_string).unwrap_or_default();
    let mut text = format!(
        "# The command line\n\n<!-- Made from the definition in crates/sonagi; do not edit. -->\n\n{about}. \
         `sonagi help COMMAND` prints the same. Exit codes are in [exit-codes.md](exit-codes.md).\n"
    );
    for command in whole.get_subcommands().filter(|command| command.get_name() != "help") {
        text.push_str(&section(command, &format!("sonagi {}", command.get_name())));
        if command.get_name() == "run" {
            text.push_str(&section(&k6::command(), "sonagi run script.js"));
        }
    }
    text.push_str("\n## Environment\n\n| variable | effect |\n|---|---|\n");
    for variable in environment::VARIABLES {
        text.push_str(&format!("| `{}` | {} |\n", variable.name, variable.effect));
    }
    text
}

fn section(command: &Command, title: &str) -> String {
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    let mut text = format!("\n## `{title}`\n\n{about}\n\n```text\n{usage}\n```\n");
    let shown = |argument: &&Arg| !argument.is_hide_set() && argument.get_id() != "help";
    let arguments: Vec<&Arg> = command.get_arguments().filter(shown).collect();
    if !arguments.is_empty() {
        text.push_str("\n| | |\n|---|---|\n");
    }
    for argument in arguments {
        text.push_str(&format!("| {} | {} |\n", name(argument), help(argument)));
    }
    text
}

fn name(argument: &Arg) -> String {
    let value = argument.get_value_names().and_then(|names| names.first());
    let value = value.filter(|_| argument.get_action().takes_values());
    if argument.is_positional() {
        return format!("`{}`", value.map_or_else(|| argument.get_id().to_string(), ToString::to_string));
    }
    let mut names = Vec::new();
    names.extend(argument.get_short().map(|short| format!("-{short}")));
    names.extend(argument.get_long().map(|long| format!("--{long}")));
    let value = value.map(|value| format!(" {value}")).unwrap_or_default();
    format!("`{}{value}`", names.join(", ")).replace('|', "\\|")
}

fn help(argument: &Arg) -> String {
    let mut text = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let values: Vec<_> = argument
        .get_possible_values()
        .iter()
        .map(|value| match value.get_help() {
            Some(help) => format!("`{}` ({help})", value.get_name()),
            None => format!("`{}`", value.get_name()),
        })
        .collect();
    if argument.get_action().takes_values() && !values.is_empty() {
        text.push_str(&format!(": {}", values.join(", ")));
    }
    let defaults: Vec<_> =
        argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if argument.get_action().takes_values() && !defaults.is_empty() {
        text.push_str(&format!(". Default: `{}`", defaults.join(" ")));
    }
    text.replace('|', "\\|")
}

/// `docs/exit-codes.md`.
fn exit_codes() -> String {
    let mut text = String::from(
        "# Exit codes\n\n<!-- Made from the tables in crates/sonagi and crates/k6; do not edit. -->\n\n\
         k6 scripts have [codes of their own](#k6-scripts). With several scripts on one command line, the gravest code \
         wins, so that a later success hides no failure: 130 before 4, 3, 2, 1 and 21. An interruption ends the whole \
         command; the remaining scripts are reported as not run.\n\n\
         | code | meaning |\n|---|---|\n",
    );
    for row in &exit::CODES {
        text.push_str(&format!("| {} | {} |\n", row.code, row.meaning));
    }
    text.push_str(&format!("\n{}\n", exit::SUGGESTED));
    text.push_str(
        "\nA first Ctrl-C or SIGTERM ends a run gracefully: users leave their flows, messages under way are waited \
         for, and the verdict is INTERRUPTED, 130: the summary covers the part that ran. A second signal stops at \
         once, with 130 as well; `sonagi report` reads everything recorded so far from the run folder. A k6 script \
         ends with 105, as in k6.\n\n\
         If one output fails (a file that cannot be written any more, a run folder on a full disk), the others are \
         still written, including the summary, and the code is 4.\n\n\
         `sonagi report` and `sonagi serve` have no verdict: they end with 0 on success. Artillery's codes for a \
         failed `ensure` (1) and a failed `expect` (21) are the same here. For an invalid script, Artillery also ends \
         with 1, Sonagi with 2: a gate on 0 works the same, and 1 means that there was a run. An interrupted run ends \
         with 130 in both after Ctrl-C; after SIGTERM Artillery ends with 143.\n\n\
         ## k6 scripts\n\n\
         `sonagi run script.js` ends with k6's codes; `sonagi check script.js` with 0 or 2, as for every script. The \
         verdict in the run \
         folder of a test says the same.\n\n\
         | code | meaning | verdict |\n|---|---|---|\n",
    );
    for (exit, code, meaning) in sonagi_k6::run::Exit::CODES {
        let verdict = exit.conclusion().map_or("", sonagi_measure::summary::Conclusion::word);
        text.push_str(&format!("| {code} | {meaning} | {verdict} |\n"));
    }
    text.push_str(
        "\nTwo things k6's codes do not tell. The verdict is INVALID in place of PASS or FAIL when the load generator \
         fell behind or ran out of ports \
         or files: the figures are unreliable then, the code still tells what the thresholds came to, and the summary \
         begins with a block \
         `GENERATOR`. And 255 also stands for what went wrong around a test that is over and judged: a summary that \
         cannot be printed, a run \
         folder that lacks seconds.\n",
    );
    text
}

/// Holds a file of `docs/` to its text, or writes it when `SONAGI_WRITE_DOCS` is set.
fn hold(name: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    if std::env::var_os("SONAGI_WRITE_DOCS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, expected).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == expected,
        "docs/{name} is not what the code says\nhint: SONAGI_WRITE_DOCS=1 cargo test -p sonagi --bin sonagi docs"
    );
}

#[test]
fn the_command_lines_page_is_what_the_definition_says() {
    hold("cli.md", &command_line());
}

#[test]
fn the_exit_codes_page_is_what_the_table_says() {
    hold("exit-codes.md", &exit_codes());
}
