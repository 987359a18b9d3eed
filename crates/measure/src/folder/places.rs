//! Where the numbers of a folder belong in a snapshot: operations and scenarios have names there, and places here.

use std::collections::HashMap;

use crate::outcome::{Failure, OperationId};
use crate::recorder::{FailureCount, Timings, merge_failure};
use crate::totals::{Header, Snapshot};

/// The operations and scenarios of a run by name.
pub(super) struct Places<'a> {
    header: &'a Header,
    operations: HashMap<&'a str, usize>,
    scenarios: HashMap<&'a str, usize>,
}

impl<'a> Places<'a> {
    pub(super) fn new(header: &'a Header) -> Places<'a> {
        let operations = header.operations.iter().enumerate().map(|(i, o)| (o.name.as_str(), i)).collect();
        let scenarios = header.scenarios.iter().enumerate().map(|(i, name)| (name.as_str(), i)).collect();
        Places { header, operations, scenarios }
    }

    /// A second in which nothing happened.
    pub(super) fn blank(&self, second: u64) -> Snapshot {
        let mut snapshot = Snapshot { second, ..Snapshot::default() };
        snapshot.operations.resize_with(self.header.operations.len(), Timings::default);
        snapshot.scenarios.resize(self.header.scenarios.len(), 0);
        snapshot
    }

    pub(super) fn operation(&self, name: &str) -> Option<OperationId> {
        self.operations.get(name).map(|&id| OperationId(id as u16))
    }

    /// Changes what is known of an operation; nothing, when the run has none of this name.
    pub(super) fn change(&self, snapshot: &mut Snapshot, operation: &str, change: impl FnOnce(&mut Timings)) {
        if let Some(&id) = self.operations.get(operation) {
            change(&mut snapshot.operations[id]);
        }
    }

    /// Users of a scenario were created.
    pub(super) fn created(&self, snapshot: &mut Snapshot, scenario: &str, count: u64) {
        if let Some(&id) = self.scenarios.get(scenario) {
            snapshot.scenarios[id] += count;
        }
    }

    /// Something failed so often; `called` may be empty.
    pub(super) fn failed(
        &self,
        snapshot: &mut Snapshot,
        (code, called): (&str, &str),
        operation: Option<&str>,
        count: u64,
    ) {
        let Some(failure) = Failure::from_code(code) else { return };
        let operation = operation.and_then(|name| self.operation(name));
        let called = called.to_owned();
        let failed = FailureCount { count, called, ..FailureCount::none(operation, failure) };
        merge_failure(&mut snapshot.failures, &failed);
    }
}
