//! A STOMP client's frames, and their handling.

use std::sync::Arc;
use std::time::Duration;

use serde_json::value::{RawValue, to_raw_value};
use sonagi_wire::stomp::{
    AckId, AckMode, Command, Decoder, Event, Frame, HeartBeat, Limits, Side, Version, Versions,
};

use super::awaited_receipt::{AwaitedReceipt, Parting, complain};
use super::subscribing::{Place, Subscribing};
use super::transactions::Transactions;
use crate::encoding::form::Form;
use crate::encoding::stomp::envelope::{Dialect, Envelope};
use crate::encoding::stomp::replies::{self, Complaint};
use crate::encoding::stomp::style::{Style, read_message_id};
use crate::encoding::stomp::subscription::SubscriptionForm;
use crate::encoding::stomp::unacked::Unacked;
use crate::hub::receipt::Receipt;
use crate::hub::{Draft, Hub};
use crate::model::room_id::OPEN;
use crate::problem::Problem;
use crate::rooms::cursor::{Start, start_of_text};
use crate::rooms::peer::Peer;

/// Our side of a connection's conversation. Its answers are in the peer's queue when `feed` returns, except those that
/// wait for the log.
pub(crate) struct Conversation {
    pub(crate) peer: Arc<Peer>,
    decoder: Decoder,
    session: Session,
}

struct Session {
    hub: Arc<Hub>,
    peer: Arc<Peer>,
    envelope: Envelope,
    /// Once it is open.
    version: Option<Version>,
    subscriptions: Vec<Subscription>,
    /// Numbers given to subscriptions.
    numbers: u32,
    transactions: Transactions<Held>,
    /// Until DISCONNECT.
    parting: Option<Arc<Parting>>,
}

struct Subscription {
    number: u32,
    /// The client's id for it; in 1.0 perhaps its destination.
    id: Box<str>,
    place: Place,
    form: SubscriptionForm,
}

/// A frame held in a transaction.
enum Held {
    Send(Draft),
    Settle { number: u32, seq: u64 },
}

/// When a frame's receipt is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Done {
    Now,
    /// Somebody else gives it, or has given it.
    Elsewhere,
}

impl Conversation {
    pub(crate) fn new(hub: Arc<Hub>, peer: Arc<Peer>, envelope: Envelope) -> Conversation {
        let limits = &hub.config.limits;
        let body = u32::try_from(limits.message_bytes).unwrap_or(u32::MAX);
        let decoder = Decoder::new(Side::Server, Versions::ALL, Limits { body, ..Limits::default() });
        let transactions = Transactions::new(limits.stomp_transaction, limits.stomp_transaction_bytes);
        let session = Session {
            hub,
            peer: peer.clone(),
            envelope,
            version: None,
            subscriptions: Vec::new(),
            numbers: 0,
            transactions,
            parting: Some(Parting::new(&peer)),
        };
        Conversation { peer, decoder, session }
    }

    /// Takes a piece of what the client sends: frames may be cut anywhere and share a piece.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        let Conversation { peer, decoder, session } = self;
        let fed = decoder.feed(bytes, |event| {
            // Whoever is being closed is not listened to: it could not be told what became of a frame.
            if let Event::Frame(frame) = event
                && session.parting.is_some()
                && peer.outbox.is_open()
            {
                session.take(&frame);
            }
        });
        if let Err(violation) = fed
            && session.parting.is_some()
            && peer.outbox.is_open()
        {
            session.complain(&violation.into(), None);
        }
    }

    /// Something was read from the client.
    pub(crate) fn heard(&self) {
        let now = self.session.hub.now();
        self.peer.deadlines.answered(now, &self.session.hub.config.limits);
        self.peer.heartbeat.heard(now);
    }

    /// The connection is closing or gone.
    pub(crate) fn closing(&mut self) {
        let session = &mut self.session;
        session.peer.leave_all(&session.hub.metrics);
        session.subscriptions = Vec::new();
        session.parting = None;
        if session.version.take().is_some() {
            session.hub.metrics.stomp.sub(1);
        }
    }
}

impl Session {
    fn take(&mut self, frame: &Frame<'_>) {
        if let Err(complaint) = self.obey(frame) {
            let receipt = frame.header("receipt").ok().flatten();
            self.complain(&complaint, receipt.as_deref());
        }
    }

