//! `config.ensure`: what the run must fulfil, in the three forms scripts have, as threshold expressions.

use crate::names::{self, FAILED_MATCH, Measured, Unknown, WRONG_DATA};
use crate::plan::Scenario;
use sonagi_measure::expression::SyntaxError;
use sonagi_measure::metrics::{AbortRule, SeriesName};
use sonagi_measure::outcome::FAILURES;
use sonagi_measure::thresholds::{Metric, Threshold};

use crate::script::reader::{Fields, Reader};
use crate::script::schema;
use crate::script::tags;
use crate::script::yaml::{Kind, Node, Origin, Place};

/// The older form: key and metric.
const LEGACY: &[(&str, &str)] = &[
    ("min", "http.response_time.min"),
    ("max", "http.response_time.max"),
    ("median", "http.response_time.p50"),
    ("p50", "http.response_time.p50"),
    ("p95", "http.response_time.p95"),
    ("p99", "http.response_time.p99"),
];

/// Names that the script itself gives to metrics.
struct OwnNames<'s> {
    scenarios: &'s [Scenario],
    tracks_delivery: bool,
    /// Beginnings of metrics' names that an expression must quote, the longest first: Artillery's expressions do not.
    stems: Vec<String>,
}

/// Reads `ensure` and `plugins.ensure` of `config`. The scenarios and requests were read before: metrics have their
/// names.
pub(crate) fn thresholds(
    reader: &mut Reader,
    config: &Fields<'_>,
    plugins: Option<&Fields<'_>>,
    scenarios: &[Scenario],
    tracks_delivery: bool,
) -> Vec<Threshold> {
    let mut all = Vec::new();
    let names = &OwnNames { scenarios, tracks_delivery, stems: stems(reader, scenarios) };
    // Artillery's own switch.
    let is_off = reader.constants.is_set("ARTILLERY_DISABLE_ENSURE");
    if let Some(fields) = reader.section(config, "ensure", &schema::ENSURE) {
        section(reader, &fields, names, &mut all);
        if !all.is_empty() && !is_off && plugins.is_none_or(|plugins| plugins.entry("ensure").is_none()) {
            let text =
                "ensure decides the run; Artillery looks at it only with `plugins: {ensure: {}}` in config";
            reader.notice(config.place_of("ensure"), text);
        }
    }
    if let Some(plugins) = plugins
        && let Some(fields) = reader.section(plugins, "ensure", &schema::ENSURE)
    {
        section(reader, &fields, names, &mut all);
    }
    if !all.is_empty() && is_off {
        reader.notice(config.place_of("ensure"), "ensure: no effect; ARTILLERY_DISABLE_ENSURE is set");
        all.clear();
    }
    all
}

/// The threshold of `--until`: what it names must be measured, as everything is decided by it.
pub(crate) fn until(
    reader: &mut Reader,
    text: &str,
    scenarios: &[Scenario],
    tracks_delivery: bool,
) -> Option<Threshold> {
    let names = &OwnNames { scenarios, tracks_delivery, stems: stems(reader, scenarios) };
    let threshold = Threshold::new(quoted(text, &names.stems), true);
    let place = Place { origin: Origin::Until, line: 0, column: 0 };
    if let Some(SyntaxError { what, hint, .. }) = threshold.error() {
        reader.problem(place, what, hint);
        return None;
    }
    let has_functions = reader.functions.has_module();
    for (metric, Unknown { what, hint, is_misspelt }) in unknown(reader, &threshold, names) {
        // Functions may report any name that is nobody else's.
        if is_misspelt || !has_functions || SeriesName::of(&metric.name).is_some() {
            reader.problem(place, what, Some(hint));
        }
    }
    Some(threshold)
}

fn section(reader: &mut Reader, fields: &Fields<'_>, names: &OwnNames<'_>, all: &mut Vec<Threshold>) {
    for item in reader.list(fields, "thresholds", true) {
        limits(reader, fields, item, names, all);
    }
    for item in reader.list(fields, "conditions", true) {
        all.extend(condition(reader, item, names));
    }
    for (key, metric) in LEGACY {
        if let Some(limit) = reader.number(fields, key) {
            all.push(Threshold::new(format!("{metric} < {limit}"), true));
        }
    }
    if let Some(rate) = reader.number(fields, "maxErrorRate") {
        if rate > 100.0 {
            let place = fields.place_of("maxErrorRate");
            reader.problem(place, format!("maxErrorRate is a percentage, 0 to 100; got {rate}"), None);
        }
        let expression = format!("vusers.failed * 100 <= {rate} * vusers.created");
        all.push(Threshold::new(expression, true));
    }
}

