//! TLS settings: one set per shard, shared by its connections so that sessions resume.
//!
//! The decision to question: `rejectUnauthorized: false` accepts every certificate (the server must still own the key
//! of the one it shows). A load test of a staging system with a self-signed certificate is an ordinary wish, and the
//! author asked for it by name.

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::sign::CertifiedKey;
use sonagi_measure::outcome::Failure;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::trust::Trust;
use super::{Alpn, Failed, Origin};

/// TLS versions, suites and certificates.
#[derive(Clone, Debug)]
pub struct TlsOptions {
    /// The only versions offered; None: all supported ones, 1.2 and 1.3.
    pub versions: Option<Vec<rustls::ProtocolVersion>>,
    /// The only suites offered; None: all supported ones.
    pub suites: Option<Vec<rustls::CipherSuite>>,
    /// Client certificates, shown to servers that ask for one: the first whose hosts fit.
    pub identities: Vec<Identity>,
    /// Trusted authorities and server certificates; None: this machine's trust store.
    pub authorities: Option<Vec<CertificateDer<'static>>>,
    /// Whether a server may go by the common name of a certificate that has no other names.
    pub common_names: bool,
}

impl Default for TlsOptions {
    fn default() -> TlsOptions {
        TlsOptions {
            versions: None,
            suites: None,
            identities: Vec::new(),
            authorities: None,
            common_names: true,
        }
    }
}

/// A client's certificate.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The certificate and its chain, in PEM.
    pub certificates: String,
    /// Its private key, in PEM.
    pub key: String,
    /// The hosts it is for, which may begin with `*.`; empty: all.
    pub hosts: Vec<String>,
}

/// Connectors by the ALPN offer; both share one session store.
struct Connectors {
    http1: TlsConnector,
    http2: TlsConnector,
}

/// Connectors by the target's host: without a client certificate, and with each.
pub(super) struct Tls {
    nameless: Connectors,
    named: Vec<(Vec<String>, Connectors)>,
}

impl Tls {
    pub(super) fn new(verify_certificates: bool, options: &TlsOptions) -> Result<Tls, Failed> {
        let mut provider = rustls::crypto::ring::default_provider();
        if let Some(suites) = &options.suites {
            provider.cipher_suites.retain(|own| suites.contains(&own.suite()));
        }
        let provider = Arc::new(provider);
        let mut versions = rustls::ALL_VERSIONS.to_vec();
        if let Some(wanted) = &options.versions {
            versions.retain(|own| wanted.contains(&own.version));
        }
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&versions)
            .map_err(|error| cannot(error.to_string()))?;
        let trust = if verify_certificates {
            // A store that cannot be read leaves fewer: the handshake then says which issuer is unknown.
            let machines = || rustls_native_certs::load_native_certs().certs;
            let authorities = options.authorities.clone().unwrap_or_else(machines);
            Trust::of(provider, authorities, options.common_names)
        } else {
            Trust::everything(provider)
        };
        let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(trust));
        let mut named = Vec::new();
        for identity in &options.identities {
            let (certificates, key) = identity.parts().map_err(cannot)?;
            let config = builder.clone().with_client_auth_cert(certificates, key);
            let config = config.map_err(|error| cannot(format!("a certificate to show: {error}")))?;
            named.push((identity.hosts.clone(), Connectors::new(&config)));
        }
        Ok(Tls { nameless: Connectors::new(&builder.with_no_client_auth()), named })
    }

    fn connectors(&self, host: &str) -> &Connectors {
        let fits = |hosts: &[String]| {
            hosts.is_empty()
                || hosts.iter().any(|own| match own.strip_prefix('*') {
                    Some(end) => host.ends_with(end),
                    None => host == own,
                })
        };
        self.named.iter().find(|(hosts, _)| fits(hosts)).map_or(&self.nameless, |(_, connectors)| connectors)
    }

    pub(super) async fn connect(
        &self,
        stream: TcpStream,
        origin: &Origin,
        alpn: Alpn,
    ) -> Result<TlsStream<TcpStream>, Failed> {
        let connectors = self.connectors(&origin.host);
        let connector = match alpn {
            Alpn::Http1 => &connectors.http1,
            Alpn::Http2 => &connectors.http2,
        };
        let name = ServerName::try_from(origin.host.clone()).map_err(|error| {
            Failed::new(Failure::TlsFailed, format!("TLS handshake with {origin}: {error}"))
        })?;
        connector.connect(name, stream).await.map_err(|error| Failed::shaking_hands(&error, origin))
    }
}

impl Connectors {
    fn new(config: &ClientConfig) -> Connectors {
        let offering = |protocols: &[&[u8]]| {
            let mut config = config.clone();
            config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
            TlsConnector::from(Arc::new(config))
        };
        Connectors { http1: offering(&[b"http/1.1"]), http2: offering(&[b"h2", b"http/1.1"]) }
    }
}

impl Identity {
    /// Checks that it can be shown: certificate and key are PEM, and the key is the certificate's.
    ///
    /// # Errors
    /// `TlsFailed`, with what is wrong in words.
    pub fn check(&self) -> Result<(), Failed> {
        let wrong = |why: String| Failed::new(Failure::TlsFailed, why);
        let (certificates, key) = self.parts().map_err(wrong)?;
        let provider = rustls::crypto::ring::default_provider();
        CertifiedKey::from_der(certificates, key, &provider)
            .map(drop)
            .map_err(|error| wrong(format!("a certificate to show: {error}")))
    }

    fn parts(&self) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), String> {
        let certificates: Result<Vec<_>, _> =
            CertificateDer::pem_slice_iter(self.certificates.as_bytes()).collect();
        let certificates = certificates.map_err(|error| format!("cert holds no PEM certificate: {error}"))?;
        if certificates.is_empty() {
            return Err("cert holds no PEM certificate".to_owned());
        }
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes());
        Ok((certificates, key.map_err(|error| format!("its key is no PEM: {error}"))?))
    }
}

fn cannot(why: String) -> Failed {
    Failed::new(Failure::TlsFailed, format!("TLS cannot be set up: {why}"))
}
