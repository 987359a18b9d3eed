//! Encodings: messages and answers as each wire has them.

pub(crate) mod form;
pub(crate) mod sse;
pub(crate) mod stomp;
