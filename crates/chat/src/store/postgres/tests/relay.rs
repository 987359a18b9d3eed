//! A relay between a store and its server that can lose one of the server's answers, and the connection with it.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

pub(super) struct Relay {
    at: SocketAddr,
    loses: Arc<AtomicBool>,
    stops: Arc<AtomicBool>,
}

impl Relay {
    pub(super) fn to(server: SocketAddr) -> Relay {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let [loses, stops] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
        let relay = Relay { at, loses: loses.clone(), stops: stops.clone() };
        std::thread::spawn(move || {
            for client in listener.incoming() {
                if stops.load(SeqCst) {
                    return;
                }
                let (client, server) = (client.unwrap(), TcpStream::connect(server).unwrap());
                let (back, forth) = (server.try_clone().unwrap(), client.try_clone().unwrap());
                std::thread::spawn(move || copy(&forth, &server, &AtomicBool::new(false)));
                let loses = loses.clone();
                std::thread::spawn(move || copy(&back, &client, &loses));
            }
        });
        relay
    }

    pub(super) fn at(&self) -> SocketAddr {
        self.at
    }

    /// What the server says next is lost.
    pub(super) fn lose_an_answer(&self) {
        self.loses.store(true, SeqCst);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stops.store(true, SeqCst);
        // It waits for somebody to come.
        let _ = TcpStream::connect(self.at);
    }
}

/// Copies until either end closes, or there is something to be lost; then closes both.
fn copy(mut from: &TcpStream, mut to: &TcpStream, loses: &AtomicBool) {
    let mut bytes = [0; 16 * 1024];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if loses.swap(false, SeqCst) || to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
