//! A mistake for each key, written into a script that is right without it.
//!
//! The resulting messages are in `mistakes/*.txt`, to be read:
//! `UPDATE_PLANS=1 cargo test -p sonagi-artillery --test it keys` writes them anew.

use super::grammar::{Grammar, Key, is_ignored, is_refused};
use super::uses::{Use, Uses};
use super::written::place;
use super::{Bench, none_of};
use crate::support::repository;
use serde_json::{Value, json};
use sonagi_artillery::Problem;
use std::collections::BTreeMap;
use std::ops::Range;

/// Values of each kind, none of which means anything anywhere.
fn nonsense() -> [(&'static str, Value); 5] {
    [
        ("nonsense", json!("nonsense")),
        ("[nonsense]", json!(["nonsense"])),
        ("{nonsense: 1}", json!({"nonsense": 1})),
        ("-1", json!(-1)),
        ("true", json!(true)),
    ]
}

/// The messages about a mistake at its place, and elsewhere because of it.
struct Told {
    here: Vec<Problem>,
    elsewhere: Vec<Problem>,
}

impl Told {
    /// A mistake reported at its place alone ranks first.
    fn rank(&self) -> (bool, usize) {
        (self.here.is_empty(), self.here.len() + self.elsewhere.len())
    }
}

/// Writes a line instead of these characters, in that of the scripts in which least is told elsewhere.
fn mistake(bench: &Bench, uses: &[Use], line: &str, at: impl Fn(&Use) -> Range<usize>) -> Option<Told> {
    let mut best: Option<Told> = None;
    for used in uses {
        let at = at(used);
        let problems = bench.problems(used.script, &at, line);
        // An alias elsewhere names what was there.
        if problems.iter().any(|problem| problem.what.starts_with("not valid YAML")) {
            continue;
        }
        let (row, first) = place(&bench.scripts[used.script].1, at.start);
        let is_here = |problem: &Problem| {
            problem.line == row && (first..=first + line.chars().count()).contains(&problem.column)
        };
        let (here, elsewhere): (Vec<Problem>, Vec<Problem>) = problems.into_iter().partition(is_here);
        let told = Told { here, elsewhere };
        if best.as_ref().is_none_or(|best| told.rank() < best.rank()) {
            best = Some(told);
        }
        if best.as_ref().is_some_and(|best| best.rank() == (false, 1)) {
            break;
        }
    }
    best
}

fn whole(used: &Use) -> Range<usize> {
    used.key.start..used.value.end
}

fn name(used: &Use) -> Range<usize> {
    used.key.clone()
}

/// A key with its last letter twice.
fn misspelt(key: &str) -> String {
    key.chars().chain(key.chars().last()).collect()
}

/// The entry of a key among the others: what was written, and what is told.
struct Pages(BTreeMap<String, BTreeMap<String, Vec<String>>>);

impl Pages {
    fn add(&mut self, called: &str, written: &str, told: &Told) {
        let first = called.split(|c: char| !c.is_ascii_alphanumeric()).find(|word| !word.is_empty()).unwrap();
        let mut entry = format!("{written}\n");
        for problem in told.here.iter().chain(&told.elsewhere) {
            entry.push_str(&format!("  {}\n", problem.to_string().replace('\n', "\n  ")));
        }
        let page = self.0.entry(first.to_owned()).or_default();
        page.entry(called.to_owned()).or_default().push(entry);
    }

    /// Holds what is told against what was read and found good.
    fn check(self) {
        for (name, places) in self.0 {
            let sections = places.into_iter().map(|(called, mut entries)| {
                entries.sort();
                format!("# {called}\n\n{}", entries.join("\n"))
            });
            let text = sections.collect::<Vec<_>>().join("\n");
            let path = repository("crates/artillery/tests/it/keys/mistakes").join(format!("{name}.txt"));
            if std::env::var_os("UPDATE_PLANS").is_some() {
                std::fs::write(&path, &text).unwrap();
            }
            let expected = std::fs::read_to_string(&path).unwrap_or_default();
            let first = text.lines().zip(expected.lines()).position(|(now, before)| now != before);
            let line = first.unwrap_or(text.lines().count().min(expected.lines().count()));
            let of = |text: &str| text.lines().nth(line).unwrap_or("nothing").to_owned();
            assert!(
                text == expected,
                "mistakes/{name}.txt:{}: now {:?}, was {:?}",
                line + 1,
                of(&text),
                of(&expected)
            );
        }
    }
}

#[test]
fn a_value_of_a_wrong_kind_is_told_with_what_is_wanted() {
    let (grammar, bench) = (Grammar::new(), Bench::new());
    let uses = bench.uses(&grammar);
    let mut pages = Pages(BTreeMap::new());
    let mut lacking = Vec::new();
    for (key, said) in grammar.keys() {
        let called = grammar.called(&key.0);
        if is_refused(said) {
            let (written, told) = refused(&grammar, &bench, &uses, &key);
            pages.add(&called, &written, &told);
            continue;
        }
        let Some(of) = uses.keys.get(&key) else { continue };
        let validator = grammar.validator(said);
        let wrong = nonsense().into_iter().filter(|(_, value)| !validator.is_valid(value));
        let mut is_first = true;
        for (text, _) in wrong {
            let written = format!("{}: {text}", key.1);
            let told = mistake(&bench, of, &written, whole).unwrap();
            if let Some(why) = unhelpful(&told, text.trim_matches(['[', ']', '{'])) {
                lacking.push(format!("{called}: `{written}` {why}"));
            }
            if std::mem::take(&mut is_first) {
                pages.add(&called, &written, &told);
            }
        }
        if is_first {
            // Any value will do: what can be wrong is the name.
            let written = misspelt(&key.1);
            pages.add(&called, &format!("{written}: …"), &mistake(&bench, of, &written, name).unwrap());
        }
        assert!(!is_ignored(said) || is_first, "what has no effect may be anything");
    }
    pages.check();
    none_of(lacking);
}

/// Why what is told of a value helps nobody.
fn unhelpful(told: &Told, value: &str) -> Option<String> {
    if told.here.is_empty() {
        return Some("is taken, or told of elsewhere".to_owned());
    }
    if let Some(problem) = told.here.iter().find(|problem| problem.hint.is_none()) {
        return Some(format!("is told without a hint: {}", problem.what));
    }
    // In a mapping, the unknown key.
    let found = value.split(':').next().unwrap_or_default();
    let says =
        |problem: &Problem| problem.what.contains("; got ") || problem.what.contains(&format!("\"{found}\""));
    (!told.here.iter().any(says)).then(|| format!("is told without what was found: {:?}", told.here))
}

/// A key that is refused stands where a neighbour of it was.
fn refused(grammar: &Grammar, bench: &Bench, uses: &Uses, (place, name): &Key) -> (String, Told) {
    let neighbours = grammar.place(place)["properties"].as_object().unwrap().keys();
    let written = format!("{name}: true");
    let all = neighbours.filter_map(|other| uses.keys.get(&(place.clone(), other.clone())));
    let told = all.filter_map(|of| mistake(bench, of, &written, whole));
    let told = told.min_by_key(Told::rank).unwrap();
    assert!(told.here[0].what.contains("is refused") && told.here[0].hint.is_some(), "{:?}", told.here);
    (written, told)
}

#[test]
fn a_misspelt_key_is_told_with_the_one_that_was_meant() {
    let (grammar, bench) = (Grammar::new(), Bench::new());
    let uses = bench.uses(&grammar);
    let mut lacking = Vec::new();
    for ((place, key), said) in grammar.keys() {
        let Some(of) = uses.keys.get(&(place.clone(), key.clone())).filter(|_| !is_refused(said)) else {
            continue;
        };
        let written = misspelt(&key);
        let told = mistake(&bench, of, &written, name).unwrap();
        let is_told = told.here.iter().any(|problem| {
            let kinds = [format!("unknown key \"{written}\" in "), format!("unknown step \"{written}\"")];
            kinds.iter().any(|kind| problem.what.starts_with(kind.as_str()))
                && problem.hint.as_deref() == Some(&format!("did you mean \"{key}\"?"))
        });
        if !is_told || told.here.len() > 1 {
            lacking.push(format!("{}: `{written}` is told as {:?}", grammar.called(&place), told.here));
        }
    }
    none_of(lacking);
}
