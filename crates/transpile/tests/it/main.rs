//! Sources in a throw-away folder, made ready and really run by the Node on PATH.

mod commonjs;
mod faults;
mod files;
mod imports;
mod language;
mod support;
