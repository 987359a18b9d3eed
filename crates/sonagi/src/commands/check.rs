//! `sonagi check`: all problems of scripts, with file, line, column, rule and hint; nothing is run.

use crate::error::Error;
use crate::exit::Exit;
use crate::load::{self, Script};
use crate::terminal::Terminal;
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Value, json};
use sonagi_engine::Unloaded;
use sonagi_script::{Overrides, Problem, Problems};
use std::path::Path;

pub(super) const NAME: &str = "check";

pub(super) fn define() -> Command {
    Command::new(NAME)
        .about("Name all problems of scripts, without running them")
        .long_about(
            "Name all problems of scripts, each with file, line, column, the rule and a hint, without running them. \
             The exit code is 2 when there are any, also of those that `sonagi run` goes on in spite of, because Artillery \
             ignores them and nothing hangs on them: what becomes of them is told, and `sonagi run --strict` refuses them, too.",
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
    let overrides = Overrides { strict: true, ..load::overrides(matches, terminal)? };
    let checked = load::each(&load::scripts(matches), &overrides);
    let checked: Vec<_> =
        checked.into_iter().map(|(path, outcome)| (path, outcome.and_then(loadable))).collect();
    let clean = checked.iter().all(|(_, outcome)| outcome.is_ok());
    if matches.get_flag("json") {
        let scripts: Vec<Value> = checked.iter().map(|(path, outcome)| document(path, outcome)).collect();
        terminal.print(&format!("{:#}\n", json!({ "scripts": scripts })))?;
    } else {
        for (path, outcome) in &checked {
            match outcome {
                Ok(script) => {
                    if let Some(unloaded) = &script.unloaded {
                        terminal.print(&format!(
                            "notice: {}: whether its functions are there is not known: {unloaded}\n",
                            path.display()
                        ))?;
                    }
                    for notice in &script.notices {
                        terminal.print(&format!("notice: {notice}\n"))?;
                    }
                    let runs = match script.runs.len() {
                        1 => String::new(),
                        several => format!(" in any of {several} runs"),
                    };
                    terminal.print(&format!("{}: no problems{runs}\n", path.display()))?;
                }
                Err(problems) => {
                    terminal.print(&format!("{problems}\n"))?;
                    if problems.0.iter().all(|problem| problem.tolerated.is_some()) {
                        let text = "`sonagi run` goes on in spite of these; `sonagi run --strict` does not";
                        terminal.print(&format!("{}: {text}\n", path.display()))?;
                    }
                }
            }
        }
    }
    Ok(if clean { Exit::Pass } else { Exit::Problems })
}

/// A processor that is at fault itself is a problem; without a Node to load it nobody can say.
fn loadable(script: Script) -> Result<Script, Problems> {
    match &script.unloaded {
        Some(Unloaded::Module { .. } | Unloaded::Slow { .. }) => {}
        _ => return Ok(script),
    }
    let Some(unloaded) = script.unloaded else { return Ok(script) };
    let told = unloaded.to_string();
    let (what, hint) = match told.split_once("\n  hint: ") {
        Some((what, hint)) => (what.to_owned(), Some(hint.to_owned())),
        None => (told, None),
    };
    Err(Problems(vec![Problem { file: script.path, line: 0, column: 0, what, hint, tolerated: None }]))
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
                "tolerated": problem.tolerated,
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
