//! HTTP/2 servers that go away, and those that refuse single requests: requests that they have not processed are sent
//! again.

use std::cell::RefCell;
use std::rc::Rc;

use sonagi_measure::At;
use sonagi_measure::outcome::Failure;
use sonagi_transport::http::{Client, Pool, Request, Response};
use sonagi_transport::net::{Cause, Failed, Net, Origin};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use crate::http::get;
use crate::net::acceptor;
use crate::net_servers::{local, net, serve};

const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;

const NO_ERROR: u32 = 0;
const INTERNAL_ERROR: u32 = 2;
const REFUSED_STREAM: u32 = 7;

/// A server's side of HTTP/2 (RFC 9113 §4), frame by frame.
struct Http2Peer {
    stream: TlsStream<TcpStream>,
}

impl Http2Peer {
    async fn write(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        let head = [&length[1..], &[kind, flags], &stream.to_be_bytes()].concat();
        self.stream.write_all(&[&head, payload].concat()).await.unwrap();
    }

    /// The next request's stream; None: the client has ended.
    async fn request(&mut self) -> Option<u32> {
        loop {
            let mut head = [0; 9];
            self.stream.read_exact(&mut head).await.ok()?;
            let [_, one, two, kind, ..] = head;
            let length = usize::from(head[0]) << 16 | usize::from(one) << 8 | usize::from(two);
            self.stream.read_exact(&mut vec![0; length]).await.ok()?;
            if kind == HEADERS {
                return Some(u32::from_be_bytes(head[5..].try_into().unwrap()));
            }
        }
    }

    /// Answers 200 without a body: END_HEADERS and END_STREAM, the eighth entry of HPACK's static table.
    async fn answer(&mut self, stream: u32) {
        self.write(HEADERS, 0x05, stream, &[0x88]).await;
    }

    async fn go_away(&mut self, last: u32, code: u32) {
        self.write(GOAWAY, 0, 0, &[last.to_be_bytes(), code.to_be_bytes()].concat()).await;
    }

    async fn reset(&mut self, stream: u32, code: u32) {
        self.write(RST_STREAM, 0, stream, &code.to_be_bytes()).await;
    }
}

/// The server's connections and streams, and a client's answers.
type Seen = Rc<RefCell<Vec<(usize, u32)>>>;

/// Serves each connection by `serving`, which is given its number.
async fn http2<F: Future<Output = ()> + 'static>(
    serving: impl Fn(usize, Http2Peer, Seen) -> F + 'static,
) -> (Origin, Seen) {
    let (tls, seen, serving) = (acceptor(&["h2"]), Seen::default(), Rc::new(serving));
    let noted = Rc::clone(&seen);
    let origin = serve(move |number, stream| {
        let (tls, noted, serving) = (tls.clone(), Rc::clone(&noted), Rc::clone(&serving));
        async move {
            let mut peer = Http2Peer { stream: tls.accept(stream).await.unwrap() };
            peer.stream.read_exact(&mut [0; 24]).await.unwrap();
            peer.write(SETTINGS, 0, 0, &[]).await;
            serving(number, peer, noted).await;
        }
    })
    .await;
    (Origin { tls: true, ..origin }, seen)
}

fn pooled(net: &Rc<Net>, pool: &Rc<Pool>) -> Client {
    Client::new(Rc::clone(net), Some(Rc::clone(pool)), Rc::new(At::default))
}

/// This many requests at once over one connection of a pool.
async fn at_once(origin: &Origin, requests: usize) -> Vec<Result<Response, Failed>> {
    let (net, pool) = (net(), Rc::new(Pool::new(1)));
    let mut users = tokio::task::JoinSet::new();
    // The connection is there before them.
    pooled(&net, &pool).request(origin, get("/")).await.unwrap();
    for _ in 0..requests {
        let (mut client, origin) = (pooled(&net, &pool), origin.clone());
        users.spawn_local(async move { client.request(&origin, get("/")).await });
    }
    users.join_all().await
}

#[test]
fn a_request_above_the_last_stream_of_a_goaway_is_sent_again_over_another_connection() {
    local(async {
        let (origin, seen) = http2(|number, mut peer, seen| async move {
            while let Some(stream) = peer.request().await {
                seen.borrow_mut().push((number, stream));
                match (number, stream) {
                    // Three requests are under way; it takes the first of them.
                    (0, 3 | 5) => {}
                    (0, 7) => {
                        peer.go_away(3, NO_ERROR).await;
                        peer.answer(3).await;
                    }
                    _ => peer.answer(stream).await,
                }
            }
        })
        .await;
        for response in at_once(&origin, 3).await {
            assert_eq!(response.unwrap().status, 200);
        }
        let mut seen = seen.take();
        seen.sort_unstable();
        assert_eq!(seen, [(0, 1), (0, 3), (0, 5), (0, 7), (1, 1), (1, 3)]);
    });
}

