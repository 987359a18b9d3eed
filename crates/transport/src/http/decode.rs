//! Decodes compressed bodies (RFC 9110 §8.4.1): gzip, deflate, br, zstd.
//!
//! Only bodies that a step reads are decompressed, and never beyond a limit: a small response may unpack to gigabytes.

use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use std::borrow::Cow;
use std::io::Read;

use sonagi_wire::http1::Headers;

use super::message::MAX_BODY;

/// The `Accept-Encoding` of a request that takes compressed responses.
pub const ACCEPTED: &str = "gzip, deflate, br";

/// The body with the codings that its headers name undone; at most [`MAX_BODY`] bytes of it.
///
/// # Errors
/// The unsupported coding, or the reader's complaint about the bytes.
pub fn decoded<'b>(headers: &Headers, body: &'b [u8]) -> Result<Cow<'b, [u8]>, String> {
    decoded_keeping(headers, body, MAX_BODY)
}

/// [`decoded`] with a limit on the unpacked bytes in place of [`MAX_BODY`].
///
/// # Errors
/// When [`decoded`] fails.
pub fn decoded_keeping<'b>(headers: &Headers, body: &'b [u8], most: usize) -> Result<Cow<'b, [u8]>, String> {
    let mut plain = Cow::Borrowed(body);
    let codings: Vec<String> = headers
        .get_all("content-encoding")
        .flat_map(|value| String::from_utf8_lossy(value).split(',').map(str::to_owned).collect::<Vec<_>>())
        .collect();
    // The last one was applied last. An empty body (of a HEAD, a 204) is no stream at all.
    for coding in codings.iter().rev().map(|coding| coding.trim().to_ascii_lowercase()) {
        if plain.is_empty() || coding.is_empty() || coding == "identity" {
            continue;
        }
        plain = Cow::Owned(unpacked(&coding, &plain, most)?);
    }
    Ok(plain)
}

fn unpacked(coding: &str, packed: &[u8], most: usize) -> Result<Vec<u8>, String> {
    match coding {
        "gzip" | "x-gzip" => read(coding, MultiGzDecoder::new(packed), most),
        // `deflate` means zlib's format; some servers send the bare stream.
        "deflate" if packed[0] & 0x0f == 8 => read(coding, ZlibDecoder::new(packed), most),
        "deflate" => read(coding, DeflateDecoder::new(packed), most),
        "br" => read(coding, brotli_decompressor::Decompressor::new(packed, 4096), most),
        "zstd" => match ruzstd::decoding::StreamingDecoder::new(packed) {
            Ok(decoder) => read(coding, decoder, most),
            Err(error) => Err(format!("the body is no valid zstd: {error}")),
        },
        other => Err(format!("the body is encoded as {other}, which is not known here")),
    }
}

fn read(coding: &str, decoder: impl Read, most: usize) -> Result<Vec<u8>, String> {
    let mut plain = Vec::new();
    let read = decoder.take(most as u64).read_to_end(&mut plain);
    read.map_err(|error| format!("the body is no valid {coding}: {error}"))?;
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::read::{DeflateEncoder, GzEncoder, ZlibEncoder};

    fn packed(encoder: impl Read) -> Vec<u8> {
        let mut encoder = encoder;
        let mut bytes = Vec::new();
        encoder.read_to_end(&mut bytes).unwrap();
        bytes
    }

    fn unpack(coding: &str, body: &[u8]) -> Result<String, String> {
        let headers: Headers = [("Content-Encoding", coding.as_bytes())].into_iter().collect();
        decoded(&headers, body).map(|plain| String::from_utf8(plain.into_owned()).unwrap())
    }

    #[test]
    fn a_body_is_unpacked_by_all_its_codings() {
        let text = "rain ".repeat(100);
        let level = Compression::fast();
        let gzip = packed(GzEncoder::new(text.as_bytes(), level));
        assert_eq!(unpack("gzip", &gzip), Ok(text.clone()));
        assert_eq!(unpack("gzip, gzip", &packed(GzEncoder::new(&gzip[..], level))), Ok(text.clone()));
        assert_eq!(unpack("Identity, X-GZIP", &gzip), Ok(text.clone()));
        assert_eq!(unpack("deflate", &packed(ZlibEncoder::new(text.as_bytes(), level))), Ok(text.clone()));
        assert_eq!(unpack("deflate", &packed(DeflateEncoder::new(text.as_bytes(), level))), Ok(text));
        // The example of RFC 7932's reference tool: "hello".
        assert_eq!(unpack("br", &[0x0b, 0x02, 0x80, b'h', b'e', b'l', b'l', b'o', 0x03]), Ok("hello".into()));
        let zstd =
            ruzstd::encoding::compress_to_vec(&b"hello"[..], ruzstd::encoding::CompressionLevel::Fastest);
        assert_eq!(unpack("zstd", &zstd), Ok("hello".into()));
        assert_eq!(unpack("gzip", b""), Ok(String::new()));
        assert_eq!(decoded(&Headers::default(), &gzip).unwrap(), &gzip[..]);
    }

    #[test]
    fn what_cannot_be_unpacked_says_why() {
        assert!(unpack("gzip", b"hello").unwrap_err().starts_with("the body is no valid gzip: "));
        assert!(unpack("zstd", b"hello").unwrap_err().starts_with("the body is no valid zstd: "));
        assert_eq!(unpack("lzma", b"x").unwrap_err(), "the body is encoded as lzma, which is not known here");
    }

    #[test]
    fn a_body_that_would_unpack_to_more_than_is_kept_is_cut() {
        let zeros = vec![0u8; MAX_BODY + 1000];
        let bomb = packed(GzEncoder::new(&zeros[..], Compression::best()));
        let headers: Headers = [("content-encoding", &b"gzip"[..])].into_iter().collect();
        assert_eq!(decoded(&headers, &bomb).unwrap().len(), MAX_BODY);
    }
}
