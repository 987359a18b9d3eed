//! JSONPath as scripts write it (the dialect of `jsonpath-plus`), turned into the standard one (RFC 9535).

use crate::plan::Source;
use regex::{Captures, Regex};
use serde_json_path::JsonPath;
use std::sync::LazyLock;

use super::Wrong;

/// A capture's path. `multiple: false` asks for all that a path may select, as a list.
pub(super) fn source(written: &str, multiple: bool) -> Result<Source, Wrong> {
    let path = modern(written);
    // `length`, which JavaScript has for every list and text, is no member to the standard.
    if let Some(of) = path.strip_suffix(".length")
        && let Ok(of) = JsonPath::parse(of)
    {
        return Ok(Source::JsonLength(of));
    }
    let parsed = parse(written)?;
    Ok(if !multiple && selects_several(&path) { Source::JsonAll(parsed) } else { Source::Json(parsed) })
}

/// A path of one node.
pub(super) fn parse(written: &str) -> Result<JsonPath, Wrong> {
    JsonPath::parse(&modern(written)).map_err(|_| {
        let hint = match written.contains(['^', '~']) {
            true => "`^` and `~` are not of the standard: capture what is around it, and reach into it with a template",
            false => "paths look like $.user.id, $.rooms[0].id, $..id",
        };
        (format!("`{written}` is no JSONPath (RFC 9535)"), Some(hint.to_owned()))
    })
}

/// Whether it may select more than one node: by a wildcard, a slice, a list of names, a filter or at any depth.
fn selects_several(path: &str) -> bool {
    path.contains(['*', ':', ',', '?']) || path.contains("..")
}

/// A pattern that is written here.
fn own(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a valid pattern")
}

/// `[(@.length-1)]` is the last element.
static LAST: LazyLock<Regex> = LazyLock::new(|| own(r"\[\(\s*@\.length\s*-\s*([0-9]+)\s*\)\]"));

/// The whole of a filter that asks only whether something is there: `?(@.open)`, `?(!@.open)`.
static BARE: LazyLock<Regex> = LazyLock::new(|| own(r"\?\(\s*(!?)\s*(@(?:\.[\w-]+|\[[^\]]*\])+)\s*\)"));

/// `@.tags.length` in a filter.
static LENGTH: LazyLock<Regex> = LazyLock::new(|| own(r"(@(?:\.[\w-]+|\[[^\]]*\])*?)\.length\b"));

/// `@.name.match(/^a/i)` in a filter.
static MATCH: LazyLock<Regex> =
    LazyLock::new(|| own(r"(@(?:\.[\w-]+|\[[^\]]*\])*?)\.match\(\s*/((?:[^/\\]|\\.)*)/([a-z]*)\s*\)"));

/// `/^a/i.test(@.name)` in a filter.
static TEST: LazyLock<Regex> =
    LazyLock::new(|| own(r"/((?:[^/\\]|\\.)*)/([a-z]*)\.test\(\s*(@(?:\.[\w-]+|\[[^\]]*\])*)\s*\)"));

