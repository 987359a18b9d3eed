//! Whether a response is as the script expects it.

use serde_json::Value;

use super::evidence::{Evidence, excerpt, found_in};
use super::{Begun, User};
use crate::plan::{Demand, Expectations};
use crate::values::{Unfilled, Values};
use sonagi_transport::link::is_truthy;

/// Headers in which content delivery networks say whether a response came from their cache.
const CACHE_HEADERS: [&str; 3] = ["cf-cache-status", "x-cache", "x-vercel-cache"];

impl User {
    /// Looks at each expectation and counts it. What the ones that do not hold come to, if any.
    pub(super) fn compare(
        &mut self,
        begun: Begun,
        expectations: &Expectations,
        evidence: &Evidence<'_>,
    ) -> Option<String> {
        let shard = &self.shard;
        let mut missed = Vec::new();
        for expectation in &expectations.all {
            let values = &mut self.values;
            let kind = kind(expectation.kind, &expectation.demand, values);
            let judged =
                judge(&expectation.demand, evidence, values).unwrap_or_else(|Unfilled(why)| Err(why));
            let mut recorder = shard.recorder.borrow_mut();
            match judged {
                Ok(()) => recorder.expectations().held(&kind),
                Err(why) => {
                    let name = &shard.plan().operations[usize::from(begun.operation.id.0)].name;
                    let at = (shard.clock_reader)();
                    recorder.expectations().failed(&kind, at, || values.shown(&format!("{name}: {why}")));
                    missed.push(why);
                }
            }
        }
        (!missed.is_empty()).then(|| missed.join("; "))
    }
}

/// The name that an expectation is counted under.
fn kind<'e>(kind: &'e str, demand: &Demand, values: &mut Values) -> std::borrow::Cow<'e, str> {
    match demand {
        Demand::HeaderValue { name, .. } => {
            let name = values.text(name).unwrap_or_default();
            format!("header {name} values equals").into()
        }
        _ => kind.into(),
    }
}

/// The failed demand's description.
type Judged = Result<(), String>;

fn judge(demand: &Demand, evidence: &Evidence<'_>, values: &mut Values) -> Result<Judged, Unfilled> {
    Ok(match demand {
        Demand::Status { fixed, open, negated } => {
            let mut wanted = fixed.clone();
            for template in open {
                wanted.extend(numbers(&values.text(template)?));
            }
            status(&wanted, *negated, evidence.status().unwrap_or_default())
        }
        Demand::ContentType(wanted) => content_type(&values.text(wanted)?, evidence),
        Demand::Property { path, negated } => property(&values.text(path)?, *negated, evidence),
        Demand::Equal(texts) => {
            let texts = texts.iter().map(|text| values.text(text)).collect::<Result<Vec<_>, _>>()?;
            let same = !texts.is_empty() && texts.iter().all(|text| *text == texts[0]);
            same.then_some(()).ok_or_else(|| format!("expected equal values, got {}", texts.join(", ")))
        }
        Demand::Header(name) => {
            let name = values.text(name)?;
            let given = evidence.header(&name).is_some_and(|value| !value.is_empty());
            given.then_some(()).ok_or_else(|| format!("expected the header {name}, got none"))
        }
        Demand::HeaderValue { name, value } => {
            let (name, wanted) = (values.text(name)?, values.text(value)?);
            match evidence.header(&name) {
                Some(got) if got == wanted => Ok(()),
                Some(got) => Err(format!("expected {name}: {wanted}, got {got}")),
                None => Err(format!("expected {name}: {wanted}, got no such header")),
            }
        }
        Demand::Found { shown, from } => {
            let found = found_in(evidence, from, values).map_err(Unfilled)?;
            let holds = found.is_some_and(|value| is_truthy(&value));
            holds.then_some(()).ok_or_else(|| format!("expected {shown}, got {}", excerpt(evidence.body())))
        }
        Demand::CacheHit(wanted) => cache(*wanted, evidence),
    })
}

/// The numbers in a text: of `200`, and of a list that a variable held.
fn numbers(text: &str) -> Vec<u16> {
    text.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
}

fn status(wanted: &[u16], negated: bool, got: u16) -> Judged {
    if wanted.contains(&got) != negated {
        return Ok(());
    }
    let wanted: Vec<String> = wanted.iter().map(u16::to_string).collect();
    let other = if negated { "another status than" } else { "status" };
    Err(format!("expected {other} {}, got {got}", wanted.join(" or ")))
}

