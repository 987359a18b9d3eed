//! Raw WebSockets after their handshake: messages, and every way a connection ends.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use sonagi_measure::outcome::Failure;
use sonagi_transport::link::{ConnectRequest, Ended, WebsocketLink};
use sonagi_transport::net::{Net, Origin};
use sonagi_wire::websocket::{Opcode, encode};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::net::acceptor;
use crate::net_servers::{Driven, local, net, read_head, reset, serve, upgrade};

pub(crate) fn request(origin: &Origin) -> ConnectRequest {
    ConnectRequest {
        origin: origin.clone(),
        path: "/ws?room=1".into(),
        headers: Vec::new(),
        subprotocols: Vec::new(),
        max_message: 1_000_000,
    }
}

async fn open(origin: &Origin) -> Driven {
    let link = WebsocketLink::connect(&net(), request(origin)).await.unwrap();
    Driven::new(link)
}

fn link(driven: &mut Driven) -> &mut WebsocketLink {
    driven.link()
}

pub(crate) fn frame(opcode: Opcode, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    encode(opcode, payload, None, &mut out);
    out
}

/// One unmasked frame of a client, its masking checked.
pub(crate) async fn read_frame(stream: &mut (impl AsyncRead + Unpin)) -> Option<(u8, Vec<u8>)> {
    let first = stream.read_u8().await.ok()?;
    let second = stream.read_u8().await.ok()?;
    assert!(second & 0x80 != 0, "clients mask");
    let length = match second & 0x7f {
        126 => usize::from(stream.read_u16().await.ok()?),
        127 => usize::try_from(stream.read_u64().await.ok()?).unwrap(),
        short => usize::from(short),
    };
    let mut key = [0; 4];
    stream.read_exact(&mut key).await.ok()?;
    let mut payload = vec![0; length];
    stream.read_exact(&mut payload).await.ok()?;
    payload.iter_mut().zip(key.iter().cycle()).for_each(|(byte, key)| *byte ^= key);
    Some((first, payload))
}

async fn accept(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) {
    let head = read_head(stream).await;
    stream.write_all(upgrade(&head, "").as_bytes()).await.unwrap();
}

/// Upgrades, says `bytes`, and hands over all the client sent until it ended.
async fn overhearing(bytes: Vec<u8>) -> (Origin, tokio::sync::mpsc::UnboundedReceiver<Vec<(u8, Vec<u8>)>>) {
    let (said, heard) = tokio::sync::mpsc::unbounded_channel();
    let origin = serve(move |_, mut stream| {
        let (bytes, said) = (bytes.clone(), said.clone());
        async move {
            accept(&mut stream).await;
            stream.write_all(&bytes).await.unwrap();
            let mut frames = Vec::new();
            while let Some(frame) = read_frame(&mut stream).await {
                frames.push(frame);
            }
            said.send(frames).unwrap();
        }
    })
    .await;
    (origin, heard)
}

#[test]
fn what_comes_along_with_the_upgrade_is_not_lost() {
    local(async {
        let origin = serve(|_, mut stream| async move {
            let head = read_head(&mut stream).await;
            let mut bytes = upgrade(&head, "").into_bytes();
            bytes.extend(frame(Opcode::Text, b"early"));
            bytes.extend(&frame(Opcode::Text, b"later")[..4]);
            stream.write_all(&bytes).await.unwrap();
            stream.write_all(&frame(Opcode::Text, b"later")[4..]).await.unwrap();
            let _ = stream.read_u8().await;
        })
        .await;
        let mut link = open(&origin).await;
        assert_eq!(link.messages(2).await, ["text early", "text later"]);
    });
}

#[test]
fn messages_travel_both_ways_and_every_byte_is_counted() {
    local(async {
        let origin = serve(|_, mut stream| async move {
            accept(&mut stream).await;
            while let Some((first, payload)) = read_frame(&mut stream).await {
                let opcode = if first & 0x0f == 1 { Opcode::Text } else { Opcode::Binary };
                stream.write_all(&frame(opcode, &payload)).await.unwrap();
            }
        })
        .await;
        let mut driven = open(&origin).await;
        let (sent, received) = driven.connection.take_bytes();
        assert!(sent > 100 && received > 100, "the handshake counts");
        link(&mut driven).send_text("grüß");
        link(&mut driven).send_binary(&[1, 2]);
        link(&mut driven).send_text(&"x".repeat(70_000));
        driven.messages(3).await;
        assert_eq!(driven.seen[0], "text grüß");
        assert_eq!(driven.seen[1], "binary [1, 2]");
        assert_eq!(driven.seen[2].len(), 5 + 70_000);
        assert_eq!(
            driven.connection.take_bytes(),
            (6 + 6 + 6 + 2 + 14 + 70_000, 2 + 6 + 2 + 2 + 10 + 70_000)
        );
        assert_eq!(driven.connection.take_bytes(), (0, 0));
        assert_eq!(driven.connection.expires(), None);
    });
}

