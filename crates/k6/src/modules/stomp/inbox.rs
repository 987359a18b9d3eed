//! Messages of a session that its script has not seen yet.

use rquickjs::{Function, Persistent};
use sonagi_measure::At;
use sonagi_wire::stomp::{AckMode, Command, Frame, Violation};
use std::collections::{BTreeMap, VecDeque};

/// Bytes of messages that may wait while the script reads those of another subscription.
const MOST_HELD: usize = 64 << 20;

/// A message.
pub(super) struct Arrived {
    /// Names and values by turns.
    pub(super) headers: Vec<String>,
    pub(super) body: Vec<u8>,
}

/// A function that waits for a subscription's next message beside the script.
pub(super) struct Listener {
    pub(super) function: Persistent<Function<'static>>,
    pub(super) since: At,
    /// A job that tells it was queued in this iteration.
    pub(super) queued: Option<u64>,
}

/// The subscription to a destination.
pub(super) struct Subscription {
    pub(super) destination: String,
    pub(super) mode: AckMode,
    pub(super) messages: VecDeque<Arrived>,
    pub(super) listener: Option<Listener>,
}

/// All of a session.
#[derive(Default)]
pub(super) struct Inbox {
    /// CONNECTED's headers; None until it came.
    pub(super) connected: Option<Vec<String>>,
    /// Why nothing more will come.
    pub(super) over: Option<String>,
    /// The script has ended the session itself.
    pub(super) has_left: bool,
    /// By their ids.
    pub(super) subscriptions: BTreeMap<String, Subscription>,
    /// Bytes of messages that wait.
    pub(super) unread: usize,
    /// The receipt that is waited for.
    pub(super) receipt: Option<String>,
}

impl Inbox {
    pub(super) fn end(&mut self, why: impl Into<String>) {
        self.over.get_or_insert_with(|| why.into());
    }

    /// Takes a frame of the server.
    pub(super) fn take(&mut self, frame: &Frame<'_>) {
        if let Err(violation) = self.take_in(frame) {
            self.end(violation.to_string());
        }
    }

    fn take_in(&mut self, frame: &Frame<'_>) -> Result<(), Violation> {
        match frame.command {
            Command::Message => self.message(frame)?,
            Command::Receipt => {
                let id = frame.required("receipt-id")?;
                self.receipt.take_if(|awaited| *awaited == id);
            }
            Command::Error => {
                let message = frame.header("message")?.unwrap_or_default();
                let body = String::from_utf8_lossy(frame.body);
                let why = [message.trim(), body.trim(), "the server sent an ERROR frame without a word"];
                self.end(why.into_iter().find(|why| !why.is_empty()).unwrap_or_default());
            }
            _ => self.connected = Some(pairs(frame)?),
        }
        Ok(())
    }

    fn message(&mut self, frame: &Frame<'_>) -> Result<(), Violation> {
        // In 1.0 a server need not name the subscription.
        let id = match frame.header("subscription")? {
            Some(id) => Some(id.into_owned()),
            None => {
                let destination = frame.required("destination")?;
                let of_it = |(_, own): &(&String, &Subscription)| own.destination == destination;
                self.subscriptions.iter().find(of_it).map(|(id, _)| id.clone())
            }
        };
        // Nobody's: its subscription was given up while it was under way.
        let Some(own) = id.and_then(|id| self.subscriptions.get_mut(&id)) else { return Ok(()) };
        let arrived = Arrived { headers: pairs(frame)?, body: frame.body.to_vec() };
        self.unread += arrived.size();
        own.messages.push_back(arrived);
        if self.unread > MOST_HELD {
            self.end(format!("{} bytes of messages are unread, no more can wait", self.unread));
        }
        Ok(())
    }

    /// A subscription's next message.
    pub(super) fn next(&mut self, id: &str) -> Option<Arrived> {
        let arrived = self.subscriptions.get_mut(id)?.messages.pop_front()?;
        self.unread -= arrived.size();
        Some(arrived)
    }

    /// Ends a subscription, with the messages that wait for it.
    pub(super) fn give_up(&mut self, id: &str) -> Option<Subscription> {
        let given_up = self.subscriptions.remove(id)?;
        self.unread -= given_up.messages.iter().map(Arrived::size).sum::<usize>();
        Some(given_up)
    }

    /// Whether somebody waits for a message who is no read of the script.
    pub(super) fn has_listeners(&self) -> bool {
        self.subscriptions.values().any(|own| own.listener.is_some())
    }
}

impl Arrived {
    fn size(&self) -> usize {
        self.body.len() + self.headers.iter().map(String::len).sum::<usize>() + size_of::<Arrived>()
    }
}

fn pairs(frame: &Frame<'_>) -> Result<Vec<String>, Violation> {
    let mut pairs = Vec::new();
    for header in frame.headers() {
        let (name, value) = header?;
        pairs.extend([name.into_owned(), value.into_owned()]);
    }
    Ok(pairs)
}

/// A header's first value.
pub(super) fn value<'h>(pairs: &'h [String], name: &str) -> Option<&'h str> {
    pairs.chunks_exact(2).find(|pair| pair[0] == name).map(|pair| pair[1].as_str())
}
