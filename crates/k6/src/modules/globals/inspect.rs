//! Values as the console shows them.

use rquickjs::atom::PredefinedAtom;
use rquickjs::{ArrayBuffer, Coerced, Object, Type, Value};

use crate::interpreter::{any_host_object, described};

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
        // The text stays as it is, even with quotes in it.
        Type::String => format!("\"{}\"", text(value)),
        Type::Symbol => {
            let symbol = value.as_symbol().and_then(|symbol| symbol.description().ok());
            let words = symbol.filter(Value::is_string).map(|words| text(&words)).unwrap_or_default();
            if around.is_empty() { words } else { format!("\"{words}\"") }
        }
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

/// A member that is undefined is null among others.
fn member<'js>(value: &Value<'js>, around: &mut Vec<Value<'js>>) -> String {
    if value.is_undefined() { "null".to_owned() } else { within(value, around) }
}

/// Dates that are one, and responses: what a script makes itself is shown as it is.
fn is_written(object: &Object<'_>) -> bool {
    if any_host_object(object).is_some_and(|what| what.is_shown_as_json()) {
        return true;
    }
    let class = object.ctx().globals().get::<_, Object<'_>>("Date");
    let is_date = class.is_ok_and(|class| object.is_instance_of(&class));
    let time = || {
        object.get::<_, rquickjs::Function<'_>>("getTime")?.call((rquickjs::function::This(object.clone()),))
    };
    is_date && time().is_ok_and(|ms: f64| !ms.is_nan())
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
    let shown: Vec<String> = elements.map(|one| member(&one, around)).collect();
    if shown.is_empty() { "[]".to_owned() } else { format!("[ {} ]", shown.join(", ")) }
}

fn members<'js>(value: &Value<'js>, object: &Object<'js>, around: &mut Vec<Value<'js>>) -> String {
    // An object with a `toJSON` of its own is shown as that writes it.
    if is_written(object)
        && let Ok(Some(to_json)) = object.get::<_, Option<rquickjs::Function<'js>>>("toJSON")
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
    let named = |pair: rquickjs::Result<(String, Value<'js>)>| {
        let (name, value) = pair.ok()?;
        Some(format!("{name}: {}", member(&value, around)))
    };
    let shown: Vec<String> = object.props::<String, Value<'js>>().filter_map(named).collect();
    if shown.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", shown.join(", ")) }
}
