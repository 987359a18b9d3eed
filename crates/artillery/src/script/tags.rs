//! Reads `tags` of scenarios and steps, and checks what thresholds say of them.

use crate::names::{Measured, Unknown};
use crate::plan::Tagged;
use sonagi_measure::metrics::{SeriesName, Unnamed};
use std::collections::{BTreeMap, BTreeSet};

use crate::script::operations::MOST_TAGS;
use crate::script::problem::{IGNORED, nearest};
use crate::script::reader::{Fields, Reader, plain_text};
use crate::script::schema::Key;
use crate::script::yaml::{Entry, Kind, Node};
use crate::tagged::figure;

impl Reader {
    /// Lays a place's tags over those around it, until they are restored. These are returned.
    pub(crate) fn lay_tags(&mut self, fields: &Fields<'_>) -> BTreeMap<String, String> {
        let around = self.operations.tags().clone();
        if let Some(key) = fields.area.key("tags")
            && let Some(node) = fields.get("tags")
        {
            self.tags(key, node);
        }
        around
    }

    fn tags(&mut self, key: &Key, node: &Node) {
        let Kind::Map(entries) = &node.kind else {
            let what = format!("tags wants {}; got {}", key.wants, node.describe());
            return self.tolerable(node.place, what, Some(key.as_written()), IGNORED);
        };
        for entry in entries {
            let Some(value) = self.tag(entry) else { continue };
            let tag = (entry.key.clone(), value);
            if !self.operations.tag(tag) {
                let what = format!("a script has at most {MOST_TAGS} different tags");
                return self.problem(entry.place, what, None);
            }
        }
    }

    /// A tag's value.
    fn tag(&mut self, entry: &Entry) -> Option<String> {
        let Entry { key: name, value, .. } = entry;
        if plain_text(value).is_none() {
            let what = format!("the tag {name} wants a text; got {}", value.describe());
            self.problem(value.place, what, None);
            return None;
        }
        let value = self.constant(value)?;
        let rule = "is no text that thresholds could name: no blanks at its ends, none of `{ } , \" ' \\`";
        if !is_nameable(name) || name.contains([':', '=']) {
            self.problem(entry.place, format!("the tag's name \"{name}\" {rule}, nor `:` or `=`"), None);
        } else if !is_nameable(&value) {
            self.problem(entry.value.place, format!("the value \"{value}\" of the tag {name} {rule}"), None);
        } else {
            return Some(value);
        }
        None
    }
}

/// Whether thresholds can name it without quotes.
fn is_nameable(text: &str) -> bool {
    !text.is_empty() && text.trim() == text && !text.contains(['{', '}', ',', '"', '\'', '\\'])
}

/// Whether the script measures a series that a threshold names.
///
/// # Errors
/// It does not: tags are the script's own, so that nothing else could either.
pub(crate) fn check(
    series: Result<SeriesName<'_>, Unnamed>,
    measured: &Measured<'_>,
    tagged: &[Tagged],
) -> Result<(), Unknown> {
    let series = match series {
        Ok(series) => series,
        Err(why) => return wrong(why.to_string(), "e.g. `http.response_time{page:list}.p95`".to_owned()),
    };
    known_tags(&series, tagged)?;
    let SeriesName { metric, figure, .. } = &series;
    let whole = if figure.is_empty() { (*metric).to_owned() } else { format!("{metric}.{figure}") };
    measured.check(&whole).map_err(|unknown| Unknown { is_misspelt: true, ..unknown })?;
    let operation = |tagged: &&Tagged| &measured.operations[usize::from(tagged.operation.0)];
    let measures = |metric: &str| measured.operations.iter().any(|of| self::figure(metric, of).is_some());
    if !measures(metric) {
        return not_told_apart(&series, measures);
    }
    let has_tags =
        |tagged: &&Tagged| series.tags.iter().all(|(name, value)| tagged.tags.get(name) == Some(value));
    let mut alike = tagged.iter().filter(has_tags).peekable();
    if alike.peek().is_none() {
        return wrong(format!("no step has all the tags of `{series}`"), "name fewer of them".to_owned());
    }
    let names: BTreeSet<&str> = alike.clone().map(|tagged| operation(&tagged).name.as_str()).collect();
    match alike.any(|tagged| self::figure(metric, operation(&tagged)).is_some()) {
        true => Ok(()),
        false => {
            let names: Vec<&str> = names.into_iter().take(10).collect();
            let hint = format!("these have the tags: {}", names.join(", "));
            wrong(format!("no step that `{metric}` is measured of has the tags of `{series}`"), hint)
        }
    }
}

fn wrong(what: String, hint: String) -> Result<(), Unknown> {
    Err(Unknown { what, hint, is_misspelt: true })
}

/// Whether each tag is one of the script's.
fn known_tags(series: &SeriesName<'_>, tagged: &[Tagged]) -> Result<(), Unknown> {
    let mut known: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, value) in tagged.iter().flat_map(|tagged| &tagged.tags) {
        known.entry(name).or_default().insert(value);
    }
    let meant = |old: &str, name: &str, value: &str| {
        let mut meant = series.clone();
        meant.tags.remove(old);
        meant.tags.insert(name.to_owned(), value.to_owned());
        format!("did you mean `{meant}`?")
    };
    let list = |all: &mut dyn Iterator<Item = &str>| all.take(10).collect::<Vec<_>>().join(", ");
    for (name, value) in &series.tags {
        let Some(values) = known.get(name.as_str()) else {
            let hint = match nearest(name, known.keys().copied()) {
                Some(near) => meant(name, near, value),
                None if known.is_empty() => "add `tags: {page: list}` to a step or a scenario".to_owned(),
                None => format!("the script's tags are: {}", list(&mut known.keys().copied())),
            };
            return wrong(format!("no step has a tag named \"{name}\""), hint);
        };
        if !values.contains(value.as_str()) {
            let hint = match nearest(value, values.iter().copied()) {
                Some(near) => meant(name, name, near),
                None => format!("its values are: {}", list(&mut values.iter().copied())),
            };
            return wrong(format!("no step has the tag `{name}:{value}`"), hint);
        }
    }
    Ok(())
}

/// Tags tell operations apart, and nothing else.
fn not_told_apart(series: &SeriesName<'_>, measures: impl Fn(&str) -> bool) -> Result<(), Unknown> {
    let metric = series.metric;
    // Where the figure stands before the tags.
    if let Some((times, figure)) = metric.rsplit_once('.').filter(|(times, _)| measures(times)) {
        let meant = SeriesName { metric: times, figure, ..series.clone() };
        return wrong(
            format!("tags stand behind what they tell apart, not behind `{figure}`"),
            format!("did you mean `{meant}`?"),
        );
    }
    let hint = "tags tell apart `http.response_time`, `http.codes.<code>`, and `response_ms`, `service_ms`, \
                `first_byte_ms`, `count` and `failed` of `operations.<name>` and `kinds.<kind>`";
    wrong(format!("`{metric}` is not told apart by tags"), hint.to_owned())
}
