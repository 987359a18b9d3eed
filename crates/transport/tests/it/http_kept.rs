//! Kept connections that end, speak or break before or under the next request.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use sonagi_measure::outcome::Failure;
use sonagi_transport::net::Origin;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::http::{client, get};
use crate::net::acceptor;
use crate::net_servers::{local, read_head, serve};

#[test]
fn a_request_that_crosses_the_close_of_a_kept_connection_is_sent_once_more() {
    local(async {
        let requests = Rc::new(Cell::new(0));
        let counted = requests.clone();
        let origin = serve(move |number, mut stream| {
            let requests = counted.clone();
            async move {
                read_head(&mut stream).await;
                requests.set(requests.get() + 1);
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await.unwrap();
                if number == 0 {
                    // Reads the next request and ends, as an idle limit that strikes at that moment looks from outside.
                    read_head(&mut stream).await;
                    requests.set(requests.get() + 1);
                } else {
                    let _ = stream.read_u8().await;
                }
            }
        })
        .await;
        let mut client = client();
        client.request(&origin, get("/")).await.unwrap();
        let second = client.request(&origin, get("/")).await.unwrap();
        assert!(!second.reused);
        assert_eq!(requests.get(), 3);
        assert_eq!(client.take_traffic().repeated, 1);
    });
}

#[test]
fn a_connection_closed_while_idle_is_replaced() {
    local(async {
        let (closed, wait) = tokio::sync::oneshot::channel();
        let closed = RefCell::new(Some(closed));
        let origin = serve(move |_, mut stream| {
            let closed = closed.borrow_mut().take();
            async move {
                read_head(&mut stream).await;
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await.unwrap();
                if let Some(closed) = closed {
                    drop(stream);
                    closed.send(()).unwrap();
                }
            }
        })
        .await;
        let mut client = client();
        client.request(&origin, get("/")).await.unwrap();
        wait.await.unwrap();
        let second = client.request(&origin, get("/")).await.unwrap();
        assert_eq!((second.status, second.reused), (200, false));
    });
}

#[test]
fn a_request_that_was_partly_answered_is_never_repeated() {
    local(async {
        let connections = Rc::new(Cell::new(0));
        let counted = connections.clone();
        let origin = serve(move |_, mut stream| {
            counted.set(counted.get() + 1);
            async move {
                read_head(&mut stream).await;
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await.unwrap();
                read_head(&mut stream).await;
                stream.write_all(b"HTTP/1.1 2").await.unwrap();
            }
        })
        .await;
        let mut client = client();
        client.request(&origin, get("/")).await.unwrap();
        let failed = client.request(&origin, get("/")).await.unwrap_err();
        assert_eq!((failed.failure, connections.get()), (Failure::ClosedEarly, 1));
    });
}

#[test]
fn a_kept_connection_that_spoke_unasked_is_replaced_before_the_request() {
    local(async {
        let (speak, may_speak) = tokio::sync::oneshot::channel::<()>();
        let (spoken, mut has_spoken) = tokio::sync::mpsc::unbounded_channel();
        let may_speak = Rc::new(RefCell::new(Some(may_speak)));
        let origin = serve(move |number, mut stream| {
            let (spoken, may_speak) = (spoken.clone(), may_speak.clone());
            async move {
                let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{number}");
                read_head(&mut stream).await;
                stream.write_all(answer.as_bytes()).await.unwrap();
                let waits = may_speak.borrow_mut().take();
                if let Some(waits) = waits {
                    waits.await.unwrap();
                    stream
                        .write_all(b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")
                        .await
                        .unwrap();
                    spoken.send(()).unwrap();
                }
                let _ = stream.read_u8().await;
            }
        })
        .await;
        let mut client = client();
        client.request(&origin, get("/")).await.unwrap();
        speak.send(()).unwrap();
        has_spoken.recv().await.unwrap();
        client.take_traffic();
        let second = client.request(&origin, get("/")).await.unwrap();
        assert_eq!((second.status, &second.body[..], second.reused), (200, &b"1"[..], false));
        let unasked = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n".len() as u64;
        let traffic = client.take_traffic();
        assert_eq!((traffic.received, traffic.repeated), (39 + unasked, 0), "nothing had been sent");
    });
}

/// A kept connection that breaks before the request was sent is replaced, whatever broke it: here bytes that are not
/// even TLS.
#[test]
fn a_kept_connection_that_breaks_tls_while_idle_is_replaced() {
    local(async {
        let tls = acceptor(&["http/1.1"]);
        let (spoken, mut has_spoken) = tokio::sync::mpsc::unbounded_channel();
        let may_speak = Rc::new(tokio::sync::Notify::new());
        let told = may_speak.clone();
        let origin = serve(move |number, stream| {
            let (tls, spoken, told) = (tls.clone(), spoken.clone(), told.clone());
            async move {
                let mut stream = tls.accept(stream).await.unwrap();
                read_head(&mut stream).await;
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await.unwrap();
                stream.flush().await.unwrap();
                if number == 0 {
                    told.notified().await;
                    stream.get_mut().0.write_all(b"no TLS record begins like this").await.unwrap();
                    spoken.send(()).unwrap();
                }
                let _ = stream.read_u8().await;
            }
        })
        .await;
        let origin = Origin { tls: true, ..origin };
        let mut client = client();
        client.request(&origin, get("/")).await.unwrap();
        may_speak.notify_one();
        has_spoken.recv().await.unwrap();
        // The runtime looks at its sockets before it goes on with a task that yields.
        tokio::task::yield_now().await;
        let second = client.request(&origin, get("/")).await.unwrap();
        assert_eq!((second.status, second.reused), (200, false));
    });
}
