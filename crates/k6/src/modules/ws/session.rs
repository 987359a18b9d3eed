//! An open socket: the messages to and from its script.

use rquickjs::{ArrayBuffer, Coerced, Ctx, Function, Object, Type, Value};
use sonagi_measure::At;
use sonagi_transport::link::{Ended, Env, Link, Present, WebsocketEvent, WebsocketLink};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use super::GOING_AWAY;
use super::timers::SocketTimers;
use crate::interpreter::go_error;
use crate::metrics::{Tags, builtin};
use crate::modules::delivery::{self, By, Connection};
use crate::modules::socket::{Ending, Handlers, Pings};
use crate::receive_buffer::{Item, ReceiveBuffer};
use crate::vu::{Source, Vu};

/// Over so many unsent bytes a message is given to the kernel at once, and over the second number the script waits for
/// it.
const FLUSHED: usize = 64 << 10;
const MOST_UNSENT: usize = 1 << 20;

/// How long the last words may take to leave.
const PATIENCE_NS: i64 = 10_000_000_000;

/// The events that handlers are set for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum On {
    Open,
    Message,
    BinaryMessage,
    Ping,
    Pong,
    Close,
    Error,
}

impl On {
    fn named(name: &str) -> Option<On> {
        Some(match name {
            "open" => On::Open,
            "message" => On::Message,
            "binaryMessage" => On::BinaryMessage,
            "ping" => On::Ping,
            "pong" => On::Pong,
            "close" => On::Close,
            "error" => On::Error,
            _ => return None,
        })
    }
}

/// A socket from its handshake to its end.
pub(super) struct Session {
    link: RefCell<WebsocketLink>,
    tags: Tags,
    handlers: Handlers<On>,
    pub(super) timers: SocketTimers,
    buffer: RefCell<Option<ReceiveBuffer>>,
    ended: RefCell<Option<Ended>>,
    pings: RefCell<Pings>,
    connection: Connection,
    /// It carries Socket.IO: an acknowledgement that echoes a message is no delivery.
    is_socketio: bool,
    /// Attachments of an acknowledgement that are still to come: no copies, as it is none.
    answers: Cell<u32>,
    /// The script, or what happened to it, has closed it: nothing more is told.
    is_shut: Cell<bool>,
    is_left: Cell<bool>,
}

/// The handlers of messages as they were when this revision of all handlers was the latest.
struct Readers<'js> {
    revision: u32,
    text: Vec<Function<'js>>,
    binary: Vec<Function<'js>>,
}

impl Session {
    pub(super) fn new(link: WebsocketLink, tags: Tags, is_socketio: bool) -> Rc<Session> {
        Rc::new(Session {
            link: RefCell::new(link),
            tags,
            handlers: Handlers::default(),
            timers: SocketTimers::default(),
            buffer: RefCell::default(),
            ended: RefCell::default(),
            pings: RefCell::default(),
            connection: Connection::default(),
            is_socketio,
            answers: Cell::new(0),
            is_shut: Cell::new(false),
            is_left: Cell::new(false),
        })
    }

