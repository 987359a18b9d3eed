//! `k6/x/stomp`: STOMP over TCP, TLS or a WebSocket, in the words of the extension of that name. Its classes stand in
//! `stomp.js`.
//!
//! The decision to question: [`sonagi_transport::link::StompLink`] is not used. It acknowledges by itself and hands
//! over texts, which a plan wants; a script names each message it acknowledges and sees its headers.

mod carrier;
mod connect;
mod frames;
mod inbox;
mod session;

use rquickjs::convert::List;
use rquickjs::{ArrayBuffer, Coerced, Ctx, Function, Object, Value};
use sonagi_wire::stomp::Command;
use std::rc::Rc;

use crate::interpreter::{go_error, host_object_with};
use crate::metrics::{Kind, MetricId, Unit};
use crate::modules::binding::{Builtin, own};
use crate::vu::Vu;
use frames::Message;
pub(crate) use session::Session;

pub(super) const MODULE: Builtin = Builtin { names: &["k6/x/stomp"], exports: &["connect", "Client"], build };

/// The metrics of sessions.
#[derive(Clone, Copy)]
struct Metrics {
    send: MetricId,
    send_time: MetricId,
    send_error: MetricId,
    read: MetricId,
    read_time: MetricId,
    read_error: MetricId,
    ack: MetricId,
    ack_error: MetricId,
    nack: MetricId,
    nack_error: MetricId,
}

impl Metrics {
    fn registered(ctx: &Ctx<'_>) -> rquickjs::Result<Metrics> {
        let registry = &Vu::of(ctx).shard.common.registry;
        let add = |name: &str, kind, unit| {
            registry.add(&format!("stomp_{name}"), kind, unit).map_err(|why| go_error(ctx, &why.to_string()))
        };
        let count = |name: &str| add(name, Kind::Counter, Unit::Number);
        let time = |name: &str| add(name, Kind::Trend, Unit::Milliseconds);
        Ok(Metrics {
            send: count("send_count")?,
            send_time: time("send_time")?,
            send_error: count("send_error_count")?,
            read: count("read_count")?,
            read_time: time("read_time")?,
            read_error: count("read_error_count")?,
            ack: count("ack_count")?,
            ack_error: count("ack_error_count")?,
            nack: count("nack_count")?,
            nack_error: count("nack_error_count")?,
        })
    }
}

fn build<'js>(ctx: &Ctx<'js>, object: &Object<'js>) -> rquickjs::Result<()> {
    let native = Object::new(ctx.clone())?;
    let metrics = Metrics::registered(ctx)?;
    let connect = move |ctx: Ctx<'js>, options: Value<'js>| connect::connect(ctx, options, metrics);
    native.set("connect", Function::new(ctx.clone(), connect)?)?;
    native.set("send", Function::new(ctx.clone(), send)?)?;
    native.set("subscribe", Function::new(ctx.clone(), subscribe)?)?;
    native.set("unsubscribe", Function::new(ctx.clone(), unsubscribe)?)?;
    native.set("active", Function::new(ctx.clone(), active)?)?;
    native.set("listen", Function::new(ctx.clone(), listen)?)?;
    native.set("read", Function::new(ctx.clone(), read)?)?;
    native.set("settle", Function::new(ctx.clone(), settle)?)?;
    native.set("begin", Function::new(ctx.clone(), begin)?)?;
    native.set("complete", Function::new(ctx.clone(), complete)?)?;
    native.set("connected", Function::new(ctx.clone(), connected)?)?;
    native.set("hasLeft", Function::new(ctx.clone(), has_left)?)?;
    native.set("disconnect", Function::new(ctx.clone(), disconnect)?)?;
    native.set("text", Function::new(ctx.clone(), text)?)?;
    native.set("json", Function::new(ctx.clone(), json)?)?;
    let fail = |ctx: Ctx<'js>, message: String| Err::<(), _>(go_error(&ctx, &message));
    native.set("fail", Function::new(ctx.clone(), fail)?)?;
    let made: Object<'js> = own(ctx, "stomp", include_str!("stomp.js"))?.call((native,))?;
    for name in MODULE.exports {
        object.set(*name, made.get::<_, Value<'js>>(*name)?)?;
    }
    Ok(())
}

fn of<'js>(ctx: &Ctx<'js>, session: &Object<'js>) -> rquickjs::Result<Rc<Session>> {
    host_object_with(session).ok_or_else(|| go_error(ctx, "not connected"))
}

