//! Another machine, by a shell there: `ssh HOST sh -s`, one for as long as it is watched.
//!
//! What a look asks for is remembered and asked for at once when the next one begins, so that a look is one question
//! and one answer, however many files it reads; what is new in it costs a question of its own. A question is a few
//! commands that every Linux has (grep, ls, head), not one for each file: they run on the machine that is watched.

mod answer;
mod child;

pub use child::SSH;

use super::{Machine, Units, Wanted};
use answer::{Answers, Found, Question};
use child::{Child, Command};
use std::collections::{HashMap, HashSet};
use std::io;
use std::ops::ControlFlow;

/// Bytes of a question: what a pipe takes without anybody reading it, so that asking never waits.
const QUESTION_MAX: usize = 32 << 10;
/// From so many bytes on the head of a file is all of it.
const WHOLE: usize = 64 << 20;

/// A machine that is reached by a command.
#[derive(Debug)]
pub struct Shell {
    name: String,
    command: Command,
    child: Option<Child>,
    units: Units,
    /// What this look has found so far.
    found: HashMap<Wanted, Found>,
    /// What this look asked for, to be fetched when the next one begins.
    used: HashSet<Wanted>,
    /// What was fetched for this look alone.
    once: HashSet<Wanted>,
}

impl Shell {
    /// The machine at `[USER@]HOST[:PORT]`, by the system's ssh, or the command that `SONAGI_SSH` names.
    ///
    /// # Errors
    /// It is no such address: the rule, and what we got.
    pub fn at(destination: &str) -> Result<Shell, String> {
        Ok(Shell::new(destination.to_owned(), Command::ssh(destination)?))
    }

    /// The machine whose shell this program is, when it is called with these arguments.
    pub fn by(name: &str, program: &str, arguments: &[&str]) -> Shell {
        Shell::new(name.to_owned(), Command::new(program, arguments))
    }

    fn new(name: String, command: Command) -> Shell {
        Shell {
            name,
            command,
            child: None,
            units: Units { ticks: 100, page: 4096, is_little_endian: true },
            found: HashMap::new(),
            used: HashSet::new(),
            once: HashSet::new(),
        }
    }

    fn begin(&mut self) -> io::Result<()> {
        let mut child = Child::start(&self.command)?;
        self.units = answer::units(&child.ask(answer::UNITS, child::FIRST)?.concat());
        self.child = Some(child);
        Ok(())
    }

    /// Fetches what is not there yet.
    fn fetch(&mut self, wanted: impl Iterator<Item = Wanted>) -> io::Result<()> {
        let mut questions: Vec<Question> = Vec::new();
        for one in wanted.filter(|one| !self.found.contains_key(one)) {
            match questions.last_mut().filter(|question| question.bytes() < QUESTION_MAX / 2) {
                Some(question) => question.add(one),
                None => questions.push(Question::of(one)),
            }
        }
        for question in questions {
            let Some(child) = &mut self.child else { return Err(io::ErrorKind::NotConnected.into()) };
            let asked = child.ask(&question.text(child.mark()), child::NEXT);
            let said = asked.inspect_err(|_| self.child = None)?;
            let Answers(answers) = question.answers(&said);
            self.found.extend(answers);
        }
        Ok(())
    }

    fn get(&mut self, wanted: Wanted) -> io::Result<Found> {
        if !self.found.contains_key(&wanted) {
            self.fetch(std::iter::once(wanted.clone()))?;
        }
        let found = self.found.get(&wanted).cloned();
        if !self.once.contains(&wanted) {
            self.used.insert(wanted);
        }
        found.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn bytes(&mut self, wanted: Wanted) -> io::Result<Vec<u8>> {
        match self.get(wanted)? {
            Found::Bytes(bytes) => Ok(bytes),
            Found::Names(_) => Err(io::ErrorKind::IsADirectory.into()),
            Found::Error(kind) => Err(kind.into()),
        }
    }

    fn names(&mut self, wanted: Wanted) -> io::Result<Vec<String>> {
        match self.get(wanted)? {
            Found::Names(names) => Ok(names),
            Found::Bytes(_) => Err(io::ErrorKind::NotADirectory.into()),
            Found::Error(kind) => Err(kind.into()),
        }
    }
}

impl Machine for Shell {
    fn name(&self) -> Option<String> {
        Some(self.name.clone())
    }

    fn look(&mut self) -> io::Result<()> {
        if self.child.is_none() {
            self.begin()?;
        }
        self.found.clear();
        self.once.clear();
        let again = std::mem::take(&mut self.used);
        self.fetch(again.into_iter())
    }

    fn ahead(&mut self, wanted: Vec<Wanted>, is_regular: bool) -> io::Result<()> {
        if !is_regular {
            let new = wanted.iter().filter(|one| !self.found.contains_key(one)).cloned();
            self.once.extend(new.collect::<Vec<_>>());
        }
        self.fetch(wanted.into_iter())
    }

    fn read(&mut self, path: &str) -> io::Result<Vec<u8>> {
        self.bytes(Wanted::Read(path.to_owned()))
    }

    fn head(&mut self, path: &str, bytes: usize) -> io::Result<Vec<u8>> {
        if bytes >= WHOLE { self.read(path) } else { self.bytes(Wanted::Head(path.to_owned(), bytes)) }
    }

    fn list(&mut self, path: &str) -> io::Result<Vec<String>> {
        self.names(Wanted::List(path.to_owned()))
    }

    fn links(&mut self, path: &str, tell: &mut dyn FnMut(&str) -> ControlFlow<()>) -> io::Result<()> {
        let targets = self.names(Wanted::Links(path.to_owned()))?;
        let _ = targets.iter().try_for_each(|target| tell(target));
        Ok(())
    }

    fn units(&self) -> Units {
        self.units
    }
}