#[test]
fn a_websocket_over_tls_is_the_same() {
    local(async {
        let tls = acceptor(&["http/1.1"]);
        let origin = serve(move |_, stream| {
            let tls = tls.clone();
            async move {
                let mut stream = tls.accept(stream).await.unwrap();
                accept(&mut stream).await;
                let (_, payload) = read_frame(&mut stream).await.unwrap();
                stream.write_all(&frame(Opcode::Text, &payload)).await.unwrap();
                stream.write_all(&frame(Opcode::Close, &1000_u16.to_be_bytes())).await.unwrap();
                let _ = stream.read_to_end(&mut Vec::new()).await;
            }
        })
        .await;
        let mut driven = open(&Origin { tls: true, ..origin }).await;
        link(&mut driven).send_text("secret");
        assert_eq!(driven.ended().await.failure, Some(Failure::Closed(1000)));
        assert_eq!(driven.seen, ["text secret"]);
    });
}

#[test]
fn pings_are_answered_with_what_they_carry() {
    local(async {
        let mut bytes = frame(Opcode::Ping, b"beat");
        bytes.extend(frame(Opcode::Close, &1000_u16.to_be_bytes()));
        let (origin, mut heard) = overhearing(bytes).await;
        open(&origin).await.ended().await;
        assert_eq!(heard.recv().await.unwrap()[0], (0x8a, b"beat".to_vec()));
    });
}

#[test]
fn a_peers_close_is_answered_and_reported_with_its_code() {
    local(async {
        let mut going_away = 1001_u16.to_be_bytes().to_vec();
        going_away.extend(b"bye");
        for (payload, code, reply) in
            [(going_away, 1001, 1001_u16.to_be_bytes().to_vec()), (vec![], 1005, vec![])]
        {
            let (origin, mut heard) = overhearing(frame(Opcode::Close, &payload)).await;
            let mut link = open(&origin).await;
            let ended = link.ended().await;
            assert_eq!(ended.failure, Some(Failure::Closed(code)));
            assert_eq!(ended.detail.contains("bye"), code == 1001);
            assert_eq!(link.ended().await, ended, "and says so again");
            drop(link);
            assert_eq!(heard.recv().await.unwrap(), [(0x88, reply)]);
        }
    });
}

#[test]
fn an_end_without_a_close_frame_is_1006_and_inside_a_frame_it_is_early() {
    local(async {
        for (bytes, expected) in [
            (vec![], Failure::Closed(1006)),
            (frame(Opcode::Text, b"hello")[..4].to_vec(), Failure::ClosedEarly),
            (vec![0x01, 0x01, b'a'], Failure::ClosedEarly),
            (vec![0x81], Failure::ClosedEarly),
        ] {
            let origin = serve(move |_, mut stream| {
                let bytes = bytes.clone();
                async move {
                    accept(&mut stream).await;
                    stream.write_all(&bytes).await.unwrap();
                }
            })
            .await;
            assert_eq!(open(&origin).await.ended().await.failure, Some(expected));
        }
    });
}

#[test]
fn a_reset_is_reported_as_such() {
    local(async {
        let (now, wait) = tokio::sync::oneshot::channel::<()>();
        let wait = Cell::new(Some(wait));
        let origin = serve(move |_, mut stream: TcpStream| {
            let wait = wait.take().unwrap();
            async move {
                accept(&mut stream).await;
                wait.await.unwrap();
                reset(stream);
            }
        })
        .await;
        let mut link = open(&origin).await;
        now.send(()).unwrap();
        assert_eq!(link.ended().await.failure, Some(Failure::Reset));
    });
}

#[test]
fn a_close_frame_counts_even_when_the_connection_is_gone_before_it_is_read() {
    local(async {
        let (told, gone) = tokio::sync::oneshot::channel();
        let (go, wait) = tokio::sync::oneshot::channel::<()>();
        let ends = Cell::new(Some((told, wait)));
        let origin = serve(move |_, mut stream| {
            let (told, wait) = ends.take().unwrap();
            async move {
                accept(&mut stream).await;
                wait.await.unwrap();
                stream.write_all(&frame(Opcode::Close, &1008_u16.to_be_bytes())).await.unwrap();
                reset(stream);
                told.send(()).unwrap();
            }
        })
        .await;
        let mut driven = open(&origin).await;
        go.send(()).unwrap();
        gone.await.unwrap();
        link(&mut driven).send_text("too late");
        assert_eq!(driven.ended().await.failure, Some(Failure::Closed(1008)));
    });
}

#[test]
fn a_violation_is_answered_with_its_close_code() {
    local(async {
        let masked = {
            let mut out = Vec::new();
            encode(Opcode::Text, b"x", Some([1, 2, 3, 4]), &mut out);
            out
        };
        for (bytes, code) in [
            (masked, 1002_u16),
            (frame(Opcode::Text, b"\xff\xfe"), 1007),
            (vec![0x82, 127, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff], 1009),
            (vec![0xf1, 0x00], 1002),
        ] {
            // More than a socket's buffer follows: our close frame must not be lost to a reset.
            let mut flood = frame(Opcode::Text, b"before");
            flood.extend(&bytes);
            flood.extend(vec![0; 50_000]);
            let (origin, mut heard) = overhearing(flood).await;
            let mut link = open(&origin).await;
            let ended = link.ended().await;
            assert_eq!(ended.failure, Some(Failure::Protocol), "{}", ended.detail);
            assert_eq!(link.seen, ["text before"]);
            drop(link);
            assert_eq!(heard.recv().await.unwrap(), [(0x88, code.to_be_bytes().to_vec())]);
        }
    });
}

