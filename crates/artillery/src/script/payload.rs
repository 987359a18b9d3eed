//! `config.payload`: rows of files handed to users.
//!
//! Files are read when the script is loaded, so that a missing column is a problem with a line and not a failed user.

use crate::plan::{Payload, RowOrder};
use serde_json::Value;
use std::path::Path;

use crate::script::reader::{Fields, Reader};
use crate::script::schema;
use crate::script::yaml::{Node, Place};

/// Reads all payloads and declares their variables.
pub(crate) fn payloads(reader: &mut Reader, config: &Fields<'_>, folder: &Path) -> Vec<Payload> {
    let mut all = Vec::new();
    for node in reader.list(config, "payload", true) {
        all.extend(payload(reader, node, folder));
    }
    all
}

/// The options of a payload beside its rows.
struct Form {
    fields: Option<Vec<String>>,
    /// None: the script does not say.
    skip_header: Option<bool>,
    delimiter: u8,
    cast: bool,
    /// All rows go by one name.
    is_whole: bool,
    /// Rows may have different numbers of columns.
    is_relaxed: bool,
}

fn payload(reader: &mut Reader, node: &Node, folder: &Path) -> Option<Payload> {
    let Some(fields) = reader.fields(node, &schema::PAYLOAD) else {
        reader.names.may_be_anything();
        return None;
    };
    let order = order(reader, &fields);
    let all_as = all_as(reader, &fields);
    let form = Form {
        is_whole: all_as.is_some(),
        fields: names(reader, &fields),
        skip_header: reader.boolean(&fields, "skipHeader"),
        delimiter: delimiter(reader, &fields),
        cast: reader.boolean(&fields, "cast").unwrap_or(true),
        is_relaxed: false,
    };
    let form = with_options(reader, &fields, form);
    // Declared even when the file cannot be read: one problem, not one per use.
    for name in form.fields.iter().flatten() {
        reader.declare_global(name);
    }
    if let Some(name) = &all_as {
        reader.declare_global(name);
    }
    let Some(path) = fields.get("path") else {
        reader.missing(
            &fields,
            &["path"],
            "a payload needs a path",
            "add `path: users.csv`, relative to the script",
        );
        return None;
    };
    let named = reader.text(&fields, "path")?;
    let file = folder.join(&named);
    let text = match std::fs::read(&file) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => {
            if form.fields.is_none() && all_as.is_none() {
                reader.names.may_be_anything();
            }
            if !reader.is_trial {
                let what = format!("cannot read the payload {named}: {error}");
                reader.problem(path.place, what, Some("the path is relative to the script".into()));
            }
            return None;
        }
    };
    let is_named = form.fields.is_some();
    let is_json = file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    let (names, rows) = if is_json {
        json_rows(reader, path.place, &text, form.fields)?
    } else {
        csv_rows(reader, path.place, &text, form)?
    };
    if rows.is_empty() {
        reader.problem(path.place, format!("the payload {named} has no rows"), None);
        return None;
    }
    if all_as.is_none() {
        for (column, name) in names.iter().enumerate() {
            reader.declare_global(name);
            reader
                .names
                .declare_choices(name, rows.iter().map(|row| row.get(column).cloned().unwrap_or_default()));
        }
    }
    // A list of all rows that name no columns is one of lists.
    let nameless = all_as.is_some() && !is_json && !is_named;
    Some(Payload { fields: if nameless { Vec::new() } else { names }, rows, order, all_as })
}

fn order(reader: &mut Reader, fields: &Fields<'_>) -> RowOrder {
    let text = reader.text(fields, "order");
    match (text.as_deref(), fields.get("order")) {
        (Some("sequence"), _) => RowOrder::Sequence,
        (Some("random"), _) | (_, None) => RowOrder::Random,
        (Some(_), Some(node)) => {
            reader.wrong(fields, "order", node);
            RowOrder::Random
        }
        (None, Some(_)) => RowOrder::Random,
    }
}

