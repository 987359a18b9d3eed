//! `config.plugins`: what those of Artillery's own make of the figures, and what is said of the others.
//!
//! `ensure` is read by its own file. `metrics-by-endpoint` is always on, as in Artillery, which only prints what it
//! counts when a script asks for it.

use crate::plan::{Endpoint, Naming, Told};
use sonagi_measure::metrics::METRICS_MAX;
use sonagi_measure::outcome::{CountedAs, OperationKind};
use sonagi_measure::plugins::Plugins;

use crate::names::METRICS_BY_ENDPOINT;
use crate::script::endpoints::Endpoints;
use crate::script::problem::nearest;
use crate::script::reader::{Fields, Reader, plain_text};
use crate::script::schema;
use crate::script::yaml::{Kind, Node};

/// An answer within this satisfies when the script says nothing else.
const APDEX_MS: f64 = 500.0;

/// Reads `config.plugins` and `config.apdex`; what a request's endpoint is called follows from it.
pub(crate) fn plugins<'n>(reader: &mut Reader, config: &Fields<'n>) -> (Option<Fields<'n>>, Plugins) {
    let fields = config.get("plugins").and_then(|node| section(reader, config, node));
    let asked = Plugins {
        apdex_ms: apdex(reader, config, fields.as_ref()),
        hidden: hidden(fields.as_ref()),
        ..Plugins::default()
    };
    reader.endpoints = endpoints(reader, fields.as_ref());
    (fields, asked)
}

fn section<'n>(reader: &mut Reader, config: &Fields<'n>, node: &'n Node) -> Option<Fields<'n>> {
    let Kind::Map(entries) = &node.kind else {
        reader.wrong(config, "plugins", node);
        return None;
    };
    others(reader, node);
    let known = entries.iter().filter(|entry| schema::PLUGINS.key(&entry.key).is_some());
    let known = Node { place: node.place, kind: Kind::Map(known.cloned().collect()) };
    reader.fields(&known, &schema::PLUGINS);
    Some(Fields::checked(node, &schema::PLUGINS))
}

/// Plugins nobody here knows: Artillery goes on without those it does not find, too.
fn others(reader: &mut Reader, node: &Node) {
    for entry in node.entries().iter().filter(|entry| schema::PLUGINS.key(&entry.key).is_none()) {
        let name = &entry.key;
        match nearest(name, schema::PLUGINS.keys.iter().map(|key| key.name)) {
            Some(meant) => {
                let what = format!("unknown key \"{name}\" in config.plugins");
                reader.problem(entry.place, what, Some(format!("did you mean \"{meant}\"?")));
            }
            None => {
                let text =
                    format!("the plugin {name}: no effect; plugins other than Artillery's own are not run");
                reader.notice(entry.place, text);
            }
        }
    }
}

fn apdex(reader: &mut Reader, config: &Fields<'_>, plugins: Option<&Fields<'_>>) -> Option<f64> {
    let is_asked = config.entry("apdex").is_some() || plugins.is_some_and(|all| all.entry("apdex").is_some());
    let mut threshold = |fields: &Fields<'_>| {
        let section = reader.section(fields, "apdex", &schema::APDEX)?;
        let threshold = reader.number(&section, "threshold")?;
        if threshold == 0.0 {
            let what = "threshold must be longer than 0 ms: no answer would satisfy";
            reader.problem(section.place_of("threshold"), what, None);
        }
        Some(threshold)
    };
    let of_plugin = plugins.and_then(&mut threshold);
    let of_config = threshold(config);
    if config.entry("apdex").is_some() && plugins.is_none_or(|all| all.entry("apdex").is_none()) {
        let text = "apdex is counted; Artillery does so only with `plugins: {apdex: {}}` in config";
        reader.notice(config.place_of("apdex"), text);
    }
    is_asked.then(|| of_config.or(of_plugin).unwrap_or(APDEX_MS))
}

/// The plugins whose metrics the console leaves out.
fn hidden(plugins: Option<&Fields<'_>>) -> Vec<String> {
    let mut hidden = Vec::new();
    let Some(plugins) = plugins else {
        return vec![format!("plugins.{METRICS_BY_ENDPOINT}")];
    };
    for key in schema::PLUGINS.keys {
        let suppressed = plugins.get(key.name).and_then(|plugin| plugin.get("suppressOutput")).cloned();
        let by_default = key.name == METRICS_BY_ENDPOINT && plugins.get(key.name).is_none();
        if by_default || suppressed.is_some_and(|node| plain_text(&node).as_deref() == Some("true")) {
            hidden.push(format!("plugins.{}", key.name));
        }
    }
    hidden
}

fn endpoints(reader: &mut Reader, plugins: Option<&Fields<'_>>) -> Endpoints {
    let section = plugins
        .filter(|all| all.get(METRICS_BY_ENDPOINT).is_some())
        .map(|all| reader.section(all, METRICS_BY_ENDPOINT, &schema::METRICS_BY_ENDPOINT));
    let Some(fields) = section else {
        let naming = Naming { strips_query: true, ..Naming::default() };
        return Endpoints { naming, ..Endpoints::default() };
    };
    let Some(fields) = fields else { return Endpoints { is_asked: true, ..Endpoints::default() } };
    let mut is = |key: &str| reader.boolean(&fields, key);
    let naming = Naming {
        only_names: is("useOnlyRequestNames").unwrap_or(false),
        strips_query: is("stripQueryString").unwrap_or(false),
        ignores_unnamed: is("ignoreUnnamedRequests").unwrap_or(false),
    };
    let by_address = is("groupDynamicURLs") == Some(false);
    is("suppressOutput");
    if by_address {
        let text = format!(
            "groupDynamicURLs: false is a metric for each address that is asked for; of more than {METRICS_MAX} names \
             in all the later ones are left out"
        );
        reader.notice(fields.place_of("groupDynamicURLs"), text);
    }
    let prefix = reader.text(&fields, "metricsNamespace").unwrap_or_default();
    Endpoints { is_asked: true, naming, by_address, prefix, of: Vec::new() }
}

/// Notes the endpoint of a request that the script writes like this, and what is told by its name while the run goes
/// on. `name` is its name with what is known before the run filled in. The operation becomes another one where requests
/// of its name are different endpoints, as those are that differ in their query.
pub(crate) fn endpoint(
    reader: &mut Reader,
    operation: &mut CountedAs,
    own: &Fields<'_>,
    method: &str,
    name: Option<&str>,
) -> Option<Box<Told>> {
    let text = |key: &str| own.get(key).and_then(plain_text);
    let (prefix, naming) = (reader.endpoints.prefix(), reader.endpoints.naming);
    let endpoint = if reader.endpoints.by_address {
        let name = name.filter(|name| own.get("name").is_some() && !name.is_empty()).map(str::to_owned);
        if name.is_none() && naming.ignores_unnamed {
            return None;
        }
        Endpoint::Asked { naming, name }
    } else {
        let url = text("url").or_else(|| text("uri")).unwrap_or_default();
        let target = reader.constants.target.clone().unwrap_or_default();
        let called = naming.called(&target, &url, text("name").as_deref());
        if let Some(called) =
            called.as_deref().filter(|called| reader.endpoints.is_other(operation.id, called))
        {
            *operation = reader.operation(own.place, &format!("{method} {called}"), OperationKind::Http)?;
        }
        reader.endpoints.note(operation.id, called.clone());
        Endpoint::Written(called.filter(|_| reader.endpoints.is_asked)?)
    };
    Some(Box::new(Told { prefix, endpoint }))
}
