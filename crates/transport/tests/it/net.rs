//! Connecting to targets, and reasons for failing.

use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use rustls::HandshakeKind;
use sonagi_measure::At;
use sonagi_measure::outcome::Failure;
use sonagi_transport::http::Client;
use sonagi_transport::net::{Alpn, Net, NetOptions, Origin, Socket};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsAcceptor;

use crate::http::get;
use crate::net_servers::{answering, listen, local, net, read_head, serve};

/// A server's side of TLS with a certificate nobody trusts.
pub(crate) fn acceptor(protocols: &[&str]) -> TlsAcceptor {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".into(), "127.0.0.1".into()]).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    TlsAcceptor::from(Arc::new(config))
}

async fn failure(net: &Net, origin: &Origin) -> (Failure, String) {
    let failed = net.dial(origin, Alpn::Http2).await.unwrap_err();
    (failed.failure, failed.detail)
}

fn from(sources: &[&str]) -> Net {
    let source_addresses = sources.iter().map(|source| source.parse::<IpAddr>().unwrap()).collect();
    Net::real(NetOptions { source_addresses, ..NetOptions::default() }).unwrap()
}

#[test]
fn a_port_nobody_listens_on_refuses_the_connection() {
    local(async {
        let (listener, origin) = listen().await;
        drop(listener);
        assert_eq!(failure(&net(), &origin).await.0, Failure::ConnectRefused);
    });
}

#[test]
fn a_name_without_an_address_is_not_resolved() {
    local(async {
        // A label may have 63 characters: no resolver is asked for this one.
        let origin = Origin { host: format!("{}.invalid", "a".repeat(64)), port: 80, tls: false };
        assert_eq!(failure(&net(), &origin).await.0, Failure::NameNotResolved);
    });
}

#[test]
fn every_address_of_a_name_is_tried() {
    local(async {
        let (listener, origin) = listen().await;
        let named = Origin { host: "localhost".into(), ..origin };
        // Where localhost is ::1 as well, nobody listens there.
        let socket = net().dial(&named, Alpn::Http1).await.unwrap();
        assert!(matches!(socket, Socket::Plain(_)));
        drop(listener);
    });
}

#[test]
fn source_addresses_are_used_in_turn() {
    local(async {
        let (listener, origin) = listen().await;
        let net = from(&["127.0.0.2", "::1", "127.0.0.3"]);
        let mut seen = Vec::new();
        for _ in 0..4 {
            let (_socket, accepted) = tokio::join!(net.dial(&origin, Alpn::Http1), listener.accept());
            seen.push(accepted.unwrap().1.ip().to_string());
        }
        assert_eq!(seen, ["127.0.0.2", "127.0.0.3", "127.0.0.2", "127.0.0.3"]);
    });
}

#[test]
fn a_source_address_that_cannot_be_used_makes_way_for_the_next() {
    local(async {
        let (listener, origin) = listen().await;
        // An address of the documentation range, which no machine has.
        let net = from(&["192.0.2.1", "127.0.0.2"]);
        for _ in 0..2 {
            let (socket, accepted) = tokio::join!(net.dial(&origin, Alpn::Http1), listener.accept());
            assert!(socket.is_ok());
            assert_eq!(accepted.unwrap().1.ip().to_string(), "127.0.0.2");
        }
    });
}

#[test]
fn source_addresses_without_a_port_left_exhaust_the_generator() {
    local(async {
        let (_listener, origin) = listen().await;
        assert_eq!(failure(&from(&["192.0.2.1"]), &origin).await.0, Failure::GeneratorExhausted);
        let (failure, detail) = failure(&from(&["::1"]), &origin).await;
        assert_eq!(failure, Failure::ConnectFailed);
        assert!(detail.contains("same family"), "{detail}");
    });
}

#[test]
fn tls_to_a_plain_port_is_told_as_such() {
    local(async {
        let origin = serve(|_, mut stream| async move {
            let mut hello = [0; 16];
            stream.read_exact(&mut hello).await.unwrap();
            stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
            let _ = stream.read_to_end(&mut Vec::new()).await;
        })
        .await;
        let (failure, detail) = failure(&net(), &Origin { tls: true, ..origin }).await;
        assert_eq!(failure, Failure::NotTls);
        assert!(detail.ends_with("it answered with something that is not TLS"), "{detail}");
    });
}

#[test]
fn a_server_that_ends_the_tls_handshake_fails_as_tls() {
    local(async {
        let origin = answering(b"").await;
        let origin = Origin { tls: true, ..origin };
        let closed = serve(|_, mut stream| async move {
            stream.read_exact(&mut [0; 16]).await.unwrap();
            // Everything is read, so that closing ends the stream and does not reset it.
            let mut rest = [0; 4096];
            let _ = stream.try_read(&mut rest);
        })
        .await;
        drop(origin);
        let (failure, detail) = failure(&net(), &Origin { tls: true, ..closed }).await;
        assert_eq!(failure, Failure::TlsFailed, "{detail}");
    });
}

