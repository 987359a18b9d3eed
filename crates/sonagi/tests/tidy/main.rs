//! Holds what no compiler holds: which crate may know which, how long a file may be, and what the
//! repository's text must not say.
//!
//! It reads the tree on disk, not the version control's index: a rule broken by a file that is not committed yet is
//! found before the commit. It is no style checker; rustfmt and clippy are.
//!
//! Rust is read by a lexer of thirty lines (`source`) and not by a parser: the rules need words outside of strings
//! and comments, and matching braces, nothing else.

#![allow(clippy::unwrap_used, missing_docs)]

mod arrows;
mod columns;
mod layers;
mod lengths;
mod libraries;
mod orders;
mod source;
mod text;
mod tree;
