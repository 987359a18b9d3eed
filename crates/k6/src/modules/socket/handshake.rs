//! How a script wants a WebSocket opened.

use rquickjs::{Coerced, Ctx, Object, Value};
use sonagi_measure::At;
use sonagi_measure::outcome::Failure;
use sonagi_transport::http::{Headers, Jar};
use sonagi_transport::link::{ConnectRequest, HandshakeAnswer, NotOpened, WebsocketLink};
use sonagi_transport::net::{Failed, Origin};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use tokio::task::JoinHandle;

use super::ending;
use crate::interpreter::{go_error, host_object_with};
use crate::metrics::{SystemTag, Tags, builtin};
use crate::modules::binding::given_tags;
use crate::modules::http::{HttpState, canonical, host, keep_cookies, quoted};
use crate::modules::record;
use crate::vu::Vu;

/// How long a handshake may take.
const PATIENCE_NS: i64 = 60_000_000_000;

/// The largest message taken: what a script could not hold it need not get.
const MAX_MESSAGE: usize = 64 << 20;

/// A WebSocket that is to be.
#[derive(Clone)]
pub(crate) struct Wanted {
    pub(crate) url: String,
    /// Names as Go writes them.
    headers: Vec<(String, String)>,
    pub(crate) subprotocols: Vec<String>,
    pub(crate) jar: Rc<RefCell<Jar>>,
    pub(crate) tags: Tags,
}

/// Why there is none: what the server answered, if it did, and the error in words.
pub(crate) struct HandshakeFailed {
    pub(crate) answer: Option<HandshakeAnswer>,
    pub(crate) error: String,
}

/// The outcome of a handshake.
pub(crate) type Opened = Result<(WebsocketLink, HandshakeAnswer), HandshakeFailed>;

/// Something done in a task of its own; given up where it is dropped.
pub(crate) struct Apart<T>(JoinHandle<T>);

/// A handshake under way.
pub(crate) type Opening = Apart<(Wanted, Opened)>;

impl<T: 'static> Apart<T> {
    /// Its stack is not the user's: the user's would keep every page it reached.
    pub(crate) fn begin(work: impl Future<Output = T> + 'static) -> Apart<T> {
        Apart(tokio::task::spawn_local(work))
    }
}

impl<T> Future for Apart<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        match Pin::new(&mut self.0).poll(cx) {
            Poll::Ready(Ok(done)) => Poll::Ready(done),
            Poll::Ready(Err(failed)) if failed.is_panic() => std::panic::resume_unwind(failed.into_panic()),
            // Only `drop` cancels it.
            Poll::Ready(Err(_)) | Poll::Pending => Poll::Pending,
        }
    }
}

impl<T> Drop for Apart<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Wanted {
    /// With the user's own jar and tags.
    pub(crate) fn new(vu: &Rc<Vu>, url: &str) -> Wanted {
        let jar = Rc::clone(&*vu.module_state::<HttpState>().jar.borrow());
        Wanted { url: url.to_owned(), headers: Vec::new(), subprotocols: Vec::new(), jar, tags: vu.tags() }
    }

