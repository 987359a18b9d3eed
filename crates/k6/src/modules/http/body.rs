//! Bodies of requests: texts, bytes, forms, files.

use bytes::Bytes;
use flate2::Compression;
use flate2::read::{GzEncoder, ZlibEncoder};
use rquickjs::atom::PredefinedAtom;
use rquickjs::{ArrayBuffer, Coerced, Ctx, Exception, Function, Object, TypedArray, Value};
use ruzstd::encoding::CompressionLevel;
use std::fmt::Write;
use std::io::Read;

use super::errors::Refused;

/// A body, and the type it has unless the script says another.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub(super) bytes: Bytes,
    pub(super) content_type: Option<String>,
    /// There is one, and be it empty.
    pub(super) is_given: bool,
}

/// What `http.file` made, by the member that tells it from other objects.
pub(super) const FILE: &str = "__sonagiFile";

/// Nothing, a text, bytes, or an object: a form, and one of parts if a file is among its members.
pub(super) fn of<'js>(ctx: &Ctx<'js>, body: Option<&Value<'js>>) -> Result<Body, Refused> {
    let Some(body) = body.filter(|body| !body.is_undefined() && !body.is_null()) else {
        return Ok(Body::default());
    };
    let plain = |bytes: Vec<u8>| Ok(Body { bytes: bytes.into(), content_type: None, is_given: true });
    if let Some(bytes) = bytes(body) {
        return plain(bytes);
    }
    let wrong = |kind: &str| Err(Refused::wrong(format!("unknown request body type {kind}")));
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

/// What Go has for a collection that is no list, of those that are no body.
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

/// `a=1&b=2`
pub(super) fn form_text(members: &[(String, Value<'_>)]) -> rquickjs::Result<String> {
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
fn told(value: &Value<'_>, depth: usize) -> rquickjs::Result<String> {
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

/// As HTML's forms write it: letters, digits and `*-._` stay, a blank is a plus.
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
pub(super) fn percent_decoded(text: &str) -> String {
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

/// As Go's packer has it.
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
    fn forms_are_written_as_html_writes_them() {
        let mut text = String::new();
        push_form("1 &ä~*", &mut text);
        assert_eq!(text, "1+%26%C3%A4~%2A");
    }

    #[test]
    fn percent_signs_that_mean_nothing_stay() {
        assert_eq!(percent_decoded("a%40b%zz%4"), "a@b%zz%4");
    }

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
