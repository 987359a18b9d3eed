//! Renders runs: the console summary and live line, one JSON document, the table of a matrix, a capacity and its curve,
//! the run folder, a table of its seconds.
//!
//! Pure rendering: text out of [`sonagi_measure`]'s documents, written to whatever `Write` the caller gives. It never
//! prints, never reads argv or the environment, and never touches the target. A reader might ask why the run folder's
//! sink lives here and its format in `measure`: the format is read back by tools that render nothing; *when* to write
//! it is one more way of following a run, like the live line beside it.
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod capacity;
mod choice;
pub mod comparison;
pub mod console;
pub mod diagnosis;
pub mod figures;
pub mod html;
pub mod json;
pub mod lines;
pub mod matrix;
mod page;
pub mod plot;
pub mod progress;
pub mod sink;
pub mod table;
mod target;

pub use capacity::Capacity;
pub use matrix::Matrix;
pub use sink::{Sink, SinkEvent, Sinks};
