//! How a run is carried out, and why it cannot be.

use sonagi_measure::ledger::Rules;
use sonagi_measure::totals::Header;
use std::sync::Arc;
use tokio::time::Instant;

use crate::dialect::Dialect;
use crate::health;
use crate::watcher::Watcher;

/// How a run is carried out.
#[derive(Clone, Debug)]
pub struct Options {
    /// The header of the run's record; it says how many threads generate load.
    pub header: Header,
    /// How the ledger judges.
    pub rules: Rules,
    /// Local addresses that connections come from, if not one of the kernel's choice: each has all ports to itself.
    pub source_addresses: usize,
    /// When the run began.
    pub epoch: Instant,
    /// Whoever looks at the target meanwhile.
    pub watcher: Option<Arc<dyn Watcher>>,
}

impl Options {
    /// The options of a run that began at `epoch`, without a watcher. To the header it adds what is the same for every
    /// run: the generator's version and machine, the ledger's deadline, and the sub-metrics of the dialect's registry.
    pub fn new(dialect: &impl Dialect, header: Header, rules: Rules, epoch: Instant) -> Options {
        let submetrics = dialect.metrics().submetrics();
        let header = Header {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            environment: health::environment(),
            cores: health::cores(),
            deadline_ms: rules.deadline_ns as f64 / 1e6,
            submetrics: submetrics.iter().map(|one| one.name.to_string()).collect(),
            ..header
        };
        let source_addresses = dialect.net(None).source_addresses.len();
        Options { header, rules, source_addresses, epoch, watcher: None }
    }
}

/// Why a run could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum Error<E> {
    /// A thread, timer or runtime could not be had.
    #[error("the generator could not start: {0}")]
    Start(#[from] std::io::Error),
    /// The network could not be set up (certificates, source addresses).
    #[error("the generator could not set up its network: {0}")]
    Network(String),
    /// The dialect says why.
    #[error(transparent)]
    Dialect(E),
}
