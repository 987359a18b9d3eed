//! Connections kept between requests, and their making.

use std::cell::Cell;

use sonagi_measure::At;

use super::exchange::Http1;
use super::http2::Http2;
use super::marks::Dialed;
use super::message::Spoken;
use crate::net::{Alpn, Dialing, Failed, Net, OpeningTimes, Origin};

/// The slot of an origin's connection. Empty while it carries a request, and after it was lost.
pub(super) struct OriginSlot {
    pub(super) origin: Origin,
    pub(super) connection: Option<HttpConnection>,
}

/// A connection to an origin.
pub(super) enum HttpConnection {
    Http1(Http1),
    Http2(Http2),
}

impl HttpConnection {
    pub(super) fn opening(&self) -> Option<OpeningTimes> {
        match self {
            HttpConnection::Http1(connection) => connection.opening,
            HttpConnection::Http2(connection) => connection.opening,
        }
    }

    pub(super) fn spoken(&self) -> Spoken {
        match self {
            HttpConnection::Http1(connection) => {
                Spoken { http2: false, secured: connection.secured(), peer: connection.peer }
            }
            HttpConnection::Http2(connection) => {
                Spoken { http2: true, secured: connection.secured, peer: connection.peer }
            }
        }
    }
}

/// Makes a connection. `stage` is its progress, None before and after.
pub(super) async fn dial(
    net: &Net,
    origin: &Origin,
    dialed: Option<&Dialed>,
    now: &dyn Fn() -> At,
    stage: &Cell<Option<Dialing>>,
) -> Result<HttpConnection, Failed> {
    let note = |dialing| {
        stage.set(Some(dialing));
        dialed.into_iter().for_each(|dialed| dialed.note(dialing, now()));
    };
    let socket = net.dial_noting(origin, Alpn::Http2, &note).await;
    stage.set(None);
    let socket = socket?;
    let opening = dialed.filter(|_| net.is_timed()).map(|dialed| dialed.opening(origin.tls));
    if socket.speaks_http2() {
        return Http2::open(socket, opening).await.map(HttpConnection::Http2);
    }
    Ok(HttpConnection::Http1(Http1::new(socket, opening)))
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::http::{Client, Request};
    use crate::net::NetOptions;
    use tokio::io::AsyncReadExt;

    #[test]
    fn a_client_knows_that_it_waits_for_a_tls_handshake() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
            let port = listener.local_addr().unwrap().port();
            let origin = Origin { host: "127.0.0.1".into(), port, tls: true };
            let net = Rc::new(Net::real(NetOptions::default()).unwrap());
            let mut client = Client::new(net, None, Rc::new(At::default));
            let stalled = async {
                let (mut peer, _) = listener.accept().await.unwrap();
                peer.read_u8().await.unwrap();
                peer
            };
            let request = Request { method: "GET".into(), path: "/".into(), ..Request::default() };
            tokio::select! {
                answered = client.request(&origin, request) => panic!("{answered:?}"),
                _ = stalled => {}
            }
            assert_eq!(client.dialing(), Some(Dialing::Connected));
        });
    }
}
