//! Whether a server's certificate is accepted, and if not, why.
//!
//! webpki judges chains. Two kinds of certificates it declines are accepted here as OpenSSL, curl and Node do: one that
//! is itself among those this machine trusts (`openssl req -x509` makes an authority, which webpki does not take for an
//! end entity), and one without alternative names whose common name is the host.
//!
//! The decision to question: with verification off, every certificate that has a key is accepted, also one of version
//! 1. The server must still own that key.

use std::fmt;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, DigitallySignedStruct, Error, OtherError, PeerMisbehaved, RootCertStore,
    SignatureScheme,
};

use super::certificate::{Certificate, Validity};

/// The reason a certificate is not trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Distrust {
    /// It is its own issuer.
    SelfSigned,
    /// The chain ends in an untrusted authority that is its own issuer.
    RootUntrusted,
    /// The certificate came without a chain, and its issuer is unknown.
    IssuerUnknown,
    /// The certificate came with a chain that leads to no trusted authority.
    ChainIncomplete,
    /// The certificate is of version 1.
    Version,
    /// The certificate cannot be an end entity's.
    Unfit,
}

impl fmt::Display for Distrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Distrust::SelfSigned => "its certificate is self-signed, and this machine does not trust it",
            Distrust::RootUntrusted => {
                "its certificate comes with an authority of its own, which this machine does not trust"
            }
            Distrust::IssuerUnknown => {
                "this machine does not know who issued its certificate, which came alone"
            }
            Distrust::ChainIncomplete => {
                "this machine does not know who issued the last of the certificates it showed"
            }
            Distrust::Version => "its certificate is of X.509 version 1, for which nobody can vouch",
            Distrust::Unfit => "its certificate is not one a server may show (an authority's own, perhaps)",
        })
    }
}

impl std::error::Error for Distrust {}

impl From<Distrust> for Error {
    fn from(distrust: Distrust) -> Error {
        Error::InvalidCertificate(CertificateError::Other(OtherError(Arc::new(distrust))))
    }
}

/// Decides which server certificates are accepted.
#[derive(Debug)]
pub(super) struct Trust {
    provider: Arc<CryptoProvider>,
    /// None: every certificate is accepted.
    authorities: Option<Authorities>,
}

#[derive(Debug)]
struct Authorities {
    roots: RootCertStore,
    /// The trusted certificates themselves, for a server that shows one of them.
    certificates: Vec<CertificateDer<'static>>,
    common_names: bool,
}

impl Trust {
    /// Accepts every certificate.
    pub(super) fn everything(provider: Arc<CryptoProvider>) -> Trust {
        Trust { provider, authorities: None }
    }

    /// Accepts certificates that the authorities vouch for, and the authorities' own; common names count where they are
    /// to.
    pub(super) fn of(
        provider: Arc<CryptoProvider>,
        certificates: Vec<CertificateDer<'static>>,
        common_names: bool,
    ) -> Trust {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(certificates.iter().cloned());
        Trust { provider, authorities: Some(Authorities { roots, certificates, common_names }) }
    }

    fn algorithms(&self) -> &WebPkiSupportedAlgorithms {
        &self.provider.signature_verification_algorithms
    }
}

impl Authorities {
    /// Checks that an authority vouches for the certificate, or that it is trusted itself.
    fn check_chain(
        &self,
        found: &Certificate<'_>,
        shown: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        now: UnixTime,
        algorithms: &WebPkiSupportedAlgorithms,
    ) -> Result<(), Error> {
        let vouched = ParsedCertificate::try_from(shown).and_then(|parsed| {
            verify_server_cert_signed_by_trust_anchor(&parsed, &self.roots, others, now, algorithms.all)
        });
        let Err(error) = vouched else { return Ok(()) };
        if !matches!(
            error,
            Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::Other(_))
        ) {
            return Err(error);
        }
        if !self.certificates.iter().any(|own| own == shown) {
            let is_unknown = error == Error::InvalidCertificate(CertificateError::UnknownIssuer);
            return Err(distrust(found, others, is_unknown).into());
        }
        match found.validity(i64::try_from(now.as_secs()).unwrap_or(i64::MAX)) {
            Some(Validity::Within) => Ok(()),
            Some(Validity::Before) => Err(CertificateError::NotValidYet.into()),
            Some(Validity::After) => Err(CertificateError::Expired.into()),
            None => Err(CertificateError::BadEncoding.into()),
        }
    }

    fn check_name(
        &self,
        found: &Certificate<'_>,
        shown: &CertificateDer<'_>,
        name: &ServerName<'_>,
    ) -> Result<(), Error> {
        let named = match ParsedCertificate::try_from(shown) {
            Ok(parsed) => verify_server_name(&parsed, name),
            Err(_) => Err(CertificateError::NotValidForName.into()),
        };
        match name {
            ServerName::DnsName(host) if self.common_names && found.is_commonly_named(host.as_ref()) => {
                Ok(())
            }
            _ => named,
        }
    }
}

fn distrust(found: &Certificate<'_>, others: &[CertificateDer<'_>], is_unknown: bool) -> Distrust {
    let is_own_issuer =
        |other: &CertificateDer<'_>| Certificate::read(other).is_some_and(|other| other.is_self_issued());
    if found.is_self_issued() {
        Distrust::SelfSigned
    } else if found.version == 1 {
        Distrust::Version
    } else if !is_unknown {
        Distrust::Unfit
    } else if others.iter().any(is_own_issuer) {
        Distrust::RootUntrusted
    } else if others.is_empty() {
        Distrust::IssuerUnknown
    } else {
        Distrust::ChainIncomplete
    }
}

fn read<'a>(certificate: &'a CertificateDer<'_>) -> Result<Certificate<'a>, Error> {
    Certificate::read(certificate).ok_or_else(|| CertificateError::BadEncoding.into())
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if let Some(authorities) = &self.authorities {
            let found = read(shown)?;
            authorities.check_chain(&found, shown, others, now, self.algorithms())?;
            authorities.check_name(&found, shown, name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let found = read(certificate)?;
        let mapping = self.algorithms().mapping;
        let Some((_, fitting)) = mapping.iter().find(|(scheme, _)| *scheme == signed.scheme) else {
            return Err(PeerMisbehaved::SignedHandshakeWithUnadvertisedSigScheme.into());
        };
        // TLS 1.2 leaves open which kind of key a scheme means.
        let is_signed = fitting.iter().any(|algorithm| {
            algorithm.public_key_alg_id().as_ref() == found.key_algorithm
                && algorithm.verify_signature(found.key_bits, message, signed.signature()).is_ok()
        });
        match is_signed {
            true => Ok(HandshakeSignatureValid::assertion()),
            false => Err(CertificateError::BadSignature.into()),
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let key = SubjectPublicKeyInfoDer::from(read(certificate)?.key);
        verify_tls13_signature_with_raw_key(message, &key, signed, self.algorithms())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms().supported_schemes()
    }
}
