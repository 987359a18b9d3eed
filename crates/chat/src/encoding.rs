//! How messages and answers are written for each wire.

pub(crate) mod form;
