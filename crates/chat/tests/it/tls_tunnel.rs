//! What takes the tests' plain clients to a service that speaks TLS, and the certificates for it.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};

use rcgen::CertifiedKey;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use sonagi_chat::TlsFiles;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// A certificate for 127.0.0.1 that nobody signed, and its key.
pub struct Pair {
    pub certificate: String,
    pub key: String,
    pub der: CertificateDer<'static>,
}

impl Pair {
    pub fn new() -> Pair {
        let CertifiedKey { cert, signing_key } =
            rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
        Pair { certificate: cert.pem(), key: signing_key.serialize_pem(), der: cert.der().clone() }
    }

    /// Writes both, each in one step as those who renew certificates do.
    pub fn write(&self, folder: &Path) -> TlsFiles {
        let files = TlsFiles { certificate: folder.join("cert.pem"), key: folder.join("key.pem") };
        for (path, text) in [(&files.certificate, &self.certificate), (&files.key, &self.key)] {
            let beside = path.with_extension("new");
            std::fs::write(&beside, text).unwrap();
            std::fs::rename(&beside, path).unwrap();
        }
        files
    }
}

/// A TLS client that trusts these certificates, and offers these protocols.
pub fn connector(trusted: &[&Pair], protocols: &[&str]) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    trusted.iter().for_each(|pair| roots.add(pair.der.clone()).unwrap());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    TlsConnector::from(Arc::new(config))
}

pub async fn dial(at: SocketAddr, connector: &TlsConnector) -> io::Result<TlsStream<TcpStream>> {
    let stream = TcpStream::connect(at).await?;
    stream.set_nodelay(true)?;
    connector.connect(ServerName::from(at.ip()), stream).await
}

/// How a connection ended: what it carried in each direction.
type End = io::Result<(u64, u64)>;

/// Carries every connection to it on to the service, inside TLS.
pub struct Tunnel {
    pub at: SocketAddr,
    ends: Arc<Mutex<Vec<End>>>,
}

impl Tunnel {
    pub async fn to(service: SocketAddr, pair: &Pair) -> Tunnel {
        let connector = connector(&[pair], &["http/1.1"]);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (at, ends) = (listener.local_addr().unwrap(), Arc::<Mutex<Vec<_>>>::default());
        let ended = ends.clone();
        tokio::spawn(async move {
            while let Ok((mut near, _)) = listener.accept().await {
                let (connector, ended) = (connector.clone(), ended.clone());
                tokio::spawn(async move {
                    let carried = match dial(service, &connector).await {
                        Ok(mut far) => tokio::io::copy_bidirectional(&mut near, &mut far).await,
                        Err(error) => Err(error),
                    };
                    ended.lock().unwrap().push(carried);
                });
            }
        });
        Tunnel { at, ends }
    }

    /// Connections that ended as TLS wants it, each side saying so, and those that broke off.
    pub fn ends(&self) -> (usize, usize) {
        let ends = self.ends.lock().unwrap();
        let well = ends.iter().filter(|end| end.is_ok()).count();
        (well, ends.len() - well)
    }
}
