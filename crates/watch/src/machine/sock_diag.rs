//! TCP sockets as the kernel itself tells them (sock_diag(7)): the limits of those that listen, and of connections
//! round trips and what holds them up. Files of /proc have none of that, and reading them takes longer.

use super::{Connection, Socket, Sockets};
use netlink_packet_core::{NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload};
use netlink_packet_sock_diag::SockDiagMessage;
use netlink_packet_sock_diag::constants::{AF_INET, AF_INET6, IPPROTO_TCP};
use netlink_packet_sock_diag::inet::nlas::Nla;
use netlink_packet_sock_diag::inet::{ExtensionFlags, InetRequest, InetResponse, SocketId, StateFlags};
use netlink_sys::protocols::NETLINK_SOCK_DIAG;
use netlink_sys::{Socket as Netlink, SocketAddr as NetlinkAddr};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// The kernel sends at most 32 KiB at a time.
const DATAGRAM: usize = 64 << 10;
/// The states of a connection on which bytes may still be sent to the other end.
const ESTABLISHED: StateFlags = StateFlags::ESTABLISHED.union(StateFlags::CLOSE_WAIT);

/// Tells the sockets that are asked for, of both versions of IP.
pub(super) fn sockets(asked: Sockets, tell: &mut dyn FnMut(Socket)) -> io::Result<()> {
    for family in families(asked)? {
        dump(&request(family, asked), &mut |response| {
            // A connection that is not yet, or no longer, anybody's.
            if response.header.socket_id.source_port != 0 {
                tell(socket(asked, response));
            }
        })?;
    }
    Ok(())
}

/// The versions of IP that are asked for. For each, the kernel walks its whole table of connections, some megabytes, so
/// one that no connection can have is left out: a connection has the version of the socket that accepted it. Those that
/// a closed listener has left are seen as long as none of the other version listens at the port.
fn families(asked: Sockets) -> io::Result<Vec<u8>> {
    const BOTH: [u8; 2] = [AF_INET, AF_INET6];
    let Sockets::ConnectedAt(port) = asked else { return Ok(BOTH.to_vec()) };
    let mut listening = Vec::new();
    for family in BOTH {
        let mut listens = false;
        dump(&request(family, Sockets::Listening(port)), &mut |_| listens = true)?;
        listening.extend(listens.then_some(family));
    }
    // If nobody listens any more, connections may be left.
    Ok(if listening.is_empty() { BOTH.to_vec() } else { listening })
}

fn request(family: u8, asked: Sockets) -> InetRequest {
    let mut id = if family == AF_INET { SocketId::new_v4() } else { SocketId::new_v6() };
    match asked {
        Sockets::Listening(port) | Sockets::ConnectedAt(port) => id.source_port = port,
        Sockets::ConnectedTo(port) => id.destination_port = port,
        Sockets::Connected => {}
    }
    let (states, extensions) = match asked {
        Sockets::Listening(_) => (StateFlags::LISTEN, ExtensionFlags::empty()),
        Sockets::Connected => (ESTABLISHED, ExtensionFlags::empty()),
        Sockets::ConnectedAt(_) | Sockets::ConnectedTo(_) => (ESTABLISHED, ExtensionFlags::INFO),
    };
    InetRequest { family, protocol: IPPROTO_TCP, extensions, states, socket_id: id }
}

fn socket(asked: Sockets, InetResponse { header, nlas }: InetResponse) -> Socket {
    let micros = |us: u32| Duration::from_micros(u64::from(us));
    let id = &header.socket_id;
    let connection = nlas.iter().find_map(|nla| match nla {
        Nla::TcpInfo(info) => Some(Connection {
            cookie: id.cookie,
            round_trip: micros(info.rtt),
            retransmitted: info.total_retrans,
            held_by_receiver: Duration::from_micros(info.rwnd_limited),
        }),
        _ => None,
    });
    Socket {
        inode: u64::from(header.inode),
        local: SocketAddr::new(id.source_address, id.source_port),
        peer: SocketAddr::new(id.destination_address, id.destination_port),
        waiting_in: header.recv_queue,
        waiting_out: header.send_queue,
        connection: connection.filter(|_| !matches!(asked, Sockets::Listening(_))),
    }
}

/// Asks for sockets, and tells each.
fn dump(request: &InetRequest, tell: &mut dyn FnMut(InetResponse)) -> io::Result<()> {
    let mut netlink = Netlink::new(NETLINK_SOCK_DIAG)?;
    netlink.bind_auto()?;
    netlink.connect(&NetlinkAddr::new(0, 0))?;
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | NLM_F_DUMP;
    let mut message = NetlinkMessage::new(header, SockDiagMessage::InetRequest(request.clone()).into());
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    netlink.send(&bytes, 0)?;
    let mut datagram = Vec::with_capacity(DATAGRAM);
    loop {
        datagram.clear();
        netlink.recv(&mut datagram, 0)?;
        let mut rest = datagram.as_slice();
        while !rest.is_empty() {
            let malformed = |error| io::Error::new(io::ErrorKind::InvalidData, format!("{error}"));
            let answer = NetlinkMessage::<SockDiagMessage>::deserialize(rest).map_err(malformed)?;
            match answer.payload {
                NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(response)) => tell(*response),
                NetlinkPayload::Done(_) => return Ok(()),
                NetlinkPayload::Error(error) => return Err(error.to_io()),
                _ => {}
            }
            // Messages are padded to words.
            let length = (answer.header.length as usize).next_multiple_of(4);
            match rest.get(length..) {
                Some(more) if length > 0 => rest = more,
                _ => break,
            }
        }
    }
}
