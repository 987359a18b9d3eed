//! Requests and answers of HTTP, as every path of the service reads and writes them. Which path leads where is
//! `server`'s.

pub(crate) mod answer;
pub(crate) mod content;
pub(crate) mod request;
pub(crate) mod slot;
pub(crate) mod write_timeout;

pub(crate) use answer::{Answer, empty, json, ok, refuse, text, value, wrong_method};
pub(crate) use request::{BodyError, bearer, body, body_or_problem, decode, number, query, visitor};
pub(crate) use slot::Slot;