fn send<'js>(
    ctx: Ctx<'js>,
    session: Object<'js>,
    destination: String,
    content_type: Option<Coerced<String>>,
    body: Value<'js>,
    options: Option<Object<'js>>,
    transaction: Option<String>,
) -> rquickjs::Result<()> {
    let of_options = |name: &str| match &options {
        Some(options) => options.get::<_, Value<'js>>(name),
        None => Ok(Value::new_undefined(ctx.clone())),
    };
    let message = Message {
        destination: &destination,
        content_type: content_type.map(|given| given.0).filter(|given| !given.is_empty()),
        body: &body,
        headers: &of_options("headers")?,
        has_receipt: of_options("receipt")?.get::<Coerced<bool>>()?.0,
        transaction: transaction.as_deref(),
    };
    of(&ctx, &session)?.send(&ctx, &message)
}

fn subscribe<'js>(
    ctx: Ctx<'js>,
    session: Object<'js>,
    destination: String,
    ack: Coerced<String>,
    id: Option<Coerced<String>>,
    headers: Value<'js>,
) -> rquickjs::Result<String> {
    of(&ctx, &session)?.subscribe(&ctx, &destination, &ack.0, id.map(|id| id.0), &headers)
}

fn unsubscribe<'js>(ctx: Ctx<'js>, session: Object<'js>, id: String) -> rquickjs::Result<()> {
    of(&ctx, &session)?.unsubscribe(&ctx, &id)
}

fn active<'js>(ctx: Ctx<'js>, session: Object<'js>, id: String) -> rquickjs::Result<bool> {
    let session = of(&ctx, &session)?;
    Ok(session.is_open() && session.connection.borrow().inbox.subscriptions.contains_key(&id))
}

fn listen<'js>(
    ctx: Ctx<'js>,
    session: Object<'js>,
    id: String,
    function: Function<'js>,
) -> rquickjs::Result<()> {
    of(&ctx, &session)?.listen(&ctx, &id, function)
}

fn read<'js>(
    ctx: Ctx<'js>,
    session: Object<'js>,
    id: String,
) -> rquickjs::Result<List<(ArrayBuffer<'js>, Vec<String>)>> {
    let arrived = of(&ctx, &session)?.read(&ctx, &id)?;
    Ok(List((ArrayBuffer::new(ctx, arrived.body)?, arrived.headers)))
}

fn settle<'js>(
    ctx: Ctx<'js>,
    session: Object<'js>,
    command: String,
    subscription: String,
    message: Vec<String>,
    transaction: Option<String>,
) -> rquickjs::Result<()> {
    let command = if command == "ACK" { Command::Ack } else { Command::Nack };
    of(&ctx, &session)?.settle(&ctx, command, &subscription, &message, transaction.as_deref())
}

fn begin<'js>(ctx: Ctx<'js>, session: Object<'js>) -> rquickjs::Result<String> {
    let session = of(&ctx, &session)?;
    let id = session.next_number();
    session.transact(&ctx, Command::Begin, &id)?;
    Ok(id)
}

fn complete<'js>(ctx: Ctx<'js>, session: Object<'js>, command: String, id: String) -> rquickjs::Result<()> {
    let command = if command == "COMMIT" { Command::Commit } else { Command::Abort };
    of(&ctx, &session)?.transact(&ctx, command, &id)
}

/// A header of CONNECTED.
fn connected<'js>(ctx: Ctx<'js>, session: Object<'js>, name: String) -> rquickjs::Result<String> {
    let session = of(&ctx, &session)?;
    let connection = session.connection.borrow();
    let headers = connection.inbox.connected.as_deref().unwrap_or_default();
    Ok(inbox::value(headers, &name).unwrap_or_default().to_owned())
}

fn has_left<'js>(ctx: Ctx<'js>, session: Object<'js>) -> rquickjs::Result<bool> {
    Ok(of(&ctx, &session)?.has_left())
}

fn disconnect<'js>(ctx: Ctx<'js>, session: Object<'js>) -> rquickjs::Result<()> {
    of(&ctx, &session)?.disconnect(&ctx)
}

fn text(body: ArrayBuffer<'_>) -> String {
    String::from_utf8_lossy(body.as_bytes().unwrap_or_default()).into_owned()
}

/// The body, or the part of it that a selector in gjson's syntax names.
fn json<'js>(
    ctx: Ctx<'js>,
    body: ArrayBuffer<'js>,
    selector: Option<Coerced<String>>,
) -> rquickjs::Result<Value<'js>> {
    let body = text(body);
    match selector {
        Some(selector) => {
            let found = gjson::get(&body, &selector.0);
            if found.exists() {
                ctx.json_parse(found.json().to_owned())
            } else {
                Ok(Value::new_undefined(ctx))
            }
        }
        None => ctx.json_parse(body),
    }
}