fn content_type(wanted: &str, evidence: &Evidence<'_>) -> Judged {
    let got = evidence.header("content-type");
    let shown = got.as_deref().unwrap_or("none");
    if wanted != "json" {
        let same = got.as_deref().is_some_and(|got| got.eq_ignore_ascii_case(wanted));
        return same.then_some(()).ok_or_else(|| format!("expected content type {wanted}, got {shown}"));
    }
    match object(evidence) {
        Some(_) => Ok(()),
        None if is_json(shown) => {
            Err(format!("expected a JSON object or list, got {}", excerpt(evidence.body())))
        }
        None => Err(format!("expected content type json, got {shown}")),
    }
}

fn property(path: &str, negated: bool, evidence: &Evidence<'_>) -> Judged {
    let Some(body) = object(evidence) else {
        return Err(format!("expected a JSON object or list, got {}", excerpt(evidence.body())));
    };
    match (has(body, path), negated) {
        (true, false) | (false, true) => Ok(()),
        (false, false) => Err(format!("expected the property {path}, got {}", excerpt(evidence.body()))),
        (true, true) => Err(format!("expected no property {path}, got {}", excerpt(evidence.body()))),
    }
}

/// The body of a response that says it is JSON, if it is an object or a list.
fn object<'e>(evidence: &'e Evidence<'_>) -> Option<&'e Value> {
    let says_so = evidence.header("content-type").is_some_and(|value| is_json(&value));
    evidence.json().filter(|json| says_so && (json.is_object() || json.is_array()))
}

fn is_json(content_type: &str) -> bool {
    let types = ["application/json", "application/problem+json", "application/ld+json"];
    types.iter().any(|json| content_type.contains(json))
}

/// Whether there is something, be it null, at a path like `user.rooms[0].id`; a member with just that name will do.
fn has(value: &Value, path: &str) -> bool {
    if value.get(path).is_some() {
        return true;
    }
    let mut at = value;
    for key in keys(path) {
        let inner = match at {
            Value::Array(items) => key.parse::<usize>().ok().and_then(|index| items.get(index)),
            other => other.get(key),
        };
        let Some(inner) = inner else { return false };
        at = inner;
    }
    true
}

fn keys(path: &str) -> impl Iterator<Item = &str> {
    let bare = |key: &'_ str| !key.is_empty();
    path.split(['.', '[', ']']).map(|key| key.trim_matches(['\'', '"'])).filter(move |key| bare(key))
}

