//! The plan of a run, with every name resolved: the one thing a script language hands to the engine.
//!
//! A plan is validated when it exists: front ends report problems, the engine only meets values. Step names are
//! interned as [`OperationId`]s; text with holes is compiled to [`Template`]s.

pub(crate) mod address;
mod captured;
mod crowd;
pub mod endpoint;
pub mod expect;
pub mod hooks;
pub mod multipart;
pub(crate) mod prepared;
pub mod request;
mod seconds;
pub mod source;
pub mod step;
pub mod template;
pub mod transports;

pub use address::address;
pub use endpoint::{Endpoint, Naming, Told};
pub use expect::{Demand, Expectation, Expectations};
pub use hooks::{Call, Condition, Hooks, Processor, ProcessorFile, Rewrite};
pub use multipart::{FormPart, PartContent};
pub use prepared::Prepared;
pub(crate) use prepared::{basic, content_type, keep, own_headers};
pub use request::*;
pub use seconds::seconds_of;
pub use source::{Awaited, Capture, Match, OpenSource, Search, Source};
pub use step::*;
pub use template::{Expression, Function, JsonTemplate, Template, ValueTemplate};
pub use transports::*;

use serde_json::Value;
use sonagi_measure::ledger;
use sonagi_measure::outcome::{Operation, OperationId};
use sonagi_measure::plugins::Plugins;
use sonagi_measure::thresholds::Threshold;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::schedule::Load;

/// An expression over a user's variables: what decides whether a step is taken.
pub type Formula = sonagi_measure::expression::Expression<Expression>;

/// A whole run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Short name of the run, e.g. the script's file stem.
    pub name: String,
    /// Base of relative URLs, e.g. `http://127.0.0.1:8080`.
    pub target: String,
    /// When users arrive, or how many iterate.
    pub load: Load,
    /// At least one; picked per user by weight.
    pub scenarios: Vec<Scenario>,
    /// Run once, by one user, before the first arrival; what it sets is seen by all users. A failure ends the run.
    pub before: Vec<Step>,
    /// Run once after the last user ended.
    pub after: Vec<Step>,
    /// Each user gets one of the values, picked at random (one value: a constant).
    pub variables: Vec<(String, Vec<Value>)>,
    /// Rows handed to users.
    pub payloads: Vec<Payload>,
    /// Defaults of the HTTP client.
    pub http: HttpOptions,
    /// Defaults of WebSocket connections.
    pub websocket: WebsocketOptions,
    /// Defaults of Socket.IO sessions.
    pub socketio: SocketioOptions,
    /// Whether certificates are checked (`tls.rejectUnauthorized`).
    pub verify_certificates: bool,
    /// Rules of the delivery ledger; None when no message is stamped.
    pub delivery: Option<ledger::Rules>,
    /// How a lost connection is opened again; None: not at all.
    pub reconnect: Option<Reconnect>,
    /// The JSON member of received messages whose number is `$cursor` (`seq`, say): the largest one seen.
    pub cursor: Option<String>,
    /// How long a finished user of a room keeps its connection open so that copies under way can arrive. Default 5 s.
    pub drain: Duration,
    /// What is looked at while the load goes on, each in the words of `--watch`.
    pub watch: Vec<String>,
    /// Whether a template whose variable has no value fails its user. Else the value is written as JavaScript writes
    /// it: `undefined` in a text, and a header or member of an object that would be nothing else is left out.
    pub unset_fails: bool,
    /// Variables that nothing sets, for which that holds in any case: nobody can have set them.
    pub undefined: BTreeSet<String>,
    /// The functions users call; None: there are none.
    pub processor: Option<Processor>,
    /// The author's demands on the summary.
    pub thresholds: Vec<Threshold>,
    /// The settings of plugins for the figures.
    pub plugins: Plugins,
    /// Names and kinds of all operations, indexed by `OperationId`.
    pub operations: Vec<Operation>,
    /// Operations as steps with tags take them, indexed by `TaggedId`.
    pub tagged: Vec<Tagged>,
    /// What is told apart by tags: names of sub-metrics (`http.response_time{page:list}`), each once.
    pub submetrics: Vec<String>,
    /// The script as its author would recognise it, for `run.json` (secrets are removed when it is written).
    pub source: Value,
}

impl Plan {
    /// A plan that does nothing; front ends and tests fill in what they know.
    pub fn empty() -> Plan {
        Plan {
            name: String::new(),
            target: String::new(),
            load: Load::Open { phases: Vec::new(), spacing: crate::schedule::Spacing::Even },
            scenarios: Vec::new(),
            before: Vec::new(),
            after: Vec::new(),
            variables: Vec::new(),
            payloads: Vec::new(),
            http: HttpOptions::default(),
            websocket: WebsocketOptions::default(),
            socketio: SocketioOptions::default(),
            verify_certificates: true,
            delivery: None,
            reconnect: None,
            cursor: None,
            drain: Duration::from_secs(5),
            watch: Vec::new(),
            unset_fails: true,
            undefined: BTreeSet::new(),
            processor: None,
            thresholds: Vec::new(),
            plugins: Plugins::default(),
            operations: Vec::new(),
            tagged: Vec::new(),
            submetrics: Vec::new(),
            source: Value::Null,
        }
    }
}

/// An operation as steps with the same tags take it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tagged {
    /// Which.
    pub operation: OperationId,
    /// The steps' tags and their scenario's, by name.
    pub tags: BTreeMap<String, String>,
}

/// The scenario of one kind of user.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The script's name for it; counted in the summary.
    pub name: String,
    /// Relative share of users, > 0.
    pub weight: f64,
    /// Walked once per user, or again and again in a closed run.
    pub flow: Vec<Step>,
}

/// Rows of a CSV file (or one JSON array of objects).
#[derive(Clone, Debug)]
pub struct Payload {
    /// Variable names, one per column; none where all rows go by one name.
    pub fields: Vec<String>,
    /// Each as long as `fields`.
    pub rows: Vec<Vec<Value>>,
    /// The order in which users get rows.
    pub order: RowOrder,
    /// `loadAll`: the user gets all rows as one array of objects under this name instead of one row.
    pub all_as: Option<String>,
}

impl Payload {
    /// All rows as one array of objects; of arrays, where columns have no names.
    pub fn all(&self) -> Value {
        let object = |row: &Vec<Value>| match self.fields.is_empty() {
            true => Value::Array(row.clone()),
            false => self.fields.iter().cloned().zip(row.iter().cloned()).collect::<Value>(),
        };
        self.rows.iter().map(object).collect()
    }
}

/// The order in which users get rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowOrder {
    /// User n gets row n modulo the number of rows, counted over all shards: no row repeats before all were used.
    Sequence,
    /// Any row, drawn for each user.
    Random,
}