fn limits(
    reader: &mut Reader,
    fields: &Fields<'_>,
    item: &Node,
    names: &OwnNames<'_>,
    all: &mut Vec<Threshold>,
) {
    match item.kind {
        Kind::Map(_) => {}
        Kind::Text { .. } | Kind::Number(_) | Kind::Bool(_) => return unlimited(reader, item),
        Kind::List(_) | Kind::Null => return reader.wrong(fields, "thresholds", item),
    }
    for entry in item.entries() {
        let limit = match &entry.value.kind {
            Kind::Number(number) => number.as_f64(),
            Kind::Text { .. } => reader.constant(&entry.value).and_then(|text| text.trim().parse().ok()),
            _ => None,
        };
        let Some(limit) = limit else {
            let what =
                format!("the threshold on {} wants a number; got {}", entry.key, entry.value.describe());
            let hint = "other comparisons, and `abortOnFail`, go into `conditions`";
            reader.problem(entry.value.place, what, Some(hint.into()));
            continue;
        };
        let quote = if entry.key.chars().all(is_of_name) { "" } else { "'" };
        let expression = format!("{quote}{}{quote} < {limit}", entry.key);
        let threshold = Threshold::new(expression, true);
        let place = |_| entry.place;
        all.extend(checked(reader, threshold, names, "not a metric: ", place));
    }
}

/// A threshold that is no mapping: Artillery's `ensure` passes over it.
fn unlimited(reader: &mut Reader, item: &Node) {
    let what = format!("a threshold is a metric and its limit; got {}", item.describe());
    let hint = match item.as_text() {
        Some(text) => {
            format!("a comparison goes into `conditions`, beside `thresholds`: `- expression: \"{text}\"`")
        }
        None => "e.g. `- http.response_time.p95: 250`".to_owned(),
    };
    reader.tolerable(item.place, what, Some(hint), "it decides nothing, as in Artillery");
}

/// A threshold, unless it is wrong: an expression that cannot be read, or over a metric that no run has. Functions may
/// report any metric, under any name, so of what they may mean only a notice is given. `place` knows where a character
/// of the expression is.
fn checked(
    reader: &mut Reader,
    threshold: Threshold,
    names: &OwnNames<'_>,
    said: &str,
    place: impl Fn(usize) -> Place,
) -> Option<Threshold> {
    let has_functions = reader.functions.has_module();
    if let Some(SyntaxError { offset, what, hint }) = threshold.error() {
        if has_functions && may_be_a_name(threshold.expression(), offset) {
            let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
            reader.notice(place(offset), format!("{said}{what}{hint}{UNLESS_REPORTED}"));
            return Some(threshold);
        }
        reader.problem(place(offset), format!("{said}{what}"), hint);
        return None;
    }
    let mut is_refused = false;
    for (metric, unknown) in unknown(reader, &threshold, names) {
        let Unknown { what, hint, is_misspelt } = unknown;
        let place = place(metric.offset);
        // A function has no tags.
        match (is_misspelt, has_functions && SeriesName::of(&metric.name).is_none()) {
            (true, true) => reader.notice(place, format!("{said}{what}; {hint}{UNLESS_REPORTED}")),
            (true, false) => {
                reader.problem(place, format!("{said}{what}"), Some(hint));
                is_refused = true;
            }
            (false, true) => {}
            (false, false) => reader.tolerable(place, what, Some(hint), "it is not met"),
        }
    }
    (!is_refused).then_some(threshold)
}

const UNLESS_REPORTED: &str = ": it is not met unless a function reports a metric of that name";

/// The metrics of a threshold that the script does not measure by itself, with why.
fn unknown(reader: &Reader, threshold: &Threshold, names: &OwnNames<'_>) -> Vec<(Metric, Unknown)> {
    let scenarios = names.scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
    let operations = reader.operations.all();
    let measured = Measured { operations, scenarios, tracks_delivery: names.tracks_delivery };
    let unknown = |metric: Metric| {
        let checked = match SeriesName::of(&metric.name) {
            Some(series) => tags::check(series, &measured, reader.operations.tagged()),
            None => measured.check(&metric.name),
        };
        Some((metric, checked.err()?))
    };
    threshold.metrics().into_iter().filter_map(unknown).collect()
}

/// Whether an expression that cannot be read may hold a metric's name with blanks or signs in it. One that stops in the
/// middle, or has a bracket too many, is wrong whatever functions report.
fn may_be_a_name(expression: &str, offset: usize) -> bool {
    let mut open = 0i32;
    let is_balanced = expression.split('\'').step_by(2).flat_map(str::chars).all(|letter| {
        open += i32::from(letter == '(') - i32::from(letter == ')');
        open >= 0
    });
    is_balanced && open == 0 && offset < expression.trim_end().chars().count()
}

