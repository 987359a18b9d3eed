//! Where HTTP becomes real-time: the WebSocket upgrade, and Engine.IO's requests with every refusal they can get.

use std::sync::Arc;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::upgrade::OnUpgrade;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use sonagi_wire::engineio::{Refusal, Version};
use sonagi_wire::websocket;
use tokio::net::TcpStream;

use crate::connection::outbox::Close;
use crate::connection::source::Source;
use crate::encoding::form::Form;
use crate::http::write_timeout::Patient;
use crate::http::{self, Answer, BodyError, Seat};
use crate::hub::Hub;
use crate::problem::Problem;
use crate::rooms::cursor::start_of_text;
use crate::rooms::peer::{Heart, Newcomer, Peer};
use crate::transports::engineio::jsonp::Callback;
use crate::transports::engineio::polling::{self, Packing};
use crate::transports::engineio::{Opening, Session, Socket, Speech};
use crate::transports::websocket::connection::{Attendant, carry};
use crate::transports::websocket::rooms::{Echo, RawRooms};

/// The largest message and the longest queue of `/ws/echo`: conformance suites send 16 MiB messages.
pub(crate) const ECHO_MESSAGE: usize = 16 * 1024 * 1024;
const ECHO_QUEUE: usize = 4 * ECHO_MESSAGE;

/// The subprotocol of `/ws`, chosen when a client offers it.
const SUBPROTOCOL: &str = "chat.v1";

/// `/ws`: rooms over a plain WebSocket; without a token only those that are open to everybody.
pub(crate) fn rooms(request: Request<Incoming>, seat: &Arc<Seat>, hub: &Arc<Hub>) -> Result<Answer, Problem> {
    let handshake = Handshake::check(&request)?;
    not_draining(hub)?;
    let user = http::visitor(&request, hub)?;
    let room = http::query(&request, "room").map(|room| room.into_owned());
    // Refused while it can still be said with a status.
    let start = start_of_text(&http::query(&request, "after").unwrap_or_default())?;
    if let Some(room) = &room {
        hub.room_for(user, room, seat.source)?;
    }
    let offered = request.headers().get_all(header::SEC_WEBSOCKET_PROTOCOL);
    let chat = offered
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|name| name.trim() == SUBPROTOCOL);
    let (limits, source) = (hub.config.limits.clone(), seat.source);
    let hub = hub.clone();
    let mut answer = handshake.answer();
    if chat {
        answer.headers_mut().insert(header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(SUBPROTOCOL));
    }
    handshake.then(seat, hub.clone(), limits.max_payload, move || {
        let peer = newcomer(&hub, limits.queue_bytes, source);
        if let Some(user) = user {
            peer.belongs_to(user);
        }
        peer.greeted(Form::Raw);
        let attendant = RawRooms { peer, hub };
        if let Some(room) = room {
            attendant.join(&room, start);
        }
        attendant
    });
    Ok(answer)
}

/// `/ws/echo`: says everything back; for conformance suites and benchmarks, needs no token.
pub(crate) fn echo(request: Request<Incoming>, seat: &Arc<Seat>, hub: &Arc<Hub>) -> Result<Answer, Problem> {
    let handshake = Handshake::check(&request)?;
    not_draining(hub)?;
    let answer = handshake.answer();
    let hub = hub.clone();
    handshake.then(seat, hub.clone(), ECHO_MESSAGE, move || echoing(&hub));
    Ok(answer)
}

/// Who answers on `/ws/echo`.
pub(crate) fn echoing(hub: &Arc<Hub>) -> Echo {
    let peer = newcomer(hub, ECHO_QUEUE, Source::default());
    peer.pulse.settled();
    Echo { peer, hub: hub.clone() }
}

/// A new connection outside of Engine.IO.
pub(crate) fn newcomer(hub: &Hub, queue_bytes: usize, source: Source) -> Arc<Peer> {
    let newcomer = Newcomer { heart: Heart::WebSocket, source, queue_bytes, ..Newcomer::default() };
    hub.peers.add(newcomer, hub.now(), &hub.config.limits)
}

pub(crate) fn not_draining(hub: &Hub) -> Result<(), Problem> {
    if hub.is_serving() {
        return Ok(());
    }
    hub.metrics.refused_connections.add(1);
    Err(Problem::draining())
}

/// `/socket.io/`.
pub(crate) async fn socketio(request: Request<Incoming>, seat: &Arc<Seat>, hub: &Arc<Hub>) -> Answer {
    session(request, Speech::SocketIo, seat, hub).await.unwrap_or_else(Refused::answer)
}

