//! Scripted peers and a hand to drive links with: what the tests of net, http and link share.

use std::future::{Future, poll_fn};
use std::net::Ipv4Addr;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use sonagi_measure::At;
use sonagi_transport::link::{Ended, Env, Incoming, Link, Present, WebsocketEvent};
use sonagi_transport::net::{Net, NetOptions, Origin};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Runs a test on one thread, as a shard does. The limit only turns a hang into a failure.
pub(crate) fn local<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let set = tokio::task::LocalSet::new();
    set.block_on(&runtime, async {
        tokio::time::timeout(Duration::from_secs(60), test).await.expect("a test must not hang")
    })
}

pub(crate) fn net() -> Rc<Net> {
    Rc::new(Net::real(NetOptions { verify_certificates: false, ..NetOptions::default() }).unwrap())
}

pub(crate) async fn listen() -> (TcpListener, Origin) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, Origin { host: "127.0.0.1".into(), port, tls: false })
}

/// Serves each connection in turn with `serve`, which is given its number.
pub(crate) async fn serve<F: Future<Output = ()> + 'static>(
    mut serve: impl FnMut(usize, TcpStream) -> F + 'static,
) -> Origin {
    let (listener, origin) = listen().await;
    tokio::task::spawn_local(async move {
        for number in 0.. {
            let (stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            tokio::task::spawn_local(serve(number, stream));
        }
    });
    origin
}

/// Reads up to the end of an HTTP head; what follows stays in the stream (the peers here send no more unasked).
pub(crate) async fn read_head(stream: &mut (impl AsyncReadExt + Unpin)) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8(head).unwrap()
}

/// Answers the next request with these bytes and closes.
pub(crate) async fn answering(bytes: &'static [u8]) -> Origin {
    serve(move |_, mut stream| async move {
        read_head(&mut stream).await;
        stream.write_all(bytes).await.unwrap();
    })
    .await
}

/// Resets the connection instead of closing it.
pub(crate) fn reset(stream: TcpStream) {
    let stream = stream.into_std().unwrap();
    socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
}

/// The value of a header in a head.
pub(crate) fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| {
        let (found, value) = line.split_once(':')?;
        found.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

/// The response that upgrades the request in `head`.
pub(crate) fn upgrade(head: &str, extra: &str) -> String {
    let accept = sonagi_wire::websocket::accept_key(header(head, "sec-websocket-key").unwrap());
    format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\n{extra}\r\n"
    )
}

/// A link with what it said so far, in words.
pub(crate) struct Driven {
    pub(crate) connection: Box<dyn Link>,
    pub(crate) now: At,
    pub(crate) seen: Vec<String>,
    scratch: Vec<u8>,
}

impl Driven {
    pub(crate) fn new(link: impl Link) -> Driven {
        let scratch = vec![0; sonagi_transport::link::SCRATCH];
        Driven { connection: Box::new(link), now: At(0), seen: Vec::new(), scratch }
    }

    /// The link itself, of a transport the test knows.
    pub(crate) fn link<L: Link>(&mut self) -> &mut L {
        self.connection.link_as().unwrap()
    }

    pub(crate) fn with_scratch(mut self, size: usize) -> Driven {
        self.scratch = vec![0; size];
        self
    }

    pub(crate) fn poll(&mut self, cx: &mut std::task::Context<'_>) -> Poll<Ended> {
        let Driven { connection, now, seen, scratch } = self;
        let clock = || *now;
        let mut env = Env { present: &Present::new(&clock), scratch };
        connection.poll_drive(cx, &mut env, &mut |incoming| seen.extend(words(incoming)))
    }

    /// Drives until the condition holds or the connection ends.
    pub(crate) async fn until(&mut self, mut done: impl FnMut(&mut Driven) -> bool) {
        poll_fn(|cx| match self.poll(cx) {
            Poll::Ready(ended) => panic!("ended early: {ended:?} after {:?}", self.seen),
            Poll::Pending if done(self) => Poll::Ready(()),
            Poll::Pending => Poll::Pending,
        })
        .await;
    }

    /// Drives until this many messages were seen.
    pub(crate) async fn messages(&mut self, count: usize) -> &[String] {
        self.until(|driven| driven.seen.len() >= count).await;
        &self.seen
    }

    /// Drives until the kernel has taken everything.
    pub(crate) async fn sent(&mut self) {
        self.until(|driven| !driven.connection.has_unsent()).await;
    }

    pub(crate) async fn ended(&mut self) -> Ended {
        poll_fn(|cx| self.poll(cx)).await
    }
}

/// None: no message.
fn words(incoming: Incoming<'_>) -> Option<String> {
    Some(match incoming {
        Incoming::Websocket(WebsocketEvent::Text(text)) => format!("text {text}"),
        Incoming::Websocket(WebsocketEvent::Binary(bytes)) => format!("binary {bytes:?}"),
        Incoming::Websocket(_) => return None,
        Incoming::Event { namespace, data, attachments, ack } => {
            format!("event {namespace} {data} {attachments:?} {ack:?}")
        }
        Incoming::Ack { namespace, id, data, attachments } => {
            format!("ack {namespace} {id} {data} {attachments:?}")
        }
        Incoming::Connected { namespace } => format!("connected {namespace}"),
        Incoming::Refused { namespace, data } => format!("refused {namespace} {data}"),
        Incoming::Disconnected { namespace } => format!("disconnected {namespace}"),
        Incoming::Message { topic, text } => format!("message {topic}: {text}"),
        Incoming::Polled { status, is_empty, is_first, .. } => {
            let [empty, first] =
                [(is_empty, " empty"), (is_first, " first")].map(|(is, word)| if is { word } else { "" });
            format!("polled {status}{empty}{first}")
        }
        Incoming::PollFailed { failure, .. } => format!("poll failed {}", failure.code()),
        Incoming::PollRefused { status } => format!("poll refused {status}"),
        Incoming::Receipt { id } => format!("receipt {id}"),
    })
}
