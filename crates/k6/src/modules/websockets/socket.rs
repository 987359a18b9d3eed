//! A socket beside the iteration: it is driven whenever its user waits, and calls its script in jobs.

use rquickjs::function::IntoArgs;
use rquickjs::{ArrayBuffer, Ctx, Function, Object, Persistent, Undefined, Value};
use sonagi_measure::At;
use sonagi_transport::link::{Ended, Env, Link, Present, WebsocketEvent, WebsocketLink};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, Waker};
use std::time::UNIX_EPOCH;

use crate::interpreter::go_error;
use crate::metrics::{SystemTag, Tags, builtin};
use crate::modules::delivery::{self, By, Connection};
use crate::modules::socket::{Ending, HandshakeFailed, Opened, Opening, Pings, Wanted};
use crate::receive_buffer::{Item, ReceiveBuffer};
use crate::vu::{Job, Phase, Source, Vu};

/// With so many bytes waiting for the script, nothing more is read.
const MOST_WAITING: usize = 1 << 20;

/// With so many bytes unsent, sending fails: a script that only sends would fill the memory, for it never waits.
const MOST_UNSENT: usize = 64 << 20;

/// Over so many unsent bytes a message is given to the kernel at once.
const FLUSHED: usize = 64 << 10;

/// The script's side of a socket; what it is called for most is at hand.
#[derive(Clone)]
struct Tell {
    all: Persistent<Object<'static>>,
    message: Persistent<Function<'static>>,
}

/// A socket from the script's `new` to its end.
pub(super) struct Socket {
    me: Weak<Socket>,
    begun: At,
    state: RefCell<State>,
    /// The functions of the script that are called; none after they have heard of the end.
    tell: RefCell<Option<Tell>>,
    tags: RefCell<Tags>,
    buffers: RefCell<VecDeque<ReceiveBuffer>>,
    /// The peer's close frame.
    closed: RefCell<Option<(Option<u16>, String)>>,
    /// The iteration, of those begun, in which a job that hands the buffers over was queued; jobs end with theirs.
    queued: Cell<Option<u64>>,
    /// It outlives its iteration.
    is_kept: bool,
    /// The script, or what it threw, has closed it.
    is_closing: Cell<bool>,
    /// Bytes of messages that have not left.
    buffered: Cell<usize>,
    pings: RefCell<Pings>,
    connection: Connection,
}

enum State {
    Connecting(Opening),
    Open(Box<WebsocketLink>),
    /// The connection is over, the script does not know it yet.
    Ended(Ended),
    Over,
}

