//! All problems of a test's options, each with its place and, where there is one, a hint.

use serde_json::Value;
use std::fmt;

/// A problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where: `options.scenarios.a.vus`, `K6_VUS`, `--vus`.
    pub place: String,
    /// The fact, the rule, the given value.
    pub text: String,
    /// A remedy.
    pub hint: Option<String>,
}

/// All that is wrong; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl Problems {
    /// Whether k6 would not have come so far as to look at its options: a flag that cannot be read, a statistic there
    /// is none of.
    pub fn are_of_the_command_line(&self) -> bool {
        let cannot_be_read = |problem: &Problem| {
            problem.place.starts_with("--") || problem.place.ends_with("summaryTrendStats")
        };
        self.0.iter().any(cannot_be_read)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.text)?;
        match &self.hint {
            Some(hint) => write!(f, "\n    hint: {hint}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(Problem::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for Problems {}

/// The problems found so far, and the place that is being read.
pub(super) struct Reading<'a> {
    pub place: String,
    pub problems: &'a mut Vec<Problem>,
    pub notices: &'a mut Vec<String>,
}

impl Reading<'_> {
    /// The same reading, one member further in.
    pub(super) fn within(&mut self, member: impl fmt::Display) -> Reading<'_> {
        Reading { place: format!("{}.{member}", self.place), problems: self.problems, notices: self.notices }
    }

    pub(super) fn problem(&mut self, text: impl Into<String>) {
        let place = self.place.clone();
        self.problems.push(Problem { place, text: text.into(), hint: None });
    }

    pub(super) fn problem_with_hint(&mut self, text: impl Into<String>, hint: impl Into<String>) {
        let place = self.place.clone();
        self.problems.push(Problem { place, text: text.into(), hint: Some(hint.into()) });
    }

    pub(super) fn notice(&mut self, text: impl fmt::Display) {
        self.notices.push(format!("{}: {text}", self.place));
    }

    /// A value of another kind than the place asks for. Returns None for the caller to pass on.
    pub(super) fn wrong<T>(&mut self, rule: &str, got: &Value) -> Option<T> {
        self.problem(format!("must be {rule}, is {}", short(got)));
        None
    }
}

/// A value as JSON, cut where it grows long.
pub(super) fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Which of `known` was probably meant.
pub(crate) fn meant<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let close = |candidate: &&str| {
        strsim::damerau_levenshtein(&name.to_lowercase(), &candidate.to_lowercase()) <= 1 + name.len() / 6
    };
    known.filter(close).min_by_key(|candidate| strsim::damerau_levenshtein(name, candidate))
}
