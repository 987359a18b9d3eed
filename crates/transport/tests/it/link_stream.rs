//! Bytes over TCP: sent, received, and the end of a stream.

use std::cell::Cell;
use std::rc::Rc;
use std::task::{Context, Waker};

use sonagi_measure::At;
use sonagi_measure::outcome::Failure;
use sonagi_transport::link::{Ended, Env, Present, SCRATCH, StreamLink};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::net_servers::{local, net, reset, serve};

/// Reads until `enough` says so, or the stream ends.
async fn read(link: &mut StreamLink, enough: impl Fn(&[u8]) -> bool) -> (Vec<u8>, Option<Ended>) {
    let mut seen = Vec::new();
    let mut scratch = vec![0; SCRATCH];
    let ended = std::future::poll_fn(|cx| {
        let clock = || At(0);
        let mut env = Env { present: &Present::new(&clock), scratch: &mut scratch };
        let ended = link.poll_bytes(cx, &mut env, |bytes| seen.extend_from_slice(bytes));
        if ended.is_pending() && enough(&seen) { std::task::Poll::Ready(None) } else { ended.map(Some) }
    })
    .await;
    (seen, ended)
}

#[test]
fn bytes_go_both_ways_whatever_their_number_and_are_counted() {
    local(async {
        const SIZE: usize = 3_000_000;
        let rest = Rc::new(Cell::new(None));
        let told = Rc::clone(&rest);
        let origin = serve(move |_, mut stream| {
            let told = Rc::clone(&told);
            async move {
                let mut all = vec![0; SIZE];
                stream.read_exact(&mut all).await.unwrap();
                stream.write_all(&all).await.unwrap();
                told.set(stream.read(&mut all).await.ok());
            }
        })
        .await;
        let mut link = StreamLink::connect(&net(), &origin).await.unwrap();
        let all: Vec<u8> = (0..SIZE).map(|at| at as u8).collect();
        link.send(&all[..10]);
        link.send(&all[10..]);
        assert_eq!(link.unsent(), SIZE);
        let (echo, ended) = read(&mut link, |seen| seen.len() == SIZE).await;
        assert!(echo == all && ended.is_none());
        assert_eq!((link.unsent(), link.take_bytes()), (0, (SIZE as u64, SIZE as u64)));
        assert_eq!(link.take_bytes(), (0, 0));
        link.close();
        while rest.get().is_none() {
            tokio::task::yield_now().await;
        }
        assert_eq!(rest.get(), Some(0), "the end of what we send, and no reset");
    });
}

#[test]
fn the_peers_end_is_told_behind_its_last_words_and_again() {
    local(async {
        let origin = serve(|_, mut stream| async move {
            stream.write_all(b"last words").await.unwrap();
        })
        .await;
        let mut link = StreamLink::connect(&net(), &origin).await.unwrap();
        for words in [&b"last words"[..], b""] {
            let (seen, ended) = read(&mut link, |_| false).await;
            assert_eq!(
                (seen.as_slice(), ended.and_then(|ended| ended.failure)),
                (words, Some(Failure::ClosedEarly))
            );
        }
        link.send(b"in vain");
        assert_eq!(link.unsent(), 0);
        assert!(link.poll_flush(&mut Context::from_waker(Waker::noop())).is_ready());
    });
}

#[test]
fn a_reset_is_told_as_one() {
    local(async {
        let origin = serve(|_, stream| async move { reset(stream) }).await;
        let mut link = StreamLink::connect(&net(), &origin).await.unwrap();
        let (_, ended) = read(&mut link, |_| false).await;
        assert_eq!(ended.and_then(|ended| ended.failure), Some(Failure::Reset));
    });
}
