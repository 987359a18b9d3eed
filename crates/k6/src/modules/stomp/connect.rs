//! How a script wants a session opened, and the opening.

use rquickjs::{Coerced, Ctx, FromJs, Object, Value};
use sonagi_transport::link::{ConnectRequest, StreamLink, WebsocketLink};
use sonagi_transport::net::Origin;
use sonagi_wire::stomp::{Command, Decoder, HeartBeat, Limits, Side, Unwritable, Version, Versions, Writer};
use std::rc::Rc;

use super::Metrics;
use super::carrier::Carrier;
use super::session::{Session, Terms};
use crate::interpreter::{go_error, host_object};
use crate::modules::socket::{Apart, Wanted, not_opened};
use crate::options::span;
use crate::vu::{Phase, Vu};

/// How long things may take that a script sets no limit.
const TIMEOUT_NS: i64 = 10_000_000_000;
const RECEIPT_NS: i64 = 30_000_000_000;

/// Heart-beats offered and asked for by a script that says nothing of them.
const HEART_BEAT_MS: u32 = 60_000;

/// Limits of a server's frames. Brokers put a stack trace into one header.
const LIMITS: Limits = Limits { line: 64 << 10, headers: 256, body: 64 << 20 };

/// Where to, and through what.
enum Route {
    Websocket(Origin, String),
    Stream(Origin),
}

/// `connect(options)`: blocks until the server has let us in.
pub(super) fn connect<'js>(
    ctx: Ctx<'js>,
    options: Value<'js>,
    metrics: Metrics,
) -> rquickjs::Result<Object<'js>> {
    let vu = Vu::of(&ctx);
    let no_address = "stomp.connect needs an address\nhint: stomp.connect({ addr: 'host:61613' }), or with protocol: \
                      'ws' and path";
    let options = options.as_object().ok_or_else(|| go_error(&ctx, no_address))?;
    let given = ConnectOptions { ctx: &ctx, options };
    let addr = given.text(&["addr"])?.ok_or_else(|| go_error(&ctx, no_address))?;
    let timeout_ns = given.span(&["timeout"])?.unwrap_or(TIMEOUT_NS);
    let (route, url) = route(&given, &addr)?;
    let mut wanted = Wanted::new(&vu, &url);
    wanted.take(&ctx, options, false)?;
    let terms = terms(&given, &vu, &wanted, metrics)?;
    let connect =
        connect_frame(&given, &route, terms.heart_beat)?.map_err(|why| go_error(&ctx, &why.to_string()))?;
    let until = vu.now().plus(timeout_ns);
    let opened = vu.wait_for(&ctx, async {
        tokio::select! {
            biased;
            opened = opening(&vu, route, wanted) => opened,
            () = vu.clock().sleep_until(until) => Err(format!("dial tcp {addr}: i/o timeout")),
        }
    })?;
    let carrier = opened.map_err(|why| go_error(&ctx, &why))?;
    let session = Session::new(&vu, carrier, Decoder::new(Side::Client, Versions::ALL, LIMITS), terms);
    session.queue(&vu, &connect);
    let late = "the server did not answer CONNECT in time";
    let let_in = session
        .wait(&ctx, &vu, Some((until, late)), |connection| connection.inbox.connected.as_ref().map(|_| ()))?;
    if let Err(why) = let_in {
        session.leave(&vu);
        return Err(go_error(&ctx, &why));
    }
    host_object(&ctx, session)
}

/// The options object, read as Go reads one: what is no option is passed over.
struct ConnectOptions<'a, 'js> {
    ctx: &'a Ctx<'js>,
    options: &'a Object<'js>,
}