fn names(reader: &mut Reader, fields: &Fields<'_>) -> Option<Vec<String>> {
    fields.get("fields")?;
    let mut names = Vec::new();
    for item in reader.list(fields, "fields", true) {
        match crate::script::reader::plain_text(item) {
            Some(name) => names.push(name.trim().to_owned()),
            None => {
                reader.wrong(fields, "fields", item);
                reader.names.may_be_anything();
            }
        }
    }
    Some(names)
}

fn delimiter(reader: &mut Reader, fields: &Fields<'_>) -> u8 {
    let Some(node) = fields.get("delimiter") else { return b',' };
    match reader.text(fields, "delimiter").as_deref().map(str::as_bytes) {
        Some(b"\\t") => b'\t',
        Some([one]) if one.is_ascii() => *one,
        Some(_) => {
            reader.wrong(fields, "delimiter", node);
            b','
        }
        None => {
            reader.names.may_be_anything();
            b','
        }
    }
}

/// The options for Artillery's CSV reader win over their neighbours, there and here.
fn with_options(reader: &mut Reader, fields: &Fields<'_>, form: Form) -> Form {
    let Some(options) = reader.section(fields, "options", &schema::PAYLOAD_OPTIONS) else { return form };
    Form {
        delimiter: options.get("delimiter").map_or(form.delimiter, |_| delimiter(reader, &options)),
        cast: reader.boolean(&options, "cast").unwrap_or(form.cast),
        is_relaxed: reader.boolean(&options, "relax_column_count").unwrap_or(false),
        ..form
    }
}

fn all_as(reader: &mut Reader, fields: &Fields<'_>) -> Option<String> {
    let name = reader.text(fields, "name");
    if !reader.boolean(fields, "loadAll").unwrap_or(false) {
        return None;
    }
    if name.is_none() && fields.get("name").is_some() {
        reader.names.may_be_anything();
    } else if name.is_none() {
        reader.problem(
            fields.place_of("loadAll"),
            "loadAll needs the name of the list",
            Some("add `name: rows`".into()),
        );
    }
    name
}

type Rows = (Vec<String>, Vec<Vec<Value>>);

fn csv_rows(reader: &mut Reader, place: Place, text: &str, form: Form) -> Option<Rows> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut csv = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(form.delimiter)
        .from_reader(text.as_bytes());
    let mut records = Vec::new();
    for record in csv.records() {
        match record {
            Ok(record) => records.push(record),
            Err(error) => {
                reader.problem(place, format!("the payload is not CSV: {error}"), None);
                return None;
            }
        }
    }
    let named = form.fields.is_some();
    let names = match form.fields {
        Some(names) => names,
        None => records
            .first()
            .map(|record| record.iter().map(|name| name.trim().to_owned()).collect())
            .unwrap_or_default(),
    };
    let header_line = match form.skip_header {
        Some(skip) => skip || !(named || form.is_whole),
        None if named => records.first().is_some_and(|first| is_header(reader, place, first, &names)),
        None => !form.is_whole,
    };
    let mut rows = Vec::new();
    let records = &records[usize::from(header_line).min(records.len())..];
    short(reader, place, records, &names, form.is_relaxed)?;
    for record in records {
        if form.cast
            && record
                .iter()
                .take(names.len())
                .any(|cell| cell.parse().is_ok_and(f64::is_finite) && value(cell, true).is_string())
        {
            let text = "what would be another number, like 007, stays a text here; Artillery makes 7 of it";
            reader.notice(place, text);
        }
        rows.push(record.iter().take(names.len()).map(|cell| value(cell, form.cast)).collect());
    }
    Some((names, rows))
}

/// Says of rows with fewer columns than there are fields what becomes of the others. Artillery takes them when all are
/// alike or `relax_column_count` is set, and refuses the payload else; so None.
fn short(
    reader: &mut Reader,
    place: Place,
    records: &[csv::StringRecord],
    names: &[String],
    is_relaxed: bool,
) -> Option<()> {
    let Some(first) = records.iter().find(|record| record.len() < names.len()) else { return Some(()) };
    let line = first.position().map_or(0, |position| position.line());
    let plural = if first.len() == 1 { "" } else { "s" };
    let what = format!(
        "line {line} of the payload has {} column{plural}; fields names {}",
        first.len(),
        names.len()
    );
    let hint = "add the missing values, or set `delimiter`".to_owned();
    let is_ragged = !is_relaxed && records.iter().any(|record| record.len() != first.len());
    if is_ragged || is_otherwise_delimited(first, names.len()) {
        reader.problem(place, what, Some(hint));
        return None;
    }
    let least = records.iter().map(csv::StringRecord::len).min().unwrap_or(0);
    let missing = names.get(least..).unwrap_or_default();
    reader.undefined.extend(missing.iter().cloned());
    let which = if least == first.len() {
        format!("{} is", missing.join(", "))
    } else {
        "what is missing is".to_owned()
    };
    reader.tolerable(place, what, Some(hint), &format!("{which} undefined there, as in Artillery"));
    Some(())
}

