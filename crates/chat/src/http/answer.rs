//! Answers over HTTP.

use bytes::Bytes;
use hyper::header::{self, HeaderValue};
use hyper::{Method, Response, StatusCode};

use super::content::Content;
use crate::problem::Problem;

pub(crate) type Answer = Response<Content>;

pub(crate) fn wrong_method(method: &Method, allowed: &str) -> Problem {
    Problem::new(405, "method_not_allowed", format!("this path takes {allowed}, got {method}"))
}

pub(crate) fn empty(status: StatusCode) -> Answer {
    with(status, "", Bytes::new())
}

pub(crate) fn json(status: StatusCode, body: impl Into<Bytes>) -> Answer {
    with(status, "application/json", body.into() as Bytes)
}

pub(crate) fn text(body: impl Into<Bytes>) -> Answer {
    with(StatusCode::OK, "text/plain; charset=UTF-8", body.into() as Bytes)
}

/// An answer of a content type of its own.
pub(crate) fn ok(content_type: &'static str, content: impl Into<Content>) -> Answer {
    with(StatusCode::OK, content_type, content)
}

fn with(status: StatusCode, content_type: &'static str, content: impl Into<Content>) -> Answer {
    let mut answer = Response::new(content.into());
    *answer.status_mut() = status;
    if !content_type.is_empty() {
        answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    }
    answer.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

pub(crate) fn refuse(problem: &Problem) -> Answer {
    let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut answer = json(status, format!(r#"{{"error":{{{}}}}}"#, problem.fields()));
    if let Some(seconds) = problem.retry_after {
        answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    answer
}

/// A JSON value.
pub(crate) fn value(value: &serde_json::Value) -> Answer {
    json(StatusCode::OK, value.to_string())
}