impl<'js> ConnectOptions<'_, 'js> {
    /// The first of these names that has a value; newer releases of the extension write names with underscores.
    fn one<T: FromJs<'js>>(&self, names: &[&str]) -> rquickjs::Result<Option<T>> {
        for name in names {
            if let Some(value) = self.options.get::<_, Option<T>>(*name)? {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    fn text(&self, names: &[&str]) -> rquickjs::Result<Option<String>> {
        Ok(self.one::<Coerced<String>>(names)?.map(|text| text.0).filter(|text| !text.is_empty()))
    }

    fn span(&self, names: &[&str]) -> rquickjs::Result<Option<i64>> {
        let Some(text) = self.text(names)? else { return Ok(None) };
        span::parse(&text)
            .map(Some)
            .map_err(|why| go_error(self.ctx, &format!("{}: {text:?} {why}", names[0])))
    }

    fn is(&self, name: &str) -> rquickjs::Result<bool> {
        Ok(self.one::<Coerced<bool>>(&[name])?.is_some_and(|given| given.0))
    }
}

fn route(given: &ConnectOptions<'_, '_>, addr: &str) -> rquickjs::Result<(Route, String)> {
    let protocol = given.text(&["protocol"])?.unwrap_or_else(|| "tcp".to_owned());
    let wrong = |why: &str| go_error(given.ctx, why);
    let parsed = |url: &str| Origin::parse(url).map_err(|failed| wrong(&failed.detail));
    match protocol.as_str() {
        "ws" | "wss" => {
            let path = given.text(&["path"])?.unwrap_or_default();
            let slash = if path.starts_with('/') || path.is_empty() { "" } else { "/" };
            let query = given.text(&["query"])?.map(|query| format!("?{query}")).unwrap_or_default();
            let url = format!("{protocol}://{addr}{slash}{path}{query}");
            let (origin, path) = parsed(&url)?;
            Ok((Route::Websocket(origin, path), url))
        }
        "tcp" | "tcp4" | "tcp6" => {
            let has_port = addr.rsplit(':').next().is_some_and(|port| port.parse::<u16>().is_ok());
            if addr.contains('/') || !has_port {
                let rule = format!("addr must be HOST:PORT, got {addr:?}");
                return Err(wrong(&format!("{rule}\nhint: a WebSocket has protocol: 'ws' and a path")));
            }
            let url = format!("{}://{addr}", if given.is("tls")? { "https" } else { "http" });
            let (origin, _) = parsed(&url)?;
            Ok((Route::Stream(origin), url))
        }
        other => Err(wrong(&format!(
            "a stomp session has no protocol {other:?}\nhint: there are tcp, ws and wss; TLS over tcp is tls: true"
        ))),
    }
}

fn terms(
    given: &ConnectOptions<'_, '_>,
    vu: &Vu,
    wanted: &Wanted,
    metrics: Metrics,
) -> rquickjs::Result<Terms> {
    let beats = given.one::<Object<'_>>(&["heartbeat"])?;
    let heart_beat = match beats {
        None => HeartBeat { can: HEART_BEAT_MS, wants: HEART_BEAT_MS },
        Some(options) => {
            let given = ConnectOptions { ctx: given.ctx, options: &options };
            let ms = |ns: i64| u32::try_from(ns / 1_000_000).unwrap_or(if ns < 0 { 0 } else { u32::MAX });
            HeartBeat {
                can: given.span(&["outgoing"])?.map_or(HEART_BEAT_MS, ms),
                wants: given.span(&["incoming"])?.map_or(HEART_BEAT_MS, ms),
            }
        }
    };
    Ok(Terms {
        tags: wanted.tags.clone(),
        metrics,
        heart_beat,
        receipt_ns: given.span(&["receipt_timeout", "receiptTimeout"])?.unwrap_or(RECEIPT_NS),
        send_ns: given.span(&["message_send_timeout", "messageSendTimeout"])?.unwrap_or(TIMEOUT_NS),
        is_verbose: given.is("verbose")?,
        is_kept: vu.phase.get() == Phase::Init || vu.shard.common.options.sonagi.keep_connections,
    })
}

/// Nothing is escaped in this frame, whatever the version.
fn connect_frame(
    given: &ConnectOptions<'_, '_>,
    route: &Route,
    heart_beat: HeartBeat,
) -> rquickjs::Result<Result<Vec<u8>, Unwritable>> {
    let (Route::Websocket(origin, _) | Route::Stream(origin)) = route;
    let host = given.text(&["host"])?.unwrap_or_else(|| origin.host.clone());
    let (login, passcode) = (given.text(&["user"])?, given.text(&["pass"])?);
    let mut frame = Vec::with_capacity(128);
    let writer = Writer::new(Command::Connect, Version::V1_0, &mut frame)
        .header("accept-version", &Versions::ALL.to_header())
        .header("host", &host)
        .header("heart-beat", &heart_beat.to_header())
        .optional("login", login.as_deref())
        .optional("passcode", passcode.as_deref());
    let headers = headers(given.one::<Value<'_>>(&["headers"])?.as_ref())?;
    let writer = headers.iter().fold(writer, |writer, (name, value)| writer.header(name, value));
    Ok(writer.end().map(|()| frame))
}

/// The members of an object of headers.
pub(super) fn headers(given: Option<&Value<'_>>) -> rquickjs::Result<Vec<(String, String)>> {
    let members =
        given.and_then(Value::as_object).into_iter().flat_map(Object::props::<String, Coerced<String>>);
    members.map(|pair| pair.map(|(name, value)| (name, value.0))).collect()
}

/// Connects, in a task of its own: what a handshake needs of a stack is not the user's then.
fn opening(vu: &Rc<Vu>, route: Route, wanted: Wanted) -> Apart<Result<Carrier, String>> {
    let vu = Rc::clone(vu);
    Apart::begin(async move {
        match route {
            Route::Stream(origin) => {
                let opened = StreamLink::connect(&vu.shard.net, &origin).await;
                let opened = opened.map_err(|failed| not_opened(&failed, Some(&origin)))?;
                Ok(Carrier::Stream(Box::new(opened)))
            }
            Route::Websocket(origin, path) => {
                let request = ConnectRequest {
                    headers: wanted.all_headers(&vu, &origin, &path),
                    origin,
                    path,
                    subprotocols: Vec::new(),
                    max_message: LIMITS.body as usize,
                };
                match WebsocketLink::open(&vu.shard.net, &request).await {
                    Ok((link, _)) => Ok(Carrier::Websocket(Box::new(link))),
                    Err(not) => {
                        vu.traffic.add(not.bytes.0, not.bytes.1);
                        Err(refused(&not.failed, &request.origin))
                    }
                }
            }
        }
    })
}

/// A refusal says what the server answered.
fn refused(failed: &sonagi_transport::net::Failed, origin: &Origin) -> String {
    match failed.failure {
        sonagi_measure::outcome::Failure::HandshakeRefused(_) => {
            format!("websocket: bad handshake: {}", failed.detail)
        }
        _ => not_opened(failed, Some(origin)),
    }
}
