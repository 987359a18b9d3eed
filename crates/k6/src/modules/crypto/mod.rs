//! `k6/crypto`: hashes and random bytes. The global `crypto` is `web`'s.

mod asymmetric;
mod hashing;
mod symmetric;
pub(super) mod web;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE, URL_SAFE_NO_PAD};
use rquickjs::function::Opt;
use rquickjs::{ArrayBuffer, Coerced, Ctx, Function, Object, Value};
use std::cell::RefCell;
use std::fmt::Write;
use std::rc::Rc;

use crate::interpreter::{Structure, go_error, host_object};
use crate::modules::binding::{Argument, Builtin};
use crate::modules::k6::encoding::text_or_bytes;
use hashing::{Algorithm, Hashing};

pub(super) const MODULE: Builtin = Builtin {
    names: &["k6/crypto"],
    exports: &[
        "md4",
        "md5",
        "sha1",
        "sha256",
        "sha384",
        "sha512",
        "sha512_224",
        "sha512_256",
        "ripemd160",
        "hmac",
        "createHash",
        "createHMAC",
        "randomBytes",
        "hexEncode",
    ],
    build,
};

fn build<'js>(ctx: &Ctx<'js>, object: &Object<'js>) -> rquickjs::Result<()> {
    for algorithm in Algorithm::ALL {
        let hash = move |ctx: Ctx<'js>, Argument(input): Argument<'js>, encoding: Opt<Value<'js>>| {
            let mut hashing = Hashing::plain(*algorithm);
            hashing.update(&text_or_bytes(&ctx, &input)?);
            encoded(&ctx, &hashing.digest(), encoding.0.as_ref())
        };
        object.set(algorithm.name(), Function::new(ctx.clone(), hash)?)?;
    }
    object.set("hmac", Function::new(ctx.clone(), hmac)?)?;
    object.set("createHash", Function::new(ctx.clone(), create_hash)?)?;
    object.set("createHMAC", Function::new(ctx.clone(), create_hmac)?)?;
    object.set("randomBytes", Function::new(ctx.clone(), random_bytes)?)?;
    object.set("hexEncode", Function::new(ctx.clone(), hex_encode)?)
}

fn algorithm(ctx: &Ctx<'_>, name: &str) -> rquickjs::Result<Algorithm> {
    Algorithm::named(name).ok_or_else(|| go_error(ctx, &format!("invalid algorithm: {name}")))
}

/// A hash in one of k6's encodings; there is none that goes without saying.
fn encoded<'js>(ctx: &Ctx<'js>, hash: &[u8], encoding: Option<&Value<'js>>) -> rquickjs::Result<Value<'js>> {
    let name = match encoding.filter(|name| !name.is_undefined()) {
        Some(name) => name.get::<Coerced<String>>()?.0,
        None => String::new(),
    };
    let text = match name.as_str() {
        "hex" => hex(hash),
        "base64" => STANDARD.encode(hash),
        "base64url" => URL_SAFE.encode(hash),
        "base64rawurl" => URL_SAFE_NO_PAD.encode(hash),
        "binary" => return Ok(ArrayBuffer::new_copy(ctx.clone(), hash)?.into_value()),
        _ => return Err(go_error(ctx, &format!("invalid output encoding: {name}"))),
    };
    Ok(rquickjs::String::from_str(ctx.clone(), &text)?.into_value())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn hmac<'js>(
    ctx: Ctx<'js>,
    name: Coerced<String>,
    Argument(key): Argument<'js>,
    Argument(input): Argument<'js>,
    encoding: Opt<Value<'js>>,
) -> rquickjs::Result<Value<'js>> {
    let mut hashing = Hashing::keyed(algorithm(&ctx, &name.0)?, &text_or_bytes(&ctx, &key)?);
    hashing.update(&text_or_bytes(&ctx, &input)?);
    encoded(&ctx, &hashing.digest(), encoding.0.as_ref())
}

fn create_hash<'js>(ctx: Ctx<'js>, name: Coerced<String>) -> rquickjs::Result<Object<'js>> {
    let hashing = Hashing::plain(algorithm(&ctx, &name.0)?);
    hasher(&ctx, hashing)
}

fn create_hmac<'js>(ctx: Ctx<'js>, name: Coerced<String>, key: Value<'js>) -> rquickjs::Result<Object<'js>> {
    let hashing = Hashing::keyed(algorithm(&ctx, &name.0)?, &text_or_bytes(&ctx, &key)?);
    hasher(&ctx, hashing)
}

/// An object that is given more and more, and tells the hash of all so far.
fn hasher<'js>(ctx: &Ctx<'js>, hashing: Hashing) -> rquickjs::Result<Object<'js>> {
    let (object, hashing) = (host_object(ctx, Rc::new(Structure(&[])))?, Rc::new(RefCell::new(hashing)));
    let of_update = Rc::clone(&hashing);
    let update = move |ctx: Ctx<'js>, input: Value<'js>| {
        of_update.borrow_mut().update(&text_or_bytes(&ctx, &input)?);
        Ok::<_, rquickjs::Error>(())
    };
    let digest = move |ctx: Ctx<'js>, encoding: Opt<Value<'js>>| {
        encoded(&ctx, &hashing.borrow().digest(), encoding.0.as_ref())
    };
    object.set("update", Function::new(ctx.clone(), update)?)?;
    object.set("digest", Function::new(ctx.clone(), digest)?)?;
    Ok(object)
}

/// The most bytes that are made at once.
pub(super) const MOST_BYTES: usize = 64 << 20;

fn random_bytes<'js>(ctx: Ctx<'js>, size: Coerced<f64>) -> rquickjs::Result<ArrayBuffer<'js>> {
    if !(1.0..=MOST_BYTES as f64).contains(&size.0) {
        return Err(go_error(&ctx, "invalid size"));
    }
    ArrayBuffer::new_copy(ctx.clone(), random(&ctx, size.0 as usize)?)
}

/// Bytes nobody can guess.
fn random(ctx: &Ctx<'_>, size: usize) -> rquickjs::Result<Vec<u8>> {
    let mut bytes = vec![0; size];
    getrandom::fill(&mut bytes).map_err(|why| go_error(ctx, &format!("no random bytes: {why}")))?;
    Ok(bytes)
}

/// A name that is nobody else's (RFC 9562, version 4).
pub(super) fn uuid(ctx: Ctx<'_>) -> rquickjs::Result<String> {
    let mut bytes = random(&ctx, 16)?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let text = hex(&bytes);
    Ok([&text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..]].join("-"))
}

fn hex_encode<'js>(ctx: Ctx<'js>, Argument(input): Argument<'js>) -> rquickjs::Result<String> {
    Ok(hex(&text_or_bytes(&ctx, &input)?))
}
