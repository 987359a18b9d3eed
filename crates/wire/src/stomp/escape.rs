//! Header escapes: none in 1.0 and in the frames that connect; `\n \c \\` in 1.1; `\r` as well from 1.2 on.

use std::borrow::Cow;

use memchr::memchr;

use super::version::Version;
use super::violation::Violation;

/// Undoes a header's escapes, borrowing when it has none. `version` is the one whose escapes apply; None for frames
/// that never escape.
pub(super) fn unescape(raw: &[u8], version: Option<Version>) -> Result<Cow<'_, str>, Violation> {
    let text = simdutf8::basic::from_utf8(raw).map_err(|_| Violation::Utf8)?;
    let Some(version) = version.filter(|version| *version != Version::V1_0) else { return Ok(text.into()) };
    let Some(first) = memchr(b'\\', raw) else { return Ok(text.into()) };
    let mut plain = String::with_capacity(text.len());
    plain.push_str(&text[..first]);
    let mut rest = &text[first..];
    while let Some(escape) = rest.strip_prefix('\\') {
        plain.push(match escape.as_bytes().first() {
            Some(b'n') => '\n',
            Some(b'c') => ':',
            Some(b'\\') => '\\',
            Some(b'r') if version == Version::V1_2 => '\r',
            _ => return Err(Violation::Escape { version }),
        });
        let after = &escape[1..];
        let next = memchr(b'\\', after.as_bytes()).unwrap_or(after.len());
        plain.push_str(&after[..next]);
        rest = &after[next..];
    }
    Ok(plain.into())
}

/// Appends a name or value; None when the version (or a frame that never escapes) has no way to say it.
pub(super) fn escape(text: &str, is_name: bool, version: Option<Version>, out: &mut Vec<u8>) -> Option<()> {
    let version = version.filter(|version| *version != Version::V1_0);
    if !text.bytes().any(|byte| matches!(byte, b'\n' | b':' | b'\\' | b'\r' | 0)) {
        out.extend_from_slice(text.as_bytes());
        return Some(());
    }
    for byte in text.bytes() {
        match (byte, version) {
            (0, _) => return None,
            (b'\n', Some(_)) => out.extend_from_slice(b"\\n"),
            (b':', Some(_)) => out.extend_from_slice(b"\\c"),
            (b'\\', Some(_)) => out.extend_from_slice(b"\\\\"),
            (b'\r', Some(Version::V1_2)) => out.extend_from_slice(b"\\r"),
            // No escape for these: a line would end early, or a name.
            (b'\n' | b'\r', _) => return None,
            (b':', None) if is_name => return None,
            (byte, _) => out.push(byte),
        }
    }
    Some(())
}
