//! Failures on the way to a target or back, classified for the metrics and described for the first example.

use std::io;
use std::net::SocketAddr;

use rustix::io::Errno;
use sonagi_measure::outcome::Failure;

use super::trust::Distrust;

/// A failure with its class. The class comes from error kinds and numbers, never from a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct Failed {
    /// The class, counted.
    pub failure: Failure,
    /// The description, shown for the first example of its class; at most 1 KiB.
    pub detail: String,
    /// The cause, as far as it is known beyond the class.
    pub cause: Cause,
    /// The address, when connecting to it failed.
    pub address: Option<Box<SocketAddr>>,
}

/// Distinguishes failures of one class, for callers that report them by other numbers than ours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cause {
    /// Nothing more is known.
    #[default]
    Unknown,
    /// The test's own rules forbid the name.
    NameRefused,
    /// The test's own rules forbid the address.
    AddressRefused,
    /// The connection was being made.
    Dialing,
    /// The peer ended the TLS handshake with an alert of this number.
    Alert(u8),
    /// The peer ended in the middle of its answer.
    Unfinished,
    /// HTTP/2: the peer takes no more requests on the connection, with this error code (RFC 9113 §7).
    GoAway(u32),
    /// HTTP/2: it has reset the request's stream, with this error code.
    StreamReset(u32),
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

    /// A failure of class `Protocol`: the bytes do not follow the protocol.
    pub fn protocol(detail: impl Into<String>) -> Failed {
        Failed::new(Failure::Protocol, detail)
    }

    /// An error while connecting to `address`.
    pub(crate) fn connecting(error: &io::Error, address: SocketAddr) -> Failed {
        let failure = classify(error).unwrap_or(Failure::ConnectFailed);
        let failed = Failed::new(failure, format!("connect to {address}: {error}")).caused(Cause::Dialing);
        Failed { address: Some(Box::new(address)), ..failed }
    }

    /// An error within the TLS handshake with `whom`.
    pub(super) fn shaking_hands(error: &io::Error, whom: impl std::fmt::Display) -> Failed {
        let mut cause = Cause::Unknown;
        let (failure, words) = match tls_error(error) {
            Some(error) => {
                if let rustls::Error::AlertReceived(alert) = error {
                    cause = Cause::Alert((*alert).into());
                }
                of_tls(error)
            }
            None => match Failed::established(error) {
                lost if lost.failure == Failure::Reset => return lost,
                _ => (Failure::TlsFailed, error.to_string()),
            },
        };
        Failed::new(failure, format!("TLS handshake with {whom}: {words}")).caused(cause)
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

fn tls_error(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref().and_then(|inner| inner.downcast_ref())
}

/// The usual TLS failures in words; everything else as its library puts it.
fn of_tls(error: &rustls::Error) -> (Failure, String) {
    use rustls::{CertificateError, Error, InvalidMessage};
    let (failure, words) = match error {
        Error::InvalidCertificate(certificate) => match certificate {
            CertificateError::Other(other) => match other.0.downcast_ref::<Distrust>() {
                Some(distrust) => return (of_distrust(*distrust), distrust.to_string()),
                None => return (Failure::TlsFailed, error.to_string()),
            },
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                (Failure::CertificateExpired, "its certificate has expired")
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                (Failure::CertificateNotYetValid, "its certificate is not valid yet")
            }
            CertificateError::NotValidForNameContext { presented, .. } if !presented.is_empty() => {
                let words = format!("its certificate is for other names: {}", presented.join(", "));
                return (Failure::CertificateWrongName, words);
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                (Failure::CertificateWrongName, "its certificate is not for this name")
            }
            CertificateError::BadSignature => {
                (Failure::TlsFailed, "it does not own the key of the certificate it shows")
            }
            _ => return (Failure::TlsFailed, error.to_string()),
        },
        Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
            (Failure::NotTls, "it answered with something that is not TLS")
        }
        _ => return (Failure::TlsFailed, error.to_string()),
    };
    (failure, words.to_owned())
}

fn of_distrust(distrust: Distrust) -> Failure {
    match distrust {
        Distrust::SelfSigned => Failure::CertificateSelfSigned,
        Distrust::RootUntrusted => Failure::CertificateRootUntrusted,
        Distrust::IssuerUnknown => Failure::CertificateIssuerUnknown,
        Distrust::ChainIncomplete => Failure::CertificateChainIncomplete,
        Distrust::Version | Distrust::Unfit => Failure::TlsFailed,
    }
}

/// Whether an error says that this side has no files, ports or memory left: no peer is to blame for it.
pub fn is_exhausted(error: &io::Error) -> bool {
    classify(error) == Some(Failure::GeneratorExhausted)
}

/// None: neither the kind nor the number says anything about a peer.
fn classify(error: &io::Error) -> Option<Failure> {
    if tls_error(error).is_some() {
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
            (Errno::NETUNREACH, Failure::ConnectFailed, Failure::Reset),
            (Errno::CONNRESET, Failure::Reset, Failure::Reset),
            (Errno::PIPE, Failure::Reset, Failure::Reset),
        ] {
            assert_eq!(Failed::connecting(&errno(number), ADDRESS).failure, connecting, "{number}");
            assert_eq!(Failed::established(&errno(number)).failure, established, "{number}");
        }
    }

    #[test]
    fn a_certificate_that_is_not_accepted_says_why_in_words() {
        use rustls::CertificateError::{
            ExpiredContext, NotValidForName, NotValidForNameContext, UnknownIssuer,
        };
        use rustls::pki_types::{ServerName, UnixTime};
        let now = UnixTime::now();
        let expected = ServerName::try_from("a").unwrap();
        let presented = vec!["DnsName(\"b\")".to_owned()];
        for (error, failure, words) in [
            (
                Distrust::SelfSigned.into(),
                Failure::CertificateSelfSigned,
                "its certificate is self-signed, and this machine does not trust it",
            ),
            (
                rustls::Error::from(NotValidForNameContext { expected, presented }),
                Failure::CertificateWrongName,
                "its certificate is for other names: DnsName(\"b\")",
            ),
            (NotValidForName.into(), Failure::CertificateWrongName, "its certificate is not for this name"),
            (
                ExpiredContext { time: now, not_after: now }.into(),
                Failure::CertificateExpired,
                "its certificate has expired",
            ),
            (
                rustls::Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType),
                Failure::NotTls,
                "it answered with something that is not TLS",
            ),
            (UnknownIssuer.into(), Failure::TlsFailed, "invalid peer certificate: UnknownIssuer"),
        ] {
            let failed =
                Failed::shaking_hands(&io::Error::new(io::ErrorKind::InvalidData, error), "https://a:1");
            let detail = format!("TLS handshake with https://a:1: {words}");
            assert_eq!((failed.failure, failed.detail), (failure, detail));
        }
    }

    #[test]
    fn a_detail_is_cut_at_a_characters_boundary() {
        let failed = Failed::protocol("é".repeat(1000));
        assert_eq!(failed.detail.len(), 1024);
    }
}
