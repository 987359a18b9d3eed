//! Location groups that nobody uses any more are forgotten, for anybody may make one.
//!
//! | a group | is forgotten |
//! |---|---|
//! | in which nothing was ever said | once nobody is there |
//! | in which only those without an account have spoken | when nobody was there, asked or spoke for `group_idle` |
//! | in which a user has spoken, any other room | never |
//!
//! A store that several services use forgets only what nobody has spoken in for that long at any of them.
//!
//! The store forgets first: a group that somebody finds again meanwhile goes on with its numbers and without its past,
//! like one whose old messages were deleted. Afterwards it begins anew.

use std::sync::Arc;
use std::time::Instant;

use crate::hub::Hub;
use crate::rooms::room::Room;
use crate::store::Store;

/// Messages and groups that are deleted by one transaction: others wait for it to be done.
const AT_ONCE: u64 = 2000;

/// Forgets what time has made useless, and says what the store is to forget.
pub(crate) fn idle(hub: &Hub, now: Instant) -> Vec<Arc<Room>> {
    hub.rooms.tidy(now, hub.config.limits.group_idle)
}

/// Has the store forget these, a part at a time, and the service with it. What fails is tried again with the next look.
pub(crate) async fn forget(mut idle: Vec<Arc<Room>>, hub: Arc<Hub>) {
    while !idle.is_empty() {
        let (its_hub, part) = (hub.clone(), take_part(&mut idle));
        let forgotten = hub.log.with(move |store| forget_part(&part, store, &its_hub));
        if forgotten.await != Some(true) {
            return;
        }
    }
}

/// The idle rooms for one transaction; at least one.
fn take_part(idle: &mut Vec<Arc<Room>>) -> Vec<Arc<Room>> {
    let mut left = AT_ONCE;
    let mut part = Vec::new();
    while let Some(room) = idle.pop_if(|room| part.is_empty() || left > room.messages()) {
        left = left.saturating_sub(room.messages() + 1);
        part.push(room);
    }
    part
}

/// On the log's thread: nothing is numbered meanwhile. False when the store refused.
fn forget_part(part: &[Arc<Room>], store: &mut dyn Store, hub: &Hub) -> bool {
    let part: Vec<_> = part.iter().filter(|room| hub.rooms.is_unused(room)).collect();
    let keys: Vec<i64> = part.iter().map(|room| room.key()).collect();
    if let Err(error) = store.forget_rooms(&keys) {
        hub.failures.store("tidy", &error);
        return false;
    }
    for room in part {
        room.lose_its_past();
        hub.rooms.forget(room);
    }
    true
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;
    use crate::config::Config;
    use crate::connection::source::Source;
    use crate::hub::receipt::{Receipt, Reply};
    use crate::rooms::cursor::{Found, Start};
    use crate::store::PageRequest;

    async fn say(hub: &Arc<Hub>) -> u64 {
        let sender = hub.senders.of(None, &hub.peers, hub.now(), &hub.config.limits);
        let content = RawValue::from_string("1".to_owned()).unwrap();
        let (reply, replied) = Reply::channel();
        hub.say(&sender, Some("location:7"), Some(&content), None, Receipt::Reply(reply));
        replied.await.unwrap().unwrap()
    }

    #[tokio::test]
    async fn a_group_goes_on_when_somebody_needs_it_meanwhile_and_else_begins_anew() {
        let service = crate::start(Config::default()).await.unwrap();
        let hub = service.hub();
        assert_eq!(say(hub).await, 1);
        let room = hub.group("7", Source::default()).unwrap();
        let key = room.key();
        forget(vec![room.clone()], hub.clone()).await;
        assert_eq!((room.key(), room.messages()), (key, 1), "it is needed");
        // Needed only once the store has forgotten it.
        let needed = room.clone();
        let forgotten = hub.log.with(move |store| {
            store.forget_rooms(&[key]).unwrap();
            needed.lose_its_past();
        });
        forgotten.await.unwrap();
        assert!(
            matches!(room.look(Start::After(0), false, 1000), Some(Found::Excerpt(_, Some(_)))),
            "whoever comes back is told"
        );
        assert_eq!(say(hub).await, 2);
        assert!(room.key() > key);
        let wanted = PageRequest { after: 0, upto: u64::MAX, messages: 10, bytes: 1000 };
        let page = hub.page(&room, wanted).await.unwrap();
        assert_eq!(page.iter().map(|kept| kept.seq).collect::<Vec<_>>(), [2]);
        forget(vec![room], hub.clone()).await;
        assert!(hub.rooms.find("location:7").is_none());
        assert_eq!(say(hub).await, 1);
    }
}
