//! Serves a watch's seconds to another Sonagi: HTTP/1, one path, a token.
//!
//! Where others can reach it a token is required. Without one only requests that name an address of this machine are
//! answered: a site anywhere can make a browser ask here, under a name that it owns (DNS rebinding).

use super::ring::Ring;
use crate::error::Error;
use crate::page::{Access, Listen};
use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// Connections at the same time: a run has one.
const CONNECTIONS_MAX: usize = 64;
/// How long a request's head may take, and a connection be idle.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// Where to serve, and to whom.
#[derive(Clone, Debug)]
pub(crate) struct Serving {
    pub(crate) listen: Listen,
    pub(crate) token: Option<String>,
}

/// A server that ends with the process.
pub(crate) struct WatchServer {
    address: SocketAddr,
}

struct Shared {
    access: Access,
    has_token: bool,
    ring: Arc<Ring>,
}

impl WatchServer {
    /// Serves the seconds of a ring.
    pub(crate) fn start(serving: Serving, ring: Arc<Ring>) -> Result<WatchServer, Error> {
        let Serving { listen, token } = serving;
        let wanted = listen.address;
        if token.is_none() && !wanted.ip().is_loopback() {
            return Err(Error::flag(
                "--serve",
                format_args!(
                    "what others can reach needs a token; got {wanted} without\nhint: --token TOKEN, or \
                     SONAGI_WATCH_TOKEN, which no list of processes shows"
                ),
            ));
        }
        let cannot = |error: io::Error| Error::could_not(format_args!("cannot serve on {wanted}: {error}"));
        let listener = TcpListener::bind(wanted).map_err(cannot)?;
        listener.set_nonblocking(true).map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        let has_token = token.is_some();
        let access = Access::new(address, listen.name, token.unwrap_or_default());
        let shared = Arc::new(Shared { access, has_token, ring });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(cannot)?;
        let serve = move || runtime.block_on(serve(listener, shared));
        std::thread::Builder::new().name("watch server".to_owned()).spawn(serve).map_err(cannot)?;
        Ok(WatchServer { address })
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((socket, _)) = listener.accept().await else {
            // Out of files, say.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let answer = answer(&request, &shared);
                async move { Ok::<_, Infallible>(answer) }
            });
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
            let _ = http.serve_connection(TokioIo::new(socket), service).await;
            drop(place);
        });
    }
}

fn answer<B>(request: &Request<B>, shared: &Shared) -> Response<Full<Bytes>> {
    let (status, body) = match () {
        () if !may_ask(request.headers(), shared) => {
            (StatusCode::UNAUTHORIZED, "a token is required\n".to_owned())
        }
        () if request.method() != Method::GET => (StatusCode::METHOD_NOT_ALLOWED, String::new()),
        () if request.uri().path() != "/seconds" => (StatusCode::NOT_FOUND, String::new()),
        () => {
            let query = request.uri().query().unwrap_or_default();
            let of = |name: &str| {
                let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
                pairs.into_iter().find(|(known, _)| *known == name).map(|(_, value)| value)
            };
            let after = of("after").and_then(|after| after.parse().ok()).unwrap_or(0);
            (StatusCode::OK, shared.ring.after(of("watch"), after))
        }
    };
    let mut response = Response::new(Full::from(body));
    *response.status_mut() = status;
    let kind = if status == StatusCode::OK { "application/json" } else { "text/plain" };
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// Whether the token is shown, or, where there is none, a program of this machine asks.
fn may_ask(headers: &HeaderMap, shared: &Shared) -> bool {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    match shared.has_token {
        true => {
            let token = text(AUTHORIZATION).and_then(|it| it.strip_prefix("Bearer "));
            token.is_some_and(|token| shared.access.may_act(Some(token)))
        }
        false => shared.access.admits(text(HOST), text(ORIGIN)),
    }
}
