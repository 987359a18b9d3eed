//! Values of scripts: their bytes, and freezing them.

use rquickjs::atom::PredefinedAtom;
use rquickjs::{ArrayBuffer, Ctx, Function, Object, TypedArray, Value};

/// The bytes of a buffer or a typed array.
pub(crate) fn bytes(value: &Value<'_>) -> Option<Vec<u8>> {
    let object = value.as_object()?;
    if let Some(buffer) = ArrayBuffer::from_object(object.clone()) {
        return buffer.as_bytes().map(<[u8]>::to_vec);
    }
    if let Ok(list) = TypedArray::<u8>::from_object(object.clone()) {
        return list.as_bytes().map(<[u8]>::to_vec);
    }
    let kind = object.get::<_, Value<'_>>(PredefinedAtom::SymbolToStringTag).ok()?;
    if kind.as_string()?.to_string().ok()? != "Uint8ClampedArray" {
        return None;
    }
    object.values::<Value<'_>>().map(|byte| u8::try_from(byte.ok()?.as_int()?).ok()).collect()
}

/// Nothing in the value can be written over any more.
pub(crate) fn freeze<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> rquickjs::Result<()> {
    if !value.is_object() {
        return Ok(());
    }
    let class: Object<'js> = ctx.globals().get("Object")?;
    let freeze: Function<'js> = class.get("freeze")?;
    // Values may be nested deeper than a fiber's stack is.
    let mut waiting = vec![value.clone()];
    while let Some(value) = waiting.pop() {
        let Some(object) = value.as_object() else { continue };
        freeze.call::<_, ()>((object.clone(),))?;
        for member in object.values::<Value<'js>>() {
            waiting.push(member?);
        }
    }
    Ok(())
}
