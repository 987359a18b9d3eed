//! The connections: nonblocking sockets, and what could not be sent or read as a whole.
//!
//! A link at rest is 16 bytes: only one with half a message in either direction owns buffers.

use crate::failure::Failure;
use rustix::event::epoll;
use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType};
use std::net::SocketAddr;
use std::os::fd::AsFd;

pub(crate) struct Links {
    address: SocketAddr,
    /// Where new sockets are registered; none while a ring drives them.
    pub(crate) epoll: Option<OwnedFd>,
    list: Vec<Link>,
    /// How many links have something unsent.
    stuck: usize,
}

struct Link {
    socket: OwnedFd,
    parked: Option<Box<Parked>>,
}

#[derive(Default)]
struct Parked {
    unread: Vec<u8>,
    unsent: Vec<u8>,
}

impl Links {
    pub(crate) fn new(address: SocketAddr) -> Result<Self, Failure> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(Failure::system("epoll_create"))?;
        Ok(Self { address, epoll: Some(epoll), list: Vec::new(), stuck: 0 })
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn socket(&self, who: usize) -> BorrowedFd<'_> {
        self.list[who].socket.as_fd()
    }

    /// Begins one more connection and returns its number. What is sent before it stands waits for it.
    pub(crate) fn open(&mut self) -> Result<usize, Failure> {
        let who = self.list.len();
        let socket = self.connect(who)?;
        self.list.push(Link { socket, parked: None });
        Ok(who)
    }

    /// Closes a connection and begins another in its place.
    pub(crate) fn reopen(&mut self, who: usize) -> Result<(), Failure> {
        self.forget(who);
        self.list[who] = Link { socket: self.connect(who)?, parked: None };
        Ok(())
    }

    /// Says no more on this connection; its number stays.
    pub(crate) fn shut(&mut self, who: usize) {
        self.forget(who);
        self.list[who].parked = None;
        let _ = rustix::net::shutdown(&self.list[who].socket, rustix::net::Shutdown::Both);
    }

    fn forget(&mut self, who: usize) {
        self.stuck -= usize::from(self.has_unsent(who));
    }

    fn connect(&self, who: usize) -> Result<OwnedFd, Failure> {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)
            .map_err(Failure::system("socket"))?;
        rustix::net::sockopt::set_tcp_nodelay(&socket, true).map_err(Failure::system("TCP_NODELAY"))?;
        match rustix::net::connect(&socket, &self.address) {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(errno) => return Err(Failure::System { what: "connect", errno }),
        }
        if let Some(epoll) = &self.epoll {
            let flags = epoll::EventFlags::IN
                | epoll::EventFlags::OUT
                | epoll::EventFlags::RDHUP
                | epoll::EventFlags::ET;
            epoll::add(epoll, &socket, epoll::EventData::new_u64(who as u64), flags)
                .map_err(Failure::system("epoll_ctl"))?;
        }
        Ok(socket)
    }

    /// Sends, or keeps for `flush` what the socket does not take now.
    #[inline]
    pub(crate) fn send(&mut self, who: usize, bytes: &[u8]) -> Result<(), Failure> {
        if self.has_unsent(who) {
            self.list[who].park().unsent.extend_from_slice(bytes);
            return Ok(());
        }
        let sent = write(&self.list[who].socket, bytes)?;
        if sent < bytes.len() {
            self.stuck += 1;
            self.list[who].park().unsent.extend_from_slice(&bytes[sent..]);
        }
        Ok(())
    }

    /// The socket takes bytes again.
    #[inline]
    pub(crate) fn flush(&mut self, who: usize) -> Result<(), Failure> {
        let link = &mut self.list[who];
        let Some(parked) = link.parked.as_mut().filter(|parked| !parked.unsent.is_empty()) else {
            return Ok(());
        };
        let sent = write(&link.socket, &parked.unsent)?;
        parked.unsent.drain(..sent);
        self.stuck -= usize::from(parked.unsent.is_empty());
        self.unpark(who);
        Ok(())
    }

    /// For a loop that is not told which socket takes bytes again.
    pub(crate) fn flush_all(&mut self) -> Result<(), Failure> {
        match self.stuck {
            0 => Ok(()),
            _ => (0..self.list.len()).try_for_each(|who| self.flush(who)),
        }
    }

    fn has_unsent(&self, who: usize) -> bool {
        self.list[who].parked.as_ref().is_some_and(|parked| !parked.unsent.is_empty())
    }

    /// The beginning of a message whose end has not come yet; empty for most.
    #[inline]
    pub(crate) fn unread(&self, who: usize) -> &[u8] {
        self.list[who].parked.as_ref().map_or(&[], |parked| &parked.unread)
    }

    /// Replaces what `unread` returns.
    #[inline]
    pub(crate) fn keep(&mut self, who: usize, bytes: &[u8]) {
        if bytes.is_empty() && self.list[who].parked.is_none() {
            return;
        }
        let parked = self.list[who].park();
        parked.unread.clear();
        parked.unread.extend_from_slice(bytes);
        self.unpark(who);
    }

    fn unpark(&mut self, who: usize) {
        let parked = &mut self.list[who].parked;
        if parked.as_ref().is_some_and(|parked| parked.unread.is_empty() && parked.unsent.is_empty()) {
            *parked = None;
        }
    }
}

impl Link {
    fn park(&mut self) -> &mut Parked {
        self.parked.get_or_insert_default()
    }
}

/// How much the socket took; 0 while it is full or still connecting.
fn write(socket: &OwnedFd, bytes: &[u8]) -> Result<usize, Failure> {
    match rustix::net::send(socket, bytes, SendFlags::NOSIGNAL) {
        Ok(sent) => Ok(sent),
        Err(Errno::AGAIN | Errno::NOTCONN) => Ok(0),
        Err(errno) => Err(Failure::System { what: "send", errno }),
    }
}
