//! `fake-data`: made-up names, addresses and words for templates, and what a script wants of them.
//!
//! Artillery's plugin offers all that Faker has; here are the kinds that requests are made of ([`Fake`]), under the same names.

use crate::plan::template::Fake;

use crate::script::problem::nearest;
use crate::script::reader::{Fields, Reader};
use crate::script::yaml::{Entry, Kind, Node};

/// The kinds of made-up data that templates may name: all, these with ranges of their own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fakes(Vec<(String, Fake)>);

/// The plugin's older names, and what they mean.
const ALIASES: &[(&str, &str)] = &[
    ("randBoolean", "datatypeBoolean"),
    ("randCity", "locationCity"),
    ("randColor", "colorHuman"),
    ("randCompanyName", "companyName"),
    ("randCountry", "locationCountry"),
    ("randEmail", "internetEmail"),
    ("randFirstName", "personFirstName"),
    ("randFullName", "personFullName"),
    ("randIp", "internetIpv4"),
    ("randJobTitle", "personJobTitle"),
    ("randLastName", "personLastName"),
    ("randNumber", "numberInt"),
    ("randParagraph", "loremParagraph"),
    ("randPassword", "internetPassword"),
    ("randPhoneNumber", "phoneNumber"),
    ("randProductName", "commerceProductName"),
    ("randSentence", "loremSentence"),
    ("randStreetAddress", "locationStreetAddress"),
    ("randText", "loremText"),
    ("randUrl", "internetUrl"),
    ("randUserName", "internetUsername"),
    ("randUuid", "stringUuid"),
    ("randWord", "loremWord"),
    ("randZipCode", "locationZipCode"),
];

impl Fakes {
    /// The kind a template names, without its `$`.
    pub(crate) fn named(&self, name: &str) -> Option<Fake> {
        let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, name)| *name);
        let own = self.0.iter().find(|(known, _)| known == name).map(|(_, fake)| *fake);
        own.or_else(|| Fake::named(name))
    }
}

/// Whether the plugin has a function of that name, whether or not a script uses it.
pub(crate) fn is_known(name: &str) -> bool {
    Fakes::default().named(name).is_some()
}

/// What there is instead of a name there is not.
pub(crate) fn instead_of(name: &str) -> String {
    let aliases = ALIASES.iter().map(|(alias, _)| *alias);
    if let Some(meant) = nearest(name, Fake::names().chain(aliases)) {
        return format!("did you mean {{{{ ${meant}() }}}}?");
    }
    let module = |name: &str| name.find(|c: char| c.is_ascii_uppercase()).unwrap_or(name.len());
    let of_module: Vec<String> = Fake::names()
        .filter(|known| known[..module(known)] == name[..module(name)])
        .map(|known| format!("${known}"))
        .collect();
    match of_module.is_empty() {
        false => format!("fake-data here has {}", of_module.join(", ")),
        true => format!(
            "fake-data here has {}",
            Fake::names().map(|known| format!("${known}")).collect::<Vec<_>>().join(", ")
        ),
    }
}

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

/// One kind with what the script wants of it.
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
