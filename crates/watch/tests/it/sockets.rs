//! What the kernel says of real connections.

use crate::support::{Watching, python};
use sonagi_watch::machine::Local;
use sonagi_watch::probes::{Target, on_machine, own_connections, probe};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;

/// Accepts one client and sends to it until it goes; tells the address.
fn flood() -> (SocketAddr, thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let sending = thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        // It ends when the client has gone.
        while client.write_all(&[0; 65_536]).is_ok() {}
    });
    (address, sending)
}

#[test]
fn a_client_that_does_not_read_holds_its_connection_up() {
    let (address, sending) = flood();
    let client = TcpStream::connect(address).unwrap();
    let mut watching = Watching::start(probe(&format!("port:{}", address.port())).unwrap());
    watching.until("a connection held up", |seen| seen.get("target.receiver_limited") == Some(1.0));
    assert!(watching.seen.get("target.round_trip").unwrap() > 0.0, "{:?}", watching.seen);
    assert_eq!(watching.seen.get("target.connections"), Some(1.0));
    assert!(watching.seen.get("target.send_queue").unwrap() > 0.0, "{:?}", watching.seen);
    drop(client);
    sending.join().unwrap();
}

#[test]
fn of_a_target_elsewhere_our_own_connections_are_watched() {
    let (address, sending) = flood();
    let mut client = TcpStream::connect(address).unwrap();
    client.write_all(b"hello").unwrap();
    let mut other = address;
    other.set_ip([127, 0, 0, 9].into());
    let mut away = Watching::start(own_connections("away:1".to_owned(), other));
    let mut watching = Watching::start(own_connections("here:1".to_owned(), address));
    watching.until("a round trip", |seen| seen.get("target.round_trip").is_some_and(|ms| ms > 0.0));
    watching.until("a second look", |seen| seen.get("target.retransmitted").is_some());
    assert_eq!(watching.seen.notes, []);
    // Connections to another address at the same port are not its.
    away.until("a second look", |seen| seen.get("target.receiver_limited").is_some());
    assert_eq!(away.seen.get("target.round_trip"), None);
    let mut some = [0; 16];
    client.read_exact(&mut some).unwrap();
    drop(client);
    sending.join().unwrap();
}

#[test]
fn connections_of_both_versions_of_ip_are_seen_and_those_that_a_closed_listener_left() {
    let six = TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).unwrap();
    let port = six.local_addr().unwrap().port();
    let to_six = TcpStream::connect((Ipv6Addr::LOCALHOST, port)).unwrap();
    let accepted_by_six = six.accept().unwrap();
    let mut watching = Watching::start(probe(&format!("port:{port}")).unwrap());
    watching.until("that of IPv6", |seen| seen.get("target.connections") == Some(1.0));
    let four = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
    let to_four = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    let accepted_by_four = four.accept().unwrap();
    watching.until("that of IPv4, too", |seen| seen.get("target.connections") == Some(2.0));
    drop((six, four, to_four, accepted_by_four));
    watching.until("the one that is left", |seen| seen.get("target.connections") == Some(1.0));
    drop((to_six, accepted_by_six));
}

/// A listener of ours, and so many connections with it, both ends of each.
fn connected(count: usize) -> (TcpListener, Vec<(TcpStream, TcpStream)>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let connect = |_| (TcpStream::connect(address).unwrap(), listener.accept().unwrap().0);
    let connections = (0..count).map(connect).collect();
    (listener, connections)
}

/// Most of our connections lead to somebody who listens no more, and many to ourselves.
#[test]
fn the_target_is_whom_most_of_our_connections_go_to_and_who_listens_elsewhere() {
    const SERVICE: &str = "
import socket, sys
listener = socket.socket()
listener.bind(('127.0.0.1', 0))
listener.listen(100)
print(listener.getsockname()[1], flush=True)
sys.stdin.read()
";
    let (mut service, line) = python(SERVICE);
    let port: u16 = line.trim().parse().unwrap();
    // More than the tests beside this one have with anybody.
    let (closed, _more) = connected(40);
    let (_ours, _many) = connected(35);
    let _most: Vec<_> = (0..30).map(|_| TcpStream::connect(("127.0.0.1", port)).unwrap()).collect();
    drop(closed);
    let mut watching = Watching::start(on_machine(Local, Target::Peer));
    watching.until("its processes and connections", |seen| {
        seen.get("target.processes").is_some() && seen.get("target.connections").is_some()
    });
    assert_eq!(watching.seen.get("target.processes"), Some(1.0));
    assert_eq!(watching.seen.get("target.connections"), Some(30.0));
    drop(service.stdin.take());
    service.wait().unwrap();
}