fn cache(hit: bool, evidence: &Evidence<'_>) -> Judged {
    let wanted: &[&str] = if hit { &["hit", "stale"] } else { &["miss"] };
    let said = CACHE_HEADERS.iter().filter_map(|name| Some((name, evidence.header(name)?.to_lowercase())));
    let mut got = "no header that says so".to_owned();
    for (name, value) in said {
        if wanted.iter().any(|wanted| value.starts_with(wanted)) {
            return Ok(());
        }
        got = format!("{name}: {value}");
    }
    Err(format!("expected a cache {}, got {got}", if hit { "hit" } else { "miss" }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Plan, Source, Template};
    use crate::values::RunValues;
    use sonagi_transport::http::Headers;
    use std::rc::Rc;
    use std::sync::Arc;

    fn values() -> Values {
        let common = RunValues::new(Arc::new(Plan::empty()), Vec::new(), 0);
        let mut values = Values::new(Rc::new(common), 0, 0, fastrand::Rng::with_seed(1));
        values.set("codes", serde_json::json!([404, 410]));
        values
    }

    /// Checks a demand on this response; the error describes the difference.
    #[track_caller]
    fn check(status: u16, headers: &[(&str, &str)], body: &str, table: &[(Demand, &str)]) {
        let headers: Headers = headers.iter().map(|(name, value)| (*name, value.as_bytes())).collect();
        let evidence = Evidence::response(status, &headers, body);
        for (demand, expected) in table {
            let judged = judge(demand, &evidence, &mut values()).unwrap_or_else(|Unfilled(why)| Err(why));
            assert_eq!(judged.err().unwrap_or_default(), *expected, "{demand:?}");
        }
    }

    fn text(text: &str) -> Template {
        Template::constant(text)
    }

    fn property(path: &str, negated: bool) -> Demand {
        Demand::Property { path: text(path), negated }
    }

    #[test]
    fn a_status_is_one_of_those_expected_or_none_of_those_that_are_not() {
        let of = |fixed: &[u16], negated| Demand::Status { fixed: fixed.to_vec(), open: Vec::new(), negated };
        let pieces = vec![crate::plan::template::Piece::Hole(crate::plan::Expression::Path {
            variable: "codes".into(),
            keys: Vec::new(),
        })];
        let open = Demand::Status { fixed: Vec::new(), open: vec![Template { pieces }], negated: false };
        let table = [
            (of(&[404], false), ""),
            (of(&[200, 201], false), "expected status 200 or 201, got 404"),
            (of(&[500], true), ""),
            (of(&[404], true), "expected another status than 404, got 404"),
            (open, ""),
        ];
        check(404, &[], "", &table);
    }

    #[test]
    fn a_property_is_looked_for_in_json_only() {
        let json = [("Content-Type", "application/json; charset=utf-8")];
        let table = [
            (property("user.id", false), ""),
            (property("user.rooms[1].name", false), ""),
            (property("user.rooms['0']", false), ""),
            (property("a.b", false), ""),
            (property("user.none", false), ""),
            (property("user.rooms[2]", false), "expected the property user.rooms[2], got "),
            (property("user.missing", true), ""),
            (property("user", true), "expected no property user, got "),
        ];
        let body = r#"{"user":{"id":1,"none":null,"rooms":[0,{"name":"x"}]},"a.b":1}"#;
        let table = table.map(|(demand, why)| match why {
            "" => (demand, String::new()),
            why => (demand, format!("{why}`{body}`")),
        });
        let table: Vec<(Demand, &str)> =
            table.iter().map(|(demand, why)| (demand.clone(), why.as_str())).collect();
        check(200, &json, body, &table);
        let no_object = "expected a JSON object or list, got `5`";
        check(200, &json, "5", &[(property("a", false), no_object), (property("a", true), no_object)]);
        let plain = "expected a JSON object or list, got `{\"a\":1}`";
        check(200, &[("content-type", "text/plain")], r#"{"a":1}"#, &[(property("a", false), plain)]);
    }

    #[test]
    fn a_content_type_is_compared_whole_and_json_means_a_json_body() {
        let of = |wanted| Demand::ContentType(text(wanted));
        let html = [("Content-Type", "text/HTML; charset=utf-8")];
        let table = [
            (of("text/html; charset=utf-8"), ""),
            (of("text/html"), "expected content type text/html, got text/HTML; charset=utf-8"),
            (of("json"), "expected content type json, got text/HTML; charset=utf-8"),
        ];
        check(200, &html, "{}", &table);
        let problem = [("content-type", "application/problem+json")];
        check(200, &problem, "[]", &[(of("json"), "")]);
        check(200, &problem, "x", &[(of("json"), "expected a JSON object or list, got `x`")]);
        check(200, &[], "{}", &[(of("json"), "expected content type json, got none")]);
    }

    #[test]
    fn headers_texts_and_caches_are_compared() {
        let value = |name, wanted| Demand::HeaderValue { name: text(name), value: text(wanted) };
        let regex = |pattern| Demand::Found {
            shown: format!("a match of {pattern}"),
            from: Source::Regexp { regex: regex::Regex::new(pattern).unwrap(), group: 0 },
        };
        let table = [
            (Demand::Header(text("X-Room")), ""),
            (Demand::Header(text("x-none")), "expected the header x-none, got none"),
            (value("x-room", "7, 8"), ""),
            (value("x-room", "7"), "expected x-room: 7, got 7, 8"),
            (value("x-none", "7"), "expected x-none: 7, got no such header"),
            (Demand::Equal(vec![text("1"), text("1")]), ""),
            (Demand::Equal(vec![text("1"), text("2")]), "expected equal values, got 1, 2"),
            (Demand::Equal(Vec::new()), "expected equal values, got "),
            (Demand::CacheHit(true), ""),
            (Demand::CacheHit(false), "expected a cache miss, got x-cache: hit from cloud"),
            (regex("h.llo"), ""),
            (regex("^ello"), "expected a match of ^ello, got `hello`"),
        ];
        check(200, &[("X-Room", "7"), ("x-room", "8"), ("X-Cache", "Hit from cloud")], "hello", &table);
    }
}
