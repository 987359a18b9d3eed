//! `sonagi check`: all problems of scripts, with file, line, column, rule and hint; nothing is sent.

use crate::error::Error;
use crate::exit::Exit;
use crate::load::{self, Script};
use crate::terminal::Terminal;
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Value, json};
use sonagi_artillery::Unloaded;
use sonagi_artillery::{Notice, Overrides, Problem, Problems};
use std::path::{Path, PathBuf};

pub(super) const NAME: &str = "check";

pub(super) fn define() -> Command {
    Command::new(NAME)
        .about("Validate scripts without running them")
        .long_about(
            "Validate scripts without running them: all problems, each with file, line, column, the rule and a hint. \
             The exit code is 2 if there are any. This includes harmless problems that `sonagi run` only warns about, \
             because \
             Artillery ignores them; `sonagi run --strict` refuses them, too. A processor's module is loaded, so its \
             top-level code is executed.\n\n\
             Of a k6 script, only the init code runs, once. If one of the scripts is a k6 script, the flags are those \
             of `sonagi run script.js`, and --json.",
        )
        .args(load::arguments())
        .arg(
            Arg::new("json")
                .long("json")
                .action(ArgAction::SetTrue)
                .help("Print one JSON document: {\"scripts\": [{\"file\", \"problems\", \"notices\"}]}"),
        )
}

/// Turns a processor's own fault into a problem. Without a Node to load it, or when it takes too long, the question
/// stays open.
fn loadable(script: Script) -> Result<Script, Problems> {
    if !matches!(script.unloaded, Some(Unloaded::Module { .. })) {
        return Ok(script);
    }
    let Some(unloaded) = script.unloaded else { return Ok(script) };
    let told = unloaded.to_string();
    let (what, hint) = match told.split_once("\n  hint: ") {
        Some((what, hint)) => (what.to_owned(), Some(hint.to_owned())),
        None => (told, None),
    };
    Err(Problems(vec![Problem::of_file(script.path, what, hint)]))
}

/// A script and its check's findings.
pub(crate) struct Checked {
    pub(crate) script: PathBuf,
    pub(crate) problems: Result<(), Problems>,
    pub(crate) notices: Vec<Notice>,
    /// Why the functions of its processor could not be checked.
    pub(crate) unloaded: Option<Unloaded>,
    /// The number of its runs.
    pub(crate) runs: usize,
}

impl Checked {
    pub(crate) fn of(script: &Path, outcome: Result<Script, Problems>) -> Checked {
        let (problems, notices, unloaded, runs) = match outcome.and_then(loadable) {
            Ok(script) => (Ok(()), script.notices, script.unloaded, script.runs.len()),
            Err(problems) => (Err(problems), Vec::new(), None, 0),
        };
        Checked { script: script.to_owned(), problems, notices, unloaded, runs }
    }

    fn print(&self, terminal: &Terminal) -> Result<(), Error> {
        let name = self.script.display();
        if let Some(unloaded) = &self.unloaded {
            let text = "whether its functions are there is not known";
            terminal.print(&format!("notice: {name}: {text}: {unloaded}\n"))?;
        }
        for notice in &self.notices {
            terminal.print(&format!("notice: {notice}\n"))?;
        }
        let runs = match self.runs {
            several if several > 1 => format!(" in any of {several} runs"),
            _ => String::new(),
        };
        let problems = match &self.problems {
            Ok(()) => return terminal.print(&format!("{name}: no problems{runs}\n")),
            Err(problems) => problems,
        };
        terminal.print(&format!("{problems}\n"))?;
        if problems.0.iter().all(|problem| problem.tolerated.is_some()) {
            let text = "`sonagi run` goes on in spite of these; `sonagi run --strict` does not";
            terminal.print(&format!("{name}: {text}\n"))?;
        }
        Ok(())
    }

    fn document(&self) -> Value {
        let problems = self.problems.as_ref().err().map_or(&[][..], |problems| &problems.0[..]);
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
        let notices: Vec<Value> = self
            .notices
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
        json!({ "file": self.script.display().to_string(), "problems": problems, "notices": notices })
    }
}

pub(super) fn run(matches: &ArgMatches, terminal: &Terminal) -> Result<Exit, Error> {
    let overrides = Overrides { strict: true, ..load::overrides(matches, terminal)? };
    let checked: Vec<Checked> =
        load::each(&load::scripts(matches), &overrides, &mut |_, text| terminal.say(text))
            .into_iter()
            .map(|(path, outcome)| Checked::of(&path, outcome))
            .collect();
    tell(&checked, matches.get_flag("json"), terminal)
}

/// Prints the findings; the exit code says whether there are problems.
pub(crate) fn tell(checked: &[Checked], json: bool, terminal: &Terminal) -> Result<Exit, Error> {
    if json {
        let scripts: Vec<Value> = checked.iter().map(Checked::document).collect();
        terminal.print(&format!("{:#}\n", json!({ "scripts": scripts })))?;
    } else {
        checked.iter().try_for_each(|one| one.print(terminal))?;
    }
    let is_clean = checked.iter().all(|one| one.problems.is_ok());
    Ok(if is_clean { Exit::Pass } else { Exit::Problems })
}
