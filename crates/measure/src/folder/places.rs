//! What the engine counts in a second, and where it belongs in a snapshot: operations and scenarios have names in a
//! folder, and places in a snapshot.

use std::collections::HashMap;
use std::sync::Arc;

use crate::metrics::TagSet;
use crate::outcome::{Failure, OperationId};
use crate::recorder::{Counter, FailureCount, merge_failure};
use crate::totals::{Header, Snapshot};

/// One of the engine's counts. Operations and scenarios are places in the header.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Count {
    /// What has a row of its own.
    Named(Counter),
    /// Operations that failed.
    Failed(usize),
    /// Operations that have no time.
    Unanswered(usize),
    /// Answers to an operation, by status.
    Answers(usize, u16),
    /// Responses, by status.
    Code(u16),
    /// Failures by kind; `called` may be empty.
    Error { operation: Option<usize>, failure: Failure, called: String },
    /// Users created, by scenario.
    Created(usize),
}

/// The metrics of counts, beside those of counters.
const FAILED: &str = "operations.failed";
const UNANSWERED: &str = "operations.unanswered";
const ANSWERS: &str = "operations.answers";
const CODES: &str = "http.codes";
const ERRORS: &str = "errors";
const CREATED: &str = "users.created";

impl Count {
    /// What was counted in a second; what is zero is left out.
    pub(crate) fn all(snapshot: &Snapshot, header: &Header) -> Vec<(Count, u64)> {
        let named = Counter::all().map(|counter| (Count::Named(counter), snapshot.counters[counter]));
        let mut all: Vec<(Count, u64)> = named.collect();
        for (id, timings) in snapshot.operations.iter().enumerate().take(header.operations.len()) {
            all.extend([(Count::Failed(id), timings.failed), (Count::Unanswered(id), timings.unanswered)]);
            let codes = timings.answers.codes().into_iter();
            all.extend(codes.map(|(code, count)| (Count::Answers(id, code), count)));
        }
        all.extend(snapshot.codes.iter().map(|(code, count)| (Count::Code(*code), *count)));
        for FailureCount { operation, failure, called, count, .. } in &snapshot.failures {
            let operation = operation.map(|id| usize::from(id.0)).filter(|id| *id < header.operations.len());
            all.push((Count::Error { operation, failure: *failure, called: called.clone() }, *count));
        }
        let scenarios = snapshot.scenarios.iter().enumerate().take(header.scenarios.len());
        all.extend(scenarios.map(|(scenario, created)| (Count::Created(scenario), *created)));
        all.retain(|(_, number)| *number > 0);
        all
    }

    /// Its metric and tags in a folder.
    pub(crate) fn name(&self, header: &Header) -> (&'static str, TagSet) {
        let of = |id: usize| ("operation", header.operations[id].name.as_str());
        match self {
            Count::Named(counter) => (counter.name(), TagSet::default()),
            Count::Failed(id) => (FAILED, TagSet::of(&[of(*id)])),
            Count::Unanswered(id) => (UNANSWERED, TagSet::of(&[of(*id)])),
            Count::Answers(id, code) => (ANSWERS, TagSet::of(&[("code", &code.to_string()), of(*id)])),
            Count::Code(code) => (CODES, TagSet::of(&[("code", &code.to_string())])),
            Count::Error { operation, failure, called } => {
                let operation = operation.map_or("", |id| of(id).1);
                let tags = [("code", &*failure.code()), ("called", called), ("operation", operation)];
                let tags: Vec<(&str, &str)> =
                    tags.into_iter().filter(|(_, value)| !value.is_empty()).collect();
                (ERRORS, TagSet::of(&tags))
            }
            Count::Created(scenario) => (CREATED, TagSet::of(&[("scenario", &header.scenarios[*scenario])])),
        }
    }

    /// Enters a number of it.
    pub(super) fn enter(&self, number: u64, snapshot: &mut Snapshot) {
        match self {
            Count::Named(counter) => snapshot.counters.add(*counter, number),
            Count::Failed(id) => snapshot.operations[*id].failed += number,
            Count::Unanswered(id) => snapshot.operations[*id].unanswered += number,
            Count::Answers(id, code) => snapshot.operations[*id].answers.count(*code, number),
            Count::Code(code) => *snapshot.codes.entry(*code).or_default() += number,
            Count::Error { operation, failure, called } => {
                let operation = operation.map(|id| OperationId(id as u16));
                let none = FailureCount::none(operation, *failure);
                let failed = FailureCount { count: number, called: called.clone(), ..none };
                merge_failure(&mut snapshot.failures, &failed);
            }
            Count::Created(scenario) => snapshot.scenarios[*scenario] += number,
        }
    }
}

/// The operations and scenarios of a run by name.
pub(super) struct Places {
    header: Arc<Header>,
    operations: HashMap<String, usize>,
    scenarios: HashMap<String, usize>,
}

impl Places {
    pub(super) fn new(header: &Arc<Header>) -> Arc<Places> {
        let operations = header.operations.iter().enumerate().map(|(i, o)| (o.name.clone(), i)).collect();
        let scenarios = header.scenarios.iter().enumerate().map(|(i, name)| (name.clone(), i)).collect();
        Arc::new(Places { header: Arc::clone(header), operations, scenarios })
    }

    /// A second in which nothing happened.
    pub(super) fn blank(&self, second: u64) -> Snapshot {
        Snapshot::blank(second, self.header.operations.len(), self.header.scenarios.len())
    }

    pub(super) fn operation(&self, name: &str) -> Option<usize> {
        self.operations.get(name).copied()
    }

    pub(super) fn scenario(&self, name: &str) -> Option<usize> {
        self.scenarios.get(name).copied()
    }

    /// The count of this metric and tags; None: it is not ours, or of an operation that the run does not have.
    pub(super) fn count(&self, metric: &str, tags: &TagSet) -> Option<Count> {
        let code = || tags.get("code")?.parse().ok();
        let operation = || self.operation(tags.get("operation")?);
        Some(match metric {
            FAILED => Count::Failed(operation()?),
            UNANSWERED => Count::Unanswered(operation()?),
            ANSWERS => Count::Answers(operation()?, code()?),
            CODES => Count::Code(code()?),
            ERRORS => {
                let failure = Failure::from_code(tags.get("code")?)?;
                let called = tags.get("called").unwrap_or_default().to_owned();
                Count::Error { operation: operation(), failure, called }
            }
            CREATED => Count::Created(self.scenario(tags.get("scenario")?)?),
            metric => Count::Named(Counter::named(metric)?),
        })
    }
}
