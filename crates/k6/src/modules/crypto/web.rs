//! The global `crypto`: what WebCrypto's objects, which are written in JavaScript, cannot do themselves.
//!
//! Supported are digests, HMAC, AES (CBC, CTR, GCM), PBKDF2, random values, and for pairs of keys the functions of
//! `asymmetric`. Everything else is refused.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rquickjs::function::Rest;
use rquickjs::{ArrayBuffer, Ctx, Exception, Function, Object, Value};

use super::asymmetric;
use super::hashing::{Algorithm, Hashing};
use super::symmetric::{self, Failed, Way};
use crate::modules::binding::{Builtin, bytes, own};

/// The retired name of the module.
pub(crate) const MODULE: Builtin = Builtin {
    names: &["k6/experimental/webcrypto"],
    exports: &["crypto"],
    build: |ctx, object| object.set("crypto", ctx.globals().get::<_, Value<'_>>("crypto")?),
};

/// The object.
pub(crate) fn crypto<'js>(ctx: &Ctx<'js>) -> rquickjs::Result<Value<'js>> {
    let native = Object::new(ctx.clone())?;
    native.set("random", Function::new(ctx.clone(), random)?)?;
    native.set("digest", Function::new(ctx.clone(), digest)?)?;
    native.set("hmac", Function::new(ctx.clone(), hmac)?)?;
    native.set("aes", Function::new(ctx.clone(), aes)?)?;
    native.set("pbkdf2", Function::new(ctx.clone(), pbkdf2)?)?;
    native.set("uuid", Function::new(ctx.clone(), super::uuid)?)?;
    native.set("toBase64", Function::new(ctx.clone(), to_base64)?)?;
    native.set("fromBase64", Function::new(ctx.clone(), from_base64)?)?;
    asymmetric::fill(ctx, &native)?;
    native.set("asymmetric", own(ctx, "crypto/asymmetric", include_str!("asymmetric.js"))?)?;
    own(ctx, "crypto", include_str!("web.js"))?.call((native,))
}

pub(super) fn buffer<'js>(ctx: Ctx<'js>, bytes: &[u8]) -> rquickjs::Result<ArrayBuffer<'js>> {
    ArrayBuffer::new_copy(ctx, bytes)
}

fn random<'js>(ctx: Ctx<'js>, size: usize) -> rquickjs::Result<ArrayBuffer<'js>> {
    let bytes = super::random(&ctx, size)?;
    buffer(ctx, &bytes)
}

/// The bytes that the JavaScript part has made.
pub(super) fn given<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> rquickjs::Result<Vec<u8>> {
    bytes(value).ok_or_else(|| Exception::throw_type(ctx, "bytes are expected"))
}

fn algorithm(ctx: &Ctx<'_>, name: &str) -> rquickjs::Result<Algorithm> {
    Algorithm::of_web(name).ok_or_else(|| Exception::throw_type(ctx, "unknown hash"))
}

fn digest<'js>(ctx: Ctx<'js>, name: String, data: Value<'js>) -> rquickjs::Result<ArrayBuffer<'js>> {
    let mut hashing = Hashing::plain(algorithm(&ctx, &name)?);
    hashing.update(&given(&ctx, &data)?);
    buffer(ctx, &hashing.digest())
}

fn hmac<'js>(
    ctx: Ctx<'js>,
    name: String,
    key: Value<'js>,
    data: Value<'js>,
) -> rquickjs::Result<ArrayBuffer<'js>> {
    let mut hashing = Hashing::keyed(algorithm(&ctx, &name)?, &given(&ctx, &key)?);
    hashing.update(&given(&ctx, &data)?);
    buffer(ctx, &hashing.digest())
}

fn to_base64<'js>(ctx: Ctx<'js>, data: Value<'js>) -> rquickjs::Result<String> {
    Ok(URL_SAFE_NO_PAD.encode(given(&ctx, &data)?))
}

/// None: it is no such text.
fn from_base64<'js>(ctx: Ctx<'js>, text: String) -> rquickjs::Result<Option<ArrayBuffer<'js>>> {
    let decoded = URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok();
    decoded.map(|bytes| buffer(ctx, &bytes)).transpose()
}

/// None: it failed.
fn aes<'js>(
    ctx: Ctx<'js>,
    mode: String,
    encrypts: bool,
    arguments: Rest<Value<'js>>,
) -> rquickjs::Result<Option<ArrayBuffer<'js>>> {
    let way = if encrypts { Way::Encrypt } else { Way::Decrypt };
    let [key, iv, data, also, tag] = &arguments.0[..] else { return Ok(None) };
    let (key, iv, data) = (given(&ctx, key)?, given(&ctx, iv)?, given(&ctx, data)?);
    let made = match mode.as_str() {
        "AES-CBC" => symmetric::cbc(way, &key, &iv, &data),
        "AES-CTR" => symmetric::ctr(&key, &iv, &data),
        "AES-GCM" => symmetric::gcm(way, &key, &iv, &data, &given(&ctx, also)?, tag.get()?),
        _ => Err(Failed),
    };
    made.ok().map(|made| buffer(ctx, &made)).transpose()
}

fn pbkdf2<'js>(
    ctx: Ctx<'js>,
    name: String,
    password: Value<'js>,
    salt: Value<'js>,
    rounds: u32,
    length: usize,
) -> rquickjs::Result<ArrayBuffer<'js>> {
    let (password, salt) = (given(&ctx, &password)?, given(&ctx, &salt)?);
    if length > super::MOST_BYTES {
        return Err(crate::interpreter::go_error(&ctx, "the length of the derived bits is too great"));
    }
    let made = symmetric::pbkdf2(algorithm(&ctx, &name)?, &password, &salt, rounds, length);
    buffer(ctx, &made)
}
