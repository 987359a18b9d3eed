//! Secrets never reach the run folder.

use serde_json::Value;

use crate::secrets::{MASK, is_secret};

/// Masks every value whose field name is that of a secret ([`is_secret`]), at any depth,
/// in `{"name": …, "value": …}` pairs too, and the user information and secret query parameters of URLs. Templates
/// (`{{ token }}`) stay: they name a secret, they do not hold one.
pub fn redact(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            let named = fields.get("name").and_then(Value::as_str).is_some_and(is_secret);
            for (name, value) in fields.iter_mut() {
                if is_secret(name) || (named && name == "value") {
                    mask(value);
                } else {
                    redact(value);
                }
            }
        }
        Value::Array(items) => {
            // Headers as pairs: ["Authorization", "Bearer …"].
            if let [Value::String(name), secret @ Value::String(_)] = items.as_mut_slice()
                && is_secret(name)
            {
                mask(secret);
            }
            items.iter_mut().for_each(redact);
        }
        Value::String(text) => redact_text(text),
        _ => {}
    }
}

fn mask(value: &mut Value) {
    match value {
        Value::String(text) if is_template(text) => {}
        Value::String(text) => *text = MASK.to_owned(),
        Value::Number(_) => *value = Value::String(MASK.to_owned()),
        Value::Array(items) => items.iter_mut().for_each(mask),
        Value::Object(fields) => fields.values_mut().for_each(mask),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Whether nothing but a template (and a scheme word such as `Bearer`) stands there.
fn is_template(text: &str) -> bool {
    let text = text.trim();
    let text = text
        .split_once(' ')
        .filter(|(word, _)| matches!(*word, "Bearer" | "Basic" | "Token"))
        .map_or(text, |(_, rest)| rest.trim());
    text.starts_with("{{") && text.ends_with("}}") && text.matches("{{").count() == 1
}

fn redact_text(text: &mut String) {
    if let Some((scheme, rest)) = text.split_once("://") {
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if let Some((user, _)) = authority.rsplit_once('@') {
            *text = format!("{scheme}://{MASK}{}", &rest[user.len()..]);
        }
    }
    if let Some((path, query)) = text.split_once('?').filter(|(path, _)| !path.contains(' ')) {
        let secret = |pair: &str| {
            pair.split_once('=').is_some_and(|(name, value)| is_secret(name) && !is_template(value))
        };
        if query.split('&').any(secret) {
            let pairs = query.split('&').map(|pair| match pair.split_once('=') {
                Some((name, _)) if secret(pair) => format!("{name}={MASK}"),
                _ => pair.to_owned(),
            });
            *text = format!("{path}?{}", pairs.collect::<Vec<_>>().join("&"));
        }
    }
}
