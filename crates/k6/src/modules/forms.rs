//! Forms as k6 sends them, and values as Go prints them into forms.

use rquickjs::{Coerced, Function, Object, Value};
use std::fmt::Write;

/// An object's members as a form sends them.
pub(crate) fn form_encoded(members: Object<'_>) -> rquickjs::Result<String> {
    let mut members = members.props::<String, Value<'_>>().collect::<rquickjs::Result<Vec<_>>>()?;
    members.sort_by(|(one, _), (other, _)| one.cmp(other));
    form_text(&members)
}

/// `a=1&b=2`
pub(crate) fn form_text(members: &[(String, Value<'_>)]) -> rquickjs::Result<String> {
    let mut text = String::new();
    for (name, value) in members {
        for value in values(value)? {
            if !text.is_empty() {
                text.push('&');
            }
            push_form(name, &mut text);
            text.push('=');
            push_form(&value, &mut text);
        }
    }
    Ok(text)
}

/// A list stands for its name as often as it has values.
fn values(value: &Value<'_>) -> rquickjs::Result<Vec<String>> {
    match value.as_array() {
        Some(list) => list.iter::<Value<'_>>().map(|value| told(&value?, 0)).collect(),
        None => Ok(vec![told(value, 0)?]),
    }
}

/// How deep a value is told: one within itself has no end.
const DEPTH: usize = 16;

/// A value as Go prints it, which is what k6 puts into forms: `map[x:1]`, `[1 2]`, `<nil>`.
pub(crate) fn told(value: &Value<'_>, depth: usize) -> rquickjs::Result<String> {
    if value.is_undefined() || value.is_null() || depth > DEPTH {
        return Ok("<nil>".to_owned());
    }
    if let Some(list) = value.as_array() {
        let values: rquickjs::Result<Vec<String>> =
            list.iter::<Value<'_>>().map(|value| told(&value?, depth + 1)).collect();
        return Ok(format!("[{}]", values?.join(" ")));
    }
    if let Some(time) = time(value)? {
        return Ok(time);
    }
    match value.as_object().filter(|_| !value.is_function()) {
        None => Ok(value.get::<Coerced<String>>()?.0),
        Some(object) => {
            let mut members = object.props::<String, Value<'_>>().collect::<rquickjs::Result<Vec<_>>>()?;
            members.sort_by(|(one, _), (other, _)| one.cmp(other));
            let members: rquickjs::Result<Vec<String>> = members
                .iter()
                .map(|(name, value)| Ok(format!("{name}:{}", told(value, depth + 1)?)))
                .collect();
            Ok(format!("map[{}]", members?.join(" ")))
        }
    }
}

/// A date as Go prints it: `1970-01-01 00:00:00.005 +0000 UTC`.
fn time(value: &Value<'_>) -> rquickjs::Result<Option<String>> {
    let date: Object<'_> = value.ctx().globals().get("Date")?;
    let Some(object) = value.as_object().filter(|object| object.is_instance_of(&date)) else {
        return Ok(None);
    };
    let written: Option<String> =
        object.get::<_, Function<'_>>("toJSON")?.call((rquickjs::function::This(object.clone()),))?;
    let written = written.unwrap_or_default().replace('T', " ");
    let written = written.trim_end_matches('Z').trim_end_matches('0').trim_end_matches('.');
    // Zeros may have been those of the second.
    Ok(Some(format!("{written:0<19} +0000 UTC")))
}

/// Appends a text as HTML's forms write it: letters, digits and `*-._` stay, a blank is a plus.
fn push_form(text: &str, out: &mut String) {
    for byte in text.bytes() {
        match byte {
            b' ' => out.push('+'),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            byte => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
}

/// `%41` is `A`; what is no such triple stays.
pub(crate) fn percent_decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let Some((&first, tail)) = rest.split_first() {
        let byte = tail
            .get(..2)
            .filter(|_| first == b'%')
            .and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        rest = if byte.is_some() { &tail[2..] } else { tail };
        bytes.push(byte.unwrap_or(first));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_written_as_html_writes_them() {
        let mut text = String::new();
        push_form("1 &ä~*", &mut text);
        assert_eq!(text, "1+%26%C3%A4~%2A");
    }

    #[test]
    fn percent_signs_that_mean_nothing_stay() {
        assert_eq!(percent_decoded("a%40b%zz%4"), "a@b%zz%4");
    }
}
