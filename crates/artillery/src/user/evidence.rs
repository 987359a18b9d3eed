//! Finding values in what the target answered: captures and matches.

use serde_json::Value;
use serde_json_path::JsonPath;
use sonagi_measure::secrets::{MASK, is_secret, without_tokens};
use std::borrow::Cow;
use std::cell::OnceCell;

use crate::plan::{Capture, Match, Source};
use crate::values::{Unfilled, Values};
use sonagi_transport::http::Headers;

/// Characters of an answer that an example shows.
const LONGEST: usize = 80;

/// What an answer consists of. It is parsed as JSON at most once.
pub(crate) struct Evidence<'a> {
    status: Option<u16>,
    headers: Option<&'a Headers>,
    body: &'a str,
    json: OnceCell<Option<Value>>,
    arguments: Option<Arguments>,
}

/// The arguments of an event or acknowledgement. Its body is the only one of them, or all of them as an array.
struct Arguments {
    /// An array.
    all: Value,
    /// The body as text, once somebody has asked for it.
    body: OnceCell<String>,
}

impl Arguments {
    fn list(&self) -> &[Value] {
        self.all.as_array().map(Vec::as_slice).unwrap_or_default()
    }

    fn body(&self) -> &Value {
        if let [only] = self.list() { only } else { &self.all }
    }
}

impl<'a> Evidence<'a> {
    /// The evidence of an HTTP response.
    pub(crate) fn response(status: u16, headers: &'a Headers, body: &'a str) -> Evidence<'a> {
        Evidence {
            status: Some(status),
            headers: Some(headers),
            body,
            json: OnceCell::new(),
            arguments: None,
        }
    }

    /// The evidence of a message.
    pub(crate) fn message(body: &'a str) -> Evidence<'a> {
        Evidence { status: None, headers: None, body, json: OnceCell::new(), arguments: None }
    }

    /// Of an event or acknowledgement with these arguments.
    pub(crate) fn of_arguments(all: Vec<Value>) -> Evidence<'a> {
        let arguments = Arguments { all: Value::Array(all), body: OnceCell::new() };
        Evidence { arguments: Some(arguments), ..Evidence::message("") }
    }

    /// The body as JSON; None when it is not JSON.
    pub(crate) fn json(&self) -> Option<&Value> {
        match &self.arguments {
            Some(arguments) => Some(arguments.body()),
            None => self.json.get_or_init(|| serde_json::from_str(self.body).ok()).as_ref(),
        }
    }

    /// Of an event or acknowledgement.
    pub(crate) fn arguments(&self) -> Option<&[Value]> {
        self.arguments.as_ref().map(Arguments::list)
    }

    /// The status of an HTTP response.
    pub(crate) fn status(&self) -> Option<u16> {
        self.status
    }

    /// The text it consists of.
    pub(crate) fn body(&self) -> &str {
        match &self.arguments {
            Some(arguments) => arguments.body.get_or_init(|| arguments.body().to_string()),
            None => self.body,
        }
    }

    /// The value of a header; of several of its name all, as one (RFC 9110 §5.2).
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let values = self.headers?.get_all(name).map(String::from_utf8_lossy);
        values.map(Cow::into_owned).reduce(|all, value| format!("{all}, {value}"))
    }

    /// The value a source points at. Of several JSON matches one is picked at random, as Artillery does.
    fn find(&self, source: &Source, rng: &mut fastrand::Rng) -> Option<Value> {
        match source {
            Source::Status => self.status.map(Value::from),
            // The one header that cannot be joined (RFC 9110 §5.3) is a list, also when it came once.
            Source::Header(name) if name == "set-cookie" => {
                let all: Vec<Value> = self.headers?.get_all(name).map(text).collect();
                (!all.is_empty()).then_some(Value::Array(all))
            }
            Source::Header(name) => self.header(name).map(Value::from),
            Source::JsonAll(path) => {
                let all = path.query(self.json()?).all();
                (!all.is_empty()).then(|| all.into_iter().cloned().collect())
            }
            Source::JsonLength(path) => length(path.query(self.json()?).first()?),
            Source::Search(search) => search.find(self.body(), &mut |count| rng.usize(..count)),
            // Filled and read before it is looked for: `found_in`.
            Source::Open(_) => None,
            Source::Regexp { regex, group } => {
                let found = regex.captures(self.body())?;
                Some(Value::from(found.get(*group)?.as_str()))
            }
            Source::Json(path) => {
                // Scripts write `$.ok` of the only argument, or `$[0].ok`; `$` is the only one, not the list of them.
                let all = self.arguments.as_ref().map(|arguments| &arguments.all);
                let among_all = all.and_then(|all| pick(path, all, rng).filter(|found| found != all));
                among_all.or_else(|| pick(path, self.json()?, rng))
            }
        }
    }
}

fn text(bytes: &[u8]) -> Value {
    String::from_utf8_lossy(bytes).into()
}

/// The `length` of a value in JavaScript.
fn length(value: &Value) -> Option<Value> {
    match value {
        Value::Array(items) => Some(items.len().into()),
        Value::String(text) => Some(text.encode_utf16().count().into()),
        Value::Object(members) => members.get("length").cloned(),
        _ => None,
    }
}

