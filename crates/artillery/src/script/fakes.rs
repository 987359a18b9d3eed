//! `fake-data`: made-up names, addresses and words for templates, and what a script wants of them.
//!
//! Artillery's plugin offers all that Faker has; here are the kinds that requests are made of ([`Fake`]), under the
//! same names.

use crate::plan::template::Fake;

use crate::script::problem::nearest;

/// The kinds of made-up data that templates may name: all, these with ranges of their own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fakes(pub(super) Vec<(String, Fake)>);

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

/// The replacement for a name that does not exist here.
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
