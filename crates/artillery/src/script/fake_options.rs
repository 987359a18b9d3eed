//! A script's wishes for made-up data: `plugins.fake-data`, or the older `fake-data` of `config`.

use crate::plan::template::Fake;
use crate::script::fakes::{Fakes, instead_of};
use crate::script::reader::{Fields, Reader};
use crate::script::yaml::{Entry, Kind, Node};

/// Reads `plugins.fake-data`, or the older `fake-data` of `config`. None when a script has neither.
pub(crate) fn fakes(reader: &mut Reader, config: &Fields<'_>) -> Option<Fakes> {
    let plugins = config.get("plugins").map(Node::entries).unwrap_or_default();
    let plugin = plugins.iter().find(|entry| entry.key == "fake-data");
    let node = &config.entry("fake-data").or(plugin)?.value;
    let mut fakes = Fakes::default();
    if !matches!(node.kind, Kind::Map(_) | Kind::Null) {
        let what = format!("fake-data wants a mapping; got {}", node.describe());
        reader.problem(node.place, what, Some("e.g. `fake-data: {}`".to_owned()));
    }
    for entry in node.entries() {
        fakes.0.extend(with_options(reader, entry));
    }
    Some(fakes)
}

/// A kind of data with the script's options for it.
fn with_options(reader: &mut Reader, entry: &Entry) -> Option<(String, Fake)> {
    let name = entry.key.as_str();
    let Some(fake) = Fakes::default().named(name) else {
        reader.problem(entry.place, format!("fake-data has no {name}"), Some(instead_of(name)));
        return None;
    };
    let number = |node: &Node| match &node.kind {
        Kind::Number(number) => number.as_i64(),
        _ => None,
    };
    let range = |node: &Node| (node.get("min").and_then(number), node.get("max").and_then(number));
    let (least, most) = match (&entry.value.kind, entry.value.get("length")) {
        (Kind::Number(_), _) => (number(&entry.value), number(&entry.value)),
        (_, Some(length)) if number(length).is_some() => (number(length), number(length)),
        (_, Some(length)) => range(length),
        _ => range(&entry.value),
    };
    for other in
        entry.value.entries().iter().filter(|other| !["min", "max", "length"].contains(&other.key.as_str()))
    {
        reader.notice(
            other.place,
            format!("fake-data: {} of {name} has no effect; min, max and length have", other.key),
        );
    }
    if least.is_none() && most.is_none() {
        return Some((name.to_owned(), fake));
    }
    let within = fake.within(least, most);
    if within.is_none() {
        let what = match fake.within(None, None) {
            None => format!("{name} has no length and no range to set"),
            Some(_) => format!("{name}: min is no more than max, and both are whole numbers"),
        };
        reader.problem(entry.value.place, what, None);
    }
    Some((name.to_owned(), within?))
}
