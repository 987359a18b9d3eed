//! A request that functions have changed, as a step: what they left as it was is as the script has it, with what its
//! front end made of it; what they changed or took away is read anew.

use crate::plan::{Body, FormPart, HttpStep, JsonTemplate, PartContent, Template};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::{Map, Value};
use std::time::Duration;

use crate::script::options::lay_over;
use crate::script::template::{self, Constants};

/// A request's parameters before and after functions had them.
struct Change<'p> {
    constants: &'p Constants,
    before: Option<&'p Map<String, Value>>,
    after: &'p Map<String, Value>,
}

/// The step that the parameters describe.
pub(super) fn step(
    constants: &Constants,
    step: &HttpStep,
    params: &Map<String, Value>,
) -> Result<HttpStep, String> {
    let before = step.hooks.as_ref().and_then(|hooks| hooks.request.as_object());
    let change = Change { constants, before, after: params };
    let mut step = step.clone();
    if let Some(url) = change.changed("uri").or_else(|| change.changed("url")) {
        step.url = change.text(url)?;
    }
    if let Some(method) = change.changed("method").and_then(Value::as_str) {
        step.method = method.to_uppercase();
    }
    if change.is_in("headers") {
        change.lay_pairs("headers", &mut step.headers, true)?;
    }
    if change.is_in("qs") {
        step.query = change.is("qs").map_or(Ok(Vec::new()), |query| change.pairs(query))?;
    }
    if let Some(gzip) = change.changed("gzip").and_then(Value::as_bool) {
        step.compressed = gzip;
    }
    if change.is_in("cookie") {
        change.lay_pairs("cookie", &mut step.cookies, false)?;
    }
    if let Some(seconds) = change.changed("timeout").and_then(Value::as_f64).filter(|seconds| *seconds > 0.0)
    {
        step.timeout = Duration::try_from_secs_f64(seconds).unwrap_or(step.timeout);
    }
    if let Some(follows) = change.changed("followRedirect").and_then(Value::as_bool) {
        step.follow_redirects = follows;
    }
    if change.is_in("auth") {
        step.basic_auth = match change.is("auth") {
            None => None,
            Some(Value::Object(auth)) => {
                let part = |key: &str| change.text(auth.get(key).unwrap_or(&Value::Null));
                Some((part("user")?, part("pass")?))
            }
            Some(other) => return Err(format!("auth: an object with user and pass is wanted, got {other}")),
        };
    }
    if ["json", "body", "form", "formData"].into_iter().any(|key| change.is_in(key)) {
        step.body = change.body(&step.body)?;
        change.name_type(&mut step.headers);
    }
    Ok(step)
}

