//! The state of a user in `k6/http`: its connections, its cookies, and the statuses it expects.

use sonagi_transport::http::{Client, Jar};
use std::cell::RefCell;
use std::rc::Rc;

use super::address::RecentAddresses;
use super::expected_statuses::Expected;
use super::tags::LastTags;
use crate::vu::Vu;

/// Clients a user keeps: requests that go side by side need one each.
const CLIENTS: usize = 32;

/// The state of a user in `k6/http`.
#[derive(Default)]
pub(crate) struct HttpState {
    clients: RefCell<Vec<Client>>,
    pub(crate) jar: RefCell<Rc<RefCell<Jar>>>,
    pub(super) expected: RefCell<Expected>,
    pub(super) tags: RefCell<LastTags>,
    pub(super) addresses: RecentAddresses,
}

impl HttpState {
    /// A client that is free, with the connections it has.
    pub(super) fn client(&self, vu: &Rc<Vu>) -> Client {
        let free = self.clients.borrow_mut().pop();
        free.unwrap_or_else(|| {
            let clock = Rc::clone(vu.clock());
            Client::new(Rc::clone(&vu.shard.net), None, Rc::new(move || clock.now()))
        })
    }

    pub(super) fn put_back(&self, client: Client) {
        let mut clients = self.clients.borrow_mut();
        if clients.len() < CLIENTS {
            clients.push(client);
        }
    }

    /// The iteration is over: the next one begins without cookies, and without connections where the test wants that.
    pub(crate) fn end_iteration(&self, vu: &Vu) {
        let options = &vu.shard.common.options;
        if !options.no_cookies_reset {
            self.jar.replace(Rc::default());
        }
        if options.no_vu_connection_reuse {
            self.clients.take();
        }
    }
}
