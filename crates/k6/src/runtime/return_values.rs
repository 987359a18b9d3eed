//! Values that `setup` and `handleSummary` return, on their way out of the interpreter.

use base64::Engine as _;
use rquickjs::function::This;
use rquickjs::{ArrayBuffer, Coerced, Ctx, Function, Object, Type, TypedArray, Value};
use serde_json::{Map, Value as Json, json};

use crate::interpreter::any_host_object;
use crate::json;

/// Deeper than this a value is taken for one that contains itself.
const DEEPEST: usize = 100;

/// Why a value cannot be given to users as JSON.
enum Unwritten {
    /// The interpreter has an exception.
    Thrown(rquickjs::Error),
    /// JSON cannot hold it.
    Unusable(String),
}

impl From<rquickjs::Error> for Unwritten {
    fn from(thrown: rquickjs::Error) -> Unwritten {
        Unwritten::Thrown(thrown)
    }
}

type Written = Result<Json, Unwritten>;

/// The value `setup` returned as k6's users see it: an undefined member stays, as null; bytes are base64, maps and sets
/// lists. Or why JSON cannot hold it.
#[inline(never)]
pub(super) fn data<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> rquickjs::Result<Result<Json, String>> {
    match written(ctx, value, 0) {
        Ok(json) => Ok(Ok(json)),
        Err(Unwritten::Unusable(why)) => Ok(Err(why)),
        Err(Unwritten::Thrown(error)) => Err(error),
    }
}

fn written<'js>(ctx: &Ctx<'js>, value: &Value<'js>, depth: usize) -> Written {
    if depth > DEEPEST {
        return Err(Unwritten::Unusable("it contains itself".to_owned()));
    }
    Ok(match value.type_of() {
        Type::Bool => Json::from(value.as_bool().unwrap_or_default()),
        Type::Int | Type::Float => return number(value.as_number().unwrap_or_default()),
        Type::BigInt => {
            let digits = value.get::<Coerced<String>>()?.0;
            serde_json::from_str(&digits).unwrap_or(Json::Null)
        }
        Type::String => Json::from(text(ctx, value)?),
        Type::Symbol => match value.as_symbol() {
            Some(symbol) => Json::from(symbol.description()?.get::<Option<String>>()?),
            None => Json::Null,
        },
        Type::Function | Type::Constructor => {
            return Err(Unwritten::Unusable("a function is no data".to_owned()));
        }
        _ => match value.as_object() {
            Some(object) => return composed(ctx, object, depth),
            None => Json::Null,
        },
    })
}

fn number(number: f64) -> Written {
    if number.is_finite() {
        return Ok(json::value(number));
    }
    Err(Unwritten::Unusable(format!("unsupported value: {number}")))
}

/// With U+FFFD for what is no text, as everywhere.
fn text<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> rquickjs::Result<String> {
    value.get::<String>().or_else(|_| {
        let _ = ctx.catch();
        let class: Object<'_> = ctx.globals().get("String")?;
        let well: Function<'_> = class.get::<_, Object<'_>>("prototype")?.get("toWellFormed")?;
        well.call((This(value.clone()),))
    })
}

fn composed<'js>(ctx: &Ctx<'js>, object: &Object<'js>, depth: usize) -> Written {
    if let Some(list) = object.as_array() {
        return listed(ctx, list.iter(), depth);
    }
    if let Some(what) = any_host_object(object) {
        let member = |(own, name): (&str, &str)| Ok((name.to_owned(), object.get(own)?));
        return named(ctx, what.members().into_iter().map(member), depth);
    }
    let is_a = |name: &str| is_a(ctx, object, name);
    if is_a("Date")? {
        return Ok(date(object)?);
    }
    let class: Object<'_> = ctx.globals().get("Array")?;
    // A SharedArray stands before a list.
    let is_list = class.get::<_, Function<'_>>("isArray")?.call::<_, bool>((object.clone(),))?;
    if is_list || is_a("Map")? || is_a("Set")? {
        let list: rquickjs::Array<'_> = class.get::<_, Function<'_>>("from")?.call((object.clone(),))?;
        return listed(ctx, list.iter(), depth);
    }
    if is_a("Number")? || is_a("Boolean")? || is_a("String")? {
        let value: Value<'_> = object.get::<_, Function<'_>>("valueOf")?.call((This(object.clone()),))?;
        return written(ctx, &value, depth + 1);
    }
    if is_a("Uint8Array")? || is_a("Uint8ClampedArray")? {
        let bytes = bytes(object).unwrap_or_default();
        return Ok(Json::from(base64::engine::general_purpose::STANDARD.encode(bytes)));
    }
    if object.get::<_, Value<'_>>("BYTES_PER_ELEMENT")?.is_int() {
        let members: Vec<_> = object.values::<Value<'_>>().collect();
        return listed(ctx, members.into_iter(), depth);
    }
    named(ctx, object.props::<String, Value<'js>>(), depth)
}

