//! `sonagi check`: all problems of scripts, with file, line, column, rule and hint; nothing is run.

use crate::error::Error;
use crate::exit::Exit;
use crate::load::{self, Script};
use crate::terminal::Terminal;
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Value, json};
use sonagi_script::Problems;
use std::path::Path;

pub(super) const NAME: &str = "check";

pub(super) fn define() -> Command {
    Command::new(NAME)
        .about("Name all problems of scripts, without running them")
        .long_about(
            "Name all problems of scripts, each with file, line, column, the rule and a hint, without running them. \
             The exit code is 2 when there are any.",
        )
        .args(load::arguments())
        .arg(
            Arg::new("json")
                .long("json")
                .action(ArgAction::SetTrue)
                .help("Print one JSON document: {\"scripts\": [{\"file\", \"problems\", \"notices\"}]}"),
        )
}

pub(super) fn run(matches: &ArgMatches, terminal: &Terminal) -> Result<Exit, Error> {
    let overrides = load::overrides(matches, terminal)?;
    let checked = load::each(&load::scripts(matches), &overrides);
    let clean = checked.iter().all(|(_, outcome)| outcome.is_ok());
    if matches.get_flag("json") {
        let scripts: Vec<Value> = checked.iter().map(|(path, outcome)| document(path, outcome)).collect();
        terminal.print(&format!("{:#}\n", json!({ "scripts": scripts })))?;
    } else {
        for (path, outcome) in &checked {
            match outcome {
                Ok(script) => {
                    for notice in &script.notices {
                        terminal.print(&format!("notice: {notice}\n"))?;
                    }
                    let runs = match script.runs.len() {
                        1 => String::new(),
                        several => format!(" in any of {several} runs"),
                    };
                    terminal.print(&format!("{}: no problems{runs}\n", path.display()))?;
                }
                Err(problems) => terminal.print(&format!("{problems}\n"))?,
            }
        }
    }
    Ok(if clean { Exit::Pass } else { Exit::Problems })
}

fn document(path: &Path, outcome: &Result<Script, Problems>) -> Value {
    let (problems, notices) = match outcome {
        Ok(script) => (&[][..], &script.notices[..]),
        Err(problems) => (&problems.0[..], &[][..]),
    };
    let problems: Vec<Value> = problems
        .iter()
        .map(|problem| {
            json!({
                "file": problem.file.display().to_string(),
                "line": problem.line,
                "column": problem.column,
                "what": problem.what,
                "hint": problem.hint,
            })
        })
        .collect();
    let notices: Vec<Value> = notices
        .iter()
        .map(|notice| {
            json!({
                "file": notice.file.display().to_string(),
                "line": notice.line,
                "column": notice.column,
                "text": notice.text,
            })
        })
        .collect();
    json!({ "file": path.display().to_string(), "problems": problems, "notices": notices })
}
