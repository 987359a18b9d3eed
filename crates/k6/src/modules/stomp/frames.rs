//! The frames that a script sends in a session.

use rquickjs::{Ctx, Value};
use sonagi_wire::stomp::{AckId, AckMode, Command, Unwritable, Version, Writer};
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::Context;

use super::connect::headers;
use super::inbox::{Arrived, Subscription, value};
use super::session::Session;
use crate::interpreter::go_error;
use crate::metrics::Tags;
use crate::modules::binding::bytes;
use crate::vu::Vu;

/// Over so many unsent bytes a frame is given to the kernel at once, and over the second number the script waits for
/// it.
const FLUSHED: usize = 64 << 10;
const MOST_UNSENT: usize = 1 << 20;

/// A message that is to be sent.
pub(super) struct Message<'a, 'js> {
    pub(super) destination: &'a str,
    pub(super) content_type: Option<String>,
    pub(super) body: &'a Value<'js>,
    pub(super) headers: &'a Value<'js>,
    /// Whether the server is to confirm it, which is waited for.
    pub(super) has_receipt: bool,
    pub(super) transaction: Option<&'a str>,
}

type Said = rquickjs::Result<Result<(), String>>;

impl Session {
    /// SEND. Nothing once the script has left.
    pub(super) fn send<'js>(&self, ctx: &Ctx<'js>, message: &Message<'_, 'js>) -> rquickjs::Result<()> {
        if self.has_left() {
            return Ok(());
        }
        let vu = Vu::of(ctx);
        let begun = vu.now();
        let sent = self.try_send(ctx, &vu, message)?;
        let tags = self.tags(message.transaction.map(|_| message.destination));
        let metrics = &self.terms.metrics;
        let count = if sent.is_ok() { metrics.send } else { metrics.send_error };
        self.observe(&vu, metrics.send_time, vu.now().since(begun) as f64 / 1e6, &tags);
        self.observe(&vu, count, 1.0, &tags);
        sent.map_err(|why| go_error(ctx, &why))
    }

    /// In a transaction a sample says where its message went, as the extension's do.
    fn tags(&self, queue: Option<&str>) -> Tags {
        let own = &self.terms.tags;
        queue.map_or_else(|| own.clone(), |queue| own.with("queue", queue))
    }

    fn try_send<'js>(&self, ctx: &Ctx<'js>, vu: &Rc<Vu>, message: &Message<'_, 'js>) -> Said {
        let Some(body) = body(message.body)? else {
            return Ok(Err("the body of a message is a text, an ArrayBuffer or a typed array".to_owned()));
        };
        let receipt = message.has_receipt.then(|| self.next_number());
        let mut frame = Vec::with_capacity(body.len() + 160);
        let writer = Writer::new(Command::Send, self.version(), &mut frame)
            .header("destination", message.destination)
            .optional("content-type", message.content_type.as_deref())
            .optional("transaction", message.transaction)
            .optional("receipt", receipt.as_deref());
        let headers = headers(Some(message.headers))?;
        let own = |name: &str| matches!(name, "destination" | "content-length" | "receipt" | "transaction");
        let writer = headers
            .iter()
            .filter(|(name, _)| !own(name))
            .fold(writer, |writer, (name, value)| writer.header(name, value));
        if let Err(unwritable) = writer.body(&body) {
            return Ok(Err(unwritable.to_string()));
        }
        match self.say(ctx, vu, &frame)? {
            Ok(()) => self.confirmed(ctx, vu, receipt),
            Err(why) => Ok(Err(why)),
        }
    }

    /// Waits for a receipt, if one was connect for.
    fn confirmed(&self, ctx: &Ctx<'_>, vu: &Rc<Vu>, receipt: Option<String>) -> Said {
        if receipt.is_none() {
            return Ok(Ok(()));
        }
        self.connection.borrow_mut().inbox.receipt = receipt;
        let until = vu.now().plus(self.terms.receipt_ns);
        let confirmed = self.wait(ctx, vu, Some((until, "msg receipt timeout")), |connection| {
            connection.inbox.receipt.is_none().then_some(())
        });
        self.connection.borrow_mut().inbox.receipt = None;
        confirmed
    }

    /// Queues a frame. A server that reads too slowly is waited for.
    fn say(&self, ctx: &Ctx<'_>, vu: &Rc<Vu>, frame: &[u8]) -> Said {
        if !self.is_open() {
            return Ok(Err("connection already closed".to_owned()));
        }
        self.queue(vu, frame);
        if self.unsent() > FLUSHED {
            let _ = self.poll_flush(&mut Context::from_waker(std::task::Waker::noop()));
        }
        if self.unsent() > MOST_UNSENT {
            // It goes on being read meanwhile: who answers all it gets may wait for that.
            let late = (vu.now().plus(self.terms.send_ns), "msg send timeout");
            return self.wait(ctx, vu, Some(late), |connection| (connection.unsent() == 0).then_some(()));
        }
        Ok(Ok(()))
    }

    /// [`Session::say`] of a frame without a body.
    fn say_head<'js>(
        &self,
        ctx: &Ctx<'js>,
        command: Command,
        write: impl FnOnce(Writer<'_>) -> Writer<'_>,
    ) -> rquickjs::Result<()> {
        let mut frame = Vec::with_capacity(128);
        let written = write(Writer::new(command, self.version(), &mut frame)).end();
        written.map_err(|unwritable: Unwritable| go_error(ctx, &unwritable.to_string()))?;
        self.say(ctx, &Vu::of(ctx), &frame)?.map_err(|why| go_error(ctx, &why))
    }

    /// SUBSCRIBE; its id.
    pub(super) fn subscribe<'js>(
        &self,
        ctx: &Ctx<'js>,
        destination: &str,
        ack: &str,
        id: Option<String>,
        given: &Value<'js>,
    ) -> rquickjs::Result<String> {
        let version = self.version();
        let mode = match AckMode::from_header(Some(ack), Version::V1_2) {
            Ok(mode) => mode,
            Err(_) => {
                let rule = "ackMode should be 'auto', 'client' or 'client-individual'";
                return Err(go_error(ctx, rule));
            }
        };
        if version == Version::V1_0 && mode == AckMode::ClientIndividual {
            return Err(go_error(ctx, "client-individual needs STOMP 1.1, the session is 1.0"));
        }
        let id = id.filter(|id| !id.is_empty()).unwrap_or_else(|| self.next_number());
        let headers = headers(Some(given))?;
        self.say_head(ctx, Command::Subscribe, |writer| {
            let writer =
                writer.header("id", &id).header("destination", destination).header("ack", mode.name());
            let own = |name: &str| matches!(name, "id" | "destination" | "ack");
            headers
                .iter()
                .filter(|(name, _)| !own(name))
                .fold(writer, |writer, (name, value)| writer.header(name, value))
        })?;
        let subscription = Subscription {
            destination: destination.to_owned(),
            mode,
            messages: VecDeque::new(),
            listener: None,
        };
        let inbox = &mut self.connection.borrow_mut().inbox;
        inbox.give_up(&id);
        inbox.subscriptions.insert(id.clone(), subscription);
        Ok(id)
    }

    /// UNSUBSCRIBE; what has come and was not read is dropped.
    pub(super) fn unsubscribe(&self, ctx: &Ctx<'_>, id: &str) -> rquickjs::Result<()> {
        let given_up = self.connection.borrow_mut().inbox.give_up(id);
        let Some(Subscription { destination, .. }) = given_up.filter(|_| self.is_open()) else {
            return Ok(());
        };
        let is_old = self.version() == Version::V1_0;
        self.say_head(ctx, Command::Unsubscribe, |writer| {
            // 1.0 may know it by its destination only.
            writer.header("id", id).optional("destination", is_old.then_some(&*destination))
        })
    }

    /// The next message of a subscription, whenever it comes.
    pub(super) fn read(&self, ctx: &Ctx<'_>, id: &str) -> rquickjs::Result<Arrived> {
        let vu = Vu::of(ctx);
        let begun = vu.now();
        let is_known = self.connection.borrow().inbox.subscriptions.contains_key(id);
        let read = match is_known {
            true => self.wait(ctx, &vu, None, |connection| connection.inbox.next(id))?,
            false => Err("subscription is unsubscribed".to_owned()),
        };
        let metrics = &self.terms.metrics;
        let count = if read.is_ok() { metrics.read } else { metrics.read_error };
        self.observe(&vu, metrics.read_time, vu.now().since(begun) as f64 / 1e6, &self.terms.tags);
        self.observe(&vu, count, 1.0, &self.terms.tags);
        read.map_err(|why| go_error(ctx, &why))
    }

    /// ACK or NACK of a message with these headers. A message that needs no acknowledgement gets none.
    pub(super) fn settle(
        &self,
        ctx: &Ctx<'_>,
        command: Command,
        subscription: &str,
        message: &[String],
        transaction: Option<&str>,
    ) -> rquickjs::Result<()> {
        let vu = Vu::of(ctx);
        let settled = self.try_settle(ctx, command, subscription, message, transaction);
        let metrics = &self.terms.metrics;
        let count = match (command, settled.is_ok()) {
            (Command::Ack, true) => metrics.ack,
            (Command::Ack, false) => metrics.ack_error,
            (_, true) => metrics.nack,
            (_, false) => metrics.nack_error,
        };
        let queue = transaction.map(|_| value(message, "destination").unwrap_or_default());
        self.observe(&vu, count, 1.0, &self.tags(queue));
        settled
    }

    fn try_settle(
        &self,
        ctx: &Ctx<'_>,
        command: Command,
        subscription: &str,
        message: &[String],
        transaction: Option<&str>,
    ) -> rquickjs::Result<()> {
        let version = self.version();
        let mode = self.connection.borrow().inbox.subscriptions.get(subscription).map(|own| own.mode);
        let wrong = |why: &str| Err(go_error(ctx, why));
        match (mode, command) {
            (Some(AckMode::Auto), Command::Nack) => {
                return wrong("cannot send NACK for a subscription with ack:auto");
            }
            (Some(AckMode::Auto), _) => return Ok(()),
            (_, Command::Nack) if version == Version::V1_0 => {
                return wrong("NACK not supported in STOMP 1.0");
            }
            _ => {}
        }
        let name = if version == Version::V1_2 { "ack" } else { "message-id" };
        let Some(id) = value(message, name) else {
            return wrong(&format!("missing header: {name}"));
        };
        let named = if version == Version::V1_2 {
            AckId::Ack(id.into())
        } else {
            AckId::Message { message_id: id.into(), subscription: Some(subscription.into()) }
        };
        let mut frame = Vec::with_capacity(128);
        let written = named.frame(command, version, &mut frame).optional("transaction", transaction).end();
        written.map_err(|unwritable| go_error(ctx, &unwritable.to_string()))?;
        self.say(ctx, &Vu::of(ctx), &frame)?.map_err(|why| go_error(ctx, &why))
    }

    /// BEGIN, COMMIT or ABORT.
    pub(super) fn transact(&self, ctx: &Ctx<'_>, command: Command, id: &str) -> rquickjs::Result<()> {
        self.say_head(ctx, command, |writer| writer.header("transaction", id))
    }

    /// DISCONNECT, and its receipt.
    pub(super) fn disconnect(&self, ctx: &Ctx<'_>) -> rquickjs::Result<()> {
        if self.has_left() {
            return Ok(());
        }
        let vu = Vu::of(ctx);
        if self.is_open() {
            let receipt = self.next_number();
            self.say_head(ctx, Command::Disconnect, |writer| writer.header("receipt", &receipt))?;
            // A server that goes at once, or never answers, has heard it all the same.
            let _ = self.confirmed(ctx, &vu, Some(receipt))?;
        }
        self.leave(&vu);
        Ok(())
    }

    pub(super) fn has_left(&self) -> bool {
        self.connection.borrow().inbox.has_left
    }
}

/// A body's bytes; None: it is nothing that could be one.
fn body(given: &Value<'_>) -> rquickjs::Result<Option<Vec<u8>>> {
    if given.is_undefined() || given.is_null() {
        return Ok(Some(Vec::new()));
    }
    match given.as_string() {
        Some(text) => Ok(Some(text.to_string()?.into_bytes())),
        None => Ok(bytes(given)),
    }
}
