//! `k6/encoding`: base64 in its four variants.

use base64::alphabet::{Alphabet, STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{DecodeError, Engine};
use rquickjs::function::Opt;
use rquickjs::{ArrayBuffer, Coerced, Ctx, Function, Value};

use crate::interpreter::go_error;
use crate::modules::binding::{Argument, Builtin, bytes, kind};

pub(crate) const MODULE: Builtin = Builtin {
    names: &["k6/encoding"],
    exports: &["b64encode", "b64decode"],
    build: |ctx, object| {
        object.set("b64encode", Function::new(ctx.clone(), b64encode)?)?;
        object.set("b64decode", Function::new(ctx.clone(), b64decode)?)
    },
};

/// The reading of base64 that Go has: padded or not at all, whatever the last bits that mean nothing are.
const fn engine(alphabet: &Alphabet, is_padded: bool) -> GeneralPurpose {
    let padding =
        if is_padded { DecodePaddingMode::RequireCanonical } else { DecodePaddingMode::RequireNone };
    let config = GeneralPurposeConfig::new()
        .with_encode_padding(is_padded)
        .with_decode_padding_mode(padding)
        .with_decode_allow_trailing_bits(true);
    GeneralPurpose::new(alphabet, config)
}

const STD: GeneralPurpose = engine(&STANDARD, true);
const RAW_STD: GeneralPurpose = engine(&STANDARD, false);
const URL: GeneralPurpose = engine(&URL_SAFE, true);
const RAW_URL: GeneralPurpose = engine(&URL_SAFE, false);

/// The variant of a name; an unknown one is the common one.
fn variant(name: Opt<Option<Coerced<String>>>) -> &'static GeneralPurpose {
    match name.0.flatten().as_ref().map(|name| name.0.as_str()) {
        Some("rawstd") => &RAW_STD,
        Some("url") => &URL,
        Some("rawurl") => &RAW_URL,
        _ => &STD,
    }
}

/// A text's or a buffer's bytes.
pub(crate) fn text_or_bytes<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> rquickjs::Result<Vec<u8>> {
    if value.is_string() {
        return Ok(value.get::<String>()?.into_bytes());
    }
    bytes(value).ok_or_else(|| {
        let what = kind(value);
        go_error(ctx, &format!("invalid type {what}, expected string, []byte or ArrayBuffer"))
    })
}

fn b64encode<'js>(
    ctx: Ctx<'js>,
    Argument(input): Argument<'js>,
    name: Opt<Option<Coerced<String>>>,
) -> rquickjs::Result<String> {
    Ok(variant(name).encode(text_or_bytes(&ctx, &input)?))
}

/// An `ArrayBuffer`, or with the format `s` a text.
fn b64decode<'js>(
    ctx: Ctx<'js>,
    input: Coerced<String>,
    name: Opt<Option<Coerced<String>>>,
    format: Opt<Option<Coerced<String>>>,
) -> rquickjs::Result<Value<'js>> {
    let plain: String = input.0.chars().filter(|letter| !matches!(letter, '\r' | '\n')).collect();
    let decoded = variant(name).decode(plain).map_err(|why| match why {
        DecodeError::InvalidByte(at, _) | DecodeError::InvalidLastSymbol { offset: at, .. } => {
            go_error(&ctx, &format!("illegal base64 data at input byte {at}"))
        }
        why => go_error(&ctx, &format!("illegal base64 data: {why}")),
    })?;
    if format.0.flatten().is_some_and(|format| format.0 == "s") {
        return Ok(rquickjs::String::from_str(ctx, &String::from_utf8_lossy(&decoded))?.into_value());
    }
    Ok(ArrayBuffer::new_copy(ctx, &decoded)?.into_value())
}
