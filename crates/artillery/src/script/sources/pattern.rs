//! Regular expressions, as JavaScript writes them.
//!
//! The `regex` crate is tried first: it never takes more time than the text is long. What it does not know, or means
//! otherwise, goes to an engine of JavaScript's own dialect: looking ahead and behind, back references, a brace as
//! itself.

use crate::plan::{Search, Source};
use regex::{Regex, RegexBuilder};
use serde_json::Value;
use std::sync::Arc;

use super::Wrong;

/// The flags of an expression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags {
    any_case: bool,
    lines: bool,
    dot_is_all: bool,
    unicode: bool,
}

impl Flags {
    /// None when a letter is none of them.
    pub(super) fn read(text: &str) -> Option<Flags> {
        let has = |flag: char| text.contains(flag);
        let is_known = text.chars().all(|flag| "imsgu".contains(flag));
        is_known.then(|| Flags {
            any_case: has('i'),
            lines: has('m'),
            dot_is_all: has('s'),
            unicode: has('u'),
        })
    }
}

/// The part of a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    /// 0: all of it.
    Number(usize),
    Name(String),
}

/// A pattern only JavaScript's own engine understands.
#[derive(Debug)]
struct Script {
    regex: regress::Regex,
    group: Group,
}

/// A source of a pattern. Of what is wrong the first part says whether it is the group.
pub(crate) fn pattern(written: &str, flags: Flags, group: &Group) -> Result<Source, (bool, Wrong)> {
    let built = RegexBuilder::new(written)
        .case_insensitive(flags.any_case)
        .multi_line(flags.lines)
        .dot_matches_new_line(flags.dot_is_all)
        .build();
    match built {
        Ok(regex) if !means_otherwise(written) => plain(regex, group),
        built => script(written, flags, group).map_err(|wrong| match (wrong, built) {
            // The plain engine says more precisely what is wrong.
            ((false, _), Err(error)) => (false, (told(&error), None)),
            (wrong, _) => wrong,
        }),
    }
}

/// Whether both engines read it, but differently: `\<` as the beginning of a word, and sets within sets.
fn means_otherwise(written: &str) -> bool {
    [r"\<", r"\>", "[[", "&&", "--", "~~"].iter().any(|text| written.contains(text))
}

fn plain(regex: Regex, group: &Group) -> Result<Source, (bool, Wrong)> {
    let groups = regex.captures_len() - 1;
    let number = match group {
        Group::Number(number) => Some(*number),
        Group::Name(name) => regex.capture_names().position(|known| known == Some(name.as_str())),
    };
    match number.filter(|number| *number <= groups) {
        Some(group) => Ok(Source::Regexp { regex, group }),
        None => Err((true, no_group(groups, group))),
    }
}

fn script(written: &str, flags: Flags, group: &Group) -> Result<Source, (bool, Wrong)> {
    let flags = regress::Flags {
        icase: flags.any_case,
        multiline: flags.lines,
        dot_all: flags.dot_is_all,
        unicode: flags.unicode,
        ..regress::Flags::default()
    };
    let regex = regress::Regex::with_flags(written, flags)
        .map_err(|error| (false, (format!("not a regular expression: {}", error.text), None)))?;
    // How many groups there are, only a match tells: every expression matches with an empty alternative.
    let probe = regress::Regex::with_flags(&format!("(?:{written})|"), flags).ok();
    if let Some(found) = probe.and_then(|probe| probe.find("")) {
        let groups = found.groups().count() - 1;
        let is_there = match group {
            Group::Number(number) => *number <= groups,
            Group::Name(name) => found.named_groups().any(|(known, _)| known == name),
        };
        if !is_there {
            return Err((true, no_group(groups, group)));
        }
    }
    Ok(Source::Search(Arc::new(Script { regex, group: group.clone() })))
}

fn no_group(groups: usize, group: &Group) -> Wrong {
    let got = match group {
        Group::Number(number) => number.to_string(),
        Group::Name(name) => format!("{name:?}"),
    };
    (format!("the expression has no such group: it has {groups}; got {got}"), None)
}

fn told(error: &regex::Error) -> String {
    let lines = error.to_string();
    let reason = lines.lines().last().unwrap_or("").trim().trim_start_matches("error: ").to_owned();
    format!("not a regular expression: {reason}")
}

impl Search for Script {
    fn find(&self, text: &str, _: &mut dyn FnMut(usize) -> usize) -> Option<Value> {
        let found = self.regex.find(text)?;
        let range = match &self.group {
            Group::Number(number) => found.group(*number),
            Group::Name(name) => found.named_group(name),
        };
        Some(text.get(range?)?.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The match in a text, and the engine that found it.
    #[track_caller]
    fn check(written: &str, group: Group, text: &str, expected: Option<&str>, is_script: bool) {
        let source = pattern(written, Flags::read("").unwrap(), &group).unwrap();
        let found = match &source {
            Source::Regexp { regex, group } => {
                regex.captures(text).and_then(|found| Some(found.get(*group)?.as_str().to_owned()))
            }
            Source::Search(search) => {
                search.find(text, &mut |_| 0).map(|found| found.as_str().unwrap().to_owned())
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(found.as_deref(), expected, "{written}");
        assert_eq!(matches!(source, Source::Search(_)), is_script, "{written}");
    }

    #[test]
    fn an_expression_is_read_as_javascript_reads_it() {
        let number = Group::Number;
        check("id=([0-9]+)", number(0), "x id=42;", Some("id=42"), false);
        check("id=([0-9]+)", number(1), "x id=42;", Some("42"), false);
        check("(?<id>[0-9]+)", Group::Name("id".into()), "x42", Some("42"), false);
        check("(?<=token=)[^&]+", number(0), "a=1&token=xy&b", Some("xy"), true);
        check("(\\w)\\1", number(1), "hello", Some("l"), true);
        check("{\"id\":(\\d+)}", number(1), "[{\"id\":7}]", Some("7"), true);
        check("(?=(?<at>b))", Group::Name("at".into()), "abc", Some("b"), true);
        check("\\<b\\>(.)", number(1), "<b>x</b>", Some("x"), true);
        check("[[]", number(0), "a[0]", Some("["), true);
        check("(a)|(b)(?!c)", number(2), "a", None, true);
    }

    #[test]
    fn flags_mean_what_they_mean_in_javascript() {
        assert_eq!(Flags::read("x"), None);
        let flags = Flags::read("gims").unwrap();
        for (written, text) in [("^B.c$", "a\nb\nc\nd"), ("(?=^B.c$)", "a\nb\nc\nd")] {
            assert!(find(written, flags, text), "{written}");
            assert!(!find(written, Flags::default(), text), "{written}");
        }
    }

    fn find(written: &str, flags: Flags, text: &str) -> bool {
        match pattern(written, flags, &Group::Number(0)).unwrap() {
            Source::Regexp { regex, .. } => regex.is_match(text),
            Source::Search(search) => search.find(text, &mut |_| 0).is_some(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_no_expression_or_has_no_such_group_is_told() {
        let check = |written: &str, group: Group, expected: (bool, &str)| {
            let (is_group, (what, _)) = pattern(written, Flags::default(), &group).unwrap_err();
            assert_eq!((is_group, what.as_str()), expected);
        };
        check("(", Group::Number(0), (false, "not a regular expression: unclosed group"));
        let two = (true, "the expression has no such group: it has 1; got 2");
        check("(a)", Group::Number(2), two);
        check("(?=(a))", Group::Number(2), two);
        check(
            "(?=(a))",
            Group::Name("x".into()),
            (true, "the expression has no such group: it has 1; got \"x\""),
        );
    }
}
