//! XPath 1.0 over XML.
//!
//! The decision to question: one library reads answers (roxmltree), another evaluates expressions (sxd-xpath), over a
//! copy of the tree. The latter's own reader trusts its input more than a target deserves and finds nothing under a
//! DOCTYPE; nobody maintains it. The one that is maintained (xee-xpath) brings over two hundred crates.

use crate::plan::{Search, Source};
use regex::Regex;
use roxmltree::{NodeType, ParsingOptions};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};
use sxd_document::dom::{Document, Element};
use sxd_document::{Package, QName};
use sxd_xpath::{Context, Factory, Value as Found, XPath as Compiled};

use super::Wrong;

/// Elements within each other at most: reading and walking deeper ones would take more stack than a thread has.
const MAX_DEPTH: usize = 1_000;

/// Nodes of an answer at most: entities make many of few bytes.
const MAX_NODES: u32 = 1_000_000;

/// Compiled expressions that a thread keeps at most.
const MAX_COMPILED: usize = 100;

thread_local! {
    /// A compiled expression belongs to one thread.
    static COMPILED: RefCell<HashMap<String, Rc<Compiled>>> = RefCell::default();
}

/// The text of the first node an expression selects, or what it computes.
#[derive(Debug)]
struct XPath {
    expression: String,
}

pub(super) fn source(written: &str) -> Result<Source, Wrong> {
    let hint = || Some("expressions are those of XPath 1.0: `//user/@id`, `string(//title)`".to_owned());
    if written.trim().is_empty() {
        return Err(("an XPath cannot be empty".to_owned(), hint()));
    }
    match compiled(written) {
        Some(_) => Ok(Source::Search(Arc::new(XPath { expression: written.to_owned() }))),
        None => Err((format!("`{written}` is no XPath"), hint())),
    }
}

/// An expression that this thread has compiled, once; None: it is none.
fn compiled(expression: &str) -> Option<Rc<Compiled>> {
    COMPILED.with_borrow_mut(|known| {
        if let Some(compiled) = known.get(expression) {
            return Some(compiled.clone());
        }
        if known.len() >= MAX_COMPILED {
            known.clear();
        }
        let compiled = Rc::new(Factory::new().build(expression).ok()??);
        known.insert(expression.to_owned(), compiled.clone());
        Some(compiled)
    })
}

