//! HTTP steps.

use crate::plan::template::{Key, Piece};
use crate::plan::{Expression, HttpStep, Step, Template};
use sonagi_measure::outcome::OperationKind;

use crate::script::awaited::{captures, matches};
use crate::script::condition::guarded;
use crate::script::context::Flow;
use crate::script::expectations::expectations;
use crate::script::forms::{Lists, body, pairs};
use crate::script::functions;
use crate::script::options::{lay_over, time_limit};
use crate::script::plugins;
use crate::script::reader::{Fields, Reader, plain_text};
use crate::script::schema;
use crate::script::sources::AnswerKind;

/// A request of any method.
pub(crate) fn request(
    reader: &mut Reader,
    flow: &mut Flow<'_>,
    fields: &Fields<'_>,
    verb: &'static str,
) -> Option<Vec<Step>> {
    let node = fields.get(verb)?;
    if let Some(text) = node.as_text() {
        let what = format!("{verb} wants a mapping with a url; got {}", node.describe());
        reader.problem(node.place, what, Some(format!("write `{verb}: {{url: {text:?}}}`")));
        return None;
    }
    let own = reader.section(fields, verb, &schema::REQUEST)?;
    let method = verb.to_uppercase();
    let url = url(reader, &own);
    let given = flow.operation_name(reader, &own);
    let name = given.clone().unwrap_or_else(|| format!("{method} {}", path_as_written(&own)));
    let is_message = flow.behalf.as_ref().is_some_and(|behalf| behalf.is_publish);
    let mut cookies = set_by_now(reader, &flow.settings.cookies, &own, true);
    let own_cookies = reader.cookies(&own, "cookie");
    lay_over(&mut cookies, own_cookies, false);
    let mut headers = set_by_now(reader, &flow.settings.http.headers, &own, false);
    let own_headers = reader.headers(&own, "headers");
    lay_over(&mut headers, own_headers, true);
    let query = pairs(reader, &own, "qs", Lists::Repeat);
    note_both_queries(reader, &own);
    reader.names.in_message = is_message;
    let body = body(reader, &own);
    reader.names.in_message = false;
    let basic_auth = auth(reader, &own);
    let follow_redirects = reader.boolean(&own, "followRedirect").unwrap_or(true);
    let timeout = time_limit(reader, &own).unwrap_or(flow.settings.http.timeout);
    let captures = captures(reader, &own, AnswerKind::Response, flow.settings.strict_capture);
    let matches = matches(reader, &own, AnswerKind::Response);
    let expect = expectations(reader, flow, &own);
    let compressed = reader.boolean(&own, "gzip").unwrap_or(true);
    let hooks = functions::hooks(reader, flow, &own, &method);
    // Until the step is read.
    reader.lay_tags(&own);
    let mut operation = reader.operation(own.place, &name, OperationKind::Http)?;
    let told = plugins::endpoint(reader, &mut operation, &own, &method, given.as_deref());
    let step = HttpStep {
        operation,
        method,
        url: url?,
        headers,
        query,
        cookies,
        body,
        basic_auth,
        follow_redirects,
        timeout,
        captures,
        matches,
        expect,
        compressed,
        is_message,
        told,
        hooks,
        prepared: Default::default(),
    };
    Some(guarded(reader, &own, vec![Step::Http(Box::new(step))]))
}

/// The defaults that a request at this place of the flow has values for. Scripts put `Bearer {{ token }}` among the
/// default headers and log in with the first request: that one goes without. Headers that every user can fill from its
/// start are left to the engine unless `all`.
fn set_by_now(
    reader: &mut Reader,
    defaults: &[(String, Template)],
    own: &Fields<'_>,
    all: bool,
) -> Vec<(String, Template)> {
    let mut set = Vec::new();
    for (name, template) in defaults {
        let variables = variables(template);
        if variables.iter().all(|variable| reader.names.is_global(variable)) {
            if all {
                set.push((name.clone(), template.clone()));
            }
        } else if variables.iter().all(|variable| reader.names.is_set(variable)) {
            set.push((name.clone(), template.clone()));
        } else {
            let text = format!(
                "the default {name} is left out until a step has set its variables; Artillery sends it without them"
            );
            reader.notice(own.place, text);
        }
    }
    set
}

/// The variables a text needs.
pub(crate) fn variables(template: &Template) -> Vec<&str> {
    fn of<'t>(hole: &'t Expression, all: &mut Vec<&'t str>) {
        match hole {
            Expression::Path { variable, keys } => {
                all.push(variable);
                keys.iter().for_each(|key| {
                    if let Key::Of(inner) = key {
                        of(inner, all);
                    }
                });
            }
            Expression::Call { arguments, .. } => arguments.iter().for_each(|argument| of(argument, all)),
            Expression::Text(template) => all.extend(variables(template)),
            Expression::Constant(_) => {}
        }
    }
    let mut all = Vec::new();
    for piece in &template.pieces {
        if let Piece::Hole(hole) = piece {
            of(hole, &mut all);
        }
    }
    all
}

fn url(reader: &mut Reader, own: &Fields<'_>) -> Option<Template> {
    match (own.get("url"), own.get("uri")) {
        (Some(_), Some(_)) => {
            let what = "url and uri are the same key; a request has one of them";
            reader.problem(own.place_of("uri"), what, None);
            reader.address_of(own, "uri");
            reader.address_of(own, "url")
        }
        (None, None) => {
            reader.missing(own, &["url", "uri"], "an HTTP request needs a url", "add `url: /`");
            None
        }
        (Some(_), None) => reader.address_of(own, "url"),
        (None, Some(_)) => reader.address_of(own, "uri"),
    }
}

/// The path as its author wrote it, templates included and the query left out: requests that differ in values only are
/// one operation.
fn path_as_written(own: &Fields<'_>) -> String {
    let node = own.get("url").or_else(|| own.get("uri"));
    let text = node.and_then(plain_text).unwrap_or_default();
    let text = without_target(&text);
    let mut depth = 0_i32;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            '?' if depth <= 0 => return text[..at].to_owned(),
            _ => {}
        }
    }
    text.to_owned()
}

/// Artillery's client sends the parameters in place of the address's own.
fn note_both_queries(reader: &mut Reader, own: &Fields<'_>) {
    let url = own.get("url").or_else(|| own.get("uri")).and_then(plain_text).unwrap_or_default();
    if own.get("qs").is_some() && url.contains('?') {
        let text = "qs is added to the parameters in the address; Artillery sends qs alone";
        reader.notice(own.place_of("qs"), text);
    }
}

/// `{{ target }}/login` is the same request as `/login`.
fn without_target(text: &str) -> &str {
    let inner = text.strip_prefix("{{").and_then(|rest| rest.split_once("}}"));
    match inner {
        Some((name, path)) if name.trim() == "target" && path.starts_with('/') => path,
        _ => text,
    }
}

fn auth(reader: &mut Reader, own: &Fields<'_>) -> Option<(Template, Template)> {
    let auth = reader.section(own, "auth", &schema::AUTH)?;
    let user = reader.template_of(&auth, "user");
    let pass = reader.template_of(&auth, "pass");
    for key in schema::AUTH.keys.iter().filter(|key| auth.get(key.name).is_none()) {
        reader.missing(&auth, &[key.name], &format!("auth needs {}", key.name), &key.as_written());
    }
    Some((user?, pass?))
}
