//! `TextEncoder` and `TextDecoder`: UTF-8, and UTF-16 to read.

use rquickjs::convert::List;
use rquickjs::{ArrayBuffer, Ctx, Exception, Function, Object, Value};

use crate::modules::binding::{bytes, callable, own};

fn classes<'js>(ctx: &Ctx<'js>, name: &str) -> rquickjs::Result<Value<'js>> {
    let native = Object::new(ctx.clone())?;
    native.set("encode", Function::new(ctx.clone(), encode)?)?;
    native.set("decode", Function::new(ctx.clone(), decode)?)?;
    let classes: Object<'js> = own(ctx, "text", include_str!("text_encoding.js"))?.call((native,))?;
    callable(ctx, classes.get(name)?)
}

pub(super) fn encoder<'js>(ctx: &Ctx<'js>) -> rquickjs::Result<Value<'js>> {
    classes(ctx, "TextEncoder")
}

pub(super) fn decoder<'js>(ctx: &Ctx<'js>) -> rquickjs::Result<Value<'js>> {
    classes(ctx, "TextDecoder")
}

fn encode<'js>(ctx: Ctx<'js>, text: String) -> rquickjs::Result<ArrayBuffer<'js>> {
    ArrayBuffer::new_copy(ctx, text)
}

/// A text and how many bytes at the end may be the beginning of a letter; None: there is what is none.
fn decode<'js>(
    ctx: Ctx<'js>,
    encoding: String,
    is_fatal: bool,
    data: Value<'js>,
) -> rquickjs::Result<Option<List<(String, usize)>>> {
    let bytes = bytes(&data).ok_or_else(|| Exception::throw_type(&ctx, "bytes are expected"))?;
    let (text, rest) = match encoding.as_str() {
        "utf-8" => utf8(&bytes),
        "utf-16be" => utf16(&bytes, u16::from_be_bytes),
        _ => utf16(&bytes, u16::from_le_bytes),
    };
    if is_fatal && text.is_none() {
        return Ok(None);
    }
    let text = text.unwrap_or_else(|| match encoding.as_str() {
        "utf-8" => String::from_utf8_lossy(&bytes[..bytes.len() - rest]).into_owned(),
        "utf-16be" => String::from_utf16_lossy(&units(&bytes, u16::from_be_bytes)),
        _ => String::from_utf16_lossy(&units(&bytes, u16::from_le_bytes)),
    });
    Ok(Some(List((text, rest))))
}

/// The text, if it is one, but for the last bytes that may become a letter.
fn utf8(bytes: &[u8]) -> (Option<String>, usize) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (Some(text.to_owned()), 0),
        Err(why) if why.error_len().is_none() => {
            let whole = &bytes[..why.valid_up_to()];
            (Some(String::from_utf8_lossy(whole).into_owned()), bytes.len() - whole.len())
        }
        Err(_) => {
            // Something is wrong within: the end may be the beginning of a letter all the same.
            let tail = (1..=3.min(bytes.len())).find(|count| {
                std::str::from_utf8(&bytes[bytes.len() - count..])
                    .is_err_and(|why| why.valid_up_to() == 0 && why.error_len().is_none())
            });
            (None, tail.unwrap_or_default())
        }
    }
}

fn units(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Vec<u16> {
    let mut units: Vec<u16> = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
    if bytes.len() >= 2 && units.last().is_some_and(|last| (0xd800..0xdc00).contains(last)) {
        units.pop();
    }
    units
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> (Option<String>, usize) {
    let units = units(bytes, unit);
    (String::from_utf16(&units).ok(), bytes.len() - units.len() * 2)
}
