//! `matrix:`: the runs one script stands for, one per combination of its axes' values.
//!
//! A combination is a constant of its run: it may stand wherever a script needs to know a value before it begins. The
//! whole script is read once per combination, because an axis may change which engine reads a flow; what is wrong is
//! told once, and of what is wrong in some runs only, in which.

use crate::plan::Payload;
use serde_json::Value;
use std::fmt;
use std::path::Path;

use crate::script::merge::{Lists, merge};
use crate::script::problem::{Problem, Problems, nearest};
use crate::script::reader::{Fields, Reader};
use crate::script::schema;
use crate::script::yaml::{Entry, Kind, Node, Origin, Place};
use crate::script::{Loaded, Overrides, constants, inputs};

/// More runs are refused: nobody waits for them.
const MOST_RUNS: usize = 1000;

/// A run of a matrix: each axis with its value, in the script's order. Empty without a matrix.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Combination(pub Vec<(String, Value)>);

impl Combination {
    /// All combinations of the values of these axes, the last of them first to change.
    pub fn all(axes: &[(String, Vec<Value>)]) -> Vec<Combination> {
        let mut combinations = vec![Combination::default()];
        for (name, values) in axes {
            let with = |Combination(before): Combination| {
                values.iter().map(move |value| {
                    let mut all = before.clone();
                    all.push((name.clone(), value.clone()));
                    Combination(all)
                })
            };
            combinations = combinations.into_iter().flat_map(with).collect();
        }
        combinations
    }

    /// The values as part of a file's name: `sse-1000`.
    pub fn slug(&self) -> String {
        let plain = |c: char| if c.is_alphanumeric() || matches!(c, '.' | '_') { c } else { '-' };
        let values: Vec<String> =
            self.0.iter().map(|(_, value)| shown(value).chars().map(plain).collect()).collect();
        values.join("-")
    }
}

impl Combination {
    /// The script as its author wrote it, its matrix narrowed to this one run.
    pub(crate) fn source(&self, root: &Node) -> Value {
        let mut source = root.to_value();
        if let Some(matrix) = source.get_mut("matrix").filter(|_| !self.0.is_empty()) {
            *matrix = self.0.iter().cloned().collect();
        }
        if let Some(accounts) = source.pointer_mut("/serve/account") {
            without_passwords(accounts);
        }
        source
    }

    /// Its values are constants of the script that is read.
    pub(crate) fn declare(&self, reader: &mut Reader) {
        for (name, value) in &self.0 {
            reader.names.declare_global(name);
            match value {
                Value::Null => reader.names.declare_unknown(name),
                value => reader.names.declare_constant(name, value.clone()),
            }
        }
    }

    /// Its values are variables of every user, beside those the script sets; no name is both.
    pub(crate) fn join(
        &self,
        reader: &mut Reader,
        script: &Fields<'_>,
        variables: &mut Vec<(String, Vec<Value>)>,
        payloads: &[Payload],
    ) {
        for (name, value) in &self.0 {
            let in_payload = |payload: &Payload| {
                payload.all_as.as_ref().map_or(payload.fields.contains(name), |all_as| all_as == name)
            };
            let other = if variables.iter().any(|(known, _)| known == name) {
                "a variable"
            } else if payloads.iter().any(in_payload) {
                "a field of a payload"
            } else {
                variables.push((name.clone(), vec![value.clone()]));
                continue;
            };
            let axis =
                script.get("matrix").into_iter().flat_map(Node::entries).find(|axis| axis.key == *name);
            let place = axis.map_or_else(|| script.place_of("matrix"), |axis| axis.place);
            let hint = "call one of them otherwise; --matrix narrows an axis".to_owned();
            reader.problem(place, format!("{name} is an axis of the matrix, and {other} too"), Some(hint));
        }
    }
}

impl fmt::Display for Combination {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<String> =
            self.0.iter().map(|(name, value)| format!("{name}: {}", shown(value))).collect();
        write!(out, "{}", all.join(", "))
    }
}

