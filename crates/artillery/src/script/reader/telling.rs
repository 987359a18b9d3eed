//! Reporting: problems and notices, each once, those of templates with the step that used them.

use super::{MOST_PROBLEMS, Reader};
use crate::script::names::{Unset, Use};
use crate::script::problem::{Notice, Problem};
use crate::script::template::unknown;
use crate::script::yaml::{Node, Origin, Place, covers};
use std::path::PathBuf;

/// The consequence for a name that nothing sets.
fn undefined(name: &str) -> String {
    let what = if unknown::is_call(name) { "the text it stands in" } else { "it" };
    format!("{what} is undefined, as in Artillery")
}

impl Reader {
    /// Adds to problems in a template, those since there were `before`, the step that used it; a problem that another
    /// step met before is not repeated.
    pub(crate) fn on_behalf(&mut self, before: usize, template: &Node, by: &str) {
        let recent = self.problems.split_off(before.min(self.problems.len()));
        for problem in recent {
            let place = Place { origin: template.place.origin, line: problem.line, column: problem.column };
            if covers(template, place) { self.tell(problem, by) } else { self.add(problem) }
        }
    }

    fn tell(&mut self, mut problem: Problem, by: &str) {
        if !self.told.contains(&problem) {
            self.told.push(problem.clone());
            problem.what.push_str(by);
            self.add(problem);
        }
    }

    /// Every user has a value for this from its start, whatever its name looks like.
    pub(crate) fn declare_global(&mut self, name: &str) {
        self.constants.note(name);
        self.names.declare_global(name);
    }

    /// Tells of the uses of names that nothing in the script sets.
    pub(crate) fn unset_anywhere(&mut self, uses: Vec<Use>) {
        let unset = self.names.unset_anywhere(uses);
        self.unset(unset);
    }

    /// Reports uses of variables that nothing sets.
    pub(crate) fn unset(&mut self, all: Vec<Unset>) {
        for Unset { name, place, what, hint, is_tolerable, by } in all {
            let mut problem = self.located(place, what, hint);
            if is_tolerable {
                problem.tolerated = Some(undefined(&name));
                self.undefined.insert(name);
            }
            if by.is_empty() { self.add(problem) } else { self.tell(problem, &by) }
        }
    }

    pub(crate) fn problem(&mut self, place: Place, what: impl Into<String>, hint: Option<String>) {
        let problem = self.located(place, what.into(), hint);
        self.add(problem);
    }

    /// A problem that a run goes on in spite of, unless it is strict; `outcome` says what becomes of it then.
    pub(crate) fn tolerable(
        &mut self,
        place: Place,
        what: impl Into<String>,
        hint: Option<String>,
        outcome: &str,
    ) {
        let problem = self.located(place, what.into(), hint);
        self.add(Problem { tolerated: Some(outcome.to_owned()), ..problem });
    }

    fn located(&self, place: Place, what: String, hint: Option<String>) -> Problem {
        let Place { origin, line, column } = place;
        Problem { file: self.file_of(origin), line, column, what, hint, tolerated: None }
    }

    pub(crate) fn file_of(&self, origin: Origin) -> PathBuf {
        match origin {
            Origin::Script => self.file.clone(),
            Origin::Input(index) => self.inputs.get(index).cloned().unwrap_or_default(),
            Origin::Overrides => PathBuf::from("--overrides"),
            Origin::Target => PathBuf::from("--target"),
            Origin::Payload => PathBuf::from("--payload"),
            Origin::Solo => PathBuf::from("--solo"),
            Origin::Scenario => PathBuf::from("--scenario-name"),
            Origin::Until => PathBuf::from("--until"),
        }
    }

    /// Adds a problem unless it is known: an alias brings the same mistake to several places of the tree, and an
    /// environment is read with the script around it.
    pub(crate) fn add(&mut self, problem: Problem) {
        // Tolerated problems give way to the others.
        let is_like = |known: &&Problem| known.tolerated.is_some() == problem.tolerated.is_some();
        let is_full = self.problems.iter().filter(is_like).count() >= MOST_PROBLEMS;
        if !is_full && !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// The same sentence is said once.
    pub(crate) fn notice(&mut self, place: Place, text: impl Into<String>) {
        let text = text.into();
        if self.notices.iter().all(|notice| notice.text != text) {
            self.notices.push(Notice {
                file: self.file_of(place.origin),
                line: place.line,
                column: place.column,
                text,
            });
        }
    }
}
