//! `config.ensure`: what the run must fulfil, in the three forms scripts have, as threshold expressions.

use crate::plan::Scenario;
use sonagi_measure::outcome::FAILURES;
use sonagi_measure::recorder::{FAILED_MATCH, WRONG_DATA};
use sonagi_measure::thresholds::{self, ParseError, Threshold};

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

/// Reads `ensure` and `plugins.ensure` of `config`. The scenarios and requests were read before: metrics have their names.
pub(crate) fn thresholds(
    reader: &mut Reader,
    config: &Fields<'_>,
    plugins: Option<&Fields<'_>>,
    scenarios: &[Scenario],
) -> Vec<Threshold> {
    let mut all = Vec::new();
    let stems = stems(reader, scenarios);
    // Artillery's own switch.
    let is_off = reader.constants.is_set("ARTILLERY_DISABLE_ENSURE");
    if let Some(fields) = reader.section(config, "ensure", &schema::ENSURE) {
        section(reader, &fields, &stems, &mut all);
        if !all.is_empty() && !is_off && plugins.is_none_or(|plugins| plugins.entry("ensure").is_none()) {
            let text =
                "ensure decides the run; Artillery looks at it only with `plugins: {ensure: {}}` in config";
            reader.notice(config.place_of("ensure"), text);
        }
    }
    if let Some(plugins) = plugins
        && let Some(fields) = reader.section(plugins, "ensure", &schema::ENSURE)
    {
        section(reader, &fields, &stems, &mut all);
    }
    if !all.is_empty() && is_off {
        reader.notice(config.place_of("ensure"), "ensure: no effect; ARTILLERY_DISABLE_ENSURE is set");
        all.clear();
    }
    all
}

fn section(reader: &mut Reader, fields: &Fields<'_>, stems: &[String], all: &mut Vec<Threshold>) {
    for item in reader.list(fields, "thresholds", true) {
        limits(reader, fields, item, all);
    }
    for item in reader.list(fields, "conditions", true) {
        all.extend(condition(reader, item, stems));
    }
    for (key, metric) in LEGACY {
        if let Some(limit) = reader.number(fields, key) {
            all.push(Threshold { expression: format!("{metric} < {limit}"), strict: true });
        }
    }
    if let Some(rate) = reader.number(fields, "maxErrorRate") {
        if rate > 100.0 {
            let place = fields.place_of("maxErrorRate");
            reader.problem(place, format!("maxErrorRate is a percentage, 0 to 100; got {rate}"), None);
        }
        let expression = format!("vusers.failed * 100 <= {rate} * vusers.created");
        all.push(Threshold { expression, strict: true });
    }
}

fn limits(reader: &mut Reader, fields: &Fields<'_>, item: &Node, all: &mut Vec<Threshold>) {
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
        let wrong = |error: ParseError| (entry.place, format!("not a metric: {}", error.what), error.hint);
        all.extend(judged(reader, expression, true, entry.place, wrong));
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

/// A threshold, unless it is wrong: an expression that cannot be read, or over a metric there is not. Functions may have any
/// metric, under any name, so of what they may mean only a notice is given.
fn judged(
    reader: &mut Reader,
    expression: String,
    strict: bool,
    place: Place,
    wrong: impl Fn(ParseError) -> (Place, String, Option<String>),
) -> Option<Threshold> {
    let has_functions = reader.functions.has_module();
    match thresholds::parse(&expression) {
        Ok(()) => {
            if !has_functions && let Some(name) = thresholds::foreign(&expression).first() {
                let hint =
                    "functions report metrics of their own: `events.emit(\"counter\", name, 1)`".to_owned();
                let what = format!("nothing in the script measures `{name}`");
                reader.tolerable(place, what, Some(hint), "it is not met");
            }
        }
        Err(error) if has_functions && may_be_a_name(&expression, &error) => {
            let (place, what, hint) = wrong(error);
            let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
            let text = format!("{what}{hint}: it is not met unless a function reports a metric of that name");
            reader.notice(place, text);
        }
        Err(error) => {
            let (place, what, hint) = wrong(error);
            reader.problem(place, what, hint);
            return None;
        }
    }
    Some(Threshold { expression, strict })
}

/// Whether an expression that cannot be read may hold a metric's name with blanks or signs in it. One that stops in the middle, or
/// has a bracket too many, is wrong whatever functions report.
fn may_be_a_name(expression: &str, error: &ParseError) -> bool {
    let mut open = 0i32;
    let is_balanced = expression.split('\'').step_by(2).flat_map(str::chars).all(|letter| {
        open += i32::from(letter == '(') - i32::from(letter == ')');
        open >= 0
    });
    error.metric.is_some() || (is_balanced && open == 0 && error.offset < expression.trim_end().len())
}

fn condition(reader: &mut Reader, item: &Node, stems: &[String]) -> Option<Threshold> {
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
    let quoted = quoted(&expression, stems);
    let is_as_written = quoted == expression;
    let wrong = |error: ParseError| {
        let offset = expression.get(..error.offset).map_or(0, |before| before.chars().count());
        let place = if is_as_written { node.place_at(offset) } else { node.place };
        (place, format!("in the condition: {}", error.what), error.hint)
    };
    judged(reader, quoted, strict, node.place, wrong)
}

/// Beginnings of metrics' names that an expression must quote, the longest first: Artillery's expressions do not.
fn stems(reader: &Reader, scenarios: &[Scenario]) -> Vec<String> {
    let mut stems = reader.endpoints.stems();
    stems.extend(scenarios.iter().map(|scenario| format!("vusers.created_by_name.{}", scenario.name)));
    stems.extend(FAILURES.iter().map(|failure| format!("errors.{}", failure.artillery)));
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