    pub(super) fn on<'js>(&self, ctx: &Ctx<'js>, event: &str, handler: &Value<'js>) {
        if let Some(on) = On::named(event) {
            self.handlers.add(ctx, on, handler);
        }
    }

    /// Sends a text: any value's, nothing for null and undefined.
    pub(super) fn send<'js>(&self, ctx: &Ctx<'js>, message: Option<&Value<'js>>) -> rquickjs::Result<()> {
        match message.filter(|message| !message.is_null() && !message.is_undefined()) {
            Some(message) => {
                let text = message.get::<Coerced<String>>()?.0;
                self.say(ctx, text.as_bytes(), |link| link.send_text(&text))
            }
            None => self.say(ctx, b"", |link| link.send_text("")),
        }
    }

    pub(super) fn send_binary<'js>(
        &self,
        ctx: &Ctx<'js>,
        message: Option<&Value<'js>>,
    ) -> rquickjs::Result<()> {
        let wrong = |what: &str| go_error(ctx, what);
        let Some(message) = message else { return Err(wrong("missing argument, expected ArrayBuffer")) };
        let buffer = message.as_object().and_then(|object| ArrayBuffer::from_object(object.clone()));
        match buffer.as_ref().and_then(ArrayBuffer::as_bytes) {
            Some(bytes) => self.say(ctx, bytes, |link| link.send_binary(bytes)),
            None => Err(wrong(&format!("expected ArrayBuffer as argument, received: {}", kind(message)))),
        }
    }

    fn say(
        &self,
        ctx: &Ctx<'_>,
        payload: &[u8],
        what: impl FnOnce(&mut WebsocketLink),
    ) -> rquickjs::Result<()> {
        let vu = Vu::of(ctx);
        if self.is_shut.get() {
            self.handlers.fail(ctx, On::Error, "websocket: close sent")?;
        } else {
            what(&mut self.link.borrow_mut());
            delivery::sent(&vu, payload);
            if self.link.borrow().unsent() > FLUSHED {
                let _ = self.link.borrow_mut().poll_flush(&mut Context::from_waker(Waker::noop()));
                if self.link.borrow().unsent() > MOST_UNSENT {
                    vu.wait(ctx, |cx| self.link.borrow_mut().poll_flush(cx))?;
                }
            }
        }
        vu.observe(builtin::WS_MSGS_SENT, 1.0, &self.tags);
        Ok(())
    }

    pub(super) fn ping(&self, ctx: &Ctx<'_>) -> rquickjs::Result<()> {
        if self.is_shut.get() {
            return self.handlers.fail(ctx, On::Error, "websocket: close sent");
        }
        let payload = self.pings.borrow_mut().next(Vu::of(ctx).now());
        self.link.borrow_mut().send_ping(payload.as_bytes());
        Ok(())
    }

    /// Tells the script what comes until the socket is over.
    pub(super) fn run(self: &Rc<Self>, ctx: &Ctx<'_>, vu: &Rc<Vu>) -> rquickjs::Result<()> {
        self.connection.opened(vu);
        self.handlers.tell(ctx, On::Open, ())?;
        let mut readers = self.readers(ctx)?;
        while !self.is_shut.get() {
            vu.wait(ctx, |cx| self.poll(vu, cx))?;
            let close = self.read(ctx, vu, &mut readers)?;
            if self.is_shut.get() {
                break;
            }
            if let Some(ended) = self.ended.take() {
                self.over(ctx, vu, &Ending::of(close, &ended))?;
            } else if let Some(function) = self.timers.due(vu) {
                function.restore(ctx)?.call::<_, Value<'_>>(())?;
            }
        }
        Ok(())
    }

    /// `Ready`: something is to be told.
    fn poll(&self, vu: &Rc<Vu>, cx: &mut Context<'_>) -> Poll<()> {
        let mut buffer = self.buffer.borrow_mut();
        let driven = {
            let clock = || vu.now();
            let mut scratch = vu.shard.scratch.borrow_mut();
            let mut env = Env { present: &Present::new(&clock), scratch: &mut scratch };
            let on = |event: WebsocketEvent<'_>| {
                self.track(vu, &event);
                buffer.get_or_insert_with(|| vu.shard.receive_buffers.take()).push(event);
            };
            self.link.borrow_mut().poll_events(cx, &mut env, on)
        };
        if let Poll::Ready(ended) = driven {
            self.ended.replace(Some(ended));
            return Poll::Ready(());
        }
        if buffer.is_some() { Poll::Ready(()) } else { self.timers.poll(vu, cx) }
    }

    fn track(&self, vu: &Vu, event: &WebsocketEvent<'_>) {
        match event {
            WebsocketEvent::Text(text) if self.is_socketio && text.starts_with("43") => {}
            WebsocketEvent::Text(text) if self.is_socketio && text.starts_with("46") => {
                self.answers.set(attachments(text));
            }
            WebsocketEvent::Text(text) => delivery::arrived(vu, text.as_bytes()),
            WebsocketEvent::Binary(_) if self.answers.get() > 0 => self.answers.set(self.answers.get() - 1),
            WebsocketEvent::Binary(bytes) => delivery::arrived(vu, bytes),
            WebsocketEvent::Ping(_) | WebsocketEvent::Pong(_) | WebsocketEvent::Close { .. } => {}
        }
    }

    /// Hands the buffer over; the peer's close frame, if there was one.
    fn read<'js>(
        &self,
        ctx: &Ctx<'js>,
        vu: &Rc<Vu>,
        readers: &mut Readers<'js>,
    ) -> rquickjs::Result<Option<(Option<u16>, String)>> {
        let Some(mut buffer) = self.buffer.take() else { return Ok(None) };
        let at = vu.now();
        let mut close = None;
        let mut outcome = Ok(());
        while outcome.is_ok() && !self.is_shut.get() {
            if readers.revision != self.handlers.revision() {
                *readers = self.readers(ctx)?;
            }
            let Some(item) = buffer.read() else { break };
            outcome = match item {
                Item::Text(text) => {
                    vu.shard.observe_at(builtin::WS_MSGS_RECEIVED, 1.0, &self.tags, at);
                    readers.text.iter().try_for_each(|reader| reader.call::<_, ()>((text,)))
                }
                Item::Binary(bytes) => {
                    vu.shard.observe_at(builtin::WS_MSGS_RECEIVED, 1.0, &self.tags, at);
                    readers.binary.iter().try_for_each(|reader| {
                        reader.call::<_, ()>((ArrayBuffer::new_copy(ctx.clone(), bytes)?,))
                    })
                }
                Item::Ping => self.handlers.tell(ctx, On::Ping, ()),
                Item::Pong(payload) => {
                    self.answered(vu, payload, at);
                    self.handlers.tell(ctx, On::Pong, ())
                }
                Item::Close(code, reason) => {
                    close = Some((code, reason.to_owned()));
                    Ok(())
                }
            };
        }
        vu.shard.receive_buffers.put_back(buffer);
        outcome.map(|()| close)
    }

    fn readers<'js>(&self, ctx: &Ctx<'js>) -> rquickjs::Result<Readers<'js>> {
        let (text, binary) = (self.handlers.of(ctx, On::Message)?, self.handlers.of(ctx, On::BinaryMessage)?);
        Ok(Readers { revision: self.handlers.revision(), text, binary })
    }

    /// How long a ping took, when its pong comes.
    fn answered(&self, vu: &Vu, payload: &[u8], at: At) {
        if let Some(sent) = self.pings.borrow_mut().answered(payload) {
            vu.shard.observe_at(builtin::WS_PING, at.since(sent) as f64 / 1e6, &self.tags, at);
        }
    }

    /// It is over, and nobody here meant it to be.
    fn over(&self, ctx: &Ctx<'_>, vu: &Rc<Vu>, ending: &Ending) -> rquickjs::Result<()> {
        self.connection.closed(vu, By::Them);
        if let Some(error) = ending.error() {
            self.handlers.fail(ctx, On::Error, &error)?;
        }
        let code = if let Ending::Closed(code, _) = ending { *code } else { GOING_AWAY };
        self.shut(ctx, vu, code)
    }

    /// Says goodbye, and tells the script; the second time nothing.
    pub(super) fn shut(&self, ctx: &Ctx<'_>, vu: &Rc<Vu>, code: u16) -> rquickjs::Result<()> {
        if self.is_shut.replace(true) {
            return Ok(());
        }
        self.timers.end();
        self.part(vu, code);
        self.handlers.tell(ctx, On::Close, (code,))
    }

    /// Sends the close frame as far as that goes at once, and reads what is there: a socket that is closed with
    /// something unread is reset, and a reset may overtake the goodbye.
    fn part(&self, vu: &Rc<Vu>, code: u16) {
        self.hang_up(vu);
        self.link.borrow_mut().close(code, "");
        let _ = self.drop_what_comes(vu, &mut Context::from_waker(Waker::noop()));
    }

    /// The memberships that hang on it end; the peer's goodbye is not waited for.
    fn hang_up(&self, vu: &Vu) {
        if self.connection.is_open() {
            self.connection.closed(vu, By::Us);
            delivery::doubt(vu);
        }
    }

    /// `Ready` when nothing is left to say or nobody listens.
    fn drop_what_comes(&self, vu: &Rc<Vu>, cx: &mut Context<'_>) -> Poll<()> {
        let clock = || vu.now();
        let mut scratch = vu.shard.scratch.borrow_mut();
        let mut env = Env { present: &Present::new(&clock), scratch: &mut scratch };
        let mut link = self.link.borrow_mut();
        if link.poll_events(cx, &mut env, |event| self.track(vu, &event)).is_ready() {
            return Poll::Ready(());
        }
        link.poll_flush(cx)
    }

    /// The script is done with it: what it said leaves, and all it gave is let go of.
    pub(super) fn leave(&self, ctx: &Ctx<'_>, vu: &Rc<Vu>) -> rquickjs::Result<()> {
        self.is_left.set(true);
        self.timers.end();
        self.handlers.end();
        if let Some(buffer) = self.buffer.take() {
            vu.shard.receive_buffers.put_back(buffer);
        }
        if !self.is_shut.replace(true) {
            self.part(vu, GOING_AWAY);
        }
        let mut outcome = Ok(());
        if self.link.borrow().unsent() > 0 && !vu.is_interrupted() {
            let patience = vu.clock().sleep_until(vu.now().plus(PATIENCE_NS));
            let gone = std::future::poll_fn(|cx| self.drop_what_comes(vu, cx));
            outcome = vu.wait_for(ctx, async {
                tokio::select! { () = gone => {}, () = patience => {} }
            });
        }
        let (sent, received) = self.link.borrow_mut().take_bytes();
        vu.traffic.add(sent, received);
        outcome
    }
}

/// How many attachments an acknowledgement of Socket.IO has: `462-…`.
fn attachments(text: &str) -> u32 {
    let count = text.get(2..).and_then(|rest| rest.split_once('-')).map(|(count, _)| count);
    count.and_then(|count| count.parse().ok()).unwrap_or(0)
}

/// The name of the type of a value that is no bytes.
fn kind(value: &Value<'_>) -> String {
    let known = match value.type_of() {
        Type::String => "String",
        Type::Int | Type::Float => "Number",
        Type::Bool => "Boolean",
        Type::Null => "null",
        Type::Undefined => "undefined",
        _ => "Object",
    };
    let constructor = value.as_object().and_then(|object| object.get::<_, Object<'_>>("constructor").ok());
    constructor.and_then(|own| own.get("name").ok()).unwrap_or_else(|| known.to_owned())
}

impl Source for Session {
    /// While the script waits for something else, what it said leaves; what comes waits for it.
    fn poll(&self, _: &Rc<Vu>, cx: &mut Context<'_>) -> Poll<()> {
        if self.is_left.get() {
            return Poll::Ready(());
        }
        let _ = self.link.borrow_mut().poll_flush(cx);
        Poll::Pending
    }

    fn end(&self, _: &Rc<Vu>) {}
}