impl Socket {
    /// Begins to connect for the script; returns the socket's functions.
    pub(super) fn open<'js>(
        ctx: Ctx<'js>,
        url: String,
        offered: Vec<String>,
        params: Value<'js>,
        tell: Object<'js>,
    ) -> rquickjs::Result<Object<'js>> {
        let vu = Vu::of(&ctx);
        if vu.phase.get() == Phase::Init {
            return Err(go_error(&ctx, "using websockets in the init context is not supported"));
        }
        let mut wanted = Wanted::new(&vu, &url);
        wanted.subprotocols = offered;
        if let Some(params) = params.as_object() {
            wanted.take(&ctx, params, true)?;
        }
        let name = wanted.tags.get("name").unwrap_or(&url).to_owned();
        wanted.tags = wanted.tags.with_automatic(&[(SystemTag::Url, &name), (SystemTag::Name, &name)]);
        let begun = vu.now();
        let message = Persistent::save(&ctx, tell.get::<_, Function<'js>>("message")?);
        let tell = Tell { all: Persistent::save(&ctx, tell), message };
        let tags = RefCell::new(wanted.tags.clone());
        let connecting = wanted.opening(&vu, begun);
        let socket = Rc::new_cyclic(|me| Socket {
            me: Weak::clone(me),
            begun,
            state: RefCell::new(State::Connecting(connecting)),
            tell: RefCell::new(Some(tell)),
            tags,
            buffers: RefCell::default(),
            closed: RefCell::default(),
            queued: Cell::new(None),
            is_kept: vu.shard.common.options.sonagi.keep_connections,
            is_closing: Cell::new(false),
            buffered: Cell::new(0),
            pings: RefCell::default(),
            connection: Connection::default(),
        });
        vu.events.add(Rc::clone(&socket) as Rc<dyn Source>);
        socket.object(&ctx)
    }

    fn object<'js>(self: &Rc<Self>, ctx: &Ctx<'js>) -> rquickjs::Result<Object<'js>> {
        let object = Object::new(ctx.clone())?;
        let it = Rc::clone(self);
        let send = move |ctx: Ctx<'js>, data: Value<'js>| it.send(&ctx, &data);
        object.set("send", Function::new(ctx.clone(), send)?)?;
        let it = Rc::clone(self);
        object.set("ping", Function::new(ctx.clone(), move |ctx: Ctx<'js>| it.ping(&Vu::of(&ctx)))?)?;
        let it = Rc::clone(self);
        let close = move |ctx: Ctx<'js>, code: u16, reason: String| it.close(&Vu::of(&ctx), code, &reason);
        object.set("close", Function::new(ctx.clone(), close)?)?;
        let it = Rc::clone(self);
        object.set("drop", Function::new(ctx.clone(), move |ctx: Ctx<'js>| it.over(&Vu::of(&ctx)))?)?;
        let it = Rc::clone(self);
        object.set("buffered", Function::new(ctx.clone(), move || it.buffered.get())?)?;
        Ok(object)
    }

    fn send<'js>(&self, ctx: &Ctx<'js>, data: &Value<'js>) -> rquickjs::Result<()> {
        let vu = Vu::of(ctx);
        if let State::Open(link) = &mut *self.state.borrow_mut() {
            if link.unsent() > MOST_UNSENT {
                let rule = format!("{} bytes are unsent, no more can wait", link.unsent());
                return Err(go_error(ctx, &rule));
            }
            let length = if let Some(text) = data.as_string() {
                let text = text.to_string()?;
                link.send_text(&text);
                delivery::sent(&vu, text.as_bytes());
                text.len()
            } else {
                let buffer = data.as_object().and_then(|object| ArrayBuffer::from_object(object.clone()));
                let bytes = buffer.as_ref().and_then(ArrayBuffer::as_bytes).unwrap_or_default();
                link.send_binary(bytes);
                delivery::sent(&vu, bytes);
                bytes.len()
            };
            self.buffered.set(self.buffered.get() + length);
            if link.unsent() > FLUSHED {
                let _ = link.poll_flush(&mut Context::from_waker(Waker::noop()));
            }
            vu.observe(builtin::WS_MSGS_SENT, 1.0, &self.tags.borrow());
        }
        Ok(())
    }

    fn ping(&self, vu: &Vu) {
        if let State::Open(link) = &mut *self.state.borrow_mut() {
            link.send_ping(self.pings.borrow_mut().next(vu.now()).as_bytes());
            vu.observe(builtin::WS_MSGS_SENT, 1.0, &self.tags.borrow());
        }
    }

    /// A close frame counts as a message, as a ping does: k6 counts what it writes.
    fn close(&self, vu: &Vu, code: u16, reason: &str) {
        self.is_closing.set(true);
        if let State::Open(link) = &mut *self.state.borrow_mut() {
            link.close(code, reason);
            self.connection.closed(vu, By::Us);
            vu.observe(builtin::WS_MSGS_SENT, 1.0, &self.tags.borrow());
        }
    }

    fn observe_end(&self, vu: &Vu) {
        let took = vu.now().since(self.begun) as f64 / 1e6;
        vu.observe(builtin::WS_SESSION_DURATION, took, &self.tags.borrow());
    }

    /// The connection is over for both sides.
    fn over(&self, vu: &Rc<Vu>) {
        if let State::Open(mut link) = self.state.replace(State::Over) {
            let (sent, received) = link.take_bytes();
            vu.traffic.add(sent, received);
            // The peer has not said goodbye.
            self.connection.closed(vu, By::Us);
            delivery::doubt(vu);
        }
        self.tell.take();
        for buffer in self.buffers.take() {
            vu.shard.receive_buffers.put_back(buffer);
        }
    }

    /// Queues the job that hands over the messages that wait.
    fn queue(&self, vu: &Vu) {
        let now = Some(vu.events.iteration());
        if let Some(me) = self.me.upgrade().filter(|_| self.queued.replace(now) != now) {
            vu.events.push(Box::new(move |ctx, vu| me.deliver(ctx, vu)));
        }
    }

    fn connected(&self, vu: &Vu, (wanted, opened): (Wanted, Opened)) {
        self.tags.replace(wanted.tags);
        let Some(me) = self.me.upgrade() else { return };
        let (state, told): (State, Job) = match opened {
            Ok((link, _)) => {
                self.connection.opened(vu);
                let protocol = link.subprotocol().unwrap_or_default().to_owned();
                let told =
                    move |ctx: &Ctx<'_>, _: &Rc<Vu>| me.tell(ctx, "opened", (protocol, Vec::<String>::new()));
                (State::Open(Box::new(link)), Box::new(told))
            }
            Err(HandshakeFailed { error, .. }) => {
                let told = move |ctx: &Ctx<'_>, vu: &Rc<Vu>| {
                    let told = me.tell(ctx, "ended", (error, 0, ""));
                    me.over(vu);
                    told
                };
                (State::Over, Box::new(told))
            }
        };
        self.state.replace(state);
        vu.events.push(told);
    }

    fn tell<'js>(&self, ctx: &Ctx<'js>, what: &str, given: impl IntoArgs<'js>) -> rquickjs::Result<()> {
        let Some(tell) = self.tell.borrow().clone() else { return Ok(()) };
        tell.all.restore(ctx)?.get::<_, Function<'js>>(what)?.call(given)
    }

    /// Tells the script what came; and when the connection is over, that it is.
    fn deliver(&self, ctx: &Ctx<'_>, vu: &Rc<Vu>) -> rquickjs::Result<()> {
        self.queued.set(None);
        loop {
            let Some(mut buffer) = self.buffers.borrow_mut().pop_front() else { break };
            let is_read = self.read(ctx, vu, &mut buffer);
            if let Ok(false) = is_read {
                // Something else is to have its turn first.
                self.buffers.borrow_mut().push_front(buffer);
                self.queue(vu);
                return Ok(());
            }
            vu.shard.receive_buffers.put_back(buffer);
            is_read?;
        }
        let ended = match self.state.replace(State::Over) {
            State::Ended(ended) => ended,
            state => {
                self.state.replace(state);
                return Ok(());
            }
        };
        self.observe_end(vu);
        let ending = Ending::of(self.closed.take(), &ended);
        let told = match &ending {
            Ending::Closed(code, reason) => self.tell(ctx, "ended", (ending.error(), *code, reason)),
            Ending::Broken(_) | Ending::Lost(_) => self.tell(ctx, "ended", (Undefined, 0, "")),
        };
        self.over(vu);
        told
    }

    /// Hands a buffer over; false: not all of it, for a reaction or another job waits.
    fn read<'js>(&self, ctx: &Ctx<'js>, vu: &Rc<Vu>, buffer: &mut ReceiveBuffer) -> rquickjs::Result<bool> {
        let message = self.tell.borrow().as_ref().map(|tell| tell.message.clone());
        let Some(message) = message.map(|message| message.restore(ctx)).transpose()? else { return Ok(true) };
        let (at, tags) = (vu.now(), self.tags.borrow().clone());
        let received = || vu.shard.observe_at(builtin::WS_MSGS_RECEIVED, 1.0, &tags, at);
        // Messages of one drive came at one time: the script's clock is read once for all of them.
        let now_ms = unix_ms();
        while let Some(item) = buffer.read() {
            match item {
                Item::Text(_) | Item::Binary(_) if self.is_closing.get() => continue,
                Item::Text(text) => {
                    received();
                    message.call::<_, ()>((text, now_ms))?;
                }
                Item::Binary(bytes) => {
                    received();
                    let buffer = ArrayBuffer::new_copy(ctx.clone(), bytes)?;
                    message.call::<_, ()>((buffer, now_ms, bytes.len()))?;
                }
                Item::Ping => self.tell(ctx, "told", ("ping",))?,
                Item::Pong(payload) => {
                    self.answered(vu, payload, at);
                    self.tell(ctx, "told", ("pong",))?;
                }
                Item::Close(code, reason) => {
                    self.closed.replace(Some((code, reason.to_owned())));
                }
            }
            if !buffer.is_empty() && vu.is_awaited(ctx) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// How long a ping took, when its pong comes.
    fn answered(&self, vu: &Vu, payload: &[u8], at: At) {
        if let Some(sent) = self.pings.borrow_mut().answered(payload) {
            vu.shard.observe_at(builtin::WS_PING, at.since(sent) as f64 / 1e6, &self.tags.borrow(), at);
        }
    }

    /// Moves bytes both ways; what came is queued.
    fn drive(&self, vu: &Rc<Vu>, cx: &mut Context<'_>) {
        let mut buffers = self.buffers.borrow_mut();
        let mut state = self.state.borrow_mut();
        let State::Open(link) = &mut *state else { return };
        if buffers.iter().map(ReceiveBuffer::bytes).sum::<usize>() > MOST_WAITING {
            let _ = link.poll_flush(cx);
            return;
        }
        let clock = || vu.now();
        let mut scratch = vu.shard.scratch.borrow_mut();
        let mut env = Env { present: &Present::new(&clock), scratch: &mut scratch };
        let mut buffer = None;
        let driven = link.poll_events(cx, &mut env, |event: WebsocketEvent<'_>| {
            match &event {
                WebsocketEvent::Text(text) => delivery::arrived(vu, text.as_bytes()),
                WebsocketEvent::Binary(bytes) => delivery::arrived(vu, bytes),
                WebsocketEvent::Ping(_) | WebsocketEvent::Pong(_) | WebsocketEvent::Close { .. } => {}
            }
            buffer.get_or_insert_with(|| vu.shard.receive_buffers.take()).push(event);
        });
        if link.unsent() == 0 {
            self.buffered.set(0);
        }
        if let Poll::Ready(ended) = driven {
            let (sent, received) = link.take_bytes();
            vu.traffic.add(sent, received);
            self.connection.closed(vu, By::Them);
            *state = State::Ended(ended);
            self.queue(vu);
        }
        if let Some(buffer) = buffer {
            buffers.push_back(buffer);
            self.queue(vu);
        }
    }
}