    fn dialect(&self) -> Dialect {
        Dialect { version: self.version.unwrap_or(Version::V1_0), envelope: self.envelope }
    }

    fn complain(&self, complaint: &Complaint, receipt: Option<&str>) {
        complain(self.dialect(), &self.peer, complaint, receipt, &self.hub.metrics);
    }

    fn say(&self, frame: &str) {
        self.peer.outbox.push(self.envelope.wrap(frame));
    }

    fn obey(&mut self, frame: &Frame<'_>) -> Result<(), Complaint> {
        // All of it, as what is not looked at today could be passed on tomorrow.
        frame.check()?;
        let done = match (frame.command, self.version) {
            (Command::Connect | Command::Stomp, None) => self.connect(frame)?,
            (Command::Connect | Command::Stomp, Some(_)) => {
                return Err(Complaint::breach("a session is opened once, got another CONNECT"));
            }
            (Command::Subscribe, Some(version)) => self.subscribe(frame, version)?,
            (Command::Unsubscribe, Some(version)) => self.unsubscribe(frame, version)?,
            (Command::Send, Some(_)) => self.send(frame)?,
            (Command::Ack | Command::Nack, Some(_)) => self.acknowledge(frame)?,
            (Command::Begin, Some(_)) => {
                self.transactions.begin(&frame.required("transaction")?)?;
                Done::Now
            }
            (Command::Abort, Some(_)) => {
                self.transactions.end(&frame.required("transaction")?)?;
                Done::Now
            }
            (Command::Commit, Some(_)) => self.commit(frame)?,
            (Command::Disconnect, Some(_)) => {
                self.disconnect(frame)?;
                Done::Elsewhere
            }
            // The decoder lets no other pass.
            _ => {
                return Err(Complaint::breach(format!(
                    "{} is no frame of an open session",
                    frame.command.name()
                )));
            }
        };
        match done {
            Done::Now => self.receipt(frame),
            Done::Elsewhere => Ok(()),
        }
    }

    fn receipt(&self, frame: &Frame<'_>) -> Result<(), Complaint> {
        if let Some(id) = frame.header("receipt")? {
            self.say(&replies::receipt(self.dialect().version, &id, &[]).ok_or_else(unsayable)?);
        }
        Ok(())
    }

    /// Its receipt comes behind those of all that was sent before, and nothing comes behind it.
    fn disconnect(&mut self, frame: &Frame<'_>) -> Result<(), Complaint> {
        let receipt = match frame.header("receipt")? {
            None => None,
            Some(id) => Some(replies::receipt(self.dialect().version, &id, &[]).ok_or_else(unsayable)?),
        };
        self.peer.leave_all(&self.hub.metrics);
        if let Some(parting) = self.parting.take() {
            parting.ask(receipt.map(|receipt| self.envelope.wrap(&receipt)));
        }
        Ok(())
    }

    /// The receipt to send when this many messages are published.
    fn awaited(&self, frame: &Frame<'_>, messages: usize) -> Result<Arc<AwaitedReceipt>, Complaint> {
        let receipt = frame.header("receipt")?;
        // No frame is taken without one.
        let parting = self.parting.clone().unwrap_or_else(|| Parting::new(&self.peer));
        AwaitedReceipt::new(self.dialect(), receipt.as_deref(), messages, &parting).ok_or_else(unsayable)
    }

    fn connect(&mut self, frame: &Frame<'_>) -> Result<Done, Complaint> {
        let accepted = Versions::accepted(frame.header("accept-version")?.as_deref());
        let version = Versions::ALL.highest_common(accepted).ok_or_else(Complaint::unsupported_version)?;
        let theirs = match version {
            Version::V1_0 => HeartBeat::default(),
            _ => HeartBeat::from_header(frame.header("heart-beat")?.as_deref())?,
        };
        if !self.hub.is_serving() {
            return Err(Problem::draining().into());
        }
        self.log_in(frame)?;
        let limits = &self.hub.config.limits;
        let every = u32::try_from(limits.stomp_heartbeat.as_millis()).unwrap_or(u32::MAX);
        let ours = HeartBeat { can: every, wants: every };
        let (agreed, now) = (ours.agree(theirs), self.hub.now());
        let ms = |ms: u32| Duration::from_millis(ms.into());
        if let Some(every) = agreed.send_every {
            self.peer.heartbeat.say(self.envelope.heartbeat(), ms(every), now);
        }
        if let Some(every) = agreed.receive_every {
            // A margin, as the specification asks for.
            self.peer.heartbeat.expect(2 * ms(every), now);
        }
        self.peer.deadlines.settled();
        self.version = Some(version);
        self.hub.metrics.stomp.add(1);
        self.say(&replies::connected(version, &self.peer.id.to_string(), ours));
        Ok(Done::Elsewhere)
    }