/// The value a source points at, with the user's values in its template; the error says why rendering failed.
pub(crate) fn found_in(
    evidence: &Evidence<'_>,
    source: &Source,
    values: &mut Values,
) -> Result<Option<Value>, String> {
    let Source::Open(open) = source else { return Ok(evidence.find(source, &mut values.rng)) };
    let filled = values.text(&open.text).map_err(|Unfilled(why)| why)?;
    let source = open.read(&filled)?;
    Ok(evidence.find(&source, &mut values.rng))
}

fn pick(path: &JsonPath, json: &Value, rng: &mut fastrand::Rng) -> Option<Value> {
    match path.query(json).all().as_slice() {
        [] => None,
        [only] => Some((*only).clone()),
        several => Some(several[rng.usize(..several.len())].clone()),
    }
}

/// Checks `matches`, then keeps what `captures` ask for; the error says which one failed and what was there instead.
/// Nothing is kept of an answer that does not match.
pub(crate) fn examine(
    evidence: &Evidence<'_>,
    captures: &[Capture],
    matches: &[Match],
    values: &mut Values,
) -> Result<(), String> {
    compare(evidence, matches, values)?;
    keep(evidence, captures, values)
}

/// Checks `matches`; the error says what was there instead.
pub(crate) fn compare(evidence: &Evidence<'_>, matches: &[Match], values: &mut Values) -> Result<(), String> {
    for wanted in matches {
        let expected = values.text(&wanted.value).map_err(|Unfilled(why)| why)?;
        let found = found_in(evidence, &wanted.from, values)?;
        let is_equal = found.as_ref().is_some_and(|found| is_written_as(found, &expected));
        if !is_equal && wanted.strict {
            return Err(differs(evidence, wanted, &expected, found.as_ref()));
        }
    }
    Ok(())
}

/// Keeps what `captures` ask for; the error says which one found nothing.
pub(crate) fn keep(evidence: &Evidence<'_>, captures: &[Capture], values: &mut Values) -> Result<(), String> {
    for capture in captures {
        // An empty text is nothing, as Artillery has it.
        let found = found_in(evidence, &capture.from, values)?.filter(|value| *value != "");
        match found {
            Some(value) => values.set_at(&capture.name, value),
            None if capture.strict => {
                return Err(format!(
                    "nothing to capture as `{}` in {}",
                    capture.name,
                    shown(evidence, capture)
                ));
            }
            // The captured value of before is out of date.
            None => values.set_at(&capture.name, Value::from("")),
        }
    }
    Ok(())
}

/// The value found in place of the wanted one, and its surroundings: an `error` beside an `ok: false` says why.
fn differs(evidence: &Evidence<'_>, wanted: &Match, expected: &str, found: Option<&Value>) -> String {
    let is_hidden = wanted.from.is_secret();
    let expected = if is_hidden { MASK } else { expected };
    let got = match found {
        None => "nothing".to_owned(),
        Some(_) if is_hidden => excerpt(MASK),
        Some(found) => excerpt(&found.to_string()),
    };
    let is_all = found.is_some_and(|found| evidence.json() == Some(found)) || evidence.body().is_empty();
    let around = if is_all { String::new() } else { format!(" in {}", excerpt(evidence.body())) };
    format!("expected `{expected}`, got {got}{around}")
}

/// The beginning of an answer in which a capture found nothing. A secret that it looked for may well be in it by
/// another name.
fn shown(evidence: &Evidence<'_>, capture: &Capture) -> String {
    if !is_secret(&capture.name) && !capture.from.is_secret() {
        return excerpt(evidence.body());
    }
    let head: String = evidence.body().chars().take(4 * LONGEST).collect();
    excerpt(&without_tokens(&head))
}

fn is_written_as(value: &Value, text: &str) -> bool {
    match value {
        Value::String(string) => string == text,
        other => *text == *other.to_string(),
    }
}