impl Search for XPath {
    fn find(&self, text: &str, _: &mut dyn FnMut(usize) -> usize) -> Option<Value> {
        let text = text.trim_start();
        if is_too_deep(text) {
            return None;
        }
        let options = ParsingOptions { allow_dtd: true, nodes_limit: MAX_NODES, ..ParsingOptions::default() };
        let answer = roxmltree::Document::parse_with_options(text, options).ok()?;
        let package = Package::new();
        let document = package.as_document();
        copy(&answer, document)?;
        let context = context(&answer, &self.expression);
        match compiled(&self.expression)?.evaluate(&context, document.root()).ok()? {
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

/// Copies a tree; None when its elements lie too deep in each other, as those that entities bring may.
fn copy<'d>(answer: &roxmltree::Document<'_>, document: Document<'d>) -> Option<()> {
    // The elements that are open, each with its place in the answer.
    let mut open: Vec<(roxmltree::NodeId, Element<'d>)> = Vec::new();
    for node in answer.descendants().skip(1) {
        let parent = node.parent()?;
        while open.last().is_some_and(|(id, _)| *id != parent.id()) {
            open.pop();
        }
        let parent = open.last().map(|(_, element)| *element);
        match (node.node_type(), parent) {
            (NodeType::Element, parent) => {
                let element = element(node, document);
                match parent {
                    Some(parent) => parent.append_child(element),
                    None => document.root().append_child(element),
                }
                open.push((node.id(), element));
                if open.len() > MAX_DEPTH {
                    return None;
                }
            }
            (NodeType::Text, Some(parent)) => {
                parent.append_child(document.create_text(node.text().unwrap_or_default()));
            }
            (NodeType::Comment, parent) => {
                let comment = document.create_comment(node.text().unwrap_or_default());
                match parent {
                    Some(parent) => parent.append_child(comment),
                    None => document.root().append_child(comment),
                }
            }
            (NodeType::PI, parent) => {
                let Some(pi) = node.pi() else { continue };
                let instruction = document.create_processing_instruction(pi.target, pi.value);
                match parent {
                    Some(parent) => parent.append_child(instruction),
                    None => document.root().append_child(instruction),
                }
            }
            (NodeType::Text | NodeType::Root, _) => {}
        }
    }
    Some(())
}

/// An element with its attributes and namespaces, without its children.
fn element<'d>(node: roxmltree::Node<'_, '_>, document: Document<'d>) -> Element<'d> {
    let name = node.tag_name();
    let element = document.create_element(QName::with_namespace_uri(name.namespace(), name.name()));
    let prefix = name.namespace().and_then(|uri| node.lookup_prefix(uri));
    element.set_preferred_prefix(prefix.filter(|prefix| !prefix.is_empty()));
    for namespace in node.namespaces() {
        match namespace.name() {
            Some(prefix) => element.register_prefix(prefix, namespace.uri()),
            None => element.set_default_namespace_uri(Some(namespace.uri())),
        }
    }
    for attribute in node.attributes() {
        let name = QName::with_namespace_uri(attribute.namespace(), attribute.name());
        let copied = element.set_attribute_value(name, attribute.value());
        copied.set_preferred_prefix(attribute.namespace().and_then(|uri| node.lookup_prefix(uri)));
    }
    element
}

/// With the prefixes that the document's own root declares. Others that the expression names select nothing; left out,
/// the library would panic over them.
fn context<'d>(answer: &roxmltree::Document<'_>, expression: &str) -> Context<'d> {
    let mut context = Context::new();
    for prefix in PREFIX.captures_iter(expression) {
        context.set_namespace(&prefix[1], "urn:declared-nowhere");
    }
    for namespace in answer.root_element().namespaces() {
        if let Some(prefix) = namespace.name() {
            context.set_namespace(prefix, namespace.uri());
        }
    }
    context
}

/// The prefix before a single colon.
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
    fn a_doctype_hides_nothing_and_its_entities_are_read() {
        const PAGE: &str = r#"<?xml version="1.0"?>
            <!DOCTYPE page [ <!ENTITY who "Ada"> <!ENTITY both "&who; &amp; &who;"> ]>
            <page xmlns="urn:page"><!-- by --><?made by="hand"?><p title="&who;">&both;</p></page>"#;
        for (expression, expected) in [
            ("string(//*[local-name()='p'])", Some(json!("Ada & Ada"))),
            ("//@title", Some(json!("Ada"))),
            ("string(//comment())", Some(json!(" by "))),
            ("name(//processing-instruction())", Some(json!("made"))),
            ("namespace-uri(/*)", Some(json!("urn:page"))),
            ("//p", None),
        ] {
            assert_eq!(find(expression, PAGE), expected, "{expression}");
        }
        let html = "<!DOCTYPE html>\n<html><body><a href='/x'>x</a></body></html>";
        assert_eq!(find("//a/@href", html), Some(json!("/x")));
    }

    #[test]
    fn entities_cannot_make_much_of_little() {
        let doubled =
            |n: usize| format!("<!ENTITY e{n} \"{0}{0}{0}{0}{0}{0}{0}{0}\">", format!("&e{};", n - 1));
        let entities: String = (1..9).map(doubled).collect();
        let bomb = format!("<!DOCTYPE a [ <!ENTITY e0 \"<b/>\"> {entities} ]><a>&e8;</a>");
        assert_eq!(find("count(//b)", &bomb), None);
        let nested = format!("<!ENTITY e0 \"{}{}\">", "<b>".repeat(900), "</b>".repeat(900));
        let deep = format!("{}&e0;{}", "<b>".repeat(900), "</b>".repeat(900));
        assert_eq!(find("count(//b)", &format!("<!DOCTYPE a [ {nested} ]><a>{deep}</a>")), None);
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
