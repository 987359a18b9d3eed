//! The bus over Redis' PUBLISH and SUBSCRIBE: a channel for each room, and one for all.
//!
//! Two threads with a connection each, because one that subscribes may do nothing else. Both block on sockets with time
//! limits and connect again by themselves; neither the log nor the runtime waits for them. What cannot be published at
//! once, because the connection is gone or too much waits, is dropped and counted: it is in the store.
//!
//! The decision a reader would question: of the client library only the commands and the parser are used. Its blocking
//! subscription can be changed only between two messages, by whoever waits for them; this one at any time.

use std::collections::HashSet;
use std::io::{self, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use redis::{Parser, Value, cmd};

use super::{Bus, Ear, Heard, Speaker, format};
use crate::config::{BusAddress, Error};
use crate::sync::lock;

/// How often this service says that it is there. Missed for a second, the bus counts as down.
const BEAT: Duration = Duration::from_millis(250);

/// For a connection to be made, and for anything to be written or answered.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Without a word for so long, beats included, a connection is made anew.
const SILENCE: Duration = Duration::from_secs(3);

/// Between two attempts to connect.
const PAUSE: Duration = Duration::from_millis(200);

/// Payloads that wait to be published, and are published together at most.
const WAITING: usize = 4096;
const TOGETHER: usize = 256;

/// Channels asked for by one command.
const CHANNELS: usize = 1000;

pub(super) struct RedisBus {
    out: SyncSender<Out>,
    /// Begins the name of every channel.
    prefix: String,
    subscriptions: Arc<Mutex<Subscriptions>>,
}

enum Out {
    Publish {
        channel: String,
        payload: Vec<u8>,
    },
    /// The wishes have changed.
    Poke,
}

#[derive(Default)]
struct Subscriptions {
    /// Channels that are to be heard.
    wanted: HashSet<String>,
    /// Changes that the connection does not know of.
    changes: Vec<(Change, String)>,
    /// Of the connection that subscribes, for who tells it of changes.
    link: Option<TcpStream>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Subscribe,
    Unsubscribe,
}

impl RedisBus {
    pub(super) fn open(address: BusAddress, speaker: Speaker, ear: Ear) -> Result<RedisBus, Error> {
        let (out, waiting) = sync_channel(WAITING);
        let prefix = format!("sonagi:{}:", speaker.epoch);
        let subscriptions = Arc::<Mutex<Subscriptions>>::default();
        lock(&subscriptions).wanted.insert(everybody(&prefix));
        let publisher = Publisher {
            address: address.clone(),
            beat: (everybody(&prefix), format::beat(speaker.instance)),
            subscriptions: subscriptions.clone(),
            link: None,
            tried: None,
        };
        let listener = Listener {
            address,
            prefix: prefix.clone(),
            own: speaker.instance,
            subscriptions: subscriptions.clone(),
        };
        let start = |name: &str, run: Box<dyn FnOnce() + Send>| {
            thread::Builder::new().name(name.into()).spawn(run).map_err(|error| Error::Bus(error.to_string()))
        };
        start("chat-bus-out", Box::new(move || publisher.run(&waiting)))?;
        start("chat-bus-in", Box::new(move || listener.run(&ear)))?;
        Ok(RedisBus { out, prefix, subscriptions })
    }

    fn change(&self, change: Change, room: &str) {
        let channel = self.channel(room);
        let mut subscriptions = lock(&self.subscriptions);
        let is_new = match change {
            Change::Subscribe => subscriptions.wanted.insert(channel.clone()),
            Change::Unsubscribe => subscriptions.wanted.remove(&channel),
        };
        if is_new {
            subscriptions.changes.push((change, channel));
            // Full, it is looked at all the same.
            let _ = self.out.try_send(Out::Poke);
        }
    }

    fn channel(&self, room: &str) -> String {
        format!("{}room:{room}", self.prefix)
    }
}

fn everybody(prefix: &str) -> String {
    format!("{prefix}all")
}

impl Bus for RedisBus {
    fn subscribe(&self, room: &str) {
        self.change(Change::Subscribe, room);
    }

    fn unsubscribe(&self, room: &str) {
        self.change(Change::Unsubscribe, room);
    }

    fn publish(&self, room: &str, payload: Vec<u8>) -> bool {
        self.out.try_send(Out::Publish { channel: self.channel(room), payload }).is_ok()
    }

    fn announce(&self, payload: Vec<u8>) -> bool {
        self.out.try_send(Out::Publish { channel: everybody(&self.prefix), payload }).is_ok()
    }
}

/// The listener's thread finds that nobody wants it when it hears something, and this makes it hear its end at once.
impl Drop for RedisBus {
    fn drop(&mut self) {
        let mut subscriptions = lock(&self.subscriptions);
        subscriptions.wanted.clear();
        if let Some(link) = subscriptions.link.take() {
            let _ = link.shutdown(Shutdown::Both);
        }
    }
}

/// Connects and says who we are.
fn connect(address: &BusAddress) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for at in (address.host.as_str(), address.port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&at, TIMEOUT) {
            Ok(mut stream) => {
                stream.set_nodelay(true)?;
                stream.set_write_timeout(Some(TIMEOUT))?;
                stream.set_read_timeout(Some(TIMEOUT))?;
                log_in(address, &mut stream)?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn log_in(address: &BusAddress, stream: &mut TcpStream) -> io::Result<()> {
    let mut hello = match (&address.username, &address.password) {
        (Some(user), Some(password)) => cmd("AUTH").arg(user).arg(password).get_packed_command(),
        (None, Some(password)) => cmd("AUTH").arg(password).get_packed_command(),
        (_, None) => Vec::new(),
    };
    let answers = 1 + usize::from(!hello.is_empty());
    hello.extend(cmd("PING").get_packed_command());
    stream.write_all(&hello)?;
    let mut parser = Parser::new();
    for _ in 0..answers {
        answer(&mut parser, stream)?;
    }
    Ok(())
}

/// One value from the connection, which is no refusal.
fn answer(parser: &mut Parser, stream: &mut TcpStream) -> io::Result<Value> {
    match parser.parse_value(stream) {
        Ok(Value::ServerError(error)) => Err(io::Error::other(error.to_string())),
        Ok(value) => Ok(value),
        Err(error) if error.is_timeout() => Err(io::ErrorKind::TimedOut.into()),
        Err(error) => Err(io::Error::other(error.to_string())),
    }
}

/// The thread that publishes, beats and tells the other's connection of changes.
struct Publisher {
    address: BusAddress,
    /// Its channel and payload.
    beat: (String, Vec<u8>),
    subscriptions: Arc<Mutex<Subscriptions>>,
    link: Option<(TcpStream, Parser)>,
    /// When it was last tried to connect.
    tried: Option<Instant>,
}

impl Publisher {
    /// Until the bus is dropped.
    fn run(mut self, waiting: &Receiver<Out>) {
        let mut beats = Instant::now();
        loop {
            let first = match waiting.recv_timeout(beats.saturating_duration_since(Instant::now())) {
                Ok(out) => Some(out),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            self.tell_changes();
            let mut commands = Vec::new();
            let mut count = 0;
            let mut add = |channel: &str, payload: &[u8]| {
                count += 1;
                cmd("PUBLISH").arg(channel).arg(payload).write_packed_command(&mut commands);
            };
            for out in first.into_iter().chain(waiting.try_iter()).take(TOGETHER) {
                if let Out::Publish { channel, payload } = out {
                    add(&channel, &payload);
                }
            }
            if Instant::now() >= beats {
                add(&self.beat.0, &self.beat.1);
                beats = Instant::now() + BEAT;
            }
            if count > 0 && self.send(&commands, count).is_err() {
                self.link = None;
            }
        }
    }

    fn tell_changes(&self) {
        let mut subscriptions = lock(&self.subscriptions);
        if subscriptions.changes.is_empty() {
            return;
        }
        let changes = std::mem::take(&mut subscriptions.changes);
        // Without a connection they are asked for with the next one.
        let Some(link) = &mut subscriptions.link else { return };
        let mut commands = Vec::new();
        for run in changes.chunk_by(|(one, _), (other, _)| one == other) {
            let name = if run[0].0 == Change::Subscribe { "SUBSCRIBE" } else { "UNSUBSCRIBE" };
            add_command(name, run.iter().map(|(_, channel)| channel.as_str()), &mut commands);
        }
        if link.write_all(&commands).is_err() {
            let _ = link.shutdown(Shutdown::Both);
        }
    }

    /// Publishes and reads the answers; an error when the connection is not to be used any more.
    fn send(&mut self, commands: &[u8], count: usize) -> io::Result<()> {
        if self.link.is_none() {
            // What waits meanwhile is dropped: whoever misses it has read it from the store by then.
            if self.tried.is_some_and(|tried| tried.elapsed() < PAUSE) {
                return Ok(());
            }
            self.tried = Some(Instant::now());
            self.link = Some((connect(&self.address)?, Parser::new()));
        }
        let Some((stream, parser)) = &mut self.link else { return Ok(()) };
        stream.write_all(commands)?;
        for _ in 0..count {
            answer(parser, stream)?;
        }
        Ok(())
    }
}

fn add_command<'a>(name: &str, channels: impl Iterator<Item = &'a str>, commands: &mut Vec<u8>) {
    let channels: Vec<&str> = channels.collect();
    for part in channels.chunks(CHANNELS) {
        let mut command = cmd(name);
        command.arg(part);
        command.write_packed_command(commands);
    }
}

/// The thread that hears.
struct Listener {
    address: BusAddress,
    prefix: String,
    own: u64,
    subscriptions: Arc<Mutex<Subscriptions>>,
}

impl Listener {
    /// Until nobody wants to hear any more.
    fn run(self, ear: &Ear) {
        loop {
            let lost = match self.listen(ear) {
                Ok(()) => return,
                Err(error) => error,
            };
            lock(&self.subscriptions).link = None;
            if !ear(Heard::Lost(lost.to_string())) {
                return;
            }
            thread::sleep(PAUSE);
        }
    }

    /// Connects and hears until nobody wants it any more, or the connection is lost, which is the error.
    fn listen(&self, ear: &Ear) -> io::Result<()> {
        let mut stream = connect(&self.address)?;
        stream.set_read_timeout(Some(SILENCE))?;
        self.subscribe_all(&stream)?;
        let mut parser = Parser::new();
        loop {
            let heard = self.read(&answer(&mut parser, &mut stream)?);
            if heard.is_some_and(|heard| !ear(heard)) {
                return Ok(());
            }
        }
    }

    /// Asks for all that is wanted; who changes that is told of the connection in the same breath.
    fn subscribe_all(&self, stream: &TcpStream) -> io::Result<()> {
        let mut subscriptions = lock(&self.subscriptions);
        let mut commands = Vec::new();
        add_command("SUBSCRIBE", subscriptions.wanted.iter().map(String::as_str), &mut commands);
        let mut link = stream.try_clone()?;
        link.write_all(&commands)?;
        subscriptions.changes.clear();
        subscriptions.link = Some(link);
        Ok(())
    }

    fn read(&self, value: &Value) -> Option<Heard> {
        let Value::Array(parts) = value else { return Some(Heard::Unreadable) };
        let [Value::BulkString(kind), Value::BulkString(channel), rest] = parts.as_slice() else {
            return Some(Heard::Unreadable);
        };
        let channel =
            std::str::from_utf8(channel).ok().and_then(|channel| channel.strip_prefix(&self.prefix));
        let Some(channel) = channel else { return Some(Heard::Unreadable) };
        let room = channel.strip_prefix("room:");
        match (kind.as_slice(), rest) {
            (b"message", Value::BulkString(payload)) => {
                format::read(self.own, room.unwrap_or_default(), payload)
            }
            (b"subscribe", _) => room.map(|room| Heard::Subscribed(room.into())),
            (b"unsubscribe", _) => None,
            _ => Some(Heard::Unreadable),
        }
    }
}

#[cfg(test)]
mod tests;
