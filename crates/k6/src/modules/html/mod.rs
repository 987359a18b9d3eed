//! `k6/html`, and what responses tell of their page.
//!
//! Selections and elements are written in JavaScript, over a tree that is parsed and searched here and known there by
//! the numbers of its nodes.

use dom_query::{Document, Matcher, NodeId, NodeRef, Selection};
use rquickjs::function::{Opt, This};
use rquickjs::{Coerced, Ctx, Function, IntoJs, Object, Value};
use sonagi_transport::net::Origin;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;

use crate::interpreter::go_error;
use crate::modules::binding::{Argument, Builtin, object_of, own};
use crate::modules::forms::form_encoded;

pub(super) const MODULE: Builtin = Builtin { names: &[NAME], exports: &["parseHTML"], build };
const NAME: &str = "k6/html";

/// Members of the module's object that scripts do not see.
const OF_RESPONSES: &str = "__sonagiOfResponses";

fn build<'js>(ctx: &Ctx<'js>, object: &Object<'js>) -> rquickjs::Result<()> {
    let native = Object::new(ctx.clone())?;
    native.set("fail", Function::new(ctx.clone(), fail)?)?;
    native.set("encoded", Function::new(ctx.clone(), form_encoded)?)?;
    native.set("resolved", Function::new(ctx.clone(), resolved)?)?;
    let http = object_of(ctx, "k6/http")?;
    native.set("request", http.get::<_, Function<'js>>("request")?)?;
    native.set("element", own(ctx, "k6/html/element", include_str!("element.js"))?)?;
    let library: Object<'js> = own(ctx, "k6/html", include_str!("selection.js"))?.call((native,))?;
    object.prop(OF_RESPONSES, rquickjs::object::Property::from(library))?;
    object.set("parseHTML", Function::new(ctx.clone(), parse_html)?)
}

/// An address as a page at `base` means it.
fn resolved(ctx: Ctx<'_>, base: String, reference: String) -> rquickjs::Result<String> {
    let (origin, path) = Origin::parse(&base).map_err(|failed| go_error(&ctx, &failed.detail))?;
    Ok(sonagi_transport::http::resolved(&origin, &path, &reference))
}

fn fail(ctx: Ctx<'_>, what: String) -> rquickjs::Result<()> {
    Err(go_error(&ctx, &what))
}

fn parse_html<'js>(ctx: Ctx<'js>, Argument(source): Argument<'js>) -> rquickjs::Result<Value<'js>> {
    let is_there = !source.is_undefined() && !source.is_null();
    let source = if is_there { source.get::<Coerced<String>>()?.0 } else { String::new() };
    select(&ctx, &source, "", None)
}

/// Pseudo-classes that k6's selectors have and ours have not, in the words of those they have.
const MEANT: [(&str, &str); 5] = [
    (":checked", ":is(input[type=checkbox][checked],input[type=radio][checked],option[selected])"),
    (
        ":disabled",
        ":is(:is(input,button,select,textarea,fieldset,optgroup,option)[disabled],fieldset[disabled] \
         :is(input,button,select,textarea))",
    ),
    (
        ":enabled",
        ":is(a[href],area[href],link[href],:is(input,button,select,textarea,fieldset,optgroup,option)\
         :not([disabled],fieldset[disabled] *))",
    ),
    (":input", ":is(input,button,select,textarea)"),
    (":root", ":is(html)"),
];

/// A selector in words that ours know.
fn meant(selector: &str) -> Cow<'_, str> {
    if !MEANT.iter().any(|(name, _)| selector.contains(name)) {
        return Cow::Borrowed(selector);
    }
    let (mut written, mut rest, mut quote) = (String::new(), selector, None);
    while let Some(letter) = rest.chars().next() {
        let is_end =
            |name: &str| !rest[name.len()..].starts_with(|next: char| next.is_alphanumeric() || next == '-');
        let known = MEANT.iter().find(|(name, _)| quote.is_none() && rest.starts_with(name) && is_end(name));
        if let Some((name, meaning)) = known {
            written.push_str(meaning);
            rest = &rest[name.len()..];
            continue;
        }
        quote = match (quote, letter) {
            (None, '"' | '\'') => Some(letter),
            (Some(open), letter) if open == letter => None,
            _ => quote,
        };
        written.push(letter);
        rest = &rest[letter.len_utf8()..];
    }
    Cow::Owned(written)
}

fn library<'js>(ctx: &Ctx<'js>) -> rquickjs::Result<Object<'js>> {
    object_of(ctx, NAME)?.get(OF_RESPONSES)
}

