//! Connections many users share: a pool's, and HTTP/2's.

use std::cell::Cell;
use std::rc::Rc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use sonagi_measure::At;
use sonagi_measure::outcome::Failure;
use sonagi_transport::http::{Client, Pool, Request};
use sonagi_transport::net::Origin;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Notify;

use crate::http::{client, get};
use crate::net::acceptor;
use crate::net_servers::{local, net, read_head, serve};

#[test]
fn a_pool_opens_no_more_connections_than_its_limit() {
    local(async {
        let connections = Rc::new(Cell::new(0));
        let counted = connections.clone();
        let origin = serve(move |_, mut stream| {
            counted.set(counted.get() + 1);
            async move {
                while !read_head(&mut stream).await.is_empty() {
                    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await.unwrap();
                }
            }
        })
        .await;
        let (net, pool) = (net(), Rc::new(Pool::new(2)));
        let mut users = tokio::task::JoinSet::new();
        for _ in 0..10 {
            let mut client = Client::new(net.clone(), Some(pool.clone()), Rc::new(At::default));
            let origin = origin.clone();
            users.spawn_local(async move {
                for _ in 0..5 {
                    assert_eq!(client.request(&origin, get("/")).await.unwrap().status, 200);
                }
            });
        }
        users.join_all().await;
        assert_eq!(connections.get(), 2);
    });
}

#[test]
fn a_dropped_request_gives_its_turn_in_the_pool_back() {
    local(async {
        let (seen, mut asked) = tokio::sync::mpsc::unbounded_channel();
        let origin = serve(move |number, mut stream| {
            let seen = seen.clone();
            async move {
                read_head(&mut stream).await;
                seen.send(()).unwrap();
                if number == 0 {
                    let _ = stream.read_u8().await;
                } else {
                    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await.unwrap();
                }
            }
        })
        .await;
        let mut client = Client::new(net(), Some(Rc::new(Pool::new(1))), Rc::new(At::default));
        tokio::select! {
            _ = client.request(&origin, get("/")) => unreachable!("it is never answered"),
            _ = asked.recv() => {}
        }
        assert_eq!(client.request(&origin, get("/")).await.unwrap().status, 200);
    });
}

/// An HTTP/2 server over TLS that answers with its connection's number and the request as it saw it.
async fn http2_server(connections: Rc<Cell<usize>>) -> Origin {
    let tls = acceptor(&["h2"]);
    let origin = serve(move |number, stream| {
        let tls = tls.clone();
        connections.set(connections.get() + 1);
        async move {
            let stream = tls.accept(stream).await.unwrap();
            let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| async move {
                let body = format!("{number} {} {}", request.method(), request.uri());
                Ok::<_, std::convert::Infallible>(hyper::Response::new(Full::new(Bytes::from(body))))
            });
            let _ = hyper::server::conn::http2::Builder::new(LocalExecutor)
                .serve_connection(TokioIo::new(stream), service)
                .await;
        }
    })
    .await;
    Origin { tls: true, ..origin }
}

#[derive(Clone)]
struct LocalExecutor;

impl<F: Future<Output = ()> + 'static> hyper::rt::Executor<F> for LocalExecutor {
    fn execute(&self, future: F) {
        tokio::task::spawn_local(future);
    }
}

#[test]
fn http2_is_spoken_when_alpn_chose_it() {
    local(async {
        let connections = Rc::<Cell<usize>>::default();
        let origin = http2_server(connections.clone()).await;
        let mut client = client();
        for reused in [false, true] {
            let response = client.request(&origin, get("/a?b")).await.unwrap();
            assert_eq!(response.body, format!("0 GET https://127.0.0.1:{}/a?b", origin.port));
            assert_eq!(response.reused, reused);
            let traffic = client.take_traffic();
            assert!(traffic.sent > 0 && traffic.received > 0);
        }
        assert_eq!(connections.get(), 1);
    });
}

#[test]
fn pooled_users_share_an_http2_connection_at_the_same_time() {
    local(async {
        let connections = Rc::<Cell<usize>>::default();
        let origin = http2_server(connections.clone()).await;
        let (net, pool) = (net(), Rc::new(Pool::new(1)));
        let mut users = tokio::task::JoinSet::new();
        for _ in 0..20 {
            let mut client = Client::new(net.clone(), Some(pool.clone()), Rc::new(At::default));
            let origin = origin.clone();
            users.spawn_local(async move { client.request(&origin, get("/")).await.unwrap().status });
        }
        assert_eq!(users.join_all().await, [200; 20]);
        assert_eq!(connections.get(), 1);
    });
}

#[test]
fn a_request_that_http2_cannot_say_is_the_scripts_failure_and_is_not_sent_otherwise() {
    local(async {
        let connections = Rc::<Cell<usize>>::default();
        let origin = http2_server(connections.clone()).await;
        let mut client = client();
        client.request(&origin, get("/")).await.unwrap();
        let headers = vec![("host".to_owned(), "two words".to_owned())];
        for request in [get("/<"), Request { headers, ..get("/") }] {
            let failed = client.request(&origin, request.clone()).await.unwrap_err();
            assert_eq!(failed.failure, Failure::Template, "{failed:?}");
        }
        assert_eq!(connections.get(), 1);
    });
}

/// Twenty requests are under way on one connection when it breaks.
#[test]
fn requests_whose_shared_connection_broke_share_the_next_one() {
    local(async {
        let connections = Rc::<Cell<usize>>::default();
        let (counted, tls) = (connections.clone(), acceptor(&["h2"]));
        let under_way = Rc::<Cell<usize>>::default();
        let (asked, all_asked) = (under_way.clone(), Rc::new(Notify::new()));
        let all = all_asked.clone();
        let origin = serve(move |number, stream| {
            let (tls, under_way, all) = (tls.clone(), asked.clone(), all.clone());
            counted.set(counted.get() + 1);
            async move {
                let stream = tls.accept(stream).await.unwrap();
                let (notify, so_far) = (all.clone(), under_way.clone());
                let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
                    let (under_way, notify) = (under_way.clone(), notify.clone());
                    async move {
                        if number == 0 && request.uri().path() == "/held" {
                            under_way.set(under_way.get() + 1);
                            notify.notify_one();
                            std::future::pending::<()>().await;
                        }
                        Ok::<_, std::convert::Infallible>(hyper::Response::new(Full::new(Bytes::new())))
                    }
                });
                let serving = hyper::server::conn::http2::Builder::new(LocalExecutor)
                    .serve_connection(TokioIo::new(stream), service);
                let breaking = async {
                    while number > 0 || so_far.get() < 20 {
                        all.notified().await;
                    }
                };
                tokio::select! {
                    _ = serving => {}
                    () = breaking => {}
                }
            }
        })
        .await;
        let origin = Origin { tls: true, ..origin };
        let (net, pool) = (net(), Rc::new(Pool::new(1)));
        let client = || Client::new(net.clone(), Some(pool.clone()), Rc::new(At::default));
        client().request(&origin, get("/")).await.unwrap();
        let mut users = tokio::task::JoinSet::new();
        for _ in 0..20 {
            let (mut client, origin) = (client(), origin.clone());
            users.spawn_local(async move { client.request(&origin, get("/held")).await.unwrap().status });
        }
        assert_eq!(users.join_all().await, [200; 20]);
        assert_eq!((under_way.get(), connections.get()), (20, 2));
    });
}