fn named<'js>(
    ctx: &Ctx<'js>,
    members: impl Iterator<Item = rquickjs::Result<(String, Value<'js>)>>,
    depth: usize,
) -> Written {
    let mut object = Map::new();
    for member in members {
        let (name, value) = member?;
        object.insert(name, written(ctx, &value, depth + 1)?);
    }
    Ok(Json::Object(object))
}

fn listed<'js>(
    ctx: &Ctx<'js>,
    elements: impl Iterator<Item = rquickjs::Result<Value<'js>>>,
    depth: usize,
) -> Written {
    elements.map(|element| written(ctx, &element?, depth + 1)).collect()
}

/// A class that the script did not ask for has no instances.
fn is_a<'js>(ctx: &Ctx<'js>, object: &Object<'js>, class: &str) -> rquickjs::Result<bool> {
    let class: Value<'js> = ctx.globals().get(class)?;
    Ok(class.is_function() && object.is_instance_of(&class))
}

/// Without the zeros at the end of its fraction, and null where it is none.
fn date(object: &Object<'_>) -> rquickjs::Result<Json> {
    let call = |name: &str| object.get::<_, Function<'_>>(name);
    let this = || This(object.clone());
    let ms: f64 = call("getTime")?.call((this(),))?;
    if ms.is_nan() {
        return Ok(Json::Null);
    }
    let text: String = call("toISOString")?.call((this(),))?;
    let (head, fraction) = text.trim_end_matches('Z').split_once('.').unwrap_or((&text, ""));
    let fraction = fraction.trim_end_matches('0');
    let dot = if fraction.is_empty() { "" } else { "." };
    Ok(Json::from(format!("{head}{dot}{fraction}Z")))
}

/// The bytes of an `ArrayBuffer` or a typed array.
fn bytes(object: &Object<'_>) -> Option<Vec<u8>> {
    if let Some(buffer) = ArrayBuffer::from_object(object.clone()) {
        return buffer.as_bytes().map(<[u8]>::to_vec);
    }
    let list = TypedArray::<u8>::from_object(object.clone()).ok()?;
    list.as_bytes().map(<[u8]>::to_vec)
}

/// The value `handleSummary` returned: null, or an object whose members are texts, lists of bytes, or `{"wrong":
/// TYPE}`; true for anything else.
#[inline(never)]
pub(super) fn files<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> rquickjs::Result<Json> {
    if value.is_null() || value.is_undefined() {
        return Ok(Json::Null);
    }
    let Some(object) = value.as_object().filter(|object| !object.is_function()) else {
        return Ok(Json::Bool(true));
    };
    for class in ["Array", "Map", "Set", "Date"] {
        if is_a(ctx, object, class)? {
            return Ok(Json::Bool(true));
        }
    }
    let mut files = Map::new();
    for pair in object.props::<String, Value<'js>>() {
        let (name, content) = pair?;
        let content = match content.as_object().and_then(bytes) {
            Some(bytes) => Json::from(bytes),
            None if content.is_string() => Json::from(text(ctx, &content)?),
            None => json!({ "wrong": content.type_of().as_str() }),
        };
        files.insert(name, content);
    }
    Ok(Json::Object(files))
}