#[test]
fn a_connection_that_goes_away_is_given_no_more_requests_and_finishes_those_it_has() {
    local(async {
        let (finish, finishing) = tokio::sync::oneshot::channel::<()>();
        let finishing = Rc::new(RefCell::new(Some(finishing)));
        let (asked, mut gone) = tokio::sync::mpsc::unbounded_channel();
        let (origin, seen) = http2(move |number, mut peer, seen| {
            let (finishing, asked) = (Rc::clone(&finishing), asked.clone());
            async move {
                let first = peer.request().await.unwrap();
                seen.borrow_mut().push((number, first));
                if number == 0 {
                    // Like servers being replaced: first nothing is left out, then requests since the notice.
                    peer.go_away(u32::MAX >> 1, NO_ERROR).await;
                    asked.send(()).unwrap();
                    let finishing = finishing.borrow_mut().take().unwrap();
                    finishing.await.unwrap();
                }
                peer.answer(first).await;
                while let Some(stream) = peer.request().await {
                    seen.borrow_mut().push((number, stream));
                    peer.answer(stream).await;
                }
            }
        })
        .await;
        let (net, pool) = (net(), Rc::new(Pool::new(1)));
        let (mut slow, mut other) = (pooled(&net, &pool), pooled(&net, &pool));
        let slowly = {
            let origin = origin.clone();
            tokio::task::spawn_local(async move { slow.request(&origin, get("/")).await.unwrap().status })
        };
        gone.recv().await.unwrap();
        // The frame is read by the connection's own task: requests until the one that finds it gone.
        while seen.borrow().last().is_none_or(|(number, _)| *number == 0) {
            assert_eq!(other.request(&origin, get("/")).await.unwrap().status, 200);
        }
        finish.send(()).unwrap();
        assert_eq!(slowly.await.unwrap(), 200);
        assert_eq!(seen.take(), [(0, 1), (1, 1)]);
    });
}

#[test]
fn a_server_that_goes_away_before_it_has_looked_at_anything_is_asked_again() {
    local(async {
        let (origin, seen) = http2(|number, mut peer, seen| async move {
            if number < 2 {
                peer.go_away(0, NO_ERROR).await;
            }
            while let Some(stream) = peer.request().await {
                seen.borrow_mut().push((number, stream));
                if number == 2 {
                    peer.answer(stream).await;
                }
            }
        })
        .await;
        let mut client = Client::new(net(), None, Rc::new(At::default));
        assert_eq!(client.request(&origin, get("/")).await.unwrap().status, 200);
        assert_eq!(seen.borrow().last(), Some(&(2, 1)));
        assert_eq!(client.take_traffic().opened, 3);
    });
}

#[test]
fn a_refused_stream_is_asked_for_again_and_what_was_sent_again_is_counted() {
    local(async {
        let (origin, seen) = http2(|number, mut peer, seen| async move {
            while let Some(stream) = peer.request().await {
                seen.borrow_mut().push((number, stream));
                if stream == 1 {
                    peer.reset(stream, REFUSED_STREAM).await;
                } else {
                    peer.answer(stream).await;
                }
            }
        })
        .await;
        let mut client = Client::new(net(), None, Rc::new(At::default));
        let post = Request { method: "POST".into(), body: "x".into(), ..get("/") };
        assert_eq!(client.request(&origin, post).await.unwrap().status, 200);
        assert_eq!(seen.take(), [(0, 1), (0, 3)], "over the same connection: it is well");
        let traffic = client.take_traffic();
        assert_eq!((traffic.opened, traffic.repeated), (1, 1));
    });
}

#[test]
fn a_server_that_refuses_for_ever_is_asked_five_times_and_named() {
    local(async {
        for (is_reset, failure, cause, words) in [
            (
                true,
                Failure::Reset,
                Cause::StreamReset(REFUSED_STREAM),
                "reset the request's stream (REFUSED_STREAM)",
            ),
            (
                false,
                Failure::ClosedEarly,
                Cause::GoAway(NO_ERROR),
                "takes no more requests on the connection (NO_ERROR)",
            ),
        ] {
            let (origin, seen) = http2(move |number, mut peer, seen| async move {
                while let Some(stream) = peer.request().await {
                    seen.borrow_mut().push((number, stream));
                    if is_reset {
                        peer.reset(stream, REFUSED_STREAM).await;
                    } else {
                        peer.go_away(0, NO_ERROR).await;
                    }
                }
            })
            .await;
            let mut client = Client::new(net(), None, Rc::new(At::default));
            let failed = client.request(&origin, get("/")).await.unwrap_err();
            assert_eq!((failed.failure, failed.cause), (failure, cause));
            assert!(failed.detail.contains(words), "{failed}");
            let asked = (0..5).map(|n: u32| if is_reset { (0, 2 * n + 1) } else { (n as usize, 1) });
            assert_eq!(seen.take(), asked.collect::<Vec<_>>());
        }
    });
}

#[test]
fn a_request_that_the_server_began_and_broke_is_not_sent_again() {
    local(async {
        let (origin, seen) = http2(|number, mut peer, seen| async move {
            while let Some(stream) = peer.request().await {
                seen.borrow_mut().push((number, stream));
                if stream == 1 { peer.answer(stream).await } else { peer.reset(stream, INTERNAL_ERROR).await }
            }
        })
        .await;
        let mut client = Client::new(net(), None, Rc::new(At::default));
        client.request(&origin, get("/")).await.unwrap();
        let failed = client.request(&origin, get("/")).await.unwrap_err();
        assert_eq!((failed.failure, failed.cause), (Failure::Reset, Cause::StreamReset(INTERNAL_ERROR)));
        assert_eq!(seen.take(), [(0, 1), (0, 3)]);
    });
}
