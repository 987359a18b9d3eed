//! Name resolution, once per shard: a thousand users who arrive together ask the resolver once.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

use sonagi_measure::outcome::Failure;
use tokio::sync::OnceCell;

use super::{Failed, Origin};

/// Names asked for so far; a failed answer is not kept.
#[derive(Default)]
pub(super) struct Resolver {
    names: RefCell<HashMap<(String, u16), Resolution>>,
}

/// One name's answer, perhaps still awaited.
type Resolution = Rc<OnceCell<Rc<Name>>>;

/// Distinct names (with ports) one shard remembers; a script that makes up more of them asks again each time.
const MAX_NAMES: usize = 1024;

/// A name's addresses and which of them answered last.
pub(super) struct Name {
    addresses: Box<[SocketAddr]>,
    preferred: Cell<usize>,
}

impl Name {
    /// An address in place of a name: it needs no resolver.
    pub(super) fn of(address: SocketAddr) -> Name {
        Name { addresses: Box::new([address]), preferred: Cell::new(0) }
    }

    /// All addresses, in the resolver's order.
    pub(super) fn found(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// All addresses, the one that answered last first.
    pub(super) fn addresses(&self) -> impl Iterator<Item = SocketAddr> {
        let preferred = self.preferred.get();
        let (before, from) = self.addresses.split_at(preferred);
        from.iter().chain(before).copied()
    }

    pub(super) fn prefer(&self, address: SocketAddr) {
        if let Some(index) = self.addresses.iter().position(|&known| known == address) {
            self.preferred.set(index);
        }
    }
}

impl Resolver {
    pub(super) async fn resolve(&self, origin: &Origin) -> Result<Rc<Name>, Failed> {
        if let Ok(address) = origin.host.parse::<IpAddr>() {
            return Ok(Rc::new(Name::of(SocketAddr::new(address, origin.port))));
        }
        let cell = {
            let mut names = self.names.borrow_mut();
            if names.len() >= MAX_NAMES {
                names.clear();
            }
            names.entry((origin.host.clone(), origin.port)).or_default().clone()
        };
        cell.get_or_try_init(|| look_up(origin)).await.cloned()
    }
}

async fn look_up(origin: &Origin) -> Result<Rc<Name>, Failed> {
    let failed = |detail: String| {
        Failed::new(
            Failure::NameNotResolved,
            format!("name {:?} could not be resolved: {detail}", origin.host),
        )
    };
    let found = tokio::net::lookup_host((origin.host.as_str(), origin.port))
        .await
        .map_err(|error| failed(error.to_string()))?;
    let addresses: Box<[SocketAddr]> = found.collect();
    if addresses.is_empty() {
        return Err(failed("it has no address".into()));
    }
    Ok(Rc::new(Name { addresses, preferred: Cell::new(0) }))
}
