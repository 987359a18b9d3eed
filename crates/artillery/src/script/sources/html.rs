//! CSS selectors over HTML, and the few words of jQuery that scripts put at their end (`:first`, `:last`, `:eq(2)`).

use crate::plan::{Search, Source};
use dom_query::{Document, Matcher, NodeRef};
use serde_json::{Map, Value};
use std::sync::Arc;

use super::Wrong;

/// The choice among the elements a selector finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Index {
    /// From 0.
    Number(usize),
    Last,
    Random,
}

impl Index {
    pub(super) fn read(text: &str) -> Option<Index> {
        match text.trim() {
            "first" => Some(Index::Number(0)),
            "last" => Some(Index::Last),
            "random" => Some(Index::Random),
            number => number.parse().ok().map(Index::Number),
        }
    }
}

/// An attribute of an element; of which, is drawn or counted.
#[derive(Debug)]
struct Selector {
    /// Compiled anew for each answer: what is compiled belongs to one thread.
    selector: String,
    /// None: all of them, by name.
    attr: Option<String>,
    index: Index,
}

pub(super) fn source(written: &str, attr: Option<String>, index: Index) -> Result<Source, Wrong> {
    let (selector, picked) = without_pick(written.trim());
    if Matcher::new(selector).is_err() {
        let hint = "selectors are those of CSS: `a.next`, `form#login input[name=\"csrf\"]`".to_owned();
        return Err((format!("`{written}` is no CSS selector"), Some(hint)));
    }
    let index = picked.unwrap_or(index);
    Ok(Source::Search(Arc::new(Selector { selector: selector.to_owned(), attr, index })))
}

/// `:first`, `:last` and `:eq(n)` are not CSS: they pick of what the rest finds.
fn without_pick(selector: &str) -> (&str, Option<Index>) {
    if let Some(rest) = selector.strip_suffix(":first") {
        return (rest, Some(Index::Number(0)));
    }
    if let Some(rest) = selector.strip_suffix(":last") {
        return (rest, Some(Index::Last));
    }
    let eq = selector.strip_suffix(')').and_then(|rest| rest.rsplit_once(":eq("));
    match eq.and_then(|(rest, number)| Some((rest, number.parse().ok()?))) {
        Some((rest, number)) => (rest, Some(Index::Number(number))),
        None => (selector, None),
    }
}

impl Search for Selector {
    fn find(&self, text: &str, draw: &mut dyn FnMut(usize) -> usize) -> Option<Value> {
        let document = Document::from(text);
        let matcher = Matcher::new(&self.selector).ok()?;
        let found = document.select_matcher(&matcher);
        let elements = found.nodes();
        let element = match self.index {
            _ if elements.is_empty() => None,
            Index::Number(index) => elements.get(index),
            Index::Last => elements.last(),
            Index::Random => elements.get(draw(elements.len())),
        }?;
        match &self.attr {
            Some(attr) => element.attr(attr).map(|value| Value::from(value.to_string())),
            None => Some(attributes(element)),
        }
    }
}

fn attributes(element: &NodeRef<'_>) -> Value {
    let attributes = element.attrs().into_iter();
    let named = attributes.map(|one| (one.name.local.to_string(), Value::from(one.value.to_string())));
    Value::Object(named.collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const PAGE: &str = r#"<!doctype html><title>Rooms</title><form id=login>
        <input name=csrf value="a&amp;b"><input name=user></form>
        <ul><li><a class="room big" href=/r/1>one</a><li><a class=room href=/r/2>two</a><li><a href=/out>out</a></ul>"#;

    #[track_caller]
    fn find(selector: &str, attr: Option<&str>, index: Index) -> Option<Value> {
        let Source::Search(search) = source(selector, attr.map(str::to_owned), index).unwrap() else {
            panic!("a search")
        };
        search.find(PAGE, &mut |count| count - 2)
    }

    #[test]
    fn an_attribute_of_the_element_that_is_meant_is_found() {
        let href = |selector, index| find(selector, Some("href"), index);
        let first = Index::Number(0);
        assert_eq!(href("a.room", first), Some(json!("/r/1")));
        assert_eq!(href("a.room", Index::Number(1)), Some(json!("/r/2")));
        assert_eq!(href("a.room", Index::Number(2)), None);
        assert_eq!(href("a", Index::Last), Some(json!("/out")));
        assert_eq!(href("li a", Index::Random), Some(json!("/r/2")));
        assert_eq!(href("a.none", Index::Random), None);
        assert_eq!(href("a:last", first), Some(json!("/out")));
        assert_eq!(href("li a:eq(1)", first), Some(json!("/r/2")));
        assert_eq!(href("a:contains(\"two\")", first), Some(json!("/r/2")));
        assert_eq!(href("li:has(.big) a", first), Some(json!("/r/1")));
        assert_eq!(find("input[name=csrf]", Some("value"), first), Some(json!("a&b")));
        assert_eq!(find("input[name='user']", Some("value"), first), None);
        assert_eq!(find("a.big", None, first), Some(json!({"class": "room big", "href": "/r/1"})));
    }

    #[test]
    fn what_is_no_selector_is_told() {
        let (what, _) = source("a[", None, Index::Last).unwrap_err();
        assert_eq!(what, "`a[` is no CSS selector");
    }
}
