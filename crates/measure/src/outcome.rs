//! The outcomes of operations. A target that refuses, stalls or talks nonsense is an outcome: data, counted.
//!
//! The vocabulary is closed: every [`Failure`] has one row, which says all that is known of it. Failures are told apart
//! by what happened, never by the text of an error message.

mod failure;
mod operation;

pub use failure::{FAILURES, Failure, FailureEntry};
pub use operation::{CountedAs, Operation, OperationId, OperationKind, TaggedId};

use crate::at::At;

/// The three instants of an operation, and a response's first byte where there is one.
/// Response time = `ended - planned`; service time = `ended - started`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// When the schedule wanted it.
    pub planned: At,
    /// When it really began.
    pub started: At,
    /// When the first byte of the answer came, where that is known.
    pub first_byte: Option<At>,
    /// When it was over; a timed-out operation ends at its limit.
    pub ended: At,
}

/// The outcome of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The operation succeeded.
    Ok,
    /// An HTTP response with this status. A 500 is an answer, not a failure of the operation.
    Status(u16),
    /// The operation failed.
    Failed(Failure),
}
