//! SockJS 0.3.3 below `/location`: STOMP for clients that come by `sockjs-client`, over WebSocket or two ways of
//! polling.
//!
//! | path | |
//! |---|---|
//! | `/location`, `/location/websocket` | STOMP straight in a WebSocket |
//! | `/location/info` | what a client asks first |
//! | `/location/:server/:session/websocket` | SockJS's frames in a WebSocket |
//! | `…/xhr` | a POST that is answered with the next frame |
//! | `…/xhr_streaming` | a POST whose answer goes on until it has brought 128 KiB |
//! | `…/xhr_send` | a POST that brings messages |
//!
//! The transports of old browsers (iframes, JSONP) are not served. No cookie is set: a session is known by its name.

mod receiving;
mod session;
mod socket;

use std::sync::Arc;

use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, StatusCode};
use sonagi_wire::sockjs::{Info, Messages, Path, PayloadError, Transport};
use sonagi_wire::stomp::Version;

use crate::encoding::stomp::envelope::Envelope;
use crate::http::{self, Answer, BodyError, Slot};
use crate::hub::Hub;
use crate::problem::Problem;
use crate::transports::stomp::{Conversation, StompSocket};
use crate::transports::websocket::upgrade::{self, Handshake};

pub(crate) use session::SockJs;

/// Where all of it is.
const PREFIX: &str = "/location";

/// The longest name of a session.
const NAME: usize = 128;

/// The rest after the prefix, when the path is SockJS's.
pub(crate) fn path(path: &str) -> Option<Path<'_>> {
    path.strip_prefix(PREFIX).and_then(Path::parse)
}

/// The methods that a browser may use there.
pub(crate) fn methods(at: &str) -> Option<&'static str> {
    Some(match path(at)? {
        Path::Session {
            transport: Transport::Xhr | Transport::XhrStreaming | Transport::XhrSend, ..
        } => "OPTIONS, POST",
        _ => "OPTIONS, GET",
    })
}

pub(crate) async fn serve(
    request: Request<Incoming>,
    slot: &Arc<Slot>,
    sockjs: &Arc<SockJs>,
) -> Result<Answer, Problem> {
    let at = request.uri().path().to_owned();
    let missing = || Problem::new(404, "not_found", format!("nothing is served at `{at}`"));
    let path = path(&at).ok_or_else(missing)?;
    let method = if let Path::Session { transport, .. } = path
        && transport != Transport::WebSocket
    {
        Method::POST
    } else {
        Method::GET
    };
    if matches!(path, Path::Iframe | Path::Session { transport: Transport::Other, .. }) {
        return Err(missing());
    }
    if *request.method() != method {
        return Err(http::wrong_method(request.method(), method.as_str()));
    }
    match path {
        Path::Greeting if !request.headers().contains_key(header::UPGRADE) => Ok(http::text(Path::GREETING)),
        Path::Greeting | Path::RawWebSocket => stomp(&request, slot, &sockjs.hub),
        Path::Info => {
            let info = Info::new(true, fastrand::u32(..)).to_json();
            Ok(http::ok("application/json; charset=UTF-8", bytes::Bytes::from(info)))
        }
        Path::Iframe => Err(missing()),
        Path::Session { session, transport, .. } => {
            if session.len() > NAME {
                return Err(missing());
            }
            match transport {
                Transport::WebSocket => socket::open(&request, slot, &sockjs.hub),
                Transport::Xhr | Transport::XhrStreaming => {
                    receive(&request, session, transport, slot, sockjs).await
                }
                Transport::XhrSend => send(request, session, sockjs).await,
                Transport::Other => Err(missing()),
            }
        }
    }
}

/// STOMP straight in a WebSocket.
fn stomp(request: &Request<Incoming>, slot: &Arc<Slot>, hub: &Arc<Hub>) -> Result<Answer, Problem> {
    let handshake = Handshake::check(request)?;
    hub.admit_connection()?;
    let user = http::visitor(request, hub)?;
    let offered = request.headers().get_all(header::SEC_WEBSOCKET_PROTOCOL);
    let chosen = offered
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| Version::from_subprotocol(name.trim()))
        .max();
    let mut answer = handshake.answer();
    if let Some(version) = chosen {
        let name = HeaderValue::from_static(version.subprotocol());
        answer.headers_mut().insert(header::SEC_WEBSOCKET_PROTOCOL, name);
    }
    let (hub, limits) = (hub.clone(), &hub.config.limits);
    let (max_payload, queue_bytes, source) = (limits.max_payload, limits.queue_bytes, slot.source);
    handshake.then(slot, hub.clone(), max_payload, move || {
        let peer = upgrade::newcomer(&hub, queue_bytes, source);
        if let Some(user) = user {
            peer.belongs_to(user);
        }
        StompSocket { conversation: Conversation::new(hub, peer, Envelope::Plain) }
    });
    Ok(answer)
}

/// `xhr` and `xhr_streaming`; the first of a session opens it.
async fn receive(
    request: &Request<Incoming>,
    name: &str,
    transport: Transport,
    slot: &Slot,
    sockjs: &Arc<SockJs>,
) -> Result<Answer, Problem> {
    let session = match sockjs.find(name) {
        Some(session) => session,
        None => {
            sockjs.hub.admit_connection()?;
            sockjs.open(name, http::visitor(request, &sockjs.hub)?, slot.source)?
        }
    };
    const SCRIPT: &str = "application/javascript; charset=UTF-8";
    let content = match transport {
        Transport::XhrStreaming => receiving::stream(session, sockjs),
        _ => receiving::poll(session, sockjs).await,
    };
    Ok(http::ok(SCRIPT, content))
}

/// `xhr_send`.
async fn send(request: Request<Incoming>, name: &str, sockjs: &Arc<SockJs>) -> Result<Answer, Problem> {
    let gone = || Problem::new(404, "no_such_session", "there is no such session, or it has ended");
    let session = sockjs.find(name).filter(|session| session.is_open()).ok_or_else(gone)?;
    let limit = sockjs.hub.config.limits.max_payload;
    let body = http::body(request, limit, &sockjs.hub).await.map_err(|error| match error {
        BodyError::TooLarge => Problem::new(413, "too_large", format!("a body may have {limit} bytes")),
        BodyError::TooSlow => Problem::new(408, "too_slow", "the body took too long"),
        BodyError::Broken => Problem::bad_request("the body broke off"),
    })?;
    sockjs.hub.metrics.bytes_in.add(body.len() as u64);
    let text = std::str::from_utf8(&body).map_err(|_| PayloadError::Broken);
    Ok(match text.and_then(Messages::decode) {
        Ok(messages) => {
            session.take(messages);
            let mut answer = http::empty(StatusCode::NO_CONTENT);
            let plain = HeaderValue::from_static("text/plain; charset=UTF-8");
            answer.headers_mut().insert(header::CONTENT_TYPE, plain);
            answer
        }
        Err(error) => {
            let mut answer = http::text(error.to_string());
            *answer.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
            answer
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_below_the_prefix_is_sockjs() {
        assert_eq!(path("/location"), Some(Path::Greeting));
        assert_eq!(path("/location/websocket"), Some(Path::RawWebSocket));
        assert!(matches!(
            path("/location/000/abc/xhr"),
            Some(Path::Session { session: "abc", transport: Transport::Xhr, .. })
        ));
        for other in
            ["/", "/locations", "/location/long/7", "/location/long/7/notify", "/location/sse/connect"]
        {
            assert_eq!(path(other), None, "{other}");
        }
    }
}