fn condition(reader: &mut Reader, item: &Node, names: &OwnNames<'_>) -> Option<Threshold> {
    let (node, expression, strict, abort) = if item.as_text().is_some() {
        (item, reader.constant(item)?, true, AbortRule::default())
    } else {
        let fields = reader.fields(item, &schema::CONDITION)?;
        let strict = reader.boolean(&fields, "strict").unwrap_or(true);
        let abort = abort(reader, &fields, strict);
        let Some(node) = fields.get("expression") else {
            let hint = "add `expression: \"vusers.failed == 0\"`";
            reader.missing(&fields, &["expression"], "a condition needs an expression", hint);
            return None;
        };
        (node, reader.text(&fields, "expression")?, strict, abort)
    };
    let quoted = quoted(&expression, &names.stems);
    let is_as_written = quoted == expression;
    let place = |offset| if is_as_written { node.place_at(offset) } else { node.place };
    let threshold = Threshold::new(quoted, strict).aborting(abort);
    checked(reader, threshold, names, "in the condition: ", place)
}

/// Whether a condition ends the run as soon as it does not hold.
fn abort(reader: &mut Reader, fields: &Fields<'_>, strict: bool) -> AbortRule {
    let on_fail = reader.boolean(fields, "abortOnFail").unwrap_or(false);
    let delay = reader.duration(fields, "delayAbortEval").unwrap_or_default();
    if on_fail && !strict {
        let what = "a condition with `strict: false` decides nothing: it cannot end the run (`abortOnFail`)";
        reader.problem(fields.place_of("abortOnFail"), what, Some("remove one of the two".into()));
    }
    if !on_fail && fields.get("delayAbortEval").is_some() {
        let text = "delayAbortEval: no effect; the condition has no `abortOnFail: true`";
        reader.notice(fields.place_of("delayAbortEval"), text);
    }
    AbortRule { on_fail, delay }
}

fn stems(reader: &Reader, scenarios: &[Scenario]) -> Vec<String> {
    let mut stems = reader.endpoints.stems();
    stems.extend(scenarios.iter().map(|scenario| format!("vusers.created_by_name.{}", scenario.name)));
    stems.extend(FAILURES.iter().map(|entry| format!("errors.{}", names::stem(entry.failure))));
    stems.extend([FAILED_MATCH, WRONG_DATA].map(|called| format!("errors.{called}")));
    stems.sort_by_key(|stem| std::cmp::Reverse(stem.len()));
    stems
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_')
}

/// How long the name at the start is, tags in braces behind it included.
fn name_length(text: &str) -> usize {
    let plain = |text: &str| text.find(|c| !is_of_name(c)).unwrap_or(text.len());
    let metric = plain(text);
    let tags = text[metric..].starts_with('{').then(|| text[metric..].find('}')).flatten();
    tags.map_or(metric, |close| metric + close + 1 + plain(&text[metric + close + 1..]))
}

/// The expression with quotes around the names that need them.
fn quoted(expression: &str, stems: &[String]) -> String {
    let mut out = String::new();
    let mut rest = expression;
    while let Some(first) = rest.chars().next() {
        let is_inside = out.chars().next_back().is_some_and(is_of_name);
        let stem = stems.iter().find(|stem| !is_inside && rest.starts_with(stem.as_str()));
        let stem = stem.map_or(0, String::len);
        let is_name = stem > 0 || is_of_name(first) && !is_inside;
        let named = if is_name { stem + name_length(&rest[stem..]) } else { 0 };
        let length = match first {
            '\'' => rest[1..].find('\'').map_or(rest.len(), |end| end + 2),
            _ => named.max(first.len_utf8()),
        };
        let (part, after) = rest.split_at(length);
        let quote = if named > 0 && part.contains(|c| !is_of_name(c)) { "'" } else { "" };
        out.extend([quote, part, quote]);
        rest = after;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_hold_more_than_letters_are_quoted_as_long_as_they_are_known() {
        let stems = ["p.response_time./users (all)", "p./users", "errors.Failed capture or match", "a.b"];
        let stems = stems.map(str::to_owned);
        for (expression, expected) in [
            (
                "p.response_time./users (all).p95 < 100 and a.b == 0",
                "'p.response_time./users (all).p95' < 100 and a.b == 0",
            ),
            ("(p./users.codes.200)/2 > 5", "('p./users.codes.200')/2 > 5"),
            ("errors.Failed capture or match < 1", "'errors.Failed capture or match' < 1"),
            ("'p./users.codes.200' > map./users", "'p./users.codes.200' > map./users"),
            ("'torn p./users", "'torn p./users"),
        ] {
            assert_eq!(quoted(expression, &stems), expected);
        }
    }
}
