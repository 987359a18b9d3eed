//! `config.plugins`: what those of Artillery's own make of the figures, and what is said of the others.
//!
//! `ensure` is read by its own file. `metrics-by-endpoint` is always on, as in Artillery, which only prints what it counts
//! when a script asks for it.

use sonagi_measure::outcome::OperationId;
use sonagi_measure::plugins::Plugins;

use crate::problem::nearest;
use crate::reader::{Fields, Reader, plain_text};
use crate::schema;
use crate::yaml::{Kind, Node};

/// An answer within this satisfies when the script says nothing else.
const APDEX_MS: f64 = 500.0;
const METRICS_BY_ENDPOINT: &str = "metrics-by-endpoint";

/// How requests are told by endpoint, and what was found so far.
#[derive(Default)]
pub(crate) struct Endpoints {
    only_names: bool,
    strips_query: bool,
    ignores_unnamed: bool,
    prefix: String,
    of: Vec<Option<String>>,
}

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
    is_asked.then(|| of_config.or(of_plugin).unwrap_or(APDEX_MS))
}

/// Whose metrics the console leaves out.
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
        return Endpoints { strips_query: true, ..Endpoints::default() };
    };
    let Some(fields) = fields else { return Endpoints::default() };
    let mut is = |key: &str| reader.boolean(&fields, key);
    let (only_names, strips_query) = (is("useOnlyRequestNames"), is("stripQueryString"));
    let (ignores_unnamed, groups) = (is("ignoreUnnamedRequests"), is("groupDynamicURLs"));
    is("suppressOutput");
    if groups == Some(false) {
        let text = "groupDynamicURLs: false has no effect; an endpoint is the path as the script has it, so that their number is limited";
        reader.notice(fields.place_of("groupDynamicURLs"), text);
    }
    Endpoints {
        only_names: only_names.unwrap_or(false),
        strips_query: strips_query.unwrap_or(false),
        ignores_unnamed: ignores_unnamed.unwrap_or(false),
        prefix: reader.text(&fields, "metricsNamespace").unwrap_or_default(),
        of: Vec::new(),
    }
}

impl Endpoints {
    /// Prefix and names, for the plan.
    pub(crate) fn into_plan(self, plugins: Plugins) -> Plugins {
        Plugins { endpoint_prefix: self.prefix, endpoints: self.of, ..plugins }
    }

    /// Every name that metrics of endpoints begin with.
    pub(crate) fn stems(&self) -> Vec<String> {
        let prefix = if self.prefix.is_empty() { "plugins.metrics-by-endpoint" } else { &self.prefix };
        let names = self.of.iter().flatten();
        names
            .flat_map(|name| [format!("{prefix}.response_time.{name}"), format!("{prefix}.{name}")])
            .collect()
    }

    /// A request's endpoint; the first counts for requests that are one operation.
    pub(crate) fn note(&mut self, operation: OperationId, target: &str, url: &str, name: Option<&str>) {
        let id = usize::from(operation.0);
        if self.of.len() <= id {
            self.of.resize(id + 1, None);
        }
        if self.of[id].is_none() {
            self.of[id] = self.called(target, url, name);
        }
    }

    fn called(&self, target: &str, url: &str, name: Option<&str>) -> Option<String> {
        match name.filter(|name| !name.is_empty()) {
            Some(name) if self.only_names => Some(name.to_owned()),
            Some(name) => Some(format!("{} ({name})", self.path(target, url))),
            None if self.ignores_unnamed => None,
            None => Some(self.path(target, url)),
        }
    }

    /// The path, behind the host or port where they are not the target's.
    fn path(&self, target: &str, url: &str) -> String {
        let (host, port) = authority(url);
        let (own_host, own_port) = authority(target);
        let mut path = String::new();
        if !host.is_empty() && host != own_host {
            path.push_str(host);
        }
        if !port.is_empty() && port != own_port {
            path.push_str(&format!(":{port}"));
        }
        let rest = behind_authority(url);
        let end = outside_holes(rest, if self.strips_query { &['?', '#'] } else { &['#'] });
        let rest = &rest[..end];
        let slash = if rest.is_empty() || rest.starts_with('?') { "/" } else { "" };
        path + slash + &decoded(rest).unwrap_or_else(|| rest.to_owned())
    }
}

/// Notes the endpoint of a request that the script writes like this.
pub(crate) fn endpoint(reader: &mut Reader, operation: OperationId, own: &Fields<'_>) {
    let text = |key: &str| own.get(key).and_then(plain_text);
    let url = text("url").or_else(|| text("uri")).unwrap_or_default();
    let target = reader.constants.target.clone().unwrap_or_default();
    reader.endpoints.note(operation, &target, &url, text("name").as_deref());
}

/// Host and port of an address; empty where it has none.
fn authority(url: &str) -> (&str, &str) {
    let Some((_, rest)) = url.split_once("://") else { return ("", "") };
    let end = outside_holes(rest, &['/', '?', '#']);
    let host = rest[..end].rsplit_once('@').map_or(&rest[..end], |(_, host)| host);
    let port = host.rsplit_once(':').filter(|(_, port)| port.chars().all(|c| c.is_ascii_digit()));
    port.unwrap_or((host, ""))
}

fn behind_authority(url: &str) -> &str {
    let Some((_, rest)) = url.split_once("://") else { return url };
    &rest[outside_holes(rest, &['/', '?', '#'])..]
}

/// What `%41` and the like stand for; None when it is no text.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((plain, after)) = rest.split_once('%') {
        bytes.extend_from_slice(plain.as_bytes());
        bytes.push(u8::from_str_radix(after.get(..2)?, 16).ok()?);
        rest = &after[2..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).ok()
}

/// Where the first of these stands that is not inside `{{ }}`; the end, if none does.
fn outside_holes(text: &str, any: &[char]) -> usize {
    let mut depth = 0_i32;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            c if depth <= 0 && any.contains(&c) => return at,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_the_path_as_written_behind_what_is_not_the_targets() {
        let check = |endpoints: &Endpoints, url: &str, name: Option<&str>, expected: Option<&str>| {
            let mut endpoints = Endpoints { of: Vec::new(), prefix: String::new(), ..*endpoints };
            endpoints.note(OperationId(1), "http://t:80", url, name);
            assert_eq!(endpoints.of, [None, expected.map(str::to_owned)], "{url} {name:?}");
        };
        let plain = Endpoints::default();
        check(&plain, "/x/{{ a?b }}?q=1#f", None, Some("/x/{{ a?b }}?q=1"));
        check(&plain, "/x", Some("find"), Some("/x (find)"));
        check(&plain, "http://t:80/x", None, Some("/x"));
        check(&plain, "http://t:1/no", None, Some(":1/no"));
        check(&plain, "https://me@other:443?q", None, Some("other:443/?q"));
        check(&plain, "http://t", None, Some("/"));
        check(&plain, "/caf%C3%A9%20x", None, Some("/café x"));
        check(&plain, "/100%", None, Some("/100%"));
        check(&Endpoints { strips_query: true, ..Endpoints::default() }, "/x?q=1", None, Some("/x"));
        check(&Endpoints { only_names: true, ..Endpoints::default() }, "/x", Some("find"), Some("find"));
        check(&Endpoints { ignores_unnamed: true, ..Endpoints::default() }, "/x", None, None);
    }
}
