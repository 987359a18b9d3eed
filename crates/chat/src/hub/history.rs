//! Pages of what was said, read beside the thread that writes.

use std::sync::{Arc, Mutex};

use super::Hub;
use crate::model::message::Message;
use crate::problem::Problem;
use crate::rooms::room::Room;
use crate::store::{History, OpenHistory, PageRequest, StoreError};
use crate::sync::blocking::BlockingLimit;
use crate::sync::lock;

/// Connections that read history beside the writing one; there are never more than turns.
pub(crate) struct Readers {
    /// `None` where only the writing connection can read.
    open: Option<OpenHistory>,
    idle: Mutex<Vec<Box<dyn History>>>,
    turns: BlockingLimit,
}

/// Pages of history read at once.
const READERS: usize = 4;

impl Readers {
    pub(crate) fn new(open: Option<OpenHistory>) -> Readers {
        Readers { open, idle: Mutex::default(), turns: BlockingLimit::new(READERS) }
    }

    fn page(&self, open: &OpenHistory, key: i64, wanted: PageRequest) -> Result<Vec<Message>, StoreError> {
        let idle = lock(&self.idle).pop();
        let mut reader = idle.map_or_else(open, Ok)?;
        let page = reader.page(key, wanted);
        lock(&self.idle).push(reader);
        page
    }
}

impl Hub {
    /// A page of a room's log. Where only the publishing thread can read, as of a memory store, pages are read there,
    /// between batches, and their bound in bytes is what keeps them from holding up the fan-out.
    pub(crate) async fn page(
        self: &Arc<Hub>,
        room: &Room,
        wanted: PageRequest,
    ) -> Result<Vec<Message>, Problem> {
        let key = room.key();
        if key == 0 {
            return Ok(Vec::new());
        }
        if self.readers.open.is_none() {
            let turn = self.readers.turns.wait().await;
            let page = self.log.with(move |store| {
                let page = store.page(key, wanted);
                drop(turn);
                page
            });
            return page.await.ok_or_else(Problem::overloaded)?.map_err(|error| self.unread(&error));
        }
        let hub = self.clone();
        let page = self.readers.turns.run(move || {
            let open = hub.readers.open.as_ref();
            open.map_or_else(|| Ok(Vec::new()), |open| hub.readers.page(open, key, wanted))
        });
        page.await.ok_or_else(Problem::store)?.map_err(|error| self.unread(&error))
    }

    fn unread(&self, error: &StoreError) -> Problem {
        self.failures.store("read", error);
        error.kind.problem()
    }
}
