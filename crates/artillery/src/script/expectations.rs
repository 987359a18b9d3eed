//! `expect` of HTTP requests, as Artillery's plugin of that name has it, and the plugin's own settings.

use crate::plan::{Demand, Expectation, Expectations, Search, Source};
use serde_json::Value;
use std::cell::Cell;
use std::sync::Arc;

use crate::script::context::Flow;
use crate::script::reader::{Fields, Reader, plain_text};
use crate::script::schema;
use crate::script::sources::matched;
use crate::script::yaml::{Kind, Node};

/// The settings of `config.plugins.expect`.
#[derive(Default)]
pub(crate) struct Settings {
    /// Whether the script names the plugin: Artillery checks nothing without.
    is_there: bool,
    /// Whether a request of a scenario that says nothing else expects a 200.
    pub(crate) default_200: bool,
    fails_user: bool,
    is_noticed: Cell<bool>,
}

/// Reads the plugin's settings.
pub(crate) fn settings(reader: &mut Reader, plugins: Option<&Fields<'_>>) -> Settings {
    let Some(plugins) = plugins.filter(|plugins| plugins.entry("expect").is_some()) else {
        return Settings::default();
    };
    let mut settings = Settings { is_there: true, ..Settings::default() };
    if let Some(own) = reader.section(plugins, "expect", &schema::EXPECT_PLUGIN) {
        settings.default_200 = reader.boolean(&own, "expectDefault200").unwrap_or(false);
        settings.fails_user = reader.boolean(&own, "reportFailuresAsErrors").unwrap_or(false);
    }
    settings
}

/// The expectations of a request about its response.
pub(crate) fn expectations(
    reader: &mut Reader,
    flow: &Flow<'_>,
    own: &Fields<'_>,
) -> Option<Box<Expectations>> {
    let settings = &flow.settings.expect;
    let mut all = Vec::new();
    for item in reader.list(own, "expect", true) {
        let Some(fields) = reader.fields(item, &schema::EXPECTED) else { continue };
        for (key, read) in KINDS {
            if fields.get(key).is_some() {
                let demand = read(reader, &fields, key);
                all.extend(demand.map(|demand| Expectation { kind: key, demand }));
            }
        }
    }
    if !all.is_empty() && !settings.is_there && !settings.is_noticed.replace(true) {
        let text = "expect is checked; Artillery does so only with `plugins: {expect: {}}` in config";
        reader.notice(own.place_of("expect"), text);
    }
    if own.get("expect").is_none() && settings.default_200 && flow.expects_ok {
        let demand = Demand::Status { fixed: vec![200], open: Vec::new(), negated: false };
        all.push(Expectation { kind: "statusCode", demand });
    }
    (!all.is_empty()).then(|| Box::new(Expectations { all, fails_user: settings.fails_user }))
}

/// How an expectation is read.
type ReadExpectation = fn(&mut Reader, &Fields<'_>, &'static str) -> Option<Demand>;

const KINDS: [(&str, ReadExpectation); 12] = [
    ("statusCode", |reader, own, key| status(reader, own, key, false)),
    ("notStatusCode", |reader, own, key| status(reader, own, key, true)),
    ("contentType", |reader, own, key| reader.template_of(own, key).map(Demand::ContentType)),
    ("hasProperty", |reader, own, key| property(reader, own, key, false)),
    ("notHasProperty", |reader, own, key| property(reader, own, key, true)),
    ("equals", equals),
    ("hasHeader", |reader, own, key| reader.template_of(own, key).map(Demand::Header)),
    ("headerEquals", header_equals),
    ("matchesRegexp", matches_regexp),
    ("cdnHit", |reader, own, key| reader.boolean(own, key).map(Demand::CacheHit)),
    ("jmespath", jmespath),
    ("jpath", jmespath),
];

fn status(reader: &mut Reader, own: &Fields<'_>, key: &'static str, negated: bool) -> Option<Demand> {
    let (mut fixed, mut open) = (Vec::new(), Vec::new());
    let items = reader.list(own, key, true);
    for item in items {
        let text = plain_text(item).unwrap_or_default();
        if text.contains("{{") {
            open.extend(reader.template(item));
            continue;
        }
        match text.trim().parse::<u16>().ok().filter(|number| (100..600).contains(number)) {
            Some(number) => fixed.push(number),
            None => {
                let what = format!("{key} wants a status from 100 to 599; got {}", item.describe());
                reader.problem(item.place, what, own.area.key(key).map(schema::Key::as_written));
            }
        }
    }
    (!fixed.is_empty() || !open.is_empty()).then_some(Demand::Status { fixed, open, negated })
}

fn property(reader: &mut Reader, own: &Fields<'_>, key: &'static str, negated: bool) -> Option<Demand> {
    reader.template_of(own, key).map(|path| Demand::Property { path, negated })
}

fn equals(reader: &mut Reader, own: &Fields<'_>, key: &'static str) -> Option<Demand> {
    let node = own.get(key)?;
    let Kind::List(items) = &node.kind else {
        reader.wrong(own, key, node);
        return None;
    };
    let texts = items.iter().map(|item| compared(reader, own, key, item)).collect::<Option<Vec<_>>>()?;
    Some(Demand::Equal(texts))
}

fn header_equals(reader: &mut Reader, own: &Fields<'_>, key: &'static str) -> Option<Demand> {
    let node = own.get(key)?;
    let Kind::List(items) = &node.kind else {
        reader.wrong(own, key, node);
        return None;
    };
    let [name, value] = items.as_slice() else {
        reader.wrong(own, key, node);
        return None;
    };
    let (name, value) = (compared(reader, own, key, name)?, compared(reader, own, key, value)?);
    Some(Demand::HeaderValue { name, value })
}

/// A demand for one of several texts.
fn compared(reader: &mut Reader, own: &Fields<'_>, key: &str, item: &Node) -> Option<crate::plan::Template> {
    if plain_text(item).is_none() {
        reader.wrong(own, key, item);
    }
    reader.template(item)
}

fn matches_regexp(reader: &mut Reader, own: &Fields<'_>, key: &'static str) -> Option<Demand> {
    let written = own.get(key).and_then(plain_text).unwrap_or_default();
    let from = matched(reader, own, key)?;
    Some(Demand::Found { shown: format!("a match of {written}"), from })
}

/// An expression of JMESPath, whose value is to be truthy.
#[derive(Debug)]
struct Jmespath {
    /// Compiled anew for each response: what is compiled belongs to one thread.
    expression: String,
}

fn jmespath(reader: &mut Reader, own: &Fields<'_>, key: &'static str) -> Option<Demand> {
    let node = own.get(key)?;
    let Some(expression) = plain_text(node) else {
        reader.wrong(own, key, node);
        return None;
    };
    if let Err(error) = ::jmespath::compile(&expression) {
        let what = format!("`{expression}` is no JMESPath: {}", error.reason);
        reader.problem(node.place, what, Some("paths look like user.id, rooms[0].id".to_owned()));
        return None;
    }
    let shown = reader.text(own, "description").unwrap_or_else(|| format!("a value of {expression}"));
    Some(Demand::Found { shown, from: Source::Search(Arc::new(Jmespath { expression })) })
}

impl Search for Jmespath {
    fn find(&self, text: &str, _: &mut dyn FnMut(usize) -> usize) -> Option<Value> {
        let body = ::jmespath::Variable::from_json(text).ok()?;
        let found = ::jmespath::compile(&self.expression).ok()?.search(body).ok()?;
        serde_json::to_value(&*found).ok()
    }
}
