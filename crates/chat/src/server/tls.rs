//! TLS on the service itself: the handshake, and the certificate in use, which may change while connections are open.
//!
//! The pair of files is looked at once a second and loaded when two looks in a row found the same new state: whoever
//! renews a certificate replaces one file after the other, and what lies between is no pair. A pair that cannot be used
//! is told of once and changes nothing. Connections keep what they were opened with.
//!
//! HTTP/2 is not offered: WebSockets and event streams take the bare socket over, and a multiplexed one is not theirs.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{InconsistentKeys, ServerConfig};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

use crate::config::{Error, TlsFiles};
use crate::connection::socket::Socket;
use crate::hub::{Hub, Phase};
use crate::sync::lock;

/// How often the files are looked at.
const LOOK: Duration = Duration::from_secs(1);

/// Bytes that may wait in the buffer of a connection's TLS, beside its queue: a record.
const BUFFER: usize = 16 * 1024;

/// The largest file read as a certificate or key.
const LARGEST: u64 = 1024 * 1024;

pub(crate) struct Tls {
    files: TlsFiles,
    in_use: Mutex<Arc<ServerConfig>>,
    /// The state of the files when they were loaded, or refused, last.
    tried: Mutex<Stamps>,
}

impl Tls {
    pub(crate) fn load(files: TlsFiles) -> Result<Tls, Error> {
        // Before they are read: what changes meanwhile is seen at the next look.
        let tried = Mutex::new(stamps(&files));
        let in_use = Mutex::new(Arc::new(server_config(&files)?));
        Ok(Tls { files, in_use, tried })
    }

    /// The connection inside TLS; `None` when there will be none, because its client speaks no TLS, wants another kind
    /// or is too slow, or because the service has begun to drain meanwhile.
    pub(crate) async fn accept(&self, stream: TcpStream, hub: &Hub) -> Option<Socket> {
        let mut phase = hub.phase.subscribe();
        // A draining service still takes a connection to say by it that it drains.
        let last = if hub.is_serving() { Phase::Draining } else { Phase::Stopped };
        let acceptor = TlsAcceptor::from(lock(&self.in_use).clone());
        let handshake = acceptor.accept_with(stream, |session| session.set_buffer_limit(Some(BUFFER)));
        tokio::select! {
            done = tokio::time::timeout(hub.config.limits.handshake_timeout, handshake) => match done {
                Ok(Ok(stream)) => Some(Socket::Tls(Box::new(stream))),
                Ok(Err(_)) | Err(_) => {
                    hub.metrics.handshakes_failed.add(1);
                    None
                }
            },
            _ = phase.wait_for(|phase| *phase >= last) => None,
        }
    }

    /// Reads the files again and uses what they hold from now on. When that cannot be, what is in use stays.
    pub(crate) async fn reload(self: &Arc<Tls>, hub: &Hub) -> Result<(), Error> {
        let tls = self.clone();
        let read = tokio::task::spawn_blocking(move || {
            let stamps = stamps(&tls.files);
            let config = server_config(&tls.files);
            *lock(&tls.tried) = stamps;
            config.map(|config| *lock(&tls.in_use) = Arc::new(config))
        });
        // An error of the task itself: the runtime is ending.
        let Ok(read) = read.await else { return Ok(()) };
        if read.is_ok() {
            hub.metrics.certificates.add(1);
        }
        read
    }

    /// Reloads the files whenever they have changed, until the task is aborted.
    pub(crate) async fn watch(self: Arc<Tls>, hub: Arc<Hub>) {
        let mut before = *lock(&self.tried);
        loop {
            tokio::time::sleep(LOOK).await;
            let files = self.files.clone();
            let Ok(now) = tokio::task::spawn_blocking(move || stamps(&files)).await else { return };
            let settled = now == std::mem::replace(&mut before, now);
            if settled
                && now != *lock(&self.tried)
                && let Err(error) = self.reload(&hub).await
            {
                hub.failures.certificate(&error);
            }
        }
    }
}

/// What tells one state of a file from another.
type Stamp = Option<(SystemTime, u64, u64)>;
type Stamps = [Stamp; 2];

fn stamps(files: &TlsFiles) -> Stamps {
    let stamp = |metadata: Metadata| Some((metadata.modified().ok()?, metadata.len(), metadata.ino()));
    [&files.certificate, &files.key].map(|path| path.metadata().ok().and_then(stamp))
}

fn server_config(files: &TlsFiles) -> Result<ServerConfig, Error> {
    let TlsFiles { certificate, key } = files;
    let chain = chain(certificate)?;
    let its_key = private_key(key)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, its_key));
    let mut config = config.map_err(|error| match error {
        rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => Error::Tls {
            path: key.clone(),
            rule: "the key belongs to the first certificate of the chain",
            got: format!("another key than that of {}", certificate.display()),
            hint: "give the key the certificate was made with, and put the service's own certificate first",
        },
        other => Error::Tls {
            path: certificate.clone(),
            rule: "the first certificate is an X.509 certificate whose key TLS can sign with",
            got: other.to_string(),
            hint: "RSA of 2048 bits and more, ECDSA over P-256 and P-384, and Ed25519 can be used",
        },
    })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

fn chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let refused = |got: String| Error::Tls {
        path: path.to_owned(),
        rule: "it holds the service's certificate in PEM (`-----BEGIN CERTIFICATE-----`), and behind it those that \
               signed it",
        got,
        hint: "of Let's Encrypt that is fullchain.pem, and privkey.pem is its key",
    };
    let text = read(path)?;
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    match chain {
        Ok(chain) if chain.is_empty() => Err(refused("no certificate".to_owned())),
        Ok(chain) => Ok(chain),
        Err(error) => Err(refused(broken(&error))),
    }
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, Error> {
    let text = read(path)?;
    PrivateKeyDer::from_pem_slice(&text).map_err(|error| {
        let encrypted = text.windows(9).any(|part| part == b"ENCRYPTED");
        Error::Tls {
            path: path.to_owned(),
            rule: "it holds the certificate's private key in PEM (PKCS#8, PKCS#1 or SEC1), without a password",
            got: match error {
                _ if encrypted => "a key that is encrypted".to_owned(),
                error => broken(&error),
            },
            hint: "openssl pkey -in KEY -out key.pem writes one without a password",
        }
    })
}

/// Without what the file holds: it may be a key.
fn broken(error: &pem::Error) -> String {
    match error {
        pem::Error::NoItemsFound => "no key".to_owned(),
        pem::Error::MissingSectionEnd { .. } => "a block without its `-----END` line".to_owned(),
        pem::Error::Base64Decode(_) => "a block that is not base64".to_owned(),
        _ => "no PEM".to_owned(),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let refused = |got: String| Error::Tls {
        path: path.to_owned(),
        rule: "it is a file the service may read, of 1 MiB at most",
        got,
        hint: "--tls takes two files, as in --tls fullchain.pem,privkey.pem",
    };
    let metadata = path.metadata().map_err(|error| refused(error.to_string()))?;
    if !metadata.is_file() || metadata.len() > LARGEST {
        let kind = if metadata.is_file() { "a file" } else { "no regular file" };
        return Err(refused(format!("{kind} of {} bytes", metadata.len())));
    }
    std::fs::read(path).map_err(|error| refused(error.to_string()))
}
