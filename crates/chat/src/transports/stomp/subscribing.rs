//! Becoming a member for a SUBSCRIBE: at once, or once a room is found that another service has made.

use std::sync::{Arc, Mutex};

use sonagi_wire::stomp::Version;

use super::awaited_receipt::complain;
use crate::encoding::form::Form;
use crate::encoding::stomp::envelope::Dialect;
use crate::encoding::stomp::replies;
use crate::encoding::stomp::subscription::SubscriptionForm;
use crate::hub::Hub;
use crate::problem::Problem;
use crate::rooms::cursor::Start;
use crate::rooms::member::Member;
use crate::rooms::peer::Peer;
use crate::sync::lock;

/// A checked SUBSCRIBE.
#[derive(Clone)]
pub(super) struct Subscribing {
    pub(super) hub: Arc<Hub>,
    pub(super) peer: Arc<Peer>,
    pub(super) dialect: Dialect,
    pub(super) version: Version,
    pub(super) form: SubscriptionForm,
    pub(super) room: String,
    pub(super) start: Start,
    /// The id of a receipt that can be said.
    pub(super) receipt: Option<String>,
}

/// The membership of a subscription.
#[derive(Clone, Default)]
pub(super) struct Place(Arc<Mutex<Held>>);

#[derive(Default)]
enum Held {
    /// Its room is looked for.
    #[default]
    Looking,
    Member(Arc<Member>),
    /// The subscription has ended.
    Ended,
}

impl Place {
    /// Gives the membership back when the subscription has ended meanwhile.
    fn take(&self, member: Arc<Member>) -> Option<Arc<Member>> {
        let mut held = lock(&self.0);
        if matches!(*held, Held::Ended) {
            return Some(member);
        }
        *held = Held::Member(member);
        None
    }

    /// Ends it; the membership that is to end as well.
    pub(super) fn end(&self) -> Option<Arc<Member>> {
        match std::mem::replace(&mut *lock(&self.0), Held::Ended) {
            Held::Member(member) => Some(member),
            Held::Looking | Held::Ended => None,
        }
    }
}

impl Subscribing {
    /// Becomes a member, or has that happen: then a refusal ends the session as one of another frame would.
    pub(super) fn begin(self) -> Result<Place, Problem> {
        let place = Place::default();
        if !self.hub.may_be_elsewhere(&self.room) {
            place.take(self.join()?);
            return Ok(place);
        }
        let taken = place.clone();
        self.hub.runtime.clone().spawn(async move {
            let found = self.hub.look_for(&self.room).await;
            match found.and_then(|()| self.join()) {
                Ok(member) => {
                    if let Some(member) = taken.take(member) {
                        self.peer.unseat(&member, &self.hub.metrics);
                    }
                }
                Err(problem) => {
                    let receipt = self.receipt.as_deref();
                    complain(self.dialect, &self.peer, &problem.into(), receipt, &self.hub.metrics);
                }
            }
        });
        Ok(place)
    }

    fn join(&self) -> Result<Arc<Member>, Problem> {
        let Subscribing { hub, peer, dialect, version, form, room, start, receipt } = self;
        let (greeted, style, receipt) = (peer.clone(), form.clone(), receipt.clone());
        let (version, envelope) = (*version, dialect.envelope);
        hub.join(peer, room, Form::Stomp(form.clone()), *start, move |joined| {
            if let Some(id) = &receipt {
                let seq = joined.seq.to_string();
                let more = [("seq", seq.as_str()), ("gap", "true")];
                let more = if joined.gap.is_some() { &more[..] } else { &more[..1] };
                let frame = replies::receipt(version, id, more).unwrap_or_default();
                greeted.outbox.push(envelope.wrap(&frame));
            }
            joined.gap.map(|gap| style.style().gap(gap.after, gap.from))
        })
    }
}