/// `/engine.io/`, in the protocol suite's set-up only.
pub(crate) async fn engineio(request: Request<Incoming>, seat: &Arc<Seat>, hub: &Arc<Hub>) -> Answer {
    session(request, Speech::Echo, seat, hub).await.unwrap_or_else(Refused::answer)
}

/// Why an Engine.IO request got nothing.
enum Refused {
    /// One of the protocol's own refusals.
    By(Refusal),
    Status(StatusCode),
    Problem(Problem),
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Refused {
        Refused::By(refusal)
    }
}

impl Refused {
    fn answer(self) -> Answer {
        match self {
            Refused::By(refusal) => http::json(
                StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::BAD_REQUEST),
                refusal.to_json(),
            ),
            Refused::Status(status) => http::empty(status),
            Refused::Problem(problem) => http::refuse(&problem),
        }
    }
}

async fn session(
    request: Request<Incoming>,
    speech: Speech,
    seat: &Arc<Seat>,
    hub: &Arc<Hub>,
) -> Result<Answer, Refused> {
    let query = |name: &str| http::query(&request, name);
    let polled = match query("transport").as_deref() {
        Some("polling") => true,
        Some("websocket") => false,
        _ => return Err(Refusal::UnknownTransport.into()),
    };
    let version = query("EIO").as_deref().and_then(Version::from_query);
    let version = version.ok_or(Refusal::UnsupportedVersion)?;
    let known = match query("sid") {
        Some(sid) => {
            let parted =
                || hub.sessions.find_parted(&sid).filter(|_| polled && request.method() == Method::GET);
            Some(hub.sessions.find(&sid).or_else(parted).ok_or(Refusal::UnknownSid)?)
        }
        None => None,
    };
    if known.as_ref().is_some_and(|session| session.version != version) {
        return Err(Refusal::BadRequest.into());
    }
    let base64 = query("b64").is_some_and(|b64| !b64.is_empty());
    let opening = || {
        let token = query("token").or_else(|| http::bearer(request.headers()).map(Into::into));
        let token = token.map(|token| token.into_owned());
        Opening { version, speech, polled, base64, token, source: seat.source }
    };
    let callback = query("j").map(|j| Callback::new(&j));
    match (known, polled, request.method().clone()) {
        (Some(session), true, Method::GET) => poll(&session, callback.as_ref(), hub).await,
        (Some(session), true, Method::POST) => {
            let packing = packing(&request, version);
            let limit = hub.config.limits.max_payload;
            let body = async {
                let body = http::body(request, limit, hub).await;
                body.map_err(|error| given_up(&error, &session, hub))
            };
            let word = polling::post(&session, hub, packing, body).await?;
            Ok(match packing {
                // Into a frame of the page: as text some browsers would save it.
                Packing::Form => http::ok("text/html", Bytes::from(word)),
                Packing::Text | Packing::Binary => http::text(word),
            })
        }
        (Some(_), _, method) if method != Method::GET => Err(Refusal::BadRequest.into()),
        (None, true, Method::GET) => {
            may_open(hub)?;
            let session = Session::open(hub, opening());
            poll(&session, callback.as_ref(), hub).await
        }
        (None, _, method) if method != Method::GET => Err(Refusal::BadHandshakeMethod.into()),
        (known, _, _) => {
            let handshake = Handshake::check(&request).map_err(|_| Refusal::BadRequest)?;
            let attendant = match known {
                Some(session) => session.probe(base64, hub),
                None => {
                    may_open(hub)?;
                    Socket::carrying(Session::open(hub, opening()), hub.clone())
                }
            };
            let answer = handshake.answer();
            handshake.then(seat, hub.clone(), hub.config.limits.max_payload, move || attendant);
            Ok(answer)
        }
    }
}

async fn poll(
    session: &Arc<Session>,
    callback: Option<&Callback>,
    hub: &Arc<Hub>,
) -> Result<Answer, Refused> {
    let brought = polling::poll(session, callback, hub).await?;
    Ok(http::ok(brought.kind, brought.content))
}

/// How the body of a post holds its packets.
fn packing(request: &Request<Incoming>, version: Version) -> Packing {
    let kind = request.headers().get(header::CONTENT_TYPE);
    if http::query(request, "j").is_some() {
        Packing::Form
    } else if version == Version::Three && kind.is_some_and(|kind| kind == "application/octet-stream") {
        Packing::Binary
    } else {
        Packing::Text
    }
}

