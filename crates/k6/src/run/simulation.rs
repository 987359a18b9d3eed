//! A test's scenarios without kernel, threads and clock: real executors, users and clients over in-memory pipes, on
//! the runtime's own time, so that every instruction is the same in each run.
//!
//! Public for those who count what a script costs (`bench/counts`); no run of a user comes here. What it leaves out:
//! `setup` and `teardown`, the collector, thresholds and the summary.

use sonagi_engine::Dialect;
use sonagi_measure::At;
use sonagi_measure::recorder::{Record, Recorder};
use sonagi_transport::clock::Clock;
use sonagi_transport::net::Net;
use std::rc::Rc;
use std::sync::Arc;
use tokio::io::DuplexStream;
use tokio::time::Instant;

use super::{Test, traffic};
use crate::executor::Abort;
use crate::shard::OPERATIONS;

impl Test {
    /// Runs its scenarios to their end on this thread, and returns what was measured; `server` is handed the far end of
    /// each connection, usually to spawn a local task on it. Call it on a current-thread runtime whose time is paused,
    /// or time passes as it does outside.
    ///
    /// # Panics
    /// When the init code throws, which it did not when the script was read.
    pub async fn simulate(self, server: impl Fn(DuplexStream) + 'static) -> Record {
        let abort = Arc::new(Abort::default());
        let dialect = self.dialect();
        let recorder = Recorder::sharing(OPERATIONS.len(), self.options().scenarios.len(), dialect.metrics());
        let (clock, net) = (Clock::simulated(Instant::now()), Rc::new(Net::simulated(server)));
        let control = abort.control().clone();
        let kernel = Rc::new(sonagi_engine::Shard::new(Rc::clone(&clock), net, control, recorder, |_| {}));
        let local = tokio::task::LocalSet::new();
        local
            .run_until(async {
                tokio::task::spawn_local(clock.drive());
                let users = match dialect.prepare(&kernel, None).await {
                    Ok(users) => users,
                    Err(why) => panic!("{why}"),
                };
                dialect.begin(kernel.clock.now(), At(0), None, &abort);
                dialect.load(&users).await;
                let observed = dialect.observed(&users);
                let mut record = kernel.take();
                traffic::count(&observed, &dialect.metrics(), &mut record.counters);
                Record { metrics: observed, ..record }
            })
            .await
    }
}
