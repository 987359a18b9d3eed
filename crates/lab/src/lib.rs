//! Starts the services of runs, limits them, and ends them whatever happens; restarts those that run already, and gives
//! them their own settings back.
//!
//! A *keeper* stands between us and the service: a small process of this same binary that starts the service, limits
//! it, hears what it prints and ends its whole tree, daemons included. It holds one end of a pipe whose other end only
//! we have, so it also ends everything when we are killed. The one decision a reader would question: it is a process
//! and not a thread, because nothing in a process survives that process's SIGKILL.
//!
//! Nothing here knows a script language, prints, or reads the command line: the binary hands over what a script says as
//! JSON ([`read`]) and starts itself as the keeper ([`keep`]) and as what the service is started by ([`start`]).
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod affinity;
mod cgroup;
mod credits;
mod host;
mod job;
mod keeper;
mod kept;
mod launched;
mod log;
mod ports;
mod proxy;
mod read;
mod ready;
mod service_lock;
mod settings;
mod starter;
mod tree;
mod units;

pub use job::{Ended, Job, KEEPER, RestartJob, STARTER};
pub use keeper::keep;
pub use kept::{Kept, Remark};
pub use launched::{LaunchError, Launched};
pub use log::Stream;
pub use proxy::{Lateness, Proxy};
pub use read::{KEYS, Mistake, read};
pub use settings::{Command, Credits, Launch, Limits, Network, ReadBack, Ready, Restart, Stop, StopBy};
pub use starter::start;
pub use tree::Used;