/// A post that brings nothing ends a session that is still polled.
fn given_up(error: &BodyError, session: &Session, hub: &Arc<Hub>) -> Refused {
    match error {
        BodyError::TooLarge => {
            session.fail_poll(hub);
            Refused::Status(StatusCode::PAYLOAD_TOO_LARGE)
        }
        // The network's doing as likely as the client's: no breach.
        BodyError::TooSlow | BodyError::Broken => {
            if session.is_polled() {
                session.end(Close::Normal, hub);
            }
            match error {
                BodyError::TooSlow => Refused::Status(StatusCode::REQUEST_TIMEOUT),
                _ => Refused::By(Refusal::BadRequest),
            }
        }
    }
}

/// Polled sessions are counted here because no socket stands for them.
fn may_open(hub: &Hub) -> Result<(), Refused> {
    not_draining(hub).map_err(Refused::Problem)?;
    if hub.metrics.polling.get() < hub.config.limits.connections as u64 {
        return Ok(());
    }
    hub.metrics.refused_connections.add(1);
    Err(Refused::Problem(Problem::new(503, "too_many_connections", "too many sessions are open")))
}

/// A request that may become a WebSocket (RFC 6455 §4.2.1).
pub(crate) struct Handshake {
    accept: String,
    upgrade: OnUpgrade,
}

impl Handshake {
    pub(crate) fn check(request: &Request<Incoming>) -> Result<Handshake, Problem> {
        let headers = request.headers();
        let lists = |name: header::HeaderName, word: &str| {
            headers
                .get_all(name)
                .iter()
                .filter_map(|value| value.to_str().ok())
                .flat_map(|value| value.split(','))
                .any(|part| part.trim().eq_ignore_ascii_case(word))
        };
        if !lists(header::UPGRADE, "websocket") || !lists(header::CONNECTION, "upgrade") {
            return Err(Problem::new(426, "upgrade_required", "this path takes WebSocket upgrades"));
        }
        if headers.get(header::SEC_WEBSOCKET_VERSION).is_none_or(|version| version != "13") {
            return Err(Problem::new(426, "upgrade_required", "Sec-WebSocket-Version is 13"));
        }
        let key = headers.get(header::SEC_WEBSOCKET_KEY).and_then(|key| key.to_str().ok());
        let key = key.filter(|key| key.len() == 24 && key.ends_with("=="));
        let key = key.ok_or_else(|| Problem::bad_request("Sec-WebSocket-Key is 16 bytes in base64"))?;
        Ok(Handshake { accept: websocket::accept_key(key), upgrade: OnUpgrade::clone(upgrade_of(request)?) })
    }

    pub(crate) fn answer(&self) -> Answer {
        let mut answer = http::empty(StatusCode::SWITCHING_PROTOCOLS);
        let headers = answer.headers_mut();
        headers.clear();
        headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
        if let Ok(accept) = HeaderValue::from_str(&self.accept) {
            headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
        }
        answer
    }

    /// Carries the WebSocket once the answer is out.
    pub(crate) fn then<A: Attendant + 'static>(
        self,
        seat: &Arc<Seat>,
        hub: Arc<Hub>,
        max_message: usize,
        attend: impl FnOnce() -> A + Send + 'static,
    ) {
        let seat = seat.clone();
        tokio::spawn(async move {
            if let Some((stream, first)) = bare(self.upgrade).await {
                hub.metrics.websocket.add(1);
                carry(stream, first, max_message, attend(), hub.clone()).await;
                hub.metrics.websocket.sub(1);
            } else {
                // The client left between request and answer.
                let mut attendant = attend();
                attendant.closing();
                hub.peers.remove(attendant.peer());
            }
            drop(seat);
        });
    }
}

fn upgrade_of(request: &Request<Incoming>) -> Result<&OnUpgrade, Problem> {
    request
        .extensions()
        .get::<OnUpgrade>()
        .ok_or_else(|| Problem::new(426, "upgrade_required", "this connection cannot be upgraded"))
}

/// The socket without hyper around it, and what was read beyond the request.
async fn bare(upgrade: OnUpgrade) -> Option<(TcpStream, Bytes)> {
    let parts = upgrade.await.ok()?.downcast::<TokioIo<Patient>>().ok()?;
    let (stream, unread) = parts.io.into_inner().into_inner();
    let first = if unread.is_empty() { parts.read_buf } else { [parts.read_buf, unread].concat().into() };
    Some((stream, first))
}
