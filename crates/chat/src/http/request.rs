//! Requests over HTTP: the token, the query, the body.

use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::Request;
use hyper::body::{Body, Incoming};
use hyper::header::{self, HeaderMap};
use tokio::time::Instant;

use crate::hub::Hub;
use crate::problem::Problem;

/// The token of an `Authorization: Bearer` header.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The user of the request's token, in the header or as `token` in the query; nobody without one, and a wrong one is
/// refused.
pub(crate) fn visitor(request: &Request<Incoming>, hub: &Hub) -> Result<Option<u64>, Problem> {
    let token = query(request, "token");
    let token = token.as_deref().or_else(|| bearer(request.headers()));
    token.map(|token| hub.accounts.who(token).ok_or_else(Problem::unauthorized)).transpose()
}

/// Why a body could not be read.
pub(crate) enum BodyError {
    TooLarge,
    TooSlow,
    Broken,
}

/// The whole body, within a size and the body timeout. Who waits to be told that it may send one that is too large
/// is told at once that it may not: reading would have hyper tell it to go on. Of who does not wait, the rest is read
/// and dropped, `close_bytes` at most: closing with unread input would reset the connection, and a sender that is still
/// writing, such as a proxy, would never see its answer.
pub(crate) async fn body(request: Request<Incoming>, limit: usize, hub: &Hub) -> Result<Bytes, BodyError> {
    let waits = request.headers().contains_key(header::EXPECT);
    if waits && request.body().size_hint().lower() > limit as u64 {
        return Err(BodyError::TooLarge);
    }
    let mut incoming = request.into_body();
    let deadline = Instant::now() + hub.config.limits.body_timeout;
    let collected = Limited::new(&mut incoming, limit).collect();
    match tokio::time::timeout_at(deadline, collected).await {
        Err(_) => Err(BodyError::TooSlow),
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let dropped = drop_rest(&mut incoming, hub.config.limits.close_bytes);
            let _ = tokio::time::timeout_at(deadline, dropped).await;
            Err(BodyError::TooLarge)
        }
        Ok(Err(_)) => Err(BodyError::Broken),
    }
}

async fn drop_rest(body: &mut Incoming, most: usize) {
    let mut left = most;
    while let Some(Ok(frame)) = body.frame().await {
        let Some(rest) = left.checked_sub(frame.data_ref().map_or(0, Bytes::len)) else { return };
        left = rest;
    }
}

/// A query's parameters, percent-decoded; of a repeated one the first counts.
pub(crate) fn query<'a>(request: &'a Request<Incoming>, name: &str) -> Option<std::borrow::Cow<'a, str>> {
    let query = request.uri().query()?;
    let raw = query.split('&').find_map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (key == name).then_some(value)
    })?;
    Some(decode(raw, true))
}

/// Percent-decoding; `plus` also turns `+` into a space, as forms do. What is not valid stays as it is.
pub(crate) fn decode(text: &str, plus: bool) -> std::borrow::Cow<'_, str> {
    if !text.contains(['%', '+']) {
        return text.into();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        let pair = after.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        let hex = pair.filter(|pair| pair.bytes().all(|byte| byte.is_ascii_hexdigit()));
        match (first, hex.and_then(|pair| u8::from_str_radix(pair, 16).ok())) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            (b'+', _) if plus => bytes.push(b' '),
            (byte, _) => bytes.push(*byte),
        }
    }
    String::from_utf8(bytes).map_or_else(|_| text.into(), Into::into)
}

pub(crate) fn number(request: &Request<Incoming>, name: &str) -> Result<Option<u64>, Problem> {
    query(request, name)
        .map(|text| {
            text.parse::<u64>()
                .ok()
                .filter(|number| i64::try_from(*number).is_ok())
                .ok_or_else(|| Problem::bad_request(format!("{name} is a whole number, got `{text}`")))
        })
        .transpose()
}

/// The body of a request that is answered like all others.
pub(crate) async fn body_or_problem(
    request: Request<Incoming>,
    limit: usize,
    hub: &Hub,
) -> Result<Bytes, Problem> {
    body(request, limit, hub).await.map_err(|error| match error {
        BodyError::TooLarge => Problem::new(413, "too_large", format!("a body may have {limit} bytes")),
        BodyError::TooSlow => Problem::new(408, "too_slow", "the body did not arrive in time"),
        BodyError::Broken => Problem::bad_request("the body broke off"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_encoding_is_decoded_and_nonsense_kept() {
        assert_eq!(decode("user1%40example.test", false), "user1@example.test");
        assert_eq!(decode("a+b", true), "a b");
        assert_eq!(decode("a+b", false), "a+b");
        assert_eq!(decode("%EB%B0%A9", true), "방");
        for nonsense in ["%", "%4", "%zz", "%+1", "%ff"] {
            assert_eq!(decode(nonsense, false), nonsense);
        }
    }
}
