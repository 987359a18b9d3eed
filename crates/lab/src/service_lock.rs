//! Which run has a service that runs already: one at a time, or the second run would take the first one's settings for
//! the service's own, and would be restored over.
//!
//! It is taken twice. The command takes it for all of its runs until it ends, so that nobody comes between two runs of
//! a matrix; and each run's keeper takes it until the service has its own settings back, so that it outlives a command
//! that was killed. The one decision a reader would question: what is taken is a name in the kernel's abstract
//! namespace of Unix sockets (unix(7)), and no file. It goes with its process, however that ends, it keeps out the runs
//! of other users as well, and it belongs to a network namespace, as the service's port does.

use crate::ready::Address;
use rustix::io::Errno;
use rustix::net::sockopt::socket_peercred;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, listen, socket_with,
};
use serde::{Deserialize, Serialize};
use std::io;
use std::net::{ToSocketAddrs, UdpSocket};
use std::os::fd::OwnedFd;
use std::sync::{Mutex, PoisonError};

/// Letters of a host that are part of a name, which has room for about a hundred.
const LONGEST_HOST: usize = 60;

/// Others that may ask at a time who has a service; more get no answer.
const ASKING: i32 = 128;

/// What a service is called by whoever takes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ServiceName(String);

impl ServiceName {
    /// Of the service at this address. This machine has several names and addresses, all of which are one.
    pub(crate) fn of(Address { host, port }: &Address) -> ServiceName {
        let mut addresses = (host.as_str(), *port).to_socket_addrs().into_iter().flatten();
        // Nobody can bind to an address of another machine.
        if addresses.any(|address| UdpSocket::bind((address.ip(), 0)).is_ok()) {
            return ServiceName(port.to_string());
        }
        let host: String = host.chars().filter(char::is_ascii).take(LONGEST_HOST).collect();
        ServiceName(format!("{}:{port}", host.to_ascii_lowercase()))
    }
}

/// Who takes a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taker {
    /// A command, for all of its runs.
    Command,
    /// The keeper of one of them.
    Keeper,
}

impl Taker {
    fn address(self, ServiceName(service): &ServiceName) -> io::Result<SocketAddrUnix> {
        let word = match self {
            Taker::Command => "command",
            Taker::Keeper => "keeper",
        };
        Ok(SocketAddrUnix::new_abstract_name(format!("sonagi restarts {service}: {word}").as_bytes())?)
    }

    /// The process that has a service so, if it can be told.
    pub(crate) fn holder(self, service: &ServiceName) -> Option<i32> {
        let asks = unix_socket().ok()?;
        // The holder accepts nothing; what it was when it began to listen is what the kernel tells.
        connect(&asks, &self.address(service).ok()?).ok()?;
        Some(socket_peercred(&asks).ok()?.pid.as_raw_nonzero().get())
    }
}

/// A service that is taken until this is dropped.
#[derive(Debug)]
pub(crate) struct ServiceLock {
    /// Bound to the name.
    _socket: OwnedFd,
}

impl ServiceLock {
    /// Takes the service; None: another process has it. Does not wait.
    ///
    /// # Errors
    /// The system gives no socket.
    pub(crate) fn take(service: &ServiceName, taker: Taker) -> io::Result<Option<ServiceLock>> {
        let socket = unix_socket()?;
        match bind(&socket, &taker.address(service)?) {
            Ok(()) => {
                listen(&socket, ASKING)?;
                Ok(Some(ServiceLock { _socket: socket }))
            }
            Err(Errno::ADDRINUSE) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// Takes the service for all runs of this command, until its process ends; false: another command has it.
///
/// # Errors
/// The system gives no socket.
pub(crate) fn take_for_this_command(service: &ServiceName) -> io::Result<bool> {
    static TAKEN: Mutex<Vec<(ServiceName, ServiceLock)>> = Mutex::new(Vec::new());
    let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    if taken.iter().any(|(name, _)| name == service) {
        return Ok(true);
    }
    let Some(lock) = ServiceLock::take(service, Taker::Command)? else { return Ok(false) };
    taken.push((service.clone(), lock));
    Ok(true)
}

/// Neither waits when whoever listens accepts nothing, nor is passed on to what this process starts.
fn unix_socket() -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(of_test: &str) -> ServiceName {
        ServiceName(format!("{of_test} of process {}", std::process::id()))
    }

    #[test]
    fn a_service_is_one_takers_until_that_lets_it_go() {
        let service = name("one at a time");
        let lock = ServiceLock::take(&service, Taker::Keeper).unwrap().unwrap();
        assert!(ServiceLock::take(&service, Taker::Keeper).unwrap().is_none());
        assert!(ServiceLock::take(&service, Taker::Command).unwrap().is_some(), "a command has it besides");
        drop(lock);
        assert!(ServiceLock::take(&service, Taker::Keeper).unwrap().is_some());
    }

    #[test]
    fn who_has_a_service_is_told_however_often_that_is_asked() {
        let service = name("told");
        assert_eq!(Taker::Keeper.holder(&service), None);
        let _lock = ServiceLock::take(&service, Taker::Keeper).unwrap().unwrap();
        let own = std::process::id() as i32;
        assert_eq!((Taker::Keeper.holder(&service), Taker::Command.holder(&service)), (Some(own), None));
        // What asks and is gone again stays in the holder's queue: more than that holds get no answer, and do not wait.
        assert!(
            (0..200).map(|_| Taker::Keeper.holder(&service)).all(|holder| holder.is_none_or(|id| id == own))
        );
    }

    #[test]
    fn a_command_takes_a_service_once_for_all_of_its_runs() {
        let service = name("all runs");
        assert!(take_for_this_command(&service).unwrap() && take_for_this_command(&service).unwrap());
        assert!(ServiceLock::take(&service, Taker::Command).unwrap().is_none());
        let other = name("another command's");
        let _lock = ServiceLock::take(&other, Taker::Command).unwrap().unwrap();
        assert!(!take_for_this_command(&other).unwrap());
    }

    #[test]
    fn all_names_of_this_machine_are_one_and_another_machine_is_another() {
        let named = |host: &str| ServiceName::of(&Address { host: host.to_owned(), port: 3000 }).0;
        for host in ["127.0.0.1", "127.0.0.2", "0.0.0.0", "localhost"] {
            assert_eq!(named(host), "3000", "{host}");
        }
        // An address of documentation, which no machine has.
        assert_eq!(named("192.0.2.1"), "192.0.2.1:3000");
    }
}
