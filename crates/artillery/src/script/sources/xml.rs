//! XPath 1.0 over XML. In a document with a DOCTYPE nothing is found: the library does not read one.

use crate::plan::{Search, Source};
use regex::Regex;
use serde_json::Value;
use std::sync::{Arc, LazyLock};
use sxd_document::Package;
use sxd_xpath::{Context, Factory, Value as Found};

use super::Wrong;

/// Elements within each other at most: reading and walking deeper ones would take more stack than a thread has.
const MAX_DEPTH: usize = 1_000;

/// The text of the first node an expression selects, or what it computes.
#[derive(Debug)]
struct XPath {
    /// Compiled anew for each answer: what is compiled belongs to one thread.
    expression: String,
}

pub(super) fn source(written: &str) -> Result<Source, Wrong> {
    let hint = || Some("expressions are those of XPath 1.0: `//user/@id`, `string(//title)`".to_owned());
    match Factory::new().build(written) {
        Ok(Some(_)) => Ok(Source::Search(Arc::new(XPath { expression: written.to_owned() }))),
        Ok(None) => Err(("an XPath cannot be empty".to_owned(), hint())),
        Err(_) => Err((format!("`{written}` is no XPath"), hint())),
    }
}

impl Search for XPath {
    fn find(&self, text: &str, _: &mut dyn FnMut(usize) -> usize) -> Option<Value> {
        let text = text.trim_start();
        // The library that knows XPath trusts its input more than a target deserves: it sees only what a stricter one has read.
        if is_too_deep(text) || !is_xml(text) {
            return None;
        }
        let package = sxd_document::parser::parse(text).ok()?;
        let xpath = Factory::new().build(&self.expression).ok()??;
        let context = context(&package, &self.expression);
        match xpath.evaluate(&context, package.as_document().root()).ok()? {
            Found::Nodeset(nodes) => nodes.document_order_first().map(|node| node.string_value().into()),
            Found::String(text) => Some(text.into()),
            Found::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
                Some((number as i64).into())
            }
            Found::Number(number) => Some(number.into()),
            Found::Boolean(value) => Some(value.into()),
        }
    }
}

fn is_xml(text: &str) -> bool {
    roxmltree::Document::parse(text).is_ok()
}

/// With the prefixes that the document's own root declares. Others that the expression names select nothing; left out, the
/// library would panic over them.
fn context<'d>(package: &'d Package, expression: &str) -> Context<'d> {
    let mut context = Context::new();
    for prefix in PREFIX.captures_iter(expression) {
        context.set_namespace(&prefix[1], "urn:declared-nowhere");
    }
    for element in package.as_document().root().children().iter().filter_map(|child| child.element()) {
        for namespace in element.namespaces_in_scope() {
            context.set_namespace(namespace.prefix(), namespace.uri());
        }
    }
    context
}

/// What stands before a single colon.
static PREFIX: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"([\p{Alphabetic}_][\w.-]*)\s*:[^:]").expect("a valid pattern"));

/// Counted by brackets, which is never less than it really is.
fn is_too_deep(text: &str) -> bool {
    let mut depth = 0_usize;
    for tag in text.split('<').skip(1) {
        if tag.starts_with('/') {
            depth = depth.saturating_sub(1);
        } else if !tag.starts_with(['!', '?']) && !tag.split('>').next().unwrap_or_default().ends_with('/') {
            depth += 1;
        }
        if depth > MAX_DEPTH {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const FEED: &str = r#"
        <?xml version="1.0"?>
        <feed xmlns:m="urn:meta"><user id="7"><name>Ada <b>L.</b></name></user><user id="8"/><m:page>3</m:page></feed>"#;

    #[track_caller]
    fn find(expression: &str, text: &str) -> Option<Value> {
        let Source::Search(search) = source(expression).unwrap() else { panic!("a search") };
        search.find(text, &mut |_| 0)
    }

    #[test]
    fn the_first_node_or_the_value_of_an_expression_is_found() {
        for (expression, expected) in [
            ("//user/@id", Some(json!("7"))),
            ("/feed/user[2]/@id", Some(json!("8"))),
            ("//name", Some(json!("Ada L."))),
            ("//m:page/text()", Some(json!("3"))),
            ("count(//user)", Some(json!(2))),
            ("count(//user) div 4", Some(json!(0.5))),
            ("count(//user) > 5", Some(json!(false))),
            ("string(//user[@id='8']/@id)", Some(json!("8"))),
            ("//none", None),
            ("//unknown:page", None),
        ] {
            assert_eq!(find(expression, FEED), expected, "{expression}");
        }
        for broken in ["<p>no XML", "", "</a>", "<a></b>", "<a><b></a></b>", "<a/><b/>", "<a x='1' x='2'/>"] {
            assert_eq!(find("//user", broken), None, "{broken}");
        }
    }

    #[test]
    fn elements_deeper_than_a_stack_are_not_read() {
        let nested = |depth: usize| format!("{}x{}", "<a>".repeat(depth), "</a>".repeat(depth));
        assert_eq!(find("string(/)", &nested(900)), Some(json!("x")));
        assert_eq!(find("string(/)", &nested(100_000)), None);
    }

    #[test]
    fn what_is_no_xpath_is_told() {
        assert_eq!(source("//a[").unwrap_err().0, "`//a[` is no XPath");
        assert_eq!(source("").unwrap_err().0, "an XPath cannot be empty");
    }
}