    /// Whoever names a token must have a valid one; who names none is whom the connection was opened by, or nobody.
    fn log_in(&self, frame: &Frame<'_>) -> Result<(), Complaint> {
        let bearer = match frame.header("Authorization")? {
            None => frame.header("authorization")?,
            header => header,
        };
        let login = frame.header("login")?.filter(|login| !login.is_empty());
        let token = match &bearer {
            Some(bearer) => Some(bearer.strip_prefix("Bearer ").unwrap_or(bearer).trim()),
            None => login.as_deref(),
        };
        let Some(token) = token else { return Ok(()) };
        let user = self.hub.accounts.who(token).filter(|user| self.peer.belongs_to(*user));
        user.map(|_| ()).ok_or_else(|| Problem::unauthorized().into())
    }

    fn subscribe(&mut self, frame: &Frame<'_>, version: Version) -> Result<Done, Complaint> {
        let destination = frame.required("destination")?;
        let named = match version {
            Version::V1_0 => frame.header("id")?,
            _ => Some(frame.required("id")?),
        };
        let id = named.as_ref().unwrap_or(&destination);
        if self.subscriptions.iter().any(|there| *there.id == **id) {
            return Err(Complaint::breach("a subscription's id must be its own, got one that is taken"));
        }
        let mode = AckMode::from_header(frame.header("ack")?.as_deref(), version)?;
        let start = match frame.header("after")?.filter(|after| !after.is_empty()) {
            None => Start::Now,
            Some(after) => start_of_text(&after).map_err(|problem| Complaint::breach(problem.message))?,
        };
        let room = room_of(&destination, "/sub/location/", "/sub/room/")?;
        let (number, dialect) = (self.numbers, self.dialect());
        self.numbers = number.checked_add(1).ok_or_else(|| Complaint::breach("too many subscriptions"))?;
        let acks = mode != AckMode::Auto;
        let style = Style::new(number, version, self.envelope, named.as_deref(), &destination, acks);
        let unacked = Unacked::new(mode, self.hub.config.limits.stomp_unacked);
        let form = SubscriptionForm::new(style.ok_or_else(unsayable)?, unacked, dialect);
        let receipt = frame.header("receipt")?.map(|id| id.into_owned());
        if receipt.as_ref().is_some_and(|id| replies::receipt(version, id, &[]).is_none()) {
            return Err(unsayable());
        }
        let (hub, peer) = (self.hub.clone(), self.peer.clone());
        let subscribing =
            Subscribing { hub, peer, dialect, version, form: form.clone(), room, start, receipt };
        let place = subscribing.begin()?;
        if mode == AckMode::Auto {
            // A copy that it never asked for could not be acknowledged.
            self.peer.greeted(Form::Stomp(form.clone()));
        }
        self.subscriptions.push(Subscription { number, id: id.as_ref().into(), place, form });
        Ok(Done::Elsewhere)
    }

    fn unsubscribe(&mut self, frame: &Frame<'_>, version: Version) -> Result<Done, Complaint> {
        let id = match (version, frame.header("id")?) {
            (Version::V1_0, None) => frame.required("destination")?,
            (_, None) => frame.required("id")?,
            (_, Some(id)) => id,
        };
        let at = self.subscriptions.iter().position(|there| *there.id == *id);
        let at =
            at.ok_or_else(|| Complaint::breach("UNSUBSCRIBE must name a subscription, got no such id"))?;
        if let Some(member) = self.subscriptions.swap_remove(at).place.end() {
            self.peer.unseat(&member, &self.hub.metrics);
        }
        Ok(Done::Now)
    }

