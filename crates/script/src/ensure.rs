//! `config.ensure`: what the run must fulfil, in the three forms scripts have, as threshold expressions.

use sonagi_engine::plan::Scenario;
use sonagi_measure::outcome::FAILURES;
use sonagi_measure::thresholds::{self, Threshold};

use crate::reader::{Fields, Reader};
use crate::schema;
use crate::yaml::{Kind, Node};

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
    if let Some(fields) = reader.section(config, "ensure", &schema::ENSURE) {
        section(reader, &fields, &stems, &mut all);
    }
    if let Some(plugins) = plugins
        && let Some(fields) = reader.section(plugins, "ensure", &schema::ENSURE)
    {
        section(reader, &fields, &stems, &mut all);
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
    if !matches!(item.kind, Kind::Map(_)) {
        reader.wrong(fields, "thresholds", item);
        return;
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
        match thresholds::parse(&expression) {
            Ok(()) => all.push(Threshold { expression, strict: true }),
            Err(error) => reader.problem(entry.place, format!("not a metric: {}", error.what), error.hint),
        }
    }
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
    match thresholds::parse(&quoted) {
        Ok(()) => Some(Threshold { expression: quoted, strict }),
        Err(error) if quoted != expression => {
            reader.problem(node.place, format!("in the condition: {}", error.what), error.hint);
            None
        }
        Err(error) => {
            let offset = expression.get(..error.offset).map_or(0, |before| before.chars().count());
            reader.problem(node.place_at(offset), format!("in the condition: {}", error.what), error.hint);
            None
        }
    }
}

/// Beginnings of metrics' names that an expression must quote, the longest first: Artillery's expressions do not.
fn stems(reader: &Reader, scenarios: &[Scenario]) -> Vec<String> {
    let mut stems = reader.endpoints.stems();
    stems.extend(scenarios.iter().map(|scenario| format!("vusers.created_by_name.{}", scenario.name)));
    stems.extend(FAILURES.iter().map(|failure| format!("errors.{}", failure.artillery)));
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
