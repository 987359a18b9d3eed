//! `sonagi check script.js`: the problems that `run` would refuse it for. Its init code runs once, because that sets
//! its options; no user runs, and nothing is sent.

use super::asked_runs::{self, Runs};
use super::flags::{self, GivenFlags};
use super::log::is_of_console;
use super::{asked, dialect};
use crate::commands::check::{self, Checked};
use crate::load::one as artillery;
use crate::target_watch::NetworkLateness;
use crate::terminal::Terminal;
use crate::{cli, exit::Exit};
use sonagi_artillery::{Notice, Overrides, Problem, Problems};
use sonagi_engine::{Level, LogLine, RunEvent};
use sonagi_k6::run::{self, Ended};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

/// Checks the scripts; Artillery's among them as usual.
pub(super) fn main(arguments: &[OsString], terminal: &Terminal) -> u8 {
    let matches = match flags::check().try_get_matches_from(arguments.iter().skip(1)) {
        Ok(matches) => matches,
        Err(answer) => return cli::answer(&answer, terminal).code(),
    };
    let given = GivenFlags::of(&matches);
    let scripts = matches.get_many::<PathBuf>("script").into_iter().flatten();
    let checked: Vec<Checked> = scripts
        .map(|script| match script.as_os_str() == "-" || dialect::is_k6(&script.to_string_lossy()) {
            true => one(&given.with(script)),
            false => {
                let overrides = Overrides { strict: true, ..Overrides::default() };
                Checked::of(script, artillery(script, &overrides, &mut |_, text| terminal.say(text)))
            }
        })
        .collect();
    check::tell(&checked, matches.get_flag("json"), terminal).map_or(Exit::CouldNotRun.code(), Exit::code)
}

fn one(given: &GivenFlags) -> Checked {
    let script = given.script.clone();
    let mut found = Findings { script, ..Findings::default() };
    let runs = found.runs(given).unwrap_or_else(|why| {
        found.refused(&why);
        1
    });
    let Findings { script, problems, notices } = found;
    let problems = if problems.is_empty() { Ok(()) } else { Err(Problems(problems)) };
    Checked { script, problems, notices, unloaded: None, runs }
}

/// The findings of a script.
#[derive(Default)]
struct Findings {
    script: PathBuf,
    problems: Vec<Problem>,
    notices: Vec<Notice>,
}

impl Findings {
    /// Reads the script, of several runs with the values of each; how many there are, or why it is refused.
    fn runs(&mut self, given: &GivenFlags) -> Result<usize, String> {
        let text = super::script(given)?;
        let told = |(_, why)| why;
        if let Runs::Several(planned) = asked_runs::planned(given, &text).map_err(told)? {
            return Ok(planned.runs.len());
        }
        let asked = asked(given, &text, &NetworkLateness::default(), &[]).map_err(told)?;
        let ended = run::load(asked, &Arc::default(), &mut |event| {
            if let RunEvent::Line(line) = event {
                self.heard(line);
            }
        });
        match ended {
            Err(Ended { why: Some(why), .. }) => Err(why),
            _ => Ok(1),
        }
    }

    fn notice(&mut self, text: &str) {
        self.notices.push(Notice { file: self.script.clone(), line: 0, column: 0, text: text.to_owned() });
    }

    /// Ignores a line of the script's own console.
    fn heard(&mut self, line: &LogLine) {
        match line.level {
            _ if is_of_console(line) => {}
            Level::Error => self.thrown(&line.text),
            Level::Warn => self.notice(&line.text),
            Level::Info | Level::Debug => {}
        }
    }

    /// Adds an exception of the script, at the place of its uppermost frame.
    fn thrown(&mut self, text: &str) {
        let (file, line, column) = place(text).unwrap_or_else(|| (self.script.clone(), 0, 0));
        let is_own = self.script.canonicalize().is_ok_and(|own| own == file);
        let file = if is_own { self.script.clone() } else { file };
        let what = essence(text, line, column).to_owned();
        self.problems.push(Problem { file, line, column, what, hint: None, tolerated: None });
    }

    /// Adds the lines of a problem, hints on lines of their own.
    fn refused(&mut self, why: &str) {
        for text in why.lines().filter(|line| !line.trim().is_empty()) {
            match (text.trim_start().strip_prefix("hint: "), self.problems.last_mut()) {
                (Some(hint), Some(problem)) => problem.hint = Some(hint.to_owned()),
                _ => self.problems.push(Problem::of_file(&self.script, text.trim().to_owned(), None)),
            }
        }
    }
}

/// An exception's text, without the place before it.
fn essence(text: &str, line: usize, column: usize) -> &str {
    let first = text.lines().next().unwrap_or_default();
    let first = match first.strip_prefix("could not load JS test '") {
        Some(rest) => rest.split_once("': ").map_or(first, |(_, rest)| rest),
        None => first,
    };
    first.split_once(&format!(":{line}:{column}: ")).map_or(first, |(_, rest)| rest)
}

/// The first place named in a text: `/x.js:3:5`.
fn place(text: &str) -> Option<(PathBuf, usize, usize)> {
    text.split([' ', '\n', '\t', '(', ')', '\'']).find_map(|word| {
        let word = word.trim_end_matches(':');
        let mut parts = word.strip_prefix("file://").unwrap_or(word).rsplitn(3, ':');
        let (column, line) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        Some((PathBuf::from(parts.next()?), line, column))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exception_stands_where_its_uppermost_frame_says() {
        for (text, what, file) in [
            (
                "ReferenceError: x\n\tat <anonymous> (/a/b.js:3:5)\n\tat f (/c.js:1:1)",
                "ReferenceError: x",
                "/a/b.js",
            ),
            ("Error: x\n\tat file:///a/b.js:3:5(12)\n", "Error: x", "/a/b.js"),
            (
                "could not load JS test 'file:///a/b.js': /a/b.js:3:5: unexpected token",
                "unexpected token",
                "/a/b.js",
            ),
        ] {
            assert_eq!(place(text), Some((PathBuf::from(file), 3, 5)), "{text}");
            assert_eq!(essence(text, 3, 5), what);
        }
        assert_eq!(place("ReferenceError: x at 12:30\n"), None);
    }
}
