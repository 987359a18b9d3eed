//! Bodies of requests: texts, bytes, forms, files.

use bytes::Bytes;
use flate2::Compression;
use flate2::read::{GzEncoder, ZlibEncoder};
use rquickjs::atom::PredefinedAtom;
use rquickjs::{Ctx, Exception, Object, Value};
use ruzstd::encoding::CompressionLevel;
use std::io::Read;

use super::errors::BadCall;
use crate::modules::binding::bytes;
use crate::modules::forms::{form_text, told};

/// A body, and the type it has unless the script says another.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub(super) bytes: Bytes,
    pub(super) content_type: Option<String>,
    /// There is one, and be it empty.
    pub(super) is_given: bool,
}

/// The member by which the objects of `http.file` are known.
pub(super) const FILE: &str = "__sonagiFile";

/// Nothing, a text, bytes, or an object: a form, and one of parts if a file is among its members.
pub(super) fn of<'js>(ctx: &Ctx<'js>, body: Option<&Value<'js>>) -> Result<Body, BadCall> {
    let Some(body) = body.filter(|body| !body.is_undefined() && !body.is_null()) else {
        return Ok(Body::default());
    };
    let plain = |bytes: Vec<u8>| Ok(Body { bytes: bytes.into(), content_type: None, is_given: true });
    if let Some(bytes) = bytes(body) {
        return plain(bytes);
    }
    let wrong = |kind: &str| Err(BadCall::wrong(format!("unknown request body type {kind}")));
    let Some(object) = body.as_object() else {
        return match body.is_string() {
            true => plain(body.get::<String>()?.into_bytes()),
            false if body.is_bool() => wrong("bool"),
            false => wrong(if body.is_int() { "int64" } else { "float64" }),
        };
    };
    let is = |class: &str| -> rquickjs::Result<bool> {
        Ok(object.is_instance_of(&ctx.globals().get::<_, Value<'js>>(class)?))
    };
    if body.is_array() {
        return wrong("[]interface {}");
    } else if body.is_function() {
        return wrong("func");
    } else if let Some(kind) = elements(object) {
        return wrong(kind);
    } else if is("Date")? {
        return wrong("time.Time");
    } else if is("String")? {
        // An object without members of its own.
        return Ok(form(ctx, &Object::new(ctx.clone())?)?);
    } else if is_file(object) {
        return plain(content(ctx, object)?);
    }
    Ok(form(ctx, object)?)
}

/// Go's type of a typed array or collection that cannot be a body.
fn elements(object: &Object<'_>) -> Option<&'static str> {
    let kind = object.get::<_, Value<'_>>(PredefinedAtom::SymbolToStringTag).ok()?;
    Some(match kind.as_string()?.to_string().ok()?.as_str() {
        "Int8Array" => "[]int8",
        "Int16Array" => "[]int16",
        "Uint16Array" => "[]uint16",
        "Int32Array" => "[]int32",
        "Uint32Array" => "[]uint32",
        "Float32Array" => "[]float32",
        "Float64Array" => "[]float64",
        "BigInt64Array" => "[]int64",
        "BigUint64Array" => "[]uint64",
        "Map" => "[][2]interface {}",
        "Set" => "[]interface {}",
        _ => return None,
    })
}

fn is_file(object: &Object<'_>) -> bool {
    object.contains_key(FILE).unwrap_or(false)
}

fn content<'js>(ctx: &Ctx<'js>, file: &Object<'js>) -> rquickjs::Result<Vec<u8>> {
    let data: Value<'js> = file.get("data")?;
    match bytes(&data) {
        Some(bytes) => Ok(bytes),
        None if data.is_string() => Ok(data.get::<String>()?.into_bytes()),
        None => Err(Exception::throw_type(ctx, "a file's data must be a text or an ArrayBuffer")),
    }
}

fn form<'js>(ctx: &Ctx<'js>, object: &Object<'js>) -> rquickjs::Result<Body> {
    let mut members = object.props::<String, Value<'js>>().collect::<rquickjs::Result<Vec<_>>>()?;
    members.sort_by(|(one, _), (other, _)| one.cmp(other));
    if members.iter().any(|(_, value)| value.as_object().is_some_and(is_file)) {
        return multipart(ctx, &members);
    }
    let content_type = Some("application/x-www-form-urlencoded".to_owned());
    Ok(Body { bytes: form_text(&members)?.into(), content_type, is_given: true })
}