/// Whether a row that is one column would have all of them with another usual delimiter.
fn is_otherwise_delimited(record: &csv::StringRecord, columns: usize) -> bool {
    let count = |cell: &str| [',', ';', '\t', '|'].map(|other| cell.split(other).count()).into_iter().max();
    record.len() == 1 && record.get(0).and_then(count) >= Some(columns)
}

/// Whether the first row names its columns, as `fields` does: nobody means it as values. Columns beyond those of
/// `fields` may follow. When its names stand in another order, each variable would get another's column: a problem.
fn is_header(reader: &mut Reader, place: Place, first: &csv::StringRecord, fields: &[String]) -> bool {
    let columns: Vec<&str> = first.iter().map(str::trim).collect();
    if fields.is_empty() || !fields.iter().all(|name| columns.contains(&name.as_str())) {
        return false;
    }
    if fields.iter().zip(&columns).all(|(name, column)| name == column) {
        let text = "the payload's first row names the fields: it is skipped (Artillery would use it as values); \
                    set `skipHeader: true` or `skipHeader: false` to say which is meant";
        reader.notice(place, text);
    } else {
        let what = format!(
            "`fields` names the payload's columns in their order; its first row says {}, fields says {}",
            columns.join(", "),
            fields.join(", ")
        );
        let hint = "remove `fields`, and the first row names the columns; or list its names in that order";
        reader.problem(place, what, Some(hint.into()));
    }
    true
}

/// With `cast`, what looks like a number becomes one, unless that would make another of it (`007`, `+49`).
fn value(cell: &str, cast: bool) -> Value {
    match number(cell.trim()).filter(|_| cast) {
        Some(number) => Value::Number(number),
        None => Value::from(cell),
    }
}

/// JSON's numbers, which begin with no nought, but without exponents.
fn number(text: &str) -> Option<serde_json::Number> {
    text.bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'.'))
        .then(|| text.parse().ok())?
}

fn json_rows(reader: &mut Reader, place: Place, text: &str, fields: Option<Vec<String>>) -> Option<Rows> {
    let items = match serde_json::from_str(text) {
        Ok(Value::Array(items)) => items,
        Ok(_) => {
            reader.problem(place, "a JSON payload is a list of objects", None);
            return None;
        }
        Err(error) => {
            reader.problem(place, format!("the payload is not JSON: {error}"), None);
            return None;
        }
    };
    let names = fields.unwrap_or_else(|| match items.first() {
        Some(Value::Object(first)) => first.keys().cloned().collect(),
        _ => Vec::new(),
    });
    let mut rows = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        let Value::Object(mut members) = item else {
            reader.problem(place, format!("item {index} of the JSON payload is no object"), None);
            return None;
        };
        rows.push(names.iter().map(|name| members.remove(name).unwrap_or(Value::Null)).collect());
    }
    Some((names, rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_number_in_a_file_becomes_one_unless_it_would_be_another() {
        for (cell, number) in
            [("5", 5.0), ("-5", -5.0), ("1.50", 1.5), ("0", 0.0), (" 12 ", 12.0), ("0.5", 0.5)]
        {
            assert_eq!(value(cell, true).as_f64(), Some(number), "{cell}");
            assert_eq!(value(cell, false), Value::from(cell));
        }
        for cell in ["007", "+49", "1e5", "0x10", "", " ", "1.", ".5", "--1", "1.2.3", "00", "a"] {
            assert_eq!(value(cell, true), Value::from(cell), "{cell}");
        }
    }
}
