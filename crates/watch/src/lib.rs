//! Watches the target of a run: what its processes, host, databases and metrics pages say, once a second.
//!
//! A [`Probe`] looks at one thing. [`Watch`] gives each probe a thread, has it look once a second on the run's clock,
//! and hands its observations over as an interval of metrics, like those of the load itself: thresholds, outputs, the
//! run folder and the page treat both alike. What cannot be read is never 0: it is left out, and told once with the
//! reason.
//!
//! A probe is a file in `probes` and a row in [`probes::TABLE`]; its metrics are rows in `sonagi_measure::watched`.
//!
//! ```no_run
//! use sonagi_watch::{Probe, Watch, probes};
//!
//! let probes = vec![probes::probe("port:3000")?];
//! let watch = Watch::start(probes, &Default::default(), std::time::Instant::now())?;
//! std::thread::sleep(std::time::Duration::from_secs(2));
//! println!("{} series", watch.take().interval.series.len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod machine;
mod observations;
mod probe;
pub mod probes;
mod second;
mod watch;

pub use probe::{Note, Probe, Readings, Unread};
pub use second::{Measured, Second, Told};
pub use watch::{Taken, Watch};