fn multipart<'js>(ctx: &Ctx<'js>, members: &[(String, Value<'js>)]) -> rquickjs::Result<Body> {
    let boundary: String = (0..30).map(|_| format!("{:02x}", fastrand::u8(..))).collect();
    let mut bytes = Vec::new();
    for (name, value) in members {
        let name = quoted(name);
        bytes.extend_from_slice(format!("--{boundary}\r\n").as_bytes());
        match value.as_object().filter(|object| is_file(object)) {
            Some(file) => {
                let (filename, kind) =
                    (file.get::<_, String>("filename")?, file.get::<_, String>("content_type")?);
                let head = format!(
                    "Content-Disposition: form-data; name=\"{name}\"; filename=\"{}\"\r\nContent-Type: {kind}\r\n\r\n",
                    quoted(&filename)
                );
                bytes.extend_from_slice(head.as_bytes());
                bytes.extend_from_slice(&content(ctx, file)?);
            }
            None => {
                let head = format!("Content-Disposition: form-data; name=\"{name}\"\r\n\r\n");
                bytes.extend_from_slice(head.as_bytes());
                bytes.extend_from_slice(told(value, 0)?.as_bytes());
            }
        }
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    let content_type = Some(format!("multipart/form-data; boundary={boundary}"));
    Ok(Body { bytes: bytes.into(), content_type, is_given: true })
}

fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// The settings of Go's packer.
const BROTLI_QUALITY: u32 = 6;
const BROTLI_WINDOW: u32 = 22;

/// A body packed by codings (`gzip, deflate`), in their order, and their names as a header has them.
pub(super) fn compressed(body: &[u8], codings: &str) -> Result<(Bytes, String), String> {
    let mut packed = body.to_vec();
    let names: Vec<String> = codings.split(',').map(|name| name.trim().to_lowercase()).collect();
    for name in &names {
        let (from, mut out) = (std::mem::take(&mut packed), Vec::new());
        let read = match name.as_str() {
            "gzip" => GzEncoder::new(&*from, Compression::default()).read_to_end(&mut out),
            "deflate" => ZlibEncoder::new(&*from, Compression::default()).read_to_end(&mut out),
            "br" => brotli::CompressorReader::new(&*from, 4096, BROTLI_QUALITY, BROTLI_WINDOW)
                .read_to_end(&mut out),
            "zstd" => {
                ruzstd::encoding::compress(&*from, &mut out, CompressionLevel::Fastest);
                Ok(out.len())
            }
            other => {
                return Err(format!(
                    "unknown compression algorithm {other}, supported algorithms are [gzip deflate zstd br]"
                ));
            }
        };
        read.map_err(|error| error.to_string())?;
        packed = out;
    }
    Ok((packed.into(), names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_packed_in_the_order_asked_for() {
        let (packed, names) = compressed(b"hello", "deflate, gzip").unwrap();
        assert_eq!(names, "deflate, gzip");
        let mut inner = Vec::new();
        flate2::read::GzDecoder::new(&*packed).read_to_end(&mut inner).unwrap();
        let mut plain = String::new();
        flate2::read::ZlibDecoder::new(&*inner).read_to_string(&mut plain).unwrap();
        assert_eq!(plain, "hello");
        assert!(compressed(b"", "lzma").unwrap_err().contains("zstd br"));
        for coding in ["br", "zstd"] {
            let (packed, name) = compressed(&b"hello ".repeat(100), coding).unwrap();
            let headers = [("content-encoding", name.as_bytes())].into_iter().collect();
            let plain = sonagi_transport::http::decoded(&headers, &packed).unwrap();
            assert_eq!(plain, b"hello ".repeat(100), "{coding}");
        }
    }
}
