//! Prometheus's text format, version 0.0.4, with what OpenMetrics adds to its lines.
//!
//! The libraries for it take a comma or a brace in a label's value for the end of it (`uri="/users/{id}"`), or print,
//! or give up on a whole page for one line. A line that is malformed is left out here, the others count.

use std::borrow::Cow;
use std::collections::HashMap;

/// A value of a page.
#[derive(Debug, PartialEq)]
pub(super) struct Sample<'p> {
    pub(super) name: &'p str,
    pub(super) labels: Vec<(&'p str, Cow<'p, str>)>,
    pub(super) value: f64,
}

impl Sample<'_> {
    /// The value of a label.
    pub(super) fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|(known, _)| *known == name).map(|(_, value)| &**value)
    }
}

/// What a sample's value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A total since the process began.
    Total,
    /// A level.
    Level,
    /// A bucket, a quantile, the time of a counter's birth.
    Part,
}

/// A page's samples, and the types it declares.
#[derive(Debug, Default)]
pub(super) struct Exposition<'p> {
    pub(super) samples: Vec<Sample<'p>>,
    types: HashMap<&'p str, &'p str>,
}

impl<'p> Exposition<'p> {
    /// The samples of a page.
    pub(super) fn of(page: &'p str) -> Exposition<'p> {
        let mut read = Exposition::default();
        for line in page.lines().map(str::trim) {
            if let Some(comment) = line.strip_prefix('#') {
                let mut words = comment.split_whitespace();
                if let (Some("TYPE"), Some(name), Some(kind)) = (words.next(), words.next(), words.next()) {
                    read.types.insert(name, kind);
                }
            } else {
                read.samples.extend(sample(line));
            }
        }
        read
    }

    /// What a sample's value is, by the type of its family or else by its name.
    pub(super) fn meaning(&self, sample: &Sample<'_>) -> Meaning {
        let name = sample.name;
        if let Some(kind) = self.types.get(name) {
            return match *kind {
                "counter" => Meaning::Total,
                "histogram" | "summary" => Meaning::Part,
                _ => Meaning::Level,
            };
        }
        let family = |suffix: &str| Some(*self.types.get(name.strip_suffix(suffix)?)?);
        let is_distribution = |kind: &str| ["histogram", "summary"].contains(&kind);
        if ["_sum", "_count"].iter().any(|suffix| family(suffix).is_some_and(is_distribution)) {
            return Meaning::Total;
        }
        if family("_created").is_some() || (name.ends_with("_bucket") && sample.label("le").is_some()) {
            return Meaning::Part;
        }
        if name.ends_with("_total") { Meaning::Total } else { Meaning::Level }
    }
}

/// `name{label="value",…} number`, with whatever follows.
fn sample(line: &str) -> Option<Sample<'_>> {
    let end = line.find(|c: char| c == '{' || c.is_whitespace())?;
    let (name, rest) = line.split_at(end);
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ':' | '.');
    if name.is_empty() || !name.chars().all(is_of_name) {
        return None;
    }
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(rest) => labels(rest)?,
        None => (Vec::new(), rest),
    };
    let value = rest.split_whitespace().next()?.parse().ok()?;
    Some(Sample { name, labels, value })
}

type Labels<'p> = Vec<(&'p str, Cow<'p, str>)>;

/// Labels up to the closing brace, and what stands behind it.
fn labels(mut rest: &str) -> Option<(Labels<'_>, &str)> {
    let mut labels = Vec::new();
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        if let Some(behind) = rest.strip_prefix('}') {
            return Some((labels, behind));
        }
        let (name, value) = rest.split_once('=')?;
        let value = value.trim_start().strip_prefix('"')?;
        let (value, behind) = quoted(value)?;
        labels.push((name.trim(), value));
        rest = behind;
    }
}

/// A value up to its closing quote, and what stands behind it.
fn quoted(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let end = text.find(['"', '\\'])?;
    if text.as_bytes()[end] == b'"' {
        return Some((Cow::Borrowed(&text[..end]), &text[end + 1..]));
    }
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((Cow::Owned(value), &text[at + 1..])),
            '\\' => match chars.next()?.1 {
                'n' => value.push('\n'),
                other => value.push(other),
            },
            _ => value.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, name: &str, labels: &[(&str, &str)], value: f64) {
        let labels = labels.iter().map(|(name, value)| (*name, Cow::Borrowed(*value))).collect();
        assert_eq!(sample(line), Some(Sample { name, labels, value }), "{line}");
    }

    #[test]
    fn a_line_is_a_name_labels_and_a_number() {
        check("up 1", "up", &[], 1.0);
        check("a:b_c 1.5e3 1712345678901", "a:b_c", &[], 1500.0);
        let labels = [("uri", "/users/{id},x"), ("m", "GET")];
        check(r#"r{uri="/users/{id},x",m="GET"} 7"#, "r", &labels, 7.0);
        check(r#"r{ a="q\"\\\n" , } 2 # {trace="x"} 1"#, "r", &[("a", "q\"\\\n")], 2.0);
        check(r#"b{le="+Inf"} +Inf"#, "b", &[("le", "+Inf")], f64::INFINITY);
        for line in ["", "up", "up one", r#"r{a="x 1"#, "r{a=x} 1", r#"r{a="\"#, "<html> 1", "ä 1"] {
            assert_eq!(sample(line), None, "{line}");
        }
    }

    #[test]
    fn a_value_is_what_its_family_is_declared_to_be() {
        let page = "\
# TYPE jvm_gc_pause_seconds summary
jvm_gc_pause_seconds{quantile=\"0.5\"} 1
jvm_gc_pause_seconds_sum 1
jvm_gc_pause_seconds_count 1
# TYPE lag histogram
lag_bucket{le=\"1\"} 1
lag_sum 1
# TYPE requests counter
requests_total 1
requests_created 1
# HELP depth TYPE of nothing
# TYPE depth gauge
depth 1
bytes_total 1
pool_count 1
";
        use Meaning::{Level, Part, Total};
        let read = Exposition::of(page);
        let meanings: Vec<Meaning> = read.samples.iter().map(|sample| read.meaning(sample)).collect();
        assert_eq!(meanings, [Part, Total, Total, Part, Total, Total, Part, Level, Total, Level]);
    }
}
