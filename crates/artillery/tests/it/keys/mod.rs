//! Every key of the schema: that a script of `scripts/` uses it, that this makes a difference, and what is said of it
//! where it is wrong.
//!
//! Nothing here lists the keys. They come from `sonagi schema`; the scripts are read by the reader and walked by the
//! schema; and the mistakes are written into these same scripts, one each, so that what is told is told of that
//! mistake.

mod grammar;
mod mistakes;
mod uses;
mod written;

use crate::support::{repository, script};
use grammar::{Grammar, is_ignored, is_refused};
use sonagi_artillery::{Overrides, Problem, Problems, RefusedLaunch, RefusesLaunch, load, load_each};
use std::ops::Range;
use std::path::PathBuf;
use tempfile::TempDir;
use uses::{Use, Uses};

/// A folder with everything scripts name, in which texts of scripts are loaded.
struct Bench {
    folder: TempDir,
    /// Names and texts of the scripts that have a plan beside them, the shortest first.
    scripts: Vec<(String, String)>,
}

impl Bench {
    fn new() -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let mut scripts = Vec::new();
        let mut plans = Vec::new();
        for entry in std::fs::read_dir(script("")).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            match path.extension().and_then(|extension| extension.to_str()) {
                Some("yml") => scripts.push((name, std::fs::read_to_string(&path).unwrap())),
                Some("plan") => plans.push(name),
                _ => {
                    std::fs::copy(&path, folder.path().join(name)).unwrap();
                }
            }
        }
        let is_told = |name: &str| plans.iter().any(|plan| plan.starts_with(name.trim_end_matches(".yml")));
        scripts.retain(|(name, _)| is_told(name));
        scripts.sort_by_key(|(name, text)| (text.lines().count(), name.clone()));
        Bench { folder, scripts }
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// The outcome for a text: all of its plan and notices, as text.
    fn outcome(&self, name: &str, text: &str) -> Result<String, Problems> {
        let mut loaded = load(&self.write(name, text), &judging())?;
        // The source itself always differs.
        loaded.plan.source = serde_json::Value::Null;
        // A new one for each load.
        loaded.plan.processor.iter_mut().for_each(|processor| drop(processor.constants.remove("$testId")));
        // And without their places: what stands below a line moves when it goes.
        let notices: Vec<String> = loaded.notices.into_iter().map(|notice| notice.text).collect();
        let sonagi_artillery::Loaded { plan, serve, launch, experiment, .. } = loaded;
        Ok(format!("{plan:?} {serve:?} {launch:?} {experiment:?} {notices:?}"))
    }

    /// The uses of keys in the scripts, each of which the reader accepts.
    fn uses(&self, grammar: &Grammar) -> Uses {
        let mut uses = Uses::default();
        for (index, (name, text)) in self.scripts.iter().enumerate() {
            if let Err(problems) = load_each(&self.write(name, text), &judging()) {
                panic!("{problems}");
            }
            uses.add(grammar, index, text);
        }
        uses
    }

    /// The problems of a script with something else in the place of some of its characters.
    fn problems(&self, script: usize, at: &Range<usize>, new: &str) -> Vec<Problem> {
        let (name, text) = &self.scripts[script];
        let strict = Overrides { strict: true, ..judging() };
        match load(&self.write(name, &written::with(text, at, new)), &strict) {
            Ok(_) => Vec::new(),
            // The folder is another one each time.
            Err(Problems(all)) => {
                all.into_iter().map(|problem| Problem { file: PathBuf::from(name), ..problem }).collect()
            }
        }
    }
}

/// As the command line loads scripts: what is said of a service that is launched is judged by who launches it.
fn judging() -> Overrides {
    let refuses: RefusesLaunch = |said| {
        let mistakes = sonagi_lab::read(said).err().unwrap_or_default().into_iter();
        let refused = mistakes.map(|sonagi_lab::Mistake { pointer, is_key, what, hint }| RefusedLaunch {
            pointer,
            is_key,
            what,
            hint,
        });
        refused.collect()
    };
    Overrides { launch: Some(refuses), ..Overrides::default() }
}

