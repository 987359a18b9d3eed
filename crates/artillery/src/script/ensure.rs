//! `config.ensure`: what the run must fulfil, in the three forms scripts have, as threshold expressions.

use crate::names::{self, FAILED_MATCH, Measured, Unknown, WRONG_DATA};
use crate::plan::Scenario;
use sonagi_measure::expression::SyntaxError;
use sonagi_measure::outcome::FAILURES;
use sonagi_measure::thresholds::{Metric, Threshold};

use crate::script::reader::{Fields, Reader};
use crate::script::schema;
use crate::script::yaml::{Kind, Node, Place};

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
struct Names<'s> {
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
    let names = &Names { scenarios, tracks_delivery, stems: stems(reader, scenarios) };
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

fn section(reader: &mut Reader, fields: &Fields<'_>, names: &Names<'_>, all: &mut Vec<Threshold>) {
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
    names: &Names<'_>,
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
            reader.problem(entry.value.place, what, Some("other comparisons go into `conditions`".into()));
            continue;
        };
        let plain = entry.key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_'));
        let quote = if plain { "" } else { "'" };
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
    names: &Names<'_>,
    said: &str,
    place: impl Fn(usize) -> Place,
) -> Option<Threshold> {
    let has_functions = reader.functions.has_module();
    if let Some(SyntaxError { offset, what, hint }) = threshold.error().cloned() {
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
        match (is_misspelt, has_functions) {
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
fn unknown(reader: &Reader, threshold: &Threshold, names: &Names<'_>) -> Vec<(Metric, Unknown)> {
    let scenarios = names.scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
    let operations = reader.operations.all();
    let measured = Measured { operations, scenarios, tracks_delivery: names.tracks_delivery };
    let unknown = |metric: &Metric| Some((metric.clone(), measured.check(metric).err()?));
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

fn condition(reader: &mut Reader, item: &Node, names: &Names<'_>) -> Option<Threshold> {
    let (node, expression, strict) = if item.as_text().is_some() {
        (item, reader.constant(item)?, true)
    } else {
        let fields = reader.fields(item, &schema::CONDITION)?;
        let strict = reader.boolean(&fields, "strict").unwrap_or(true);
        let Some(node) = fields.get("expression") else {
            let hint = "add `expression: \"vusers.failed == 0\"`";
            reader.missing(&fields, &["expression"], "a condition needs an expression", hint);
            return None;
        };
        (node, reader.text(&fields, "expression")?, strict)
    };
    let quoted = quoted(&expression, &names.stems);
    let is_as_written = quoted == expression;
    let place = |offset| if is_as_written { node.place_at(offset) } else { node.place };
    checked(reader, Threshold::new(quoted, strict), names, "in the condition: ", place)
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

/// The expression with quotes around the names that need them.
fn quoted(expression: &str, stems: &[String]) -> String {
    let mut out = String::new();
    let mut rest = expression;
    while let Some(first) = rest.chars().next() {
        let is_inside = out.chars().next_back().is_some_and(is_of_name);
        let stem = stems.iter().find(|stem| !is_inside && rest.starts_with(stem.as_str()));
        let length = match (first, stem) {
            ('\'', _) => rest[1..].find('\'').map_or(rest.len(), |end| end + 2),
            (_, Some(stem)) => {
                stem.len() + rest[stem.len()..].find(|c| !is_of_name(c)).unwrap_or(rest.len() - stem.len())
            }
            _ => first.len_utf8(),
        };
        let (part, after) = rest.split_at(length);
        let quote =
            if first != '\'' && part.contains(|c| !is_of_name(c)) && stem.is_some() { "'" } else { "" };
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