/// Filters are JavaScript to scripts: its operators, truth and methods in the standard's words.
fn filters(path: &str) -> String {
    if !path.contains('?') {
        return path.to_owned();
    }
    let path = path.replace("===", "==").replace("!==", "!=");
    let path = BARE.replace_all(&path, |found: &Captures<'_>| {
        let at = &found[2];
        match &found[1] {
            "" => format!("?({at} && {at} != false && {at} != null && {at} != 0 && {at} != '')"),
            _ => format!("?(!{at} || {at} == false || {at} == null || {at} == 0 || {at} == '')"),
        }
    });
    let path = LENGTH.replace_all(&path, "length($1)");
    let path = MATCH.replace_all(&path, |found: &Captures<'_>| search(&found[1], &found[2], &found[3]));
    TEST.replace_all(&path, |found: &Captures<'_>| search(&found[3], &found[1], &found[2])).into_owned()
}

/// The standard's `search`, whose expression is a quoted text.
fn search(at: &str, pattern: &str, flags: &str) -> String {
    let flags = if flags.contains('i') { "(?i)" } else { "" };
    let pattern = pattern.replace("\\/", "/").replace('\\', "\\\\").replace('\'', "\\'");
    format!("search({at}, '{flags}{pattern}')")
}

/// The JSONPath dialect scripts are written in, as RFC 9535: `token`, `$.0.id`, `$.access-token`, `[(@.length-1)]`.
fn modern(written: &str) -> String {
    let mut path = String::from("$");
    let mut rest = written.trim();
    rest = rest.strip_prefix('$').unwrap_or(rest);
    if !rest.is_empty() && !rest.starts_with(['.', '[']) {
        path.push('.');
    }
    path.push_str(rest);
    let path = LAST.replace_all(&path, "[-$1]").replace(".[", "[");
    let text = filters(&path);
    let mut out = String::new();
    let mut left = text.as_str();
    while let Some(at) = left.find('.') {
        out.push_str(&left[..at]);
        left = &left[at..];
        let dots = if left.starts_with("..") { 2 } else { 1 };
        let name = &left[dots..];
        let end = name.find(['.', '[', ' ', ')', '=', '<', '>', '!', '&', '|']).unwrap_or(name.len());
        let member = &name[..end];
        let inside_filter = out.matches('[').count() > out.matches(']').count();
        let is_index = !member.is_empty() && member.bytes().all(|b| b.is_ascii_digit());
        if dots == 1 && !inside_filter && is_index {
            out.push_str(&format!("[{member}]"));
        } else if !inside_filter && member.contains('-') {
            let dots = if dots == 2 { ".." } else { "" };
            out.push_str(&format!("{dots}['{member}']"));
        } else {
            out.push_str(&left[..dots]);
            out.push_str(member);
        }
        left = &name[end..];
    }
    out.push_str(left);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn the_jsonpath_of_scripts_becomes_the_standard_one() {
        let check = |written, expected: &str| {
            assert_eq!(modern(written), expected, "{written}");
            JsonPath::parse(expected).unwrap();
        };
        check("$.token", "$.token");
        check("token", "$.token");
        check(" $.user.id ", "$.user.id");
        check("$", "$");
        check("$.0.id", "$[0].id");
        check("$[0].id", "$[0].id");
        check("$.[0].id", "$[0].id");
        check("$..id", "$..id");
        check("$.access-token", "$['access-token']");
        check("$..x-y.z", "$..['x-y'].z");
        check("$.a[(@.length-1)]", "$.a[-1]");
        check("$.a[?(@.b=='d')].e", "$.a[?(@.b=='d')].e");
        check("$.a[(@.length - 2)].b", "$.a[-2].b");
    }

    /// The result of a path, as a list or its only element.
    #[track_caller]
    fn find(written: &str, multiple: bool, expected: Value) {
        let json = json!({
            "rooms": [
                {"id": 1, "name": "Alpha/1", "open": true, "tags": ["a", "b"]},
                {"id": 2, "name": "beta", "open": false, "tags": []},
                {"id": 3, "name": "it's", "tags": ["c"]},
            ],
            "title": "h\u{1f600}",
            "page": {"length": 7},
        });
        let found = match source(written, multiple).unwrap() {
            Source::Json(path) => json!({"one of": path.query(&json).all()}),
            Source::JsonAll(path) => json!(path.query(&json).all()),
            Source::JsonLength(path) => json!({"length of": path.query(&json).all().len()}),
            other => panic!("{other:?}"),
        };
        assert_eq!(found, expected, "{written}");
    }

    #[test]
    fn filters_are_read_as_javascript_reads_them() {
        let ids = |filter: &str, ids: &[u64]| find(&format!("$.rooms[?({filter})].id"), false, json!(ids));
        ids("@.id===2", &[2]);
        ids("@.id !== 2 && @.id < 3", &[1]);
        ids("@.open", &[1]);
        ids("!@.open", &[2, 3]);
        ids("@.tags.length > 1", &[1]);
        ids("@.tags.length == 0 || @.name.length === 7", &[1, 2]);
        ids("@.name.match(/^A/)", &[1]);
        ids("@.name.match(/^B/i)", &[2]);
        ids(r"/\/\d$/.test(@.name)", &[1]);
        ids("/it's/.test(@.name)", &[3]);
        ids("@.tags[0] == 'c'", &[3]);
    }

    #[test]
    fn a_path_selects_one_node_or_all_or_a_length() {
        find("$.rooms[1].id", false, json!({"one of": [2]}));
        find("$.rooms[*].id", true, json!({"one of": [1, 2, 3]}));
        find("$.rooms[*].id", false, json!([1, 2, 3]));
        find("$.rooms[0:2].id", false, json!([1, 2]));
        find("$.rooms[0,2].id", false, json!([1, 3]));
        find("$..tags[0]", false, json!(["a", "c"]));
        find("$.rooms.length", true, json!({"length of": 1}));
        find("$..tags.length", true, json!({"length of": 3}));
    }

    #[test]
    fn what_is_no_path_is_told() {
        let (what, hint) = source("$.a[", true).unwrap_err();
        assert_eq!(what, "`$.a[` is no JSONPath (RFC 9535)");
        assert!(hint.unwrap().starts_with("paths look like "));
        assert!(source("$.a.^", true).unwrap_err().1.unwrap().starts_with("`^` and `~`"));
    }
}
