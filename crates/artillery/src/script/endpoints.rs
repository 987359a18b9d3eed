//! How requests are told by endpoint (`metrics-by-endpoint`), and which endpoints were found so far.

use crate::plan::Naming;
use sonagi_measure::outcome::OperationId;
use sonagi_measure::plugins::Plugins;

use crate::names::endpoint_prefix;

/// How requests are told by endpoint, and what was found so far.
#[derive(Default)]
pub(crate) struct Endpoints {
    /// Whether the script names the plugin: `server-timing` is not looked for else.
    pub(super) is_asked: bool,
    pub(super) naming: Naming,
    /// By the address each request asks for, not by the path as it is written.
    pub(crate) by_address: bool,
    pub(super) prefix: String,
    pub(super) of: Vec<Option<String>>,
}

impl Endpoints {
    /// Prefix and names, for the plan.
    pub(crate) fn into_plan(self, plugins: Plugins) -> Plugins {
        Plugins { endpoint_prefix: self.prefix, endpoints: self.of, ..plugins }
    }

    /// The beginning of the names.
    pub(super) fn prefix(&self) -> String {
        endpoint_prefix(&self.prefix)
    }

    /// Every name that metrics of endpoints begin with.
    pub(crate) fn stems(&self) -> Vec<String> {
        let prefix = self.prefix();
        let of = |name: &String| {
            ["response_time.", "server-timing.", ""].map(|what| format!("{prefix}.{what}{name}"))
        };
        self.of.iter().flatten().flat_map(of).collect()
    }

    /// Whether requests that are one operation would be different endpoints: of the figures of one no other can be
    /// told.
    pub(super) fn is_other(&self, operation: OperationId, called: &str) -> bool {
        let known = self.of.get(usize::from(operation.0)).and_then(Option::as_deref);
        self.is_asked && known.is_some_and(|known| known != called)
    }

    /// A request's endpoint; the first counts for requests that are one operation.
    pub(super) fn note(&mut self, operation: OperationId, called: Option<String>) {
        let id = usize::from(operation.0);
        if self.of.len() <= id {
            self.of.resize(id + 1, None);
        }
        if self.of[id].is_none() {
            self.of[id] = called;
        }
    }
}
