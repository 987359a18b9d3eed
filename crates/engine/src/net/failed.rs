//! What went wrong on the way to a target or back, classified for the metrics and described for the first example.

use std::io;
use std::net::SocketAddr;

use rustix::io::Errno;
use sonagi_measure::outcome::Failure;

/// A failure with its class. The class comes from error kinds and numbers, never from a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct Failed {
    /// The class, counted.
    pub failure: Failure,
    /// What happened, shown for the first example of its class. Of unbounded origin but bounded length (1 KiB).
    pub detail: String,
    /// What is known beyond its class.
    pub cause: Cause,
    /// The address that was called, where connecting to it failed.
    pub address: Option<Box<SocketAddr>>,
}

/// What tells failures of one class apart, for who reports them by other numbers than ours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cause {
    /// Nothing more.
    #[default]
    Unknown,
    /// The test's own rules forbid the name.
    NameRefused,
    /// They forbid the address.
    AddressRefused,
    /// Nobody trusted vouches for the certificate.
    UnknownIssuer,
    /// The certificate is another host's.
    WrongName,
    /// The peer does not speak TLS.
    NotTls,
    /// The peer ended the TLS handshake with an alert of this number.
    Alert(u8),
    /// The peer ended in the middle of its answer.
    Unfinished,
}

const MAX_DETAIL: usize = 1024;

impl Failed {
    /// A failure with its description; the description is cut at 1 KiB.
    pub fn new(failure: Failure, detail: impl Into<String>) -> Failed {
        let mut detail = detail.into();
        detail.truncate(detail.floor_char_boundary(MAX_DETAIL));
        Failed { failure, detail, cause: Cause::Unknown, address: None }
    }

    /// The same with its cause.
    pub fn caused(self, cause: Cause) -> Failed {
        Failed { cause, ..self }
    }

    /// The bytes are not of the protocol spoken.
    pub fn protocol(detail: impl Into<String>) -> Failed {
        Failed::new(Failure::Protocol, detail)
    }

    /// An error while connecting to `address`.
    pub(crate) fn connecting(error: &io::Error, address: SocketAddr) -> Failed {
        let failure = match classify(error) {
            // Before a connection exists there is nothing to reset or to end early.
            Some(Failure::Reset | Failure::ClosedEarly) | None => Failure::ConnectFailed,
            Some(failure) => failure,
        };
        let failed = Failed::new(failure, format!("connect to {address}: {}", describe(error)));
        Failed { address: Some(Box::new(address)), ..failed }
    }

    /// An error on an established connection.
    pub(crate) fn established(error: &io::Error) -> Failed {
        let failure = match classify(error) {
            // The kernel gave up on a peer that no longer acknowledges, or lost the route to it.
            Some(Failure::ConnectTimeout | Failure::ConnectFailed | Failure::ConnectRefused) | None => {
                Failure::Reset
            }
            Some(failure) => failure,
        };
        Failed::new(failure, format!("connection lost: {error}"))
    }
}

/// The usual TLS failures in words; everything else as its library puts it.
fn describe(error: &io::Error) -> String {
    use rustls::{CertificateError, Error, InvalidMessage};
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(Error::InvalidCertificate(CertificateError::UnknownIssuer)) => {
            "no authority this machine trusts vouches for its certificate".to_owned()
        }
        Some(Error::InvalidCertificate(CertificateError::Other(_))) => {
            "its certificate is not one a server may show (self-signed, as an authority's own?)".to_owned()
        }
        Some(Error::InvalidMessage(InvalidMessage::InvalidContentType)) => {
            "it answered with something that is not TLS".to_owned()
        }
        _ => error.to_string(),
    }
}

/// What a failed handshake failed by.
pub(super) fn cause_of(error: &io::Error) -> Cause {
    use rustls::{CertificateError, Error, InvalidMessage};
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(Error::InvalidCertificate(
            CertificateError::UnknownIssuer | CertificateError::Other(_) | CertificateError::BadSignature,
        )) => Cause::UnknownIssuer,
        Some(Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        )) => Cause::WrongName,
        Some(Error::InvalidMessage(InvalidMessage::InvalidContentType)) => Cause::NotTls,
        Some(Error::AlertReceived(alert)) => Cause::Alert((*alert).into()),
        _ => Cause::Unknown,
    }
}

/// None: neither the kind nor the number says anything about a peer.
fn classify(error: &io::Error) -> Option<Failure> {
    if error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>()) {
        return Some(Failure::TlsFailed);
    }
    if let Some(errno) = Errno::from_io_error(error) {
        return Some(match errno {
            Errno::MFILE
            | Errno::NFILE
            | Errno::ADDRNOTAVAIL
            | Errno::ADDRINUSE
            | Errno::NOBUFS
            | Errno::NOMEM => Failure::GeneratorExhausted,
            Errno::CONNREFUSED => Failure::ConnectRefused,
            Errno::TIMEDOUT => Failure::ConnectTimeout,
            Errno::CONNRESET | Errno::CONNABORTED | Errno::PIPE => Failure::Reset,
            _ => return None,
        });
    }
    match error.kind() {
        io::ErrorKind::UnexpectedEof => Some(Failure::ClosedEarly),
        io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted | io::ErrorKind::BrokenPipe => {
            Some(Failure::Reset)
        }
        io::ErrorKind::ConnectionRefused => Some(Failure::ConnectRefused),
        io::ErrorKind::TimedOut => Some(Failure::ConnectTimeout),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, SocketAddrV4};

    const ADDRESS: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 81));

    fn errno(errno: Errno) -> io::Error {
        io::Error::from_raw_os_error(errno.raw_os_error())
    }

    #[test]
    fn a_failed_connection_tells_the_address_that_was_called() {
        let failed = Failed::connecting(&errno(Errno::CONNREFUSED), ADDRESS);
        assert_eq!(failed.address.as_deref(), Some(&ADDRESS));
    }

    #[test]
    fn a_lack_of_ports_or_descriptors_counts_against_the_generator() {
        for number in [Errno::MFILE, Errno::NFILE, Errno::ADDRNOTAVAIL] {
            assert_eq!(
                Failed::connecting(&errno(number), ADDRESS).failure,
                Failure::GeneratorExhausted,
                "{number}"
            );
        }
    }

    #[test]
    fn errors_are_classified_by_number_and_by_when_they_happen() {
        for (number, connecting, established) in [
            (Errno::CONNREFUSED, Failure::ConnectRefused, Failure::Reset),
            (Errno::TIMEDOUT, Failure::ConnectTimeout, Failure::Reset),
            (Errno::HOSTUNREACH, Failure::ConnectFailed, Failure::Reset),
            (Errno::CONNRESET, Failure::ConnectFailed, Failure::Reset),
            (Errno::PIPE, Failure::ConnectFailed, Failure::Reset),
        ] {
            assert_eq!(Failed::connecting(&errno(number), ADDRESS).failure, connecting, "{number}");
            assert_eq!(Failed::established(&errno(number)).failure, established, "{number}");
        }
    }

    #[test]
    fn the_usual_tls_failures_are_told_in_words() {
        let unknown = rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer);
        let failed = Failed::connecting(&io::Error::new(io::ErrorKind::InvalidData, unknown), ADDRESS);
        let detail = "connect to 127.0.0.1:81: no authority this machine trusts vouches for its certificate";
        assert_eq!((failed.failure, failed.detail.as_str()), (Failure::TlsFailed, detail));
    }

    #[test]
    fn a_detail_is_cut_at_a_characters_boundary() {
        let failed = Failed::protocol("é".repeat(1000));
        assert_eq!(failed.detail.len(), 1024);
    }
}