    fn send(&mut self, frame: &Frame<'_>) -> Result<Done, Complaint> {
        let room = room_of(&frame.required("destination")?, "/pub/share/", "/pub/room/")?;
        let client_id = frame.header("idempotency-key")?.filter(|id| !id.is_empty());
        let content = content_of(frame.body)?;
        let client_id = client_id.map(|id| id.into_owned());
        let draft = self.hub.draft(&self.peer, Some(&room), Some(&content), client_id)?;
        if let Some(transaction) = frame.header("transaction")? {
            self.transactions.hold(&transaction, draft.size(), Held::Send(draft))?;
            return Ok(Done::Now);
        }
        let awaited = self.awaited(frame, 1)?;
        self.hub.publish(&self.peer, draft, Receipt::Stomp(awaited))?;
        Ok(Done::Elsewhere)
    }

    fn acknowledge(&mut self, frame: &Frame<'_>) -> Result<Done, Complaint> {
        let (number, seq) = match AckId::read(frame)? {
            AckId::Ack(id) => read_message_id(&id).ok_or_else(unknown_message)?,
            AckId::Message { message_id, subscription } => {
                let (number, seq) = read_message_id(&message_id).ok_or_else(unknown_message)?;
                let there = self.subscriptions.iter().find(|there| there.number == number);
                if let (Some(named), Some(there)) = (subscription, there)
                    && *there.id != *named
                {
                    return Err(unknown_message());
                }
                (number, seq)
            }
        };
        match frame.header("transaction")? {
            Some(transaction) => {
                self.transactions.hold(&transaction, size_of::<Held>(), Held::Settle { number, seq })?;
            }
            None => self.settle(number, seq)?,
        }
        Ok(Done::Now)
    }

    fn settle(&self, number: u32, seq: u64) -> Result<(), Complaint> {
        let Some(there) = self.subscriptions.iter().find(|there| there.number == number) else {
            // On its way when its subscription ended, unless there was none.
            return if number < self.numbers { Ok(()) } else { Err(unknown_message()) };
        };
        let Some(acks) = there.form.acks() else {
            return Err(Complaint::breach(
                "a subscription in the mode auto acknowledges nothing, got an ACK",
            ));
        };
        // Number 0 says that there is a gap.
        if seq == 0 || acks.unacked.settle(seq) { Ok(()) } else { Err(unknown_message()) }
    }

    fn commit(&mut self, frame: &Frame<'_>) -> Result<Done, Complaint> {
        let held = self.transactions.end(&frame.required("transaction")?)?;
        let mut drafts = Vec::new();
        for held in held {
            match held {
                Held::Send(draft) => drafts.push(draft),
                Held::Settle { number, seq } => self.settle(number, seq)?,
            }
        }
        if drafts.is_empty() {
            return Ok(Done::Now);
        }
        let awaited = self.awaited(frame, drafts.len())?;
        self.hub.publish_all(&self.peer, drafts, &Receipt::Stomp(awaited))?;
        Ok(Done::Elsewhere)
    }
}

/// The room that a destination stands for.
fn room_of(destination: &str, location: &str, chat: &str) -> Result<String, Complaint> {
    if let Some(group) = destination.strip_prefix(location) {
        return Ok(format!("{OPEN}{group}"));
    }
    destination.strip_prefix(chat).map(str::to_owned).ok_or_else(|| Complaint {
        code: "no_such_destination",
        message: format!("a destination here is {location}GROUP or {chat}ID, got another"),
        is_breach: false,
    })
}

/// A body as a message's content: JSON as it is, other text as a JSON string, nothing as an empty object.
fn content_of(body: &[u8]) -> Result<Box<RawValue>, Complaint> {
    let text = std::str::from_utf8(body)
        .map_err(|_| Complaint::breach("a body must be text in UTF-8, got something else"))?;
    let text = if text.is_empty() { "{}" } else { text };
    match serde_json::from_str::<&RawValue>(text) {
        Ok(json) => Ok(json.to_owned()),
        Err(_) => to_raw_value(text).map_err(|error| Complaint::breach(error.to_string())),
    }
}

fn unsayable() -> Complaint {
    Complaint::breach("an id must be one that this version can say in a frame from the server, got another")
}

fn unknown_message() -> Complaint {
    Complaint::breach("ACK and NACK must name a message that waits for it, got another")
}