impl Source for Socket {
    fn poll(&self, vu: &Rc<Vu>, cx: &mut Context<'_>) -> Poll<()> {
        let connected = match &mut *self.state.borrow_mut() {
            State::Connecting(connecting) => match Pin::new(connecting).poll(cx) {
                Poll::Ready(connected) => Some(connected),
                Poll::Pending => return Poll::Pending,
            },
            _ => None,
        };
        if let Some(connected) = connected {
            self.connected(vu, connected);
        }
        self.drive(vu, cx);
        if self.is_kept
            && (!self.buffers.borrow().is_empty() || matches!(&*self.state.borrow(), State::Ended(_)))
        {
            // Messages that an iteration left unread are the next one's.
            self.queue(vu);
        }
        // Until the script was told, whoever ends the iteration must find it.
        let is_over = matches!(&*self.state.borrow(), State::Over) && self.tell.borrow().is_none();
        if is_over { Poll::Ready(()) } else { Poll::Pending }
    }

    fn is_kept(&self) -> bool {
        self.is_kept && matches!(&*self.state.borrow(), State::Open(_) | State::Ended(_))
    }

    fn take_bytes(&self) -> (u64, u64) {
        if let State::Open(link) = &mut *self.state.borrow_mut() { link.take_bytes() } else { (0, 0) }
    }

    /// An open socket says goodbye, as far as that goes at once.
    fn end(&self, vu: &Rc<Vu>) {
        if let State::Open(link) = &mut *self.state.borrow_mut() {
            link.close(1000, "");
            let clock = || vu.now();
            let mut scratch = vu.shard.scratch.borrow_mut();
            let mut env = Env { present: &Present::new(&clock), scratch: &mut scratch };
            let _ = link.poll_events(&mut Context::from_waker(Waker::noop()), &mut env, |_| {});
        }
        self.over(vu);
    }
}

/// The time in ms, as `Date.now()` says.
fn unix_ms() -> f64 {
    UNIX_EPOCH.elapsed().map_or(0.0, |since| since.as_millis() as f64)
}