    /// Takes the script's parameters; a name that is none of them is refused where `all` are to be known.
    pub(crate) fn take<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        params: &Object<'js>,
        all: bool,
    ) -> rquickjs::Result<()> {
        for pair in params.props::<String, Value<'js>>() {
            let (name, value) = pair?;
            match name.as_str() {
                "headers" => {
                    for pair in
                        value.as_object().into_iter().flat_map(Object::props::<String, Coerced<String>>)
                    {
                        let (name, value) = pair?;
                        let name = canonical(&name);
                        self.headers.retain(|(own, _)| *own != name);
                        self.headers.push((name, value.0));
                    }
                }
                "tags" => self.tags = given_tags(ctx, &self.tags, Some(&value))?,
                "jar" => {
                    if let Some(jar) = value.as_object().and_then(host_object_with) {
                        self.jar = jar;
                    }
                }
                // Messages go unpacked: the server is not offered what it may refuse anyway.
                "compression" => match value.get::<Coerced<String>>()?.0.trim() {
                    "deflate" => {}
                    "" if !all => {}
                    other => {
                        let what = format!("compression must be 'deflate', got '{other}'");
                        return Err(go_error(ctx, &what));
                    }
                },
                other if all => {
                    let what = format!(
                        "a WebSocket has no option '{other}'; it has headers, tags, jar, compression"
                    );
                    return Err(go_error(ctx, &what));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Opens it, beside the user's stack. Its tags say how it went.
    pub(crate) fn opening(mut self, vu: &Rc<Vu>, begun: At) -> Opening {
        let vu = Rc::clone(vu);
        Apart::begin(async move {
            // The future is made where it runs: the stack that begins it would keep the room it takes for a moment.
            let opened = Box::pin(self.open(&vu, begun)).await;
            (self, opened)
        })
    }

    /// Opens it, and tells what that took.
    async fn open(&mut self, vu: &Rc<Vu>, begun: At) -> Opened {
        let place = self.place();
        let opened = match &place {
            Ok((origin, path)) => self.shake(vu, origin, path, begun).await,
            Err(failed) => Err(failed.clone().into()),
        };
        let ended = vu.now();
        let answer = match &opened {
            Ok((_, answer)) => Some(answer),
            Err(not_opened) => not_opened.answer.as_ref(),
        };
        if let (Some(answer), Ok((origin, path))) = (answer, &place) {
            keep_cookies(&mut self.jar.borrow_mut(), origin, path, &answer.headers);
            let status = answer.status.to_string();
            let subprotocol = answer.headers.get("sec-websocket-protocol").unwrap_or_default();
            let subprotocol = String::from_utf8_lossy(subprotocol);
            self.tags = self
                .tags
                .with_automatic(&[(SystemTag::Status, &status), (SystemTag::Subproto, &subprotocol)]);
        }
        if let Ok((origin, _)) = &place
            && origin.host.parse::<std::net::IpAddr>().is_ok()
        {
            self.tags = self.tags.with_automatic(&[(SystemTag::Ip, &origin.host)]);
        }
        vu.shard.observe_at(builtin::WS_SESSIONS, 1.0, &self.tags, begun);
        vu.shard.observe_at(builtin::WS_CONNECTING, ended.since(begun) as f64 / 1e6, &self.tags, begun);
        let failed = opened.as_ref().err().map(|not_opened| &not_opened.failed);
        record::handshake(vu, (begun, ended), failed.map(|failed| (failed.failure, &*failed.detail)));
        opened.map_err(|not_opened| {
            vu.traffic.add(not_opened.bytes.0, not_opened.bytes.1);
            let origin = place.as_ref().ok().map(|(origin, _)| origin);
            HandshakeFailed {
                error: ending::not_opened(&not_opened.failed, origin),
                answer: not_opened.answer,
            }
        })
    }

    fn place(&self) -> Result<(Origin, String), Failed> {
        let is_websocket = self.url.starts_with("ws://") || self.url.starts_with("wss://");
        let malformed = || Failed::new(Failure::Template, "malformed ws or wss URL");
        if is_websocket { Origin::parse(&self.url).map_err(|_| malformed()) } else { Err(malformed()) }
    }

    async fn shake(
        &self,
        vu: &Rc<Vu>,
        origin: &Origin,
        path: &str,
        begun: At,
    ) -> Result<(WebsocketLink, HandshakeAnswer), NotOpened> {
        let headers = self.all_headers(vu, origin, path);
        let request = ConnectRequest {
            origin: origin.clone(),
            path: path.to_owned(),
            headers,
            subprotocols: self.subprotocols.clone(),
            max_message: MAX_MESSAGE,
        };
        tokio::select! {
            biased;
            opened = WebsocketLink::open(&vu.shard.net, &request) => opened,
            () = vu.clock().sleep_until(begun.plus(PATIENCE_NS)) => {
                Err(Failed::new(Failure::HandshakeTimeout, "handshake took too long").into())
            }
        }
    }

    /// The headers of the script, and ours.
    pub(crate) fn all_headers(&self, vu: &Vu, origin: &Origin, path: &str) -> Vec<(String, String)> {
        let mut headers = self.headers.clone();
        let has = |name: &str| self.headers.iter().any(|(own, _)| own == name);
        if let Some(agent) = vu.shard.common.options.user_agent.as_ref().filter(|_| !has("User-Agent")) {
            headers.push(("User-Agent".to_owned(), agent.clone()));
        }
        let host = host(&self.url);
        if host != origin.authority() && !has("Host") {
            headers.push(("Host".to_owned(), host.into_owned()));
        }
        let cookies = self.cookies(origin, path);
        if !cookies.is_empty() && !has("Cookie") {
            headers.push(("Cookie".to_owned(), cookies));
        }
        headers
    }

    /// The jar's, as Go writes them: a value with a blank or a comma is quoted.
    fn cookies(&self, origin: &Origin, path: &str) -> String {
        let jar = self.jar.borrow();
        let pairs = jar.pairs(origin, path).into_iter();
        pairs.map(|(name, value)| format!("{name}={}", quoted(value))).collect::<Vec<_>>().join("; ")
    }
}

/// Headers as scripts see them: names as Go writes them, several values in one.
pub(crate) fn shown_headers(headers: &Headers) -> BTreeMap<String, String> {
    let mut shown: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in headers.iter() {
        let value = String::from_utf8_lossy(value);
        shown
            .entry(canonical(name))
            .and_modify(|all| all.extend([", ", &value]))
            .or_insert_with(|| value.clone().into_owned());
    }
    shown
}
