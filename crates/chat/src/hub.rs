//! Everything the parts of a running service share, and two of the three things every transport asks of it: leave and
//! say. To join is in `join`.

pub(crate) mod elsewhere;
pub(crate) mod failures;
pub(crate) mod gathering;
pub(crate) mod history;
pub(crate) mod http_senders;
pub(crate) mod idle_groups;
pub(crate) mod join;
pub(crate) mod log;
pub(crate) mod receipt;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use serde_json::value::RawValue;
use tokio::runtime::Handle;
use tokio::sync::watch;

use failures::FailureReporter;
use history::Readers;
use http_senders::HttpSenders;
use log::{Entry, Log};
use receipt::Receipt;

use crate::accounts::Accounts;
use crate::config::{Config, Limits};
use crate::connection::source::Source;
use crate::metrics::{Metrics, process};
use crate::model::room_id::{self, Access, OPEN};
use crate::problem::Problem;
use crate::rooms::peer::{Peer, Peers};
use crate::rooms::registry::{NotMade, Rooms};
use crate::rooms::room::Room;
use crate::store::Pooled;
use crate::store::user_lists::UserLists;

/// How far the service's life has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(crate) enum Phase {
    Serving,
    /// Not ready, no new connections or joins.
    Draining,
    Stopped,
}

pub(crate) struct Hub {
    pub(crate) config: Config,
    pub(crate) metrics: Metrics,
    pub(crate) accounts: Accounts,
    pub(crate) rooms: Rooms,
    pub(crate) peers: Peers,
    pub(crate) senders: HttpSenders,
    pub(crate) log: Log,
    /// The serial of the message published last.
    pub(crate) serial: AtomicU64,
    /// Distinguishes the numbers of this store from those of another.
    pub(crate) epoch: Box<str>,
    pub(crate) readers: Readers,
    /// The store's own lists of users, where they are not read from `accounts`.
    pub(crate) lists: Option<Arc<dyn UserLists>>,
    pub(crate) pool: Option<Arc<dyn Pooled>>,
    pub(crate) failures: FailureReporter,
    pub(crate) phase: watch::Sender<Phase>,
    pub(crate) born: Instant,
    /// Other services use the same store.
    pub(crate) is_shared: bool,
    pub(crate) runtime: Handle,
}

impl Hub {
    /// Milliseconds of the service's own clock, never 0.
    pub(crate) fn now(&self) -> u64 {
        self.born.elapsed().as_millis() as u64 + 1
    }

    /// Who lists users.
    pub(crate) fn user_lists(&self) -> &dyn UserLists {
        self.lists.as_deref().unwrap_or(&self.accounts)
    }

    /// The text of `/metrics`.
    pub(crate) fn metrics_text(&self) -> String {
        let pool = self.pool.as_ref().map_or_else(String::new, |pool| pool.levels().render());
        self.metrics.render() + &pool + &process::metrics()
    }

    pub(crate) fn is_serving(&self) -> bool {
        *self.phase.borrow() == Phase::Serving
    }

    /// An error, and counted, when the service takes no new connections.
    pub(crate) fn admit_connection(&self) -> Result<(), Problem> {
        if self.is_serving() {
            return Ok(());
        }
        self.metrics.refused_connections.add(1);
        Err(Problem::draining())
    }

    /// The room, if this user, or whoever has no account, may be in it. A location group is made when it is not there,
    /// and counts for the source that asked.
    pub(crate) fn room_for(&self, user: Option<u64>, id: &str, source: Source) -> Result<Arc<Room>, Problem> {
        if let Some(name) = id.strip_prefix(OPEN) {
            return self.group(name, source);
        }
        // Before it is said whether there is such a room.
        let user = user.ok_or_else(Problem::unauthorized)?;
        let room = self.rooms.find(id).ok_or_else(|| Problem::no_room(id))?;
        if !room.admits(Some(user)) {
            return Err(Problem::forbidden(format!("room `{id}` is between two other users")));
        }
        Ok(room)
    }

    /// The location group of that name.
    pub(crate) fn group(&self, name: &str, source: Source) -> Result<Arc<Room>, Problem> {
        let id = room_id::open_id(name)
            .ok_or_else(|| Problem::bad_request("a location group's name has 1 to 64 characters"))?;
        match self.rooms.find(&id) {
            Some(room) => Ok(room),
            None => self.make_room(&id, Access::Open, Some(source)).map(|(room, _)| room),
        }
    }

    /// The room of that id, in memory only when it is new, and whether it is.
    pub(crate) fn make_room(
        &self,
        id: &str,
        access: Access,
        maker: Option<Source>,
    ) -> Result<(Arc<Room>, bool), Problem> {
        self.rooms.make(id, access, maker).map_err(|not_made| {
            let Limits { rooms, groups_per_address, .. } = &self.config.limits;
            let why = match not_made {
                NotMade::TooMany => format!("there may be {rooms} rooms"),
                NotMade::TooManyOfOne => format!("one address may hold {groups_per_address} location groups"),
            };
            Problem::new(409, "too_many_rooms", why)
        })
    }

