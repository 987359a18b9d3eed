//! An open stream and its handlers.

use rquickjs::{Ctx, Object, Value};
use sonagi_transport::link::{Ended, Env, Link, Present, SseItem, SseLink};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Poll};

use crate::metrics::{MetricId, Tags};
use crate::modules::delivery::{self, By, Connection};
use crate::modules::socket::Handlers;
use crate::receive_buffer::ReceiveBuffer;
use crate::vu::Vu;

/// The events that handlers are set for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum On {
    Open,
    Event,
    Error,
}

/// A stream from its answer to its end.
pub(super) struct Client {
    link: RefCell<SseLink>,
    tags: Tags,
    /// The metric that counts events.
    events: MetricId,
    handlers: Handlers<On>,
    /// Four texts an event: id, comment, name, data.
    buffer: RefCell<Option<ReceiveBuffer>>,
    ended: RefCell<Option<Ended>>,
    is_closed: Cell<bool>,
    connection: Connection,
}

impl Client {
    pub(super) fn new(link: SseLink, tags: Tags, events: MetricId) -> Rc<Client> {
        Rc::new(Client {
            link: RefCell::new(link),
            tags,
            events,
            handlers: Handlers::default(),
            buffer: RefCell::default(),
            ended: RefCell::default(),
            is_closed: Cell::new(false),
            connection: Connection::default(),
        })
    }

    pub(super) fn on<'js>(&self, ctx: &Ctx<'js>, event: &str, handler: &Value<'js>) {
        let on = match event {
            "open" => On::Open,
            "event" => On::Event,
            "error" => On::Error,
            _ => return,
        };
        self.handlers.add(ctx, on, handler);
    }

    /// Nothing more is told.
    pub(super) fn close(&self) {
        self.is_closed.set(true);
    }

    /// Tells the script what comes until the stream is over.
    pub(super) fn run(&self, ctx: &Ctx<'_>, vu: &Rc<Vu>) -> rquickjs::Result<()> {
        self.connection.opened(vu);
        self.handlers.tell(ctx, On::Open, ())?;
        while !self.is_closed.get() {
            vu.wait(ctx, |cx| self.poll(vu, cx))?;
            self.read(ctx, vu)?;
            if let Some(ended) = self.ended.take().filter(|_| !self.is_closed.replace(true))
                && !self.link.borrow().is_whole()
            {
                self.handlers.fail(ctx, On::Error, &ended.detail)?;
            }
        }
        Ok(())
    }

    /// `Ready`: something is to be told.
    fn poll(&self, vu: &Rc<Vu>, cx: &mut Context<'_>) -> Poll<()> {
        let clock = || vu.now();
        let mut scratch = vu.shard.scratch.borrow_mut();
        let mut env = Env { present: &Present::new(&clock), scratch: &mut scratch };
        let mut buffer = self.buffer.borrow_mut();
        let driven = self.link.borrow_mut().poll_events(cx, &mut env, |item| {
            let mut put = |parts: [&str; 4]| {
                let buffer = buffer.get_or_insert_with(|| vu.shard.receive_buffers.take());
                parts.iter().for_each(|part| buffer.push_text(part));
            };
            match item {
                SseItem::Event(event) => {
                    // An event without a type is handed over without one, though the standard calls it `message`.
                    let name = if event.name == "message" { "" } else { &event.name };
                    let text = event.text();
                    delivery::arrived(vu, text.as_bytes());
                    put([event.id, "", name, &text]);
                }
                SseItem::Comment(bytes) => put(["", &String::from_utf8_lossy(bytes), "", ""]),
                SseItem::Retry(_) => {}
            }
        });
        match driven {
            Poll::Ready(ended) => {
                self.connection.closed(vu, By::Them);
                self.ended.replace(Some(ended));
                Poll::Ready(())
            }
            Poll::Pending if buffer.is_some() => Poll::Ready(()),
            Poll::Pending => Poll::Pending,
        }
    }

    fn read(&self, ctx: &Ctx<'_>, vu: &Rc<Vu>) -> rquickjs::Result<()> {
        let Some(mut buffer) = self.buffer.take() else { return Ok(()) };
        let at = vu.now();
        let mut outcome = Ok(());
        while outcome.is_ok() && !self.is_closed.get() && !buffer.is_empty() {
            vu.shard.observe_at(self.events, 1.0, &self.tags, at);
            outcome = event(ctx, &mut buffer).and_then(|event| self.handlers.tell(ctx, On::Event, (event,)));
        }
        vu.shard.receive_buffers.put_back(buffer);
        outcome
    }

    /// The script is done with it.
    pub(super) fn leave(&self, vu: &Rc<Vu>) {
        self.close();
        self.connection.closed(vu, By::Us);
        self.handlers.end();
        if let Some(buffer) = self.buffer.take() {
            vu.shard.receive_buffers.put_back(buffer);
        }
        let (sent, received) = self.link.borrow_mut().take_bytes();
        vu.traffic.add(sent, received);
    }
}

fn event<'js>(ctx: &Ctx<'js>, buffer: &mut ReceiveBuffer) -> rquickjs::Result<Object<'js>> {
    let event = Object::new(ctx.clone())?;
    for name in ["id", "comment", "name", "data"] {
        event.set(name, buffer.read_text().unwrap_or_default())?;
    }
    Ok(event)
}
