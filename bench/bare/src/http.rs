//! HTTP/1.1 as far as the floor needs it: one request's bytes, and where a response with a `content-length` ends.
//!
//! No chunked bodies and no status but the wanted one: the target is one of ours and anything else is its failure.

use crate::arguments::Target;
use crate::failure::Failure;
use memchr::memmem;

pub(crate) fn request(target: &Target) -> Vec<u8> {
    format!("GET {} HTTP/1.1\r\nhost: {}\r\n\r\n", target.path, target.host).into_bytes()
}

/// How long the response at the front of `bytes` is, head and body; none while it is incomplete.
pub(crate) fn response(bytes: &[u8]) -> Result<Option<usize>, Failure> {
    let Some(head) = head(bytes, b"200")? else { return Ok(None) };
    let Some(body) = content_length(&bytes[..head]) else {
        return Err(Failure::peer("a response without content-length"));
    };
    let whole = head.checked_add(body).filter(|whole| bytes.len() >= *whole);
    Ok(whole)
}

/// How long the head is, its blank line included; fails when its status is not the wanted one.
pub(crate) fn head(bytes: &[u8], status: &[u8]) -> Result<Option<usize>, Failure> {
    let Some(end) = memmem::find(bytes, b"\r\n\r\n") else { return Ok(None) };
    if bytes.starts_with(b"HTTP/1.1 ") && bytes[9..].starts_with(status) {
        return Ok(Some(end + 4));
    }
    let line = bytes.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let (line, status) = (String::from_utf8_lossy(line), String::from_utf8_lossy(status));
    Err(Failure::peer(format!("the server answers {line:?}, wanted status {status}")))
}

fn content_length(head: &[u8]) -> Option<usize> {
    const NAME: &[u8] = b"content-length:";
    let mut lines = memchr::memchr_iter(b'\n', head).map(|end| &head[end + 1..]);
    let line = lines.find(|line| line.len() > NAME.len() && line[..NAME.len()].eq_ignore_ascii_case(NAME))?;
    let value = line[NAME.len()..].split(|byte| *byte == b'\r').next()?;
    std::str::from_utf8(value).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nContent-Length: 2\r\n\r\nok";

    #[test]
    fn a_response_split_at_any_point_is_incomplete_until_its_last_byte() {
        for end in 0..WHOLE.len() {
            assert_eq!(response(&WHOLE[..end]).unwrap(), None, "{end}");
        }
        assert_eq!(response(WHOLE).unwrap(), Some(WHOLE.len()));
        assert_eq!(response(&[WHOLE, WHOLE].concat()).unwrap(), Some(WHOLE.len()));
    }

    #[test]
    fn a_status_that_was_not_asked_for_is_refused_by_its_line() {
        let failed = response(b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n").unwrap_err();
        assert_eq!(failed.to_string(), "the server answers \"HTTP/1.1 503 Busy\", wanted status 200");
    }

    #[test]
    fn a_body_without_a_length_is_refused() {
        assert!(response(b"HTTP/1.1 200 OK\r\nx-content-length: 2\r\n\r\nok").is_err());
        assert!(response(b"HTTP/1.1 200 OK\r\ncontent-length: two\r\n\r\nok").is_err());
    }
}