/// The beginning of a text, for a message.
pub(crate) fn excerpt(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        None => format!("`{text}`"),
        Some((end, _)) => format!("`{}…`", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Plan, Template};
    use crate::values::RunValues;
    use serde_json::json;
    use std::rc::Rc;
    use std::sync::Arc;

    fn values() -> Values {
        let common = RunValues::new(Arc::new(Plan::empty()), Vec::new(), 0);
        Values::new(Rc::new(common), 0, 0, fastrand::Rng::with_seed(1))
    }

    fn find(source: Source, body: &str) -> Option<Value> {
        let headers = [("X-Room", &b"7"[..])].into_iter().collect();
        Evidence::response(201, &headers, body).find(&source, &mut fastrand::Rng::with_seed(1))
    }

    #[test]
    fn a_source_finds_its_value_or_nothing() {
        let json = |path: &str| Source::Json(JsonPath::parse(path).unwrap());
        let regexp = |text: &str, group| Source::Regexp { regex: regex::Regex::new(text).unwrap(), group };
        assert_eq!(find(json("$.a.b"), r#"{"a":{"b":[1]}}"#), Some(json!([1])));
        assert_eq!(find(json("$.a.c"), r#"{"a":{"b":1}}"#), None);
        assert_eq!(find(json("$.a"), "not json"), None);
        assert_eq!(find(regexp("id=(\\d+)", 1), "x id=42;"), Some(json!("42")));
        assert_eq!(find(regexp("id=(\\d+)", 0), "x id=42;"), Some(json!("id=42")));
        assert_eq!(find(Source::Header("X-Room".to_lowercase()), ""), Some(json!("7")));
        assert_eq!(find(Source::Status, ""), Some(json!(201)));
        let picked = find(json("$[*].id"), r#"[{"id":1},{"id":2},{"id":3}]"#).unwrap();
        assert!((1..=3).contains(&picked.as_i64().unwrap()));
    }

    #[test]
    fn an_only_argument_is_found_with_and_without_its_index() {
        let find = |path: &str, all: &[Value]| {
            let source = Source::Json(JsonPath::parse(path).unwrap());
            Evidence::of_arguments(all.to_vec()).find(&source, &mut fastrand::Rng::new())
        };
        let only = [json!({"ok": true})];
        assert_eq!(find("$.ok", &only), Some(json!(true)));
        assert_eq!(find("$[0].ok", &only), Some(json!(true)));
        assert_eq!(find("$", &only), Some(json!({"ok": true})));
        let two = [json!({"ok": true}), json!({"seq": 5})];
        assert_eq!(find("$[1].seq", &two), Some(json!(5)));
        assert_eq!(find("$[0].ok", &two), Some(json!(true)));
        assert_eq!(find("$[*].id", &[json!([{"id": 7}])]), Some(json!(7)));
    }

    #[test]
    fn a_strict_capture_that_finds_nothing_fails_and_a_lenient_one_does_not() {
        let mut values = values();
        let capture = |strict| {
            [Capture { from: Source::Json(JsonPath::parse("$.id").unwrap()), name: "id".into(), strict }]
        };
        let evidence = Evidence::message(r#"{"name":"x"}"#);
        let why = examine(&evidence, &capture(true), &[], &mut values).unwrap_err();
        assert_eq!(why, r#"nothing to capture as `id` in `{"name":"x"}`"#);
        assert_eq!(examine(&evidence, &capture(false), &[], &mut values), Ok(()));
    }

    #[test]
    fn an_answer_in_which_a_secret_was_looked_for_is_shown_without_what_looks_like_one() {
        let evidence = Evidence::message(r#"{"value":"aB3dE5gH7jK9"}"#);
        for (path, name) in [("$.id", "token"), ("$.access_token", "t")] {
            let from = Source::Json(JsonPath::parse(path).unwrap());
            let capture = [Capture { from, name: name.into(), strict: true }];
            let why = examine(&evidence, &capture, &[], &mut values()).unwrap_err();
            assert_eq!(why, format!(r#"nothing to capture as `{name}` in `{{"value":"***"}}`"#));
        }
    }

    #[test]
    fn a_value_may_be_kept_as_a_member_of_a_variable() {
        let mut values = values();
        values.set("user", json!({"name": "ada"}));
        let capture = |name: &str| [Capture { from: Source::Status, name: name.into(), strict: true }];
        let headers = Headers::default();
        let evidence = Evidence::response(201, &headers, "");
        for name in ["user.id", "user.name.first", "deep.er.est", "plain"] {
            examine(&evidence, &capture(name), &[], &mut values).unwrap();
        }
        assert_eq!(values.own_value("user"), Some(json!({"name": {"first": 201}, "id": 201})));
        assert_eq!(values.own_value("deep"), Some(json!({"er": {"est": 201}})));
        assert_eq!(values.own_value("plain"), Some(json!(201)));
    }

    #[test]
    fn a_match_compares_what_is_written() {
        let mut values = values();
        let wanted = |value: &str| {
            let from = Source::Json(JsonPath::parse("$.ok").unwrap());
            [Match { from, value: Template::constant(value), strict: true }]
        };
        let evidence = Evidence::message(r#"{"ok":true}"#);
        assert_eq!(examine(&evidence, &[], &wanted("true"), &mut values), Ok(()));
        let why = examine(&evidence, &[], &wanted("false"), &mut values).unwrap_err();
        assert_eq!(why, r#"expected `false`, got `true` in `{"ok":true}`"#);
        let evidence = Evidence::message(r#"{"ok":false,"error":"the room is full"}"#);
        let why = examine(&evidence, &[], &wanted("true"), &mut values).unwrap_err();
        assert_eq!(why, r#"expected `true`, got `false` in `{"ok":false,"error":"the room is full"}`"#);
        let from = Source::Json(JsonPath::parse("$.token").unwrap());
        let wanted = [Match { from, value: Template::constant("mine"), strict: true }];
        let why = examine(&Evidence::message(r#"{"token":"x"}"#), &[], &wanted, &mut values).unwrap_err();
        assert_eq!(why, r#"expected `***`, got `***` in `{"token":"x"}`"#, "whoever keeps it masks the rest");
    }
}
