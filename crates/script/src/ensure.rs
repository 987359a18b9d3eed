//! `config.ensure`: what the run must fulfil, in the three forms scripts have, as threshold expressions.

use sonagi_measure::thresholds::{self, Threshold};

use crate::reader::{Fields, Reader, plain_text};
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

/// Reads `ensure` and `plugins.ensure` of `config`.
pub(crate) fn thresholds(
    reader: &mut Reader,
    config: &Fields<'_>,
    plugins: Option<&Fields<'_>>,
) -> Vec<Threshold> {
    let mut all = Vec::new();
    if let Some(fields) = reader.section(config, "ensure", &schema::ENSURE) {
        section(reader, &fields, &mut all);
    }
    if let Some(plugins) = plugins
        && let Some(fields) = reader.section(plugins, "ensure", &schema::ENSURE)
    {
        section(reader, &fields, &mut all);
    }
    all
}

fn section(reader: &mut Reader, fields: &Fields<'_>, all: &mut Vec<Threshold>) {
    for item in reader.list(fields, "thresholds", true) {
        limits(reader, fields, item, all);
    }
    for item in reader.list(fields, "conditions", true) {
        all.extend(condition(reader, item));
    }
    for (key, metric) in LEGACY {
        if let Some(limit) = reader.number(fields, key) {
            all.push(Threshold { expression: format!("{metric} <= {limit}"), strict: true });
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

fn condition(reader: &mut Reader, item: &Node) -> Option<Threshold> {
    let (node, expression, strict) = if plain_text(item).is_some() {
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
    match thresholds::parse(&expression) {
        Ok(()) => Some(Threshold { expression, strict }),
        Err(error) => {
            let offset = expression.get(..error.offset).map_or(0, |before| before.chars().count());
            reader.problem(node.place_at(offset), format!("in the condition: {}", error.what), error.hint);
            None
        }
    }
}