/// The page of a text, or what a selector finds in it.
pub(super) fn select<'js>(
    ctx: &Ctx<'js>,
    source: &str,
    url: &str,
    selector: Option<Value<'js>>,
) -> rquickjs::Result<Value<'js>> {
    let page = Page::new(source);
    let ask = move |ctx: Ctx<'js>, what: String, node: usize, text: Opt<String>| {
        page.answer(&ctx, &what, node, text.0.as_deref().unwrap_or_default())
    };
    let ask = Function::new(ctx.clone(), ask)?;
    library(ctx)?.get::<_, Function<'js>>("select")?.call((ask, url, selector))
}

/// `response.submitForm` and `response.clickLink`.
pub(super) fn of_response<'js>(
    ctx: Ctx<'js>,
    name: &str,
    this: This<Value<'js>>,
    options: Opt<Value<'js>>,
) -> rquickjs::Result<Value<'js>> {
    library(&ctx)?.get::<_, Function<'js>>(name)?.call((this.0, options.0))
}

/// A tree, and the numbers of those of its nodes that somebody asked for.
struct Page {
    document: Document,
    known: RefCell<Known>,
}

#[derive(Default)]
struct Known {
    nodes: Vec<NodeId>,
    numbers: HashMap<NodeId, usize>,
}

impl Page {
    fn new(source: &str) -> Page {
        let document = Document::from(source);
        let page = Page { known: RefCell::default(), document };
        page.number(page.document.root().id);
        page
    }

    fn number(&self, node: NodeId) -> usize {
        let Known { nodes, numbers } = &mut *self.known.borrow_mut();
        *numbers.entry(node).or_insert_with(|| {
            nodes.push(node);
            nodes.len() - 1
        })
    }

    fn node(&self, number: usize) -> NodeRef<'_> {
        let known = self.known.borrow();
        let id = known.nodes.get(number).copied().unwrap_or(self.document.root().id);
        NodeRef::new(id, &self.document.tree)
    }

    fn answer<'js>(
        &self,
        ctx: &Ctx<'js>,
        what: &str,
        number: usize,
        text: &str,
    ) -> rquickjs::Result<Value<'js>> {
        let node = self.node(number);
        match what {
            "type" => kind(&node).into_js(ctx),
            "name" => {
                node.node_name().map(|name| name.to_string()).filter(|_| node.is_element()).into_js(ctx)
            }
            "text" => self.text(&node).into_js(ctx),
            "html" => node.inner_html().to_string().into_js(ctx),
            "parent" => node.parent().map(|parent| self.number(parent.id)).into_js(ctx),
            "children" => self.numbers(node.children()).into_js(ctx),
            "attribute" => node.attr(text).map(|value| value.to_string()).into_js(ctx),
            "attributes" => attributes(&node).into_js(ctx),
            "matches" => Matcher::new(&meant(text))
                .is_ok_and(|matcher| node.is_element() && node.is_match(&matcher))
                .into_js(ctx),
            _ => self.numbers(self.selected(node, text)).into_js(ctx),
        }
    }

    fn numbers(&self, nodes: Vec<NodeRef<'_>>) -> Vec<usize> {
        nodes.into_iter().map(|node| self.number(node.id)).collect()
    }

    /// A selector that is none selects nothing.
    fn selected<'a>(&'a self, node: NodeRef<'a>, selector: &str) -> Vec<NodeRef<'a>> {
        match Matcher::new(&meant(selector)) {
            Ok(matcher) => Selection::from(node).select_matcher(&matcher).nodes().to_vec(),
            Err(_) => Vec::new(),
        }
    }

    fn text(&self, node: &NodeRef<'_>) -> String {
        use dom_query::NodeData::Comment;
        let comment = node.query(|node| match &node.data {
            Comment { contents } => Some(contents.to_string()),
            _ => None,
        });
        comment.flatten().unwrap_or_else(|| node.text().to_string())
    }
}

/// The DOM's numbers.
fn kind(node: &NodeRef<'_>) -> i32 {
    match () {
        () if node.is_element() => 1,
        () if node.is_text() => 3,
        () if node.is_comment() => 8,
        () if node.is_doctype() => 10,
        () => 9,
    }
}

fn attributes(node: &NodeRef<'_>) -> Vec<Vec<String>> {
    let own = node.attrs().into_iter();
    own.map(|attribute| vec![attribute.name.local.to_string(), attribute.value.to_string()]).collect()
}
