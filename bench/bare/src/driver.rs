//! Which loop drives a mode: epoll, or a ring where it was asked for.

use crate::arguments::{Arguments, Target};
use crate::client::Client;
use crate::clock::{MICROSECOND, SECOND, now};
use crate::failure::Failure;
use crate::links::Links;
use crate::opening::{self, Greeting};
use crate::poller::Poller;
use crate::uring::{self, Ring};

/// How a mode's links are received from.
pub(crate) enum Driver {
    Epoll { gather: u64 },
    Uring { batch: usize, gather: u64 },
}

/// How long a round of the ring waits for a full batch, unless `--gather-us` says otherwise.
const BATCH_GATHER: u64 = 500 * MICROSECOND;
/// Past the end it planned, a run is given so long before it counts as stuck.
const GRACE: u64 = 30 * SECOND;

impl Driver {
    /// Takes `--uring`, `--batch` and `--gather-us`; refuses a ring that the kernel forbids before any load.
    pub(crate) fn take(arguments: &mut Arguments) -> Result<Self, Failure> {
        let gather = arguments.microseconds("gather-us")?;
        if !arguments.flag("uring") {
            return Ok(Self::Epoll { gather });
        }
        uring::probe()?;
        let batch = arguments.count("batch", 64)?;
        let gather = if gather == 0 && batch > 1 { BATCH_GATHER } else { gather };
        Ok(Self::Uring { batch, gather })
    }

    /// Opens the WebSockets, then drives the mode that `client` makes of them at the instant the last one stood.
    pub(crate) fn run<C: Client>(
        &self,
        target: &Target,
        connections: usize,
        greeting: Greeting,
        client: impl FnOnce(u64) -> C,
        seconds: u64,
    ) -> Result<C, Failure> {
        let mut links = Links::new(target.address)?;
        let gather = if let Self::Epoll { gather } = self { *gather } else { 0 };
        let mut poller = Poller::new(&links, gather)?;
        opening::open_all(&mut poller, &mut links, target, connections, greeting)?;
        let begun = now();
        let mut client = client(begun);
        let limit = begun + seconds + GRACE;
        match self {
            Self::Epoll { .. } => poller.run(&mut links, &mut client, limit)?,
            Self::Uring { batch, gather } => {
                drop(poller);
                // A socket that stays registered with epoll would pay for both.
                links.epoll = None;
                Ring::new(links.len(), *batch, *gather)?.run(&mut links, &mut client, limit)?;
            }
        }
        Ok(client)
    }
}
