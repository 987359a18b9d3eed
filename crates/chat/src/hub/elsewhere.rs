//! What other services of the same store may have done: asked of the store by whoever can wait for it.
//!
//! Without others nothing here waits, or asks for anything.

use std::sync::Arc;

use super::Hub;
use super::log::others;
use crate::model::room_id::OPEN;
use crate::problem::Problem;
use crate::rooms::cursor::Start;
use crate::rooms::room::Room;
use crate::store::StoreError;

impl Hub {
    /// Has what the store says of the room published, if that matters for this start.
    pub(crate) async fn refresh_for(self: &Arc<Hub>, room: &Arc<Room>, start: Start) -> Result<(), Problem> {
        if room.is_stale_for(start) { self.refresh(room).await } else { Ok(()) }
    }

    /// Has what the store says of the room published, and the room heard from now on. A room that was begun anew
    /// elsewhere is none any more: whoever asks again finds the new one.
    pub(crate) async fn refresh(self: &Arc<Hub>, room: &Arc<Room>) -> Result<(), Problem> {
        if !self.is_shared {
            return Ok(());
        }
        let (answer, answered) = tokio::sync::oneshot::channel();
        let (hub, asked_for) = (self.clone(), room.clone());
        let asked = self.log.ask(Box::new(move |store, others| {
            let refreshed = others.map_or(Ok(()), |others| others.refresh(&asked_for, store, &hub));
            let _ = answer.send(refreshed);
        }));
        self.answered(asked, answered).await?;
        if self.rooms.has(room) {
            return Ok(());
        }
        Err(Problem::not_kept())
    }

    /// Whether the room may be there though it is not known here.
    pub(crate) fn may_be_elsewhere(&self, id: &str) -> bool {
        self.is_shared && !id.starts_with(OPEN) && self.rooms.find(id).is_none()
    }

    /// Looks for a room that another service has made; whether there is one says the next look at those here.
    pub(crate) async fn look_for(self: &Arc<Hub>, id: &str) -> Result<(), Problem> {
        if !self.may_be_elsewhere(id) {
            return Ok(());
        }
        let (answer, answered) = tokio::sync::oneshot::channel();
        let (hub, id) = (self.clone(), id.to_owned());
        let asked = self.log.ask(Box::new(move |store, _| {
            let _ = answer.send(others::find(&id, store, &hub));
        }));
        self.answered(asked, answered).await.map(|_| ())
    }

    async fn answered<T>(
        &self,
        asked: bool,
        answered: tokio::sync::oneshot::Receiver<Result<T, StoreError>>,
    ) -> Result<T, Problem> {
        if !asked {
            return Err(self.overloaded());
        }
        let answer = answered.await.map_err(|_| Problem::draining())?;
        answer.map_err(|error| {
            self.failures.store("read", &error);
            error.kind.problem()
        })
    }
}