#[test]
fn closing_by_us_is_no_failure_however_the_peer_takes_it() {
    local(async {
        for goodbye in [frame(Opcode::Close, &1000_u16.to_be_bytes()), frame(Opcode::Close, &[]), vec![]] {
            let origin = serve(move |_, mut stream| {
                let goodbye = goodbye.clone();
                async move {
                    accept(&mut stream).await;
                    assert_eq!(read_frame(&mut stream).await, Some((0x88, 1000_u16.to_be_bytes().to_vec())));
                    stream.write_all(&frame(Opcode::Text, b"last")).await.unwrap();
                    stream.write_all(&goodbye).await.unwrap();
                }
            })
            .await;
            let mut driven = open(&origin).await;
            driven.connection.begin_close();
            driven.connection.begin_close();
            link(&mut driven).send_text("never sent");
            assert_eq!(
                driven.ended().await,
                Ended { failure: None, detail: String::new(), is_goodbye: true, is_told: false }
            );
            assert_eq!(driven.seen, ["text last"]);
        }
    });
}

/// A link over a simulated pipe, and the pipe's other end after the upgrade.
async fn piped() -> (Driven, tokio::io::DuplexStream) {
    let (gave, mut taken) = tokio::sync::mpsc::unbounded_channel();
    let net = Net::simulated(move |mut stream| {
        let gave = gave.clone();
        tokio::task::spawn_local(async move {
            accept(&mut stream).await;
            gave.send(stream).unwrap();
        });
    });
    let request = request(&Origin { host: "simulated".into(), port: 80, tls: false });
    let link = WebsocketLink::connect(&net, request).await.unwrap();
    (Driven::new(link), taken.recv().await.unwrap())
}

#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_flooding_connection_yields_to_the_others_and_goes_on() {
    local(async {
        let (link, mut peer) = piped().await;
        let mut link = link.with_scratch(16);
        let flood: Vec<u8> = std::iter::repeat_n(frame(Opcode::Text, b"flood!"), 1000).flatten().collect();
        peer.write_all(&flood).await.unwrap();
        let wakes = Arc::new(Wakes::default());
        let waker = Waker::from(wakes.clone());
        let polled = link.poll(&mut Context::from_waker(&waker));
        assert_eq!(polled, Poll::Pending);
        // 64 reads of 16 bytes, 8 bytes a frame.
        assert_eq!((link.seen.len(), wakes.0.load(Ordering::Relaxed)), (128, 0));
        tokio::task::yield_now().await;
        assert_eq!(wakes.0.load(Ordering::Relaxed), 1, "once the others had their turn");
        link.messages(1000).await;
    });
}

#[test]
fn a_message_counts_as_unsent_until_the_kernel_has_it() {
    local(async {
        let (mut driven, mut peer) = piped().await;
        link(&mut driven).send_binary(&vec![7; 200_000]);
        assert!(driven.connection.has_unsent());
        let waker = Waker::noop();
        assert_eq!(driven.poll(&mut Context::from_waker(waker)), Poll::Pending);
        assert!(driven.connection.has_unsent(), "the pipe holds less");
        let (frame, ()) = tokio::join!(read_frame(&mut peer), driven.sent());
        assert_eq!(frame, Some((0x82, vec![7; 200_000])));
    });
}

#[test]
fn a_peer_that_pings_and_never_reads_cannot_make_us_hoard() {
    local(async {
        let (mut driven, mut peer) = piped().await;
        let ping = frame(Opcode::Ping, &[0; 125]);
        let (told, pongs) = tokio::sync::oneshot::channel();
        let (begin, wait) = tokio::sync::oneshot::channel();
        tokio::task::spawn_local(async move {
            for _ in 0..10_000 {
                peer.write_all(&ping).await.unwrap();
            }
            peer.write_all(&frame(Opcode::Text, b"done")).await.unwrap();
            // It reads only when we have answered all we would.
            wait.await.unwrap();
            let mut pongs = 0;
            while let Some((0x8a, _)) = read_frame(&mut peer).await {
                pongs += 1;
            }
            told.send(pongs).unwrap();
        });
        driven.messages(1).await;
        begin.send(()).unwrap();
        link(&mut driven).send_text("that was all");
        driven.sent().await;
        let pongs: usize = pongs.await.unwrap();
        // What the pipe holds, our own bound, and a frame at the edge of each.
        let frame = 2 + 4 + 125;
        assert!(pongs <= 2 * (64 * 1024 / frame + 1), "{pongs} pongs were kept");
    });
}
