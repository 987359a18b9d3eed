//! Values as the console shows them.

use rquickjs::atom::PredefinedAtom;
use rquickjs::{ArrayBuffer, Coerced, Object, Type, Value};

use crate::runtime::described;

/// Deeper than this an object is not looked into.
const DEEPEST: usize = 32;

/// A value by itself: texts bare, objects with their members.
pub(super) fn shown(value: &Value<'_>) -> String {
    if value.is_string() { text(value) } else { within(value, &mut Vec::new()) }
}

fn text(value: &Value<'_>) -> String {
    value.get::<Coerced<String>>().map_or_else(|_| value.type_name().to_owned(), |text| text.0)
}

/// A value as a member of others; `around` are those it is in.
fn within<'js>(value: &Value<'js>, around: &mut Vec<Value<'js>>) -> String {
    match value.type_of() {
        Type::String => serde_json::Value::from(text(value)).to_string(),
        Type::Function | Type::Constructor => "[object Function]".to_owned(),
        Type::Exception => described(value).lines().next().unwrap_or_default().to_owned(),
        Type::Float if value.as_float() == Some(0.0) => "0".to_owned(),
        _ => match value.as_object() {
            None => text(value),
            Some(_) if around.contains(value) => "[Circular]".to_owned(),
            Some(_) if around.len() >= DEEPEST => "[object Object]".to_owned(),
            Some(object) => {
                around.push(value.clone());
                let shown = members(value, object, around);
                around.pop();
                shown
            }
        },
    }
}

/// An `ArrayBuffer` or a typed array.
fn binary<'js>(object: &Object<'js>, around: &mut Vec<Value<'js>>) -> Option<String> {
    let kind = object.get::<_, Value<'js>>(PredefinedAtom::SymbolToStringTag).ok()?;
    let kind = kind.as_string()?.to_string().ok()?;
    if kind == "ArrayBuffer" {
        let buffer = ArrayBuffer::from_object(object.clone())?;
        let bytes: Vec<String> = buffer.as_bytes()?.iter().map(|byte| format!("{byte:02x}")).collect();
        let (all, length) = (bytes.join(" "), bytes.len());
        return Some(format!("ArrayBuffer {{ [Uint8Contents]: <{all}>, byteLength: {length} }}"));
    }
    if !kind.ends_with("Array") {
        return None;
    }
    let elements: Vec<Value<'js>> = object.values::<Value<'js>>().flatten().collect();
    Some(format!("{kind}({}) {}", elements.len(), listed(elements.into_iter(), around)))
}

fn listed<'js>(elements: impl Iterator<Item = Value<'js>>, around: &mut Vec<Value<'js>>) -> String {
    let shown: Vec<String> = elements.map(|one| within(&one, around)).collect();
    if shown.is_empty() { "[]".to_owned() } else { format!("[ {} ]", shown.join(", ")) }
}

fn members<'js>(value: &Value<'js>, object: &Object<'js>, around: &mut Vec<Value<'js>>) -> String {
    // What says itself how it is written as JSON (a date, a response) is shown so.
    if let Ok(Some(to_json)) = object.get::<_, Option<rquickjs::Function<'js>>>("toJSON")
        && let Ok(told) = to_json.call::<_, Value<'js>>((rquickjs::function::This(value.clone()),))
        && told != *value
    {
        return within(&told, around);
    }
    if let Some(list) = value.as_array() {
        return listed(list.iter::<Value<'js>>().flatten(), around);
    }
    if let Some(shown) = binary(object, around) {
        return shown;
    }
    let member = |pair: rquickjs::Result<(String, Value<'js>)>| {
        let (name, value) = pair.ok()?;
        // Not there in JSON, null here: that the member is there is worth knowing.
        let shown = if value.is_undefined() { "null".to_owned() } else { within(&value, around) };
        Some(format!("{name}: {shown}"))
    };
    let shown: Vec<String> = object.props::<String, Value<'js>>().filter_map(member).collect();
    if shown.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", shown.join(", ")) }
}