    /// False when the peer was not in the room.
    pub(crate) fn leave(&self, peer: &Arc<Peer>, id: &str) -> bool {
        let id = match id.strip_prefix(OPEN) {
            Some(name) => room_id::open_id(name),
            None => Some(id.to_owned()),
        };
        let room = id.and_then(|id| self.rooms.find(&id));
        room.is_some_and(|room| peer.leave(&room, &self.metrics))
    }

    /// Has a message stored and published; `receipt` is given once that is done. Without a room the peer must be in
    /// exactly one.
    pub(crate) fn say(
        &self,
        peer: &Arc<Peer>,
        room: Option<&str>,
        content: Option<&RawValue>,
        client_id: Option<String>,
        receipt: Receipt,
    ) {
        if let Err(problem) = self.try_say(peer, room, content, client_id, receipt.clone()) {
            receipt.refuse(peer, &problem, &self.metrics);
        }
    }

    fn try_say(
        &self,
        peer: &Arc<Peer>,
        room: Option<&str>,
        content: Option<&RawValue>,
        client_id: Option<String>,
        receipt: Receipt,
    ) -> Result<(), Problem> {
        let draft = self.draft(peer, room, content, client_id)?;
        self.publish(peer, draft, receipt)
    }

    /// Checks a message before it is given to the log.
    pub(crate) fn draft(
        &self,
        peer: &Peer,
        room: Option<&str>,
        content: Option<&RawValue>,
        client_id: Option<String>,
    ) -> Result<Draft, Problem> {
        let user = peer.user();
        let room = match room {
            Some(id) => self.room_for(user, id, peer.source)?,
            None => peer.only_room().ok_or_else(|| {
                Problem::bad_request("a message needs a room unless the sender is in exactly one")
            })?,
        };
        // Nobody can tell one sender without an account from another, so their ids are none.
        let client_id = client_id.filter(|_| user.is_some());
        let user = user.unwrap_or(0);
        // The content is passed on verbatim: parsing would round numbers that JSON can write and no machine has.
        let content = content.map(RawValue::get);
        let content = content.ok_or_else(|| Problem::bad_request("a message needs a content"))?.to_owned();
        let limit = self.config.limits.message_bytes;
        if content.len() > limit || client_id.as_ref().is_some_and(|id| id.len() > 128) {
            return Err(Problem::too_large(limit));
        }
        if !is_shallow(&content) {
            return Err(Problem::bad_request(format!("a content may be nested {DEPTH} deep")));
        }
        Ok(Draft { room, user, client_id, content })
    }

    /// Has it stored and published; `receipt` is given once that is done, unless this is an error.
    pub(crate) fn publish(&self, peer: &Arc<Peer>, draft: Draft, receipt: Receipt) -> Result<(), Problem> {
        let entry = draft.entry(peer, receipt);
        if self.config.null {
            log::publish_unstored(entry, self);
            return Ok(());
        }
        if self.log.append(entry) { Ok(()) } else { Err(self.overloaded()) }
    }

    /// Has all of them stored and published, or none of them; `receipt` is given for each.
    pub(crate) fn publish_all(
        &self,
        peer: &Arc<Peer>,
        drafts: Vec<Draft>,
        receipt: &Receipt,
    ) -> Result<(), Problem> {
        let entries = drafts.into_iter().map(|draft| draft.entry(peer, receipt.clone()));
        if self.config.null {
            entries.for_each(|entry| log::publish_unstored(entry, self));
            return Ok(());
        }
        if self.log.append_all(entries.collect()) { Ok(()) } else { Err(self.overloaded()) }
    }

    fn overloaded(&self) -> Problem {
        self.metrics.overloaded.add(1);
        Problem::overloaded()
    }
}

/// A checked message, not yet given to the log.
pub(crate) struct Draft {
    room: Arc<Room>,
    /// 0 for who has no account.
    user: u64,
    client_id: Option<String>,
    content: String,
}

impl Draft {
    /// About what it takes to keep it.
    pub(crate) fn size(&self) -> usize {
        size_of::<Draft>() + self.content.len() + self.client_id.as_ref().map_or(0, String::len)
    }

    fn entry(self, peer: &Arc<Peer>, receipt: Receipt) -> Entry {
        let Draft { room, user, client_id, content } = self;
        Entry { room, sender: peer.clone(), user, client_id, content, receipt }
    }
}

/// Arrays and objects inside each other: receivers' parsers have such a bound, and none should trip over it.
const DEPTH: usize = 100;

fn is_shallow(json: &str) -> bool {
    let (mut depth, mut text, mut escaped) = (0usize, false, false);
    json.bytes().all(|byte| {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => text = !text,
            b'[' | b'{' if !text => depth += 1,
            b']' | b'}' if !text => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth <= DEPTH
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_what_is_open_at_once_outside_of_text() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(is_shallow(&nested(DEPTH)));
        assert!(!is_shallow(&nested(DEPTH + 1)));
        assert!(is_shallow(&format!("[{}[]]", "[],{},".repeat(DEPTH))));
        assert!(is_shallow(&format!(r#"["\"{}"]"#, "[".repeat(DEPTH + 1))));
    }
}