#[test]
fn a_certificate_nobody_vouches_for_is_refused_unless_verification_is_off() {
    local(async {
        let tls = acceptor(&[]);
        let origin = serve(move |_, stream| {
            let tls = tls.clone();
            async move {
                let _ = tls.accept(stream).await;
            }
        })
        .await;
        let origin = Origin { tls: true, ..origin };
        let strict = Net::real(NetOptions::default()).unwrap();
        let (failure, detail) = failure(&strict, &origin).await;
        assert_eq!(failure, Failure::CertificateSelfSigned);
        assert!(detail.contains("certificate"), "{detail}");
        assert!(matches!(net().dial(&origin, Alpn::Http1).await, Ok(Socket::Tls(_))));
    });
}

#[test]
fn a_tls_session_is_resumed_by_the_next_connection() {
    local(async {
        let tls = acceptor(&["http/1.1"]);
        let origin = serve(move |_, stream| {
            let tls = tls.clone();
            async move {
                let mut stream = tls.accept(stream).await.unwrap();
                let _ = stream.write_all(b"x").await;
                let _ = stream.read(&mut [0; 1]).await;
            }
        })
        .await;
        let origin = Origin { tls: true, ..origin };
        let net = net();
        let mut kinds = Vec::new();
        for _ in 0..2 {
            let Socket::Tls(mut stream) = net.dial(&origin, Alpn::Http1).await.unwrap() else {
                unreachable!()
            };
            // The session's ticket comes before the first byte.
            stream.read_u8().await.unwrap();
            kinds.push(stream.get_ref().1.handshake_kind().unwrap());
        }
        assert_eq!(kinds, [HandshakeKind::Full, HandshakeKind::Resumed]);
    });
}

#[test]
fn alpn_offers_http2_only_where_it_is_wanted() {
    local(async {
        let tls = acceptor(&["h2", "http/1.1"]);
        let origin = serve(move |_, stream| {
            let tls = tls.clone();
            async move {
                let _ = tls.accept(stream).await;
            }
        })
        .await;
        let origin = Origin { tls: true, ..origin };
        let without = NetOptions { verify_certificates: false, http2: false, ..NetOptions::default() };
        let without = Net::real(without).unwrap();
        assert!(net().dial(&origin, Alpn::Http2).await.unwrap().speaks_http2());
        assert!(!net().dial(&origin, Alpn::Http1).await.unwrap().speaks_http2());
        assert!(!without.dial(&origin, Alpn::Http2).await.unwrap().speaks_http2());
    });
}

#[test]
fn a_simulated_network_hands_each_dial_to_its_server() {
    local(async {
        let peers = Rc::new(RefCell::new(Vec::new()));
        let accepted = peers.clone();
        let net = Net::simulated(move |stream| accepted.borrow_mut().push(stream));
        let origin = Origin { host: "anything".into(), port: 1, tls: true };
        let mut socket = net.dial(&origin, Alpn::Http2).await.unwrap();
        socket.write_all(b"hi").await.unwrap();
        let mut peer = peers.borrow_mut().pop().unwrap();
        let mut read = [0; 2];
        peer.read_exact(&mut read).await.unwrap();
        assert_eq!(&read, b"hi");
    });
}

#[test]
fn a_connection_knows_how_long_it_took_to_open() {
    local(async {
        let tls = acceptor(&["http/1.1"]);
        let origin = serve(move |_, stream| {
            let tls = tls.clone();
            async move {
                tokio::time::sleep(Duration::from_millis(30)).await;
                let mut stream = tls.accept(stream).await.unwrap();
                loop {
                    if read_head(&mut stream).await.is_empty() {
                        return;
                    }
                    stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
                }
            }
        })
        .await;
        let secure = Origin { tls: true, ..origin.clone() };
        let timed = NetOptions { verify_certificates: false, timed: true, ..NetOptions::default() };
        let timed = Rc::new(Net::real(timed).unwrap());
        for (net, is_told) in [(timed, true), (net(), false)] {
            let begun = std::time::Instant::now();
            let now = move || At::default().plus(begun.elapsed().as_nanos() as i64);
            let mut client = Client::new(net, None, Rc::new(now));
            client.request(&secure, get("/")).await.unwrap();
            let first = client.opening();
            assert_eq!(first.is_some_and(|opening| opening.tls_us >= 30_000), is_told, "{first:?}");
            assert!(first.is_none_or(|opening| opening.tcp_us < 30_000), "{first:?}");
            let second = client.request(&secure, get("/")).await.unwrap();
            assert!(second.reused);
            assert_eq!(client.opening(), first, "a kept connection is the same");
        }
    });
}
