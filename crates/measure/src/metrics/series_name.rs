//! The name of a series as thresholds write it: `http_answers_ms{page:list}.p95`.
//!
//! Tags stand behind the metric they tell apart, and which figure of it is meant stands behind them. Names of
//! operations may hold braces themselves: a template's are doubled (`GET /rooms/{{ id }}`), and others that hold
//! neither `:` nor `=` are no tags.

use std::collections::BTreeMap;
use std::fmt;

/// Why a name with braces names no sub-metric.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unnamed {
    /// There is no such metric.
    #[error("there is no metric named \"{0}\"")]
    Unknown(String),
    /// One brace is without the other.
    #[error("\"{0}\" has one curly brace without the other")]
    Braces(String),
    /// Something comes after the tags.
    #[error("\"{0}\" does not end with its closing curly brace")]
    Trailing(String),
    /// A tag is not `name:value`.
    #[error("\"{tag}\" in \"{name}\" is no tag: write name:value, with commas between")]
    Tag {
        /// The whole name.
        name: String,
        /// The part that is no tag.
        tag: String,
    },
}

/// The name of a series, and which figure of it is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesName<'n> {
    /// `http_answers_ms`.
    pub metric: &'n str,
    /// The tags between the braces, with the values they must have.
    pub tags: BTreeMap<String, String>,
    /// `p95`; empty where nothing stands behind the braces.
    pub figure: &'n str,
}

impl<'n> SeriesName<'n> {
    /// Takes a name apart; None: it has no tags.
    ///
    /// # Errors
    /// What is in braces is malformed.
    pub fn of(name: &'n str) -> Option<Result<SeriesName<'n>, Unnamed>> {
        let open = name.rfind('{').filter(|open| *open > 0)?;
        let close = open + name[open..].find('}')?;
        let (metric, inside, behind) = (&name[..open], &name[open + 1..close], &name[close + 1..]);
        if metric.ends_with('{') || behind.starts_with('}') || !inside.contains([':', '=']) {
            return None;
        }
        let figure = match behind.strip_prefix('.') {
            Some(figure) => figure,
            None if behind.is_empty() => "",
            None => return Some(Err(Unnamed::Trailing(name.to_owned()))),
        };
        let tags = tags_of(name, inside).map(|tags| tags.into_iter().collect());
        Some(tags.map(|tags| SeriesName { metric, tags, figure }))
    }

    /// The name of the sub-metric it is a figure of: `http_answers_ms{page:list}`, with its tags in their order.
    pub fn submetric(&self) -> String {
        let tags: Vec<String> = self.tags.iter().map(|(name, value)| format!("{name}:{value}")).collect();
        format!("{}{{{}}}", self.metric, tags.join(","))
    }
}

/// As every spelling of it is written alike: without quotes and blanks, the tags in their order.
impl fmt::Display for SeriesName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.submetric())?;
        if self.figure.is_empty() { Ok(()) } else { write!(f, ".{}", self.figure) }
    }
}

/// `a:b, "c":"d e"`; quotes and blanks around a name or value are not part of it.
pub(super) fn tags_of(name: &str, suffix: &str) -> Result<Vec<(String, String)>, Unnamed> {
    let bare = |text: &str| text.trim().trim_matches(['"', '\'']).to_owned();
    suffix
        .split(',')
        .map(|tag| match tag.split_once(':') {
            Some((key, value)) if !bare(key).is_empty() && !bare(value).is_empty() => {
                Ok((bare(key), bare(value)))
            }
            _ => Err(Unnamed::Tag { name: name.to_owned(), tag: tag.trim().to_owned() }),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: Option<&str>) {
        let read = SeriesName::of(name).map(|read| read.unwrap().to_string());
        assert_eq!(read.as_deref(), expected, "{name}");
    }

    #[test]
    fn tags_stand_between_a_metric_and_its_figure() {
        check("http_answers_ms{page:list}.p95", Some("http_answers_ms{page:list}.p95"));
        check("statuses.codes.500{team:b, page: \"list\"}", Some("statuses.codes.500{page:list,team:b}"));
        check(
            "operations.GET /{{ id }}.count{page:http://a/b}",
            Some("operations.GET /{{ id }}.count{page:http://a/b}"),
        );
        check("operations.GET /{{ id }}.count", None);
        check("operations.item {id}.response_ms.p95", None);
        check("http_answers_ms.p95", None);
    }

    #[test]
    fn what_is_malformed_is_told() {
        let wrong = |name: &str| SeriesName::of(name).unwrap().unwrap_err().to_string();
        assert_eq!(
            wrong("a{page=list}.p95"),
            "\"page=list\" in \"a{page=list}.p95\" is no tag: write name:value, with commas between"
        );
        assert_eq!(wrong("a{page:list}p95"), "\"a{page:list}p95\" does not end with its closing curly brace");
    }
}
