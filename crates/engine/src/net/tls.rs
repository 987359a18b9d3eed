//! TLS settings: one set per shard, shared by its connections so that sessions resume.
//!
//! The decision to question: `rejectUnauthorized: false` accepts every certificate (the server must still own the key of
//! the one it shows). A load test of a staging system with a self-signed certificate is an ordinary wish, and the author
//! asked for it by name.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use sonagi_measure::outcome::Failure;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::{Alpn, Failed, Origin};

/// Connectors for what we offer by ALPN; both share one session store.
pub(super) struct Tls {
    http1: TlsConnector,
    http2: TlsConnector,
}

impl Tls {
    pub(super) fn new(verify_certificates: bool) -> Result<Tls, Failed> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(|error| Failed::new(Failure::TlsFailed, format!("TLS cannot be set up: {error}")))?;
        let config = if verify_certificates {
            let mut roots = RootCertStore::empty();
            // A store that cannot be read leaves fewer roots: the handshake then says which issuer is unknown.
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            builder.with_root_certificates(roots).with_no_client_auth()
        } else {
            let verifier = Arc::new(AcceptAll { provider });
            builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
        };
        let offering = |protocols: &[&[u8]]| {
            let mut config = config.clone();
            config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
            TlsConnector::from(Arc::new(config))
        };
        Ok(Tls { http1: offering(&[b"http/1.1"]), http2: offering(&[b"h2", b"http/1.1"]) })
    }

    pub(super) async fn connect(
        &self,
        stream: TcpStream,
        origin: &Origin,
        alpn: Alpn,
    ) -> Result<TlsStream<TcpStream>, Failed> {
        let connector = match alpn {
            Alpn::Http1 => &self.http1,
            Alpn::Http2 => &self.http2,
        };
        let failed = |detail: String| {
            Failed::new(Failure::TlsFailed, format!("TLS handshake with {origin}: {detail}"))
        };
        let name = ServerName::try_from(origin.host.clone()).map_err(|error| failed(error.to_string()))?;
        connector.connect(name, stream).await.map_err(|error| match Failed::established(&error) {
            lost if lost.failure == Failure::Reset => lost,
            _ => failed(error.to_string()),
        })
    }
}

/// Accepts any certificate, but still demands that the server owns the one it shows.
#[derive(Debug)]
struct AcceptAll {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for AcceptAll {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