impl<'p> Change<'p> {
    /// A parameter's value as it is; null is none.
    fn is(&self, key: &str) -> Option<&'p Value> {
        self.after.get(key).filter(|value| !value.is_null())
    }

    fn was(&self, key: &str) -> Option<&'p Value> {
        self.before.and_then(|before| before.get(key))
    }

    /// Whether a parameter was set, changed or taken away.
    fn is_in(&self, key: &str) -> bool {
        self.after.get(key) != self.was(key)
    }

    /// A parameter's value, if that was set or changed.
    fn changed(&self, key: &str) -> Option<&'p Value> {
        self.after.get(key).filter(|_| self.is_in(key))
    }

    fn text(&self, value: &Value) -> Result<Template, String> {
        compile(self.constants, &plain(value))
    }

    fn pairs(&self, value: &Value) -> Result<Vec<(String, Template)>, String> {
        let entries = value.as_object().into_iter().flatten();
        entries.map(|(name, value)| Ok((name.clone(), self.text(value)?))).collect()
    }

    /// Lays what a parameter now names over what the step has; what it no longer names goes, and defaults stay.
    fn lay_pairs(
        &self,
        key: &str,
        pairs: &mut Vec<(String, Template)>,
        any_case: bool,
    ) -> Result<(), String> {
        let names = |value: Option<&'p Value>, name: &str| {
            value.and_then(Value::as_object).into_iter().flat_map(Map::keys).any(|own| match any_case {
                true => own.eq_ignore_ascii_case(name),
                false => own == name,
            })
        };
        pairs.retain(|(name, _)| !names(self.was(key), name) || names(self.is(key), name));
        lay_over(pairs, self.is(key).map_or(Ok(Vec::new()), |value| self.pairs(value))?, any_case);
        Ok(())
    }

    /// The body that is sent: JSON before text before a form, each from a function before the script's own.
    fn body(&self, before: &Body) -> Result<Body, String> {
        if let Some(json) = self.is("json") {
            if !self.is_in("json") {
                return Ok(before.clone());
            }
            let mut parse = |text: &str| compile(self.constants, text);
            return JsonTemplate::compile(json, &mut parse).map(Body::Json);
        }
        if let Some(body) = self.is("body") {
            if let Some(encoded) = body.get("base64").and_then(Value::as_str) {
                let bytes = BASE64_STANDARD.decode(encoded).map_err(|error| format!("body: {error}"))?;
                return Ok(Body::Bytes(bytes.into()));
            }
            return match body {
                Value::Object(_) | Value::Array(_) => {
                    Err(format!("body: a text or bytes are wanted, got {body}; an object is sent as `json`"))
                }
                body => self.text(body).map(Body::Text),
            };
        }
        match (self.is("formData"), self.is("form")) {
            (Some(Value::Object(parts)), _) => {
                let parts = parts.iter().map(|(name, value)| self.part(name, value, before));
                Ok(Body::Multipart(parts.collect::<Result<Vec<_>, _>>()?.into()))
            }
            (Some(other), _) => Err(format!("formData: an object is wanted, got {other}")),
            (None, Some(form)) => self.pairs(form).map(Body::Form),
            (None, None) => Ok(Body::Empty),
        }
    }

    /// The type of a body of bytes, where who made them knows it and the request does not say.
    fn name_type(&self, headers: &mut Vec<(String, Template)>) {
        let content_type = self.is("body").and_then(|body| body.get("type")?.as_str());
        let is_named = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        if let Some(content_type) = content_type.filter(|_| !is_named) {
            headers.push(("content-type".to_owned(), Template::constant(content_type)));
        }
    }

    /// A part of a form with files. Of files those that the script names are there: they were read before the run.
    fn part(&self, name: &str, value: &Value, before: &Body) -> Result<FormPart, String> {
        let known: &[FormPart] = if let Body::Multipart(parts) = before { parts } else { &[] };
        let content_type = value.get("contentType").and_then(Value::as_str).map(str::to_owned);
        let content = match value.get("fromFile").and_then(Value::as_str) {
            Some(file) => {
                let part =
                    self.named_with(file).and_then(|name| known.iter().find(|part| part.name == *name));
                let part = part.ok_or_else(|| {
                    format!("formData: {name}: the file {file} is none of the script's, which are read before the run")
                })?;
                let content_type = content_type.or_else(|| part.content_type.clone());
                return Ok(FormPart { name: name.to_owned(), content: part.content.clone(), content_type });
            }
            None => PartContent::Text(self.text(value.get("value").unwrap_or(value))?),
        };
        Ok(FormPart { name: name.to_owned(), content, content_type })
    }

    /// The part that the script fills from a file.
    fn named_with(&self, file: &str) -> Option<&'p String> {
        let parts = self.was("formData")?.as_object()?;
        let from_file = |value: &Value| value.get("fromFile").and_then(Value::as_str) == Some(file);
        parts.iter().find(|(_, value)| from_file(value)).map(|(name, _)| name)
    }
}

/// A value as text: what JavaScript would join into a string.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn compile(constants: &Constants, text: &str) -> Result<Template, String> {
    template::parse(text, constants, &mut |_, _| {}).map_err(|faults| {
        let first = faults.into_iter().next().map(|fault| fault.what).unwrap_or_default();
        format!("{text:?}: {first}")
    })
}

#[cfg(test)]
mod tests;
