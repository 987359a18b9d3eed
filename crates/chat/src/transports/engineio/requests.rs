//! Engine.IO's requests, with every refusal they can get.

use std::sync::Arc;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header;
use hyper::{Method, Request, StatusCode};
use sonagi_wire::engineio::{Refusal, Version};

use super::jsonp::Callback;
use super::polling::{self, Packing};
use super::{EngineIo, Opening, Session, Socket, Speech};
use crate::connection::outbox::Close;
use crate::http::{self, Answer, BodyError, Slot};
use crate::problem::Problem;
use crate::transports::websocket::upgrade::Handshake;

/// `/socket.io/`.
pub(crate) async fn socketio(request: Request<Incoming>, slot: &Arc<Slot>, io: &Arc<EngineIo>) -> Answer {
    session(request, Speech::SocketIo, slot, io).await.unwrap_or_else(Refused::answer)
}

/// `/engine.io/`, in the protocol suite's set-up only.
pub(crate) async fn engineio(request: Request<Incoming>, slot: &Arc<Slot>, io: &Arc<EngineIo>) -> Answer {
    session(request, Speech::Echo, slot, io).await.unwrap_or_else(Refused::answer)
}

/// Why an Engine.IO request got nothing.
enum Refused {
    /// A refusal of the protocol's own.
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
    slot: &Arc<Slot>,
    io: &Arc<EngineIo>,
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
            let parted = || io.find_parted(&sid).filter(|_| polled && request.method() == Method::GET);
            Some(io.find(&sid).or_else(parted).ok_or(Refusal::UnknownSid)?)
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
        Opening { version, speech, polled, base64, token, source: slot.source }
    };
    let callback = query("j").map(|j| Callback::new(&j));
    match (known, polled, request.method().clone()) {
        (Some(session), true, Method::GET) => poll(&session, callback.as_ref(), io).await,
        (Some(session), true, Method::POST) => {
            let packing = packing(&request, version);
            let limit = io.hub.config.limits.max_payload;
            let body = async {
                let body = http::body(request, limit, &io.hub).await;
                body.map_err(|error| given_up(&error, &session, io))
            };
            let word = polling::post(&session, io, packing, body).await?;
            Ok(match packing {
                // Into a frame of the page: as text some browsers would save it.
                Packing::Form => http::ok("text/html", Bytes::from(word)),
                Packing::Text | Packing::Binary => http::text(word),
            })
        }
        (Some(_), _, method) if method != Method::GET => Err(Refusal::BadRequest.into()),
        (None, true, Method::GET) => {
            may_open(io)?;
            let session = Session::open(io, opening());
            poll(&session, callback.as_ref(), io).await
        }
        (None, _, method) if method != Method::GET => Err(Refusal::BadHandshakeMethod.into()),
        (known, _, _) => {
            let handshake = Handshake::check(&request).map_err(|_| Refusal::BadRequest)?;
            let handler = match known {
                Some(session) => session.probe(base64, io),
                None => {
                    may_open(io)?;
                    Socket::carrying(Session::open(io, opening()), io.clone())
                }
            };
            let answer = handshake.answer();
            handshake.then(slot, io.hub.clone(), io.hub.config.limits.max_payload, move || handler);
            Ok(answer)
        }
    }
}

async fn poll(
    session: &Arc<Session>,
    callback: Option<&Callback>,
    io: &Arc<EngineIo>,
) -> Result<Answer, Refused> {
    let brought = polling::poll(session, callback, io).await?;
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
fn given_up(error: &BodyError, session: &Session, io: &Arc<EngineIo>) -> Refused {
    match error {
        BodyError::TooLarge => {
            session.fail_poll(io);
            Refused::Status(StatusCode::PAYLOAD_TOO_LARGE)
        }
        // The network's doing as likely as the client's: no breach.
        BodyError::TooSlow | BodyError::Broken => {
            if session.is_polled() {
                session.end(Close::Normal, io);
            }
            match error {
                BodyError::TooSlow => Refused::Status(StatusCode::REQUEST_TIMEOUT),
                _ => Refused::By(Refusal::BadRequest),
            }
        }
    }
}

/// Polled sessions are counted here because no socket stands for them.
fn may_open(io: &EngineIo) -> Result<(), Refused> {
    io.hub.admit_connection().map_err(Refused::Problem)?;
    if io.hub.metrics.polling.get() < io.hub.config.limits.connections as u64 {
        return Ok(());
    }
    io.hub.metrics.refused_connections.add(1);
    Err(Refused::Problem(Problem::new(503, "too_many_connections", "too many sessions are open")))
}