/// Fails with everything that is lacking.
fn none_of(lacking: Vec<String>) {
    assert!(lacking.is_empty(), "{}:\n{}", lacking.len(), lacking.join("\n"));
}

#[test]
fn every_key_of_the_schema_is_used_by_a_script_that_loads() {
    let (grammar, bench) = (Grammar::new(), Bench::new());
    let uses = bench.uses(&grammar);
    let mut lacking = Vec::new();
    let mut seen = 0;
    for (key, said) in grammar.keys().into_iter().filter(|(_, said)| !is_refused(said)) {
        let (place, name) = &key;
        if !uses.keys.contains_key(&key) {
            lacking.push(format!("no script in tests/it/scripts has `{name}` in {}", grammar.called(place)));
        }
        for below in grammar::below(said) {
            let is_there = |step: &&str| uses.below.contains(&(key.clone(), (*step).to_owned()));
            let found =
                if below == "step" { grammar.steps().any(|step| is_there(&step)) } else { is_there(&below) };
            if !found {
                let below = grammar.place(below)["title"].as_str().unwrap_or(below);
                lacking.push(format!("`{name}` in {} is never that of {below}", grammar.called(place)));
            }
        }
        seen += 1;
    }
    none_of(lacking);
    assert!(seen > 390, "{seen} keys were looked for");
}

/// The reference's words for keys that change no plan by themselves.
const WITHOUT_EFFECT: [&str; 4] = [
    "Shown nowhere.",
    "Nothing to set here.",
    "`-e name` lays one over config",
    // The compiled expression does not show them; a test of its own looks.
    "Flags of the regular expression.",
];

#[test]
fn every_key_changes_what_comes_of_a_script() {
    let (grammar, bench) = (Grammar::new(), Bench::new());
    let uses = bench.uses(&grammar);
    let as_they_are: Vec<String> =
        bench.scripts.iter().map(|(name, text)| bench.outcome(name, text).unwrap()).collect();
    let mut idle = Vec::new();
    for (key, said) in grammar.keys() {
        let about = said["description"].as_str().unwrap();
        if is_refused(said) || is_ignored(said) || WITHOUT_EFFECT.iter().any(|words| about.contains(words)) {
            continue;
        }
        let changes = |used: &Use| {
            let (name, text) = &bench.scripts[used.script];
            let without = written::with(text, &used.without.0, used.without.1);
            match bench.outcome(name, &without) {
                Ok(outcome) => outcome != as_they_are[used.script],
                Err(problems) => {
                    assert!(!problems.to_string().contains("not valid YAML"), "{problems}\n{without}");
                    true
                }
            }
        };
        // A value that is the default changes nothing, and other places tell.
        if !uses.keys.get(&key).into_iter().flatten().any(changes) {
            idle.push(format!("`{}` in {} changes nothing in any script", key.1, grammar.called(&key.0)));
        }
    }
    none_of(idle);
    for ((name, text), before) in bench.scripts.iter().zip(&as_they_are) {
        assert_eq!(&bench.outcome(name, text).unwrap(), before, "{name} is the same each time it is read");
    }
}

#[test]
fn the_reference_has_every_key_under_its_place() {
    let grammar = Grammar::new();
    let text = std::fs::read_to_string(repository("docs/scripts.md")).unwrap();
    let mut lacking = Vec::new();
    for ((place, name), _) in grammar.keys() {
        let path = grammar.path(&place);
        let section =
            text.split(&format!("### {path}\n")).nth(1).and_then(|rest| rest.split("\n### ").next());
        if !section.unwrap_or_default().contains(&format!("\n| `{name}` |")) {
            lacking.push(format!("docs/scripts.md lacks `{name}` under {path}"));
        }
    }
    none_of(lacking);
}