/// Leaves the addresses of accounts (`EMAIL:PASSWORD`): no name beside them says what is secret.
fn without_passwords(accounts: &mut Value) {
    match accounts {
        Value::Array(all) => all.iter_mut().for_each(without_passwords),
        Value::String(account) => {
            if let Some(end) = account.find(':') {
                account.replace_range(end + 1.., "***");
            }
        }
        _ => {}
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The runs of a script, and what is wrong with its matrix.
pub(crate) struct Runs {
    /// At least one. With problems: one, in which the value of an axis that is wrong is [`Value::Null`].
    pub(crate) combinations: Vec<Combination>,
    problems: Vec<Problem>,
}

/// An axis of the matrix.
struct Axis {
    name: String,
    place: Place,
    /// Empty: what it says is wrong.
    values: Vec<Value>,
}

/// Reads the matrix of a script.
pub(crate) fn runs(path: &Path, text: &str, overrides: &Overrides) -> Runs {
    let mut reader = Reader::new(path, constants(path, overrides));
    // Mistakes in the texts themselves are reported when the runs are read.
    let axes = match inputs::tree(&mut Reader::new(path, constants(path, overrides)), text, overrides) {
        Some(root) => axes(&mut reader, root, overrides),
        None => Vec::new(),
    };
    let axes = narrowed(&mut reader, axes, &overrides.matrix);
    let mut problems = std::mem::take(&mut reader.problems);
    let count = axes.iter().try_fold(1_usize, |count, axis| count.checked_mul(axis.values.len().max(1)));
    if problems.is_empty() && count.is_none_or(|count| count > MOST_RUNS) {
        let place = axes[0].place;
        let what = format!("a matrix is at most {MOST_RUNS} runs; this one has more");
        let hint = "narrow it to the values you need: --matrix name=value,value".to_owned();
        reader.problem(place, what, Some(hint));
        problems = std::mem::take(&mut reader.problems);
    }
    let has_problems = !problems.is_empty();
    let values = |axis: Axis| match axis.values.len() {
        0 => (axis.name, vec![Value::Null]),
        _ if has_problems => (axis.name, axis.values[..1].to_vec()),
        _ => (axis.name, axis.values),
    };
    let combinations = Combination::all(&axes.into_iter().map(values).collect::<Vec<_>>());
    Runs { combinations, problems }
}

fn axes(reader: &mut Reader, mut root: Node, overrides: &Overrides) -> Vec<Axis> {
    if let Some(value) = &overrides.overrides {
        let place = Place { origin: Origin::Overrides, line: 0, column: 0 };
        merge(&mut root, &Node::from_value(value, place), Lists::Replaced);
    }
    let Some(node) = root.get("matrix") else { return Vec::new() };
    if !matches!(&node.kind, Kind::Map(entries) if !entries.is_empty()) {
        let hint = schema::SCRIPT.key("matrix").map(schema::Key::as_written);
        let what = format!("matrix wants a mapping of names to lists; got {}", node.describe());
        reader.problem(node.place, what, hint);
    }
    node.entries().iter().map(|entry| axis(reader, entry)).collect()
}

fn axis(reader: &mut Reader, entry: &Entry) -> Axis {
    let name = entry.key.clone();
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    if name.is_empty() || !name.chars().all(plain) || name.starts_with(|c: char| c.is_ascii_digit()) {
        reader.problem(entry.place, format!("an axis has the name of a variable; got {name:?}"), None);
    } else if name == "target" {
        let hint = "call it `service`, say, and write `target: \"{{ service }}\"` in config";
        reader.problem(
            entry.place,
            "an axis cannot be called target: every script has one",
            Some(hint.into()),
        );
    }
    let mut axis = Axis { name, place: entry.place, values: Vec::new() };
    let items = match &entry.value.kind {
        Kind::List(items) => items.as_slice(),
        _ => std::slice::from_ref(&entry.value),
    };
    if items.is_empty() {
        reader.problem(entry.value.place, format!("the axis {} has no values", axis.name), None);
    }
    for item in items {
        let value = match &item.kind {
            Kind::Text { .. } => reader.constant(item).map(Value::from),
            Kind::Bool(_) | Kind::Number(_) => Some(item.to_value()),
            _ => {
                let what = format!("the axis {} lists plain values; got {}", axis.name, item.describe());
                reader.problem(item.place, what, Some(format!("write `{}: [a, b]`", axis.name)));
                None
            }
        };
        match value {
            Some(value) if axis.values.contains(&value) => {
                let what = format!("the axis {} has {} twice", axis.name, shown(&value));
                reader.problem(item.place, what, None);
            }
            value => axis.values.extend(value),
        }
    }
    axis
}

/// The axes that `--matrix` leaves.
fn narrowed(reader: &mut Reader, mut axes: Vec<Axis>, left: &[(String, Vec<String>)]) -> Vec<Axis> {
    let mut problem = |what: String, hint: Option<String>| {
        reader.add(Problem::of_file("--matrix", what, hint));
    };
    for (index, (name, wanted)) in left.iter().enumerate() {
        if let Some((_, before)) = left[..index].iter().find(|(known, _)| known == name) {
            let hint = format!("write `--matrix {name}={},{}`", before.join(","), wanted.join(","));
            problem(format!("the axis {name} is narrowed twice"), Some(hint));
            continue;
        }
        let known: Vec<String> = axes.iter().map(|axis| axis.name.clone()).collect();
        let Some(axis) = axes.iter_mut().find(|axis| axis.name == *name) else {
            let hint = match nearest(name, known.iter().map(String::as_str)) {
                Some(meant) => format!("did you mean \"{meant}\"?"),
                None if known.is_empty() => "the script has no `matrix`".to_owned(),
                None => format!("its axes: {}", known.join(", ")),
            };
            problem(format!("the matrix has no axis \"{name}\""), Some(hint));
            continue;
        };
        let texts: Vec<String> = axis.values.iter().map(shown).collect();
        for value in wanted.iter().filter(|value| !texts.contains(value)) {
            if !texts.is_empty() {
                let hint = format!("its values: {}", texts.join(", "));
                problem(format!("the axis {name} has no value \"{value}\""), Some(hint));
            }
        }
        axis.values.retain(|value| wanted.contains(&shown(value)));
    }
    axes
}

impl Runs {
    /// All runs, or all that is wrong with any of them.
    pub(crate) fn judge(&self, read: Vec<Result<Loaded, Problems>>) -> Result<Vec<Loaded>, Problems> {
        let mut found: Vec<(Problem, Vec<usize>)> =
            self.problems.iter().map(|problem| (problem.clone(), Vec::new())).collect();
        let runs = read.len();
        let mut loaded: Vec<Loaded> = Vec::new();
        for (index, read) in read.into_iter().enumerate() {
            match read {
                Ok(mut run) => {
                    run.notices
                        .retain(|notice| loaded.iter().all(|earlier| !earlier.notices.contains(notice)));
                    loaded.push(run);
                }
                Err(Problems(problems)) => {
                    for problem in problems {
                        match found.iter_mut().find(|(known, _)| *known == problem) {
                            Some((_, runs)) => runs.push(index),
                            None => found.push((problem, vec![index])),
                        }
                    }
                }
            }
        }
        if found.is_empty() {
            return Ok(loaded);
        }
        let mut problems: Vec<Problem> = Vec::with_capacity(found.len());
        for (mut problem, in_runs) in found {
            if !in_runs.is_empty() && in_runs.len() < runs {
                problem.what = format!("{} (with {})", problem.what, self.which(&in_runs));
            }
            problems.push(problem);
        }
        problems.sort_by(|a, b| (a.line, a.column, &a.what).cmp(&(b.line, b.column, &b.what)));
        problems.truncate(crate::script::reader::MOST_PROBLEMS);
        Err(Problems(problems))
    }

    /// Some of the runs in few words: by the axes that tell them from the others where these do, else by the first of
    /// them.
    fn which(&self, some: &[usize]) -> String {
        let names = self.combinations.first().map_or(&[][..], |Combination(axes)| axes);
        let mut told = Vec::new();
        let mut covered = 1;
        for (axis, (name, _)) in names.iter().enumerate() {
            let values = |runs: &mut dyn Iterator<Item = usize>| {
                let mut values: Vec<&Value> = Vec::new();
                for value in
                    runs.filter_map(|run| self.combinations.get(run)?.0.get(axis).map(|(_, value)| value))
                {
                    if !values.contains(&value) {
                        values.push(value);
                    }
                }
                values
            };
            let (here, all) = (values(&mut some.iter().copied()), values(&mut (0..self.combinations.len())));
            covered *= here.len();
            if here.len() < all.len() {
                let here: Vec<String> = here.into_iter().map(shown).collect();
                told.push(format!("{name}: {}", here.join(" or ")));
            }
        }
        if covered == some.len() {
            return told.join(", ");
        }
        let first = some.first().and_then(|run| self.combinations.get(*run)).cloned().unwrap_or_default();
        format!("{first}, and {} more", some.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn all() -> Runs {
        let of = |transport: &str, users: u64| {
            Combination(vec![("transport".into(), json!(transport)), ("users".into(), json!(users))])
        };
        let combinations = ["sse", "ws", "poll"]
            .into_iter()
            .flat_map(|transport| [10, 20].map(|users| of(transport, users)));
        Runs { combinations: combinations.collect(), problems: Vec::new() }
    }

    #[test]
    fn some_runs_are_named_by_the_axes_that_tell_them_apart() {
        let runs = all();
        assert_eq!(runs.which(&[0, 1]), "transport: sse");
        assert_eq!(runs.which(&[1, 3, 5]), "users: 20");
        assert_eq!(runs.which(&[0, 1, 4, 5]), "transport: sse or poll");
        assert_eq!(runs.which(&[3]), "transport: ws, users: 20");
        assert_eq!(runs.which(&[0, 3]), "transport: sse, users: 10, and 1 more");
    }

    #[test]
    fn a_slug_is_a_file_s_name() {
        let odd = Combination(vec![("path".into(), json!("/a b")), ("rate".into(), json!(1.5))]);
        assert_eq!((odd.slug(), odd.to_string()), ("-a-b-1.5".into(), "path: /a b, rate: 1.5".into()));
    }
}
