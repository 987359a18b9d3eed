//! Sources in a throw-away folder, made ready and really run by the Node on PATH.

#![allow(clippy::unwrap_used, missing_docs)]

mod commonjs;
mod faults;
mod files;
mod imports;
mod language;
mod support;
