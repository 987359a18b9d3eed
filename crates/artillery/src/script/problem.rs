//! Problems of a script, and notices about it, with their places.
//!
//! A problem stops the run, a notice does not; one that Artillery would not stop at and nothing hangs on becomes a
//! notice unless the run is strict ([`crate::script::Overrides::strict`]). All are data: only the binary prints.
//! Problems are collected, never thrown at the first one, because an author who fixes twelve mistakes wants to see
//! twelve.

use std::fmt;
use std::path::PathBuf;

/// Everything wrong with a script (at most 1,000 problems), in the order of its lines. Never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Problems(pub Vec<Problem>);

/// A mistake: the rule, the text found, and a hint where there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The script as it was named, or `--overrides` and the like for values of the command line.
    pub file: PathBuf,
    /// From 1; 0 when the problem has no line (the file cannot be read).
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// A lowercase fragment: what, the rule, what was found.
    pub what: String,
    /// The remedy.
    pub hint: Option<String>,
    /// The consequence in a run that is not strict, which goes on: Artillery does, and nothing depends on it. None:
    /// every run ends.
    pub tolerated: Option<String>,
}

/// The consequence for keys that Artillery never looks at.
pub(crate) const IGNORED: &str = "ignored, as in Artillery";

/// Something the author should know although the script runs: one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The script as it was named.
    pub file: PathBuf,
    /// Line of the first place it applies to, from 1; 0 when it has none.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// The sentence.
    pub text: String,
}

impl Problem {
    /// A problem of a whole file, or of a flag named in a file's place: it has no line.
    pub fn of_file(file: impl Into<PathBuf>, what: String, hint: Option<String>) -> Problem {
        Problem { file: file.into(), line: 0, column: 0, what, hint, tolerated: None }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:", self.file.display())?;
        if self.line > 0 {
            write!(out, "{}:{}:", self.line, self.column)?;
        }
        write!(out, " {}", self.what)?;
        if let Some(hint) = &self.hint {
            write!(out, "\n  hint: {hint}")?;
        }
        match &self.tolerated {
            Some(outcome) => write!(out, "\n  without --strict: {outcome}"),
            None => Ok(()),
        }
    }
}

impl From<Problem> for Notice {
    /// The notice in a run that goes on.
    fn from(problem: Problem) -> Notice {
        let Problem { file, line, column, what, hint, tolerated } = problem;
        // An ignored key needs no remedy.
        let hint = hint.filter(|_| tolerated.as_deref() != Some(IGNORED));
        let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
        let outcome = tolerated.map(|outcome| format!(": {outcome}")).unwrap_or_default();
        Notice { file, line, column, text: what + &outcome + &hint }
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            write!(out, "{problem}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:", self.file.display())?;
        if self.line > 0 {
            write!(out, "{}:{}:", self.line, self.column)?;
        }
        write!(out, " {}", self.text)
    }
}

/// The nearest of `known` to a misspelt word, if one is near enough to be meant.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let allowed = match lower.chars().count() {
        0..=1 => 0,
        2..=5 => 1,
        6..=8 => 2,
        _ => 3,
    };
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_matched_to_its_likely_meaning_only() {
        let check =
            |word, expected| assert_eq!(nearest(word, ["arrivalRate", "rampTo", "as"]), expected, "{word}");
        check("arivalRate", Some("arrivalRate"));
        check("arrivalrate", Some("arrivalRate"));
        check("ramTo", Some("rampTo"));
        check("is", Some("as"));
        check("x", None);
        check("duration", None);
    }

    #[test]
    fn a_problem_prints_place_then_rule_then_hint() {
        let problem = Problem {
            file: "chat.yml".into(),
            line: 12,
            column: 7,
            what: "unknown key \"arivalRate\" in a phase".into(),
            hint: Some("did you mean \"arrivalRate\"?".into()),
            tolerated: None,
        };
        assert_eq!(
            problem.to_string(),
            "chat.yml:12:7: unknown key \"arivalRate\" in a phase\n  hint: did you mean \"arrivalRate\"?"
        );
    }

    #[test]
    fn a_problem_that_a_run_may_tolerate_says_what_becomes_of_it_and_is_a_notice_then() {
        let problem = Problem {
            file: "chat.yml".into(),
            line: 1,
            column: 1,
            what: "unknown key \"version\" in a script".into(),
            hint: Some("known keys: config, scenarios".into()),
            tolerated: Some(IGNORED.into()),
        };
        assert_eq!(
            problem.to_string(),
            "chat.yml:1:1: unknown key \"version\" in a script\n  hint: known keys: config, scenarios\n  without \
             --strict: ignored, as in Artillery"
        );
        assert_eq!(
            Notice::from(problem).to_string(),
            "chat.yml:1:1: unknown key \"version\" in a script: ignored, as in Artillery"
        );
    }
}
