//! How often operations failed: by what was done, how it failed and what that is called.
//!
//! Most are counted under the failure's own name. Functions of a script choose names themselves, and a number in a
//! message would make a count per number: so there are at most [`CALLED_MAX`] such names, and further ones count under
//! their failure's.

use crate::at::At;
use crate::outcome::{Failure, OperationId};
use crate::secrets::masked;

/// Names of a run that are not those of failures.
pub const CALLED_MAX: usize = 200;

/// Longest example kept, and longest name, in bytes.
pub const EXAMPLE_BYTES: usize = 200;

/// How often an operation failed in one way, and the first time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureCount {
    /// The operation; None for a failure outside any timed operation.
    pub operation: Option<OperationId>,
    /// The failure.
    pub failure: Failure,
    /// What the script's language or functions call it, where that is not the failure's own name; else empty.
    pub called: String,
    /// How often.
    pub count: u64,
    /// The first time.
    pub first_at: At,
    /// The first example's text (≤ 200 bytes), or empty.
    pub example: String,
    /// When that was; meaningless without an example.
    pub example_at: At,
}

impl FailureCount {
    /// None yet.
    pub fn none(operation: Option<OperationId>, failure: Failure) -> FailureCount {
        FailureCount {
            operation,
            failure,
            called: String::new(),
            count: 0,
            first_at: UNKNOWN,
            example: String::new(),
            example_at: UNKNOWN,
        }
    }

    /// Whether both are about the same.
    pub(crate) fn is_like(&self, other: &FailureCount) -> bool {
        self.is(other.operation, other.failure, &other.called)
    }

    fn is(&self, operation: Option<OperationId>, failure: Failure, called: &str) -> bool {
        self.operation == operation && self.failure == failure && self.called == called
    }

    /// Adds `other`, which is about the same. The earliest example stays, whatever the order of merging.
    pub fn merge(&mut self, other: &FailureCount) {
        self.count += other.count;
        self.first_at = self.first_at.min(other.first_at);
        let key = |f: &FailureCount| (f.example.is_empty(), f.example_at);
        if (key(other), &other.example) < (key(self), &self.example) {
            self.example.clone_from(&other.example);
            self.example_at = other.example_at;
        }
    }
}

/// Adds `failure` to a list that has one entry per operation, failure and name.
pub fn merge_failure(list: &mut Vec<FailureCount>, failure: &FailureCount) {
    entry(list, failure.operation, failure.failure, &failure.called).merge(failure);
}

/// The entry of such a list; a new one where there is none yet.
pub(crate) fn entry<'l>(
    list: &'l mut Vec<FailureCount>,
    operation: Option<OperationId>,
    failure: Failure,
    called: &str,
) -> &'l mut FailureCount {
    let called = shortened(called.to_owned());
    if let Some(index) = list.iter().position(|entry| entry.is(operation, failure, &called)) {
        return &mut list[index];
    }
    if !called.is_empty() && list.iter().filter(|entry| !entry.called.is_empty()).count() >= CALLED_MAX {
        return entry(list, operation, failure, "");
    }
    list.push(FailureCount { called, ..FailureCount::none(operation, failure) });
    let last = list.len() - 1;
    &mut list[last]
}

/// Takes one off that was counted without a name.
pub(crate) fn take_back(list: &mut Vec<FailureCount>, operation: Option<OperationId>, failure: Failure) {
    let Some(index) = list.iter().position(|entry| entry.is(operation, failure, "")) else { return };
    list[index].count -= 1;
    if list[index].count == 0 {
        list.remove(index);
    }
}

/// Stands for "not told"; the collector replaces it by the end of the interval.
pub(crate) const UNKNOWN: At = At(i64::MAX);

/// An example as it is kept: without secrets, and short.
pub(crate) fn kept(example: &str) -> String {
    shortened(masked(example))
}

fn shortened(mut example: String) -> String {
    if example.len() > EXAMPLE_BYTES {
        let mut end = EXAMPLE_BYTES - '…'.len_utf8();
        while !example.is_char_boundary(end) {
            end -= 1;
        }
        example.truncate(end);
        example.push('…');
    }
    example
}
