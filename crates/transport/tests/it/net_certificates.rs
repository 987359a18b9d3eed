//! Certificates: accepted and rejected ones, and the reasons given.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, IsCa, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ProtocolVersion, ServerConfig};
use sonagi_measure::outcome::Failure;
use sonagi_transport::net::{Alpn, Failed, Net, NetOptions, Origin, TlsOptions};
use tokio::io::AsyncReadExt;
use tokio_rustls::TlsAcceptor;

use crate::net_servers::{local, serve};

/// A server that shows these certificates, the first its own.
async fn showing(chain: Vec<CertificateDer<'static>>, key: PrivateKeyDer<'static>) -> Origin {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth();
    let signing = provider.key_provider.load_private_key(key).unwrap();
    // Not looked at: one of version 1 would be refused here.
    let own = rustls::sign::CertifiedKey::new(chain, signing);
    let config = config.with_cert_resolver(Arc::new(rustls::sign::SingleCertAndKey::from(own)));
    let tls = TlsAcceptor::from(Arc::new(config));
    let origin = serve(move |_, stream| {
        let tls = tls.clone();
        async move {
            if let Ok(mut stream) = tls.accept(stream).await {
                let _ = stream.read_u8().await;
            }
        }
    })
    .await;
    Origin { host: "localhost".into(), tls: true, ..origin }
}

fn key_of(pair: &KeyPair) -> PrivateKeyDer<'static> {
    PrivateKeyDer::Pkcs8(pair.serialize_der().into())
}

async fn dialed(origin: &Origin, options: NetOptions) -> Result<(), Failed> {
    Net::real(options).unwrap().dial(origin, Alpn::Http1).await.map(drop)
}

fn trusting(certificates: &[CertificateDer<'static>]) -> NetOptions {
    let tls = TlsOptions { authorities: Some(certificates.to_vec()), ..TlsOptions::default() };
    NetOptions { tls, ..NetOptions::default() }
}

fn named(common_name: &str, alternative: &[&str]) -> CertificateParams {
    let names: Vec<String> = alternative.iter().map(|&name| name.to_owned()).collect();
    let mut params = CertificateParams::new(names).unwrap();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, common_name);
    params
}

fn authority(common_name: &str) -> CertificateParams {
    let mut params = named(common_name, &[]);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params
}

/// `openssl req -x509 -subj /CN=localhost` makes such a certificate: an authority without alternative names that is its
/// own issuer.
#[test]
fn a_self_signed_certificate_is_accepted_where_it_is_trusted_and_named_where_it_is_not() {
    local(async {
        let key = KeyPair::generate().unwrap();
        let own = authority("localhost").self_signed(&key).unwrap().der().clone();
        let origin = showing(vec![own.clone()], key_of(&key)).await;
        dialed(&origin, trusting(std::slice::from_ref(&own))).await.unwrap();
        let failed = dialed(&origin, trusting(&[])).await.unwrap_err();
        assert_eq!(failed.failure, Failure::CertificateSelfSigned);
        assert_eq!(
            failed.detail,
            format!(
                "TLS handshake with {origin}: its certificate is self-signed, and this machine does not trust it"
            )
        );
        let elsewhere = Origin { host: "127.0.0.1".into(), ..origin.clone() };
        let failed = dialed(&elsewhere, trusting(std::slice::from_ref(&own))).await.unwrap_err();
        assert_eq!(failed.failure, Failure::CertificateWrongName, "an address goes by no common name");
        let tls = TlsOptions { common_names: false, ..trusting(&[own]).tls };
        let failed = dialed(&origin, NetOptions { tls, ..NetOptions::default() }).await.unwrap_err();
        assert_eq!(failed.failure, Failure::CertificateWrongName, "as Go's clients read it");
    });
}

#[test]
fn a_trusted_certificate_has_its_time_and_its_names_all_the_same() {
    local(async {
        let early = (rcgen::date_time_ymd(2001, 1, 1), rcgen::date_time_ymd(2002, 1, 1));
        let late = (rcgen::date_time_ymd(2101, 1, 1), rcgen::date_time_ymd(2102, 1, 1));
        for (time, alternative, failure) in [
            (Some(early), &["localhost"][..], Failure::CertificateExpired),
            (Some(late), &["localhost"], Failure::CertificateNotYetValid),
            (None, &["elsewhere"], Failure::CertificateWrongName),
        ] {
            let mut params = authority("localhost");
            params.subject_alt_names = named("", alternative).subject_alt_names;
            if let Some(time) = time {
                (params.not_before, params.not_after) = time;
            }
            let key = KeyPair::generate().unwrap();
            let own = params.self_signed(&key).unwrap().der().clone();
            let origin = showing(vec![own.clone()], key_of(&key)).await;
            assert_eq!(dialed(&origin, trusting(&[own])).await.unwrap_err().failure, failure);
        }
    });
}

#[test]
fn an_issuer_nobody_knows_is_told_by_what_came_along() {
    local(async {
        let root = CertifiedIssuer::self_signed(authority("root"), KeyPair::generate().unwrap()).unwrap();
        let middle =
            CertifiedIssuer::signed_by(authority("middle"), KeyPair::generate().unwrap(), &root).unwrap();
        let key = KeyPair::generate().unwrap();
        let leaf = named("leaf", &["localhost"]).signed_by(&key, &middle).unwrap().der().clone();
        let [root, middle] = [&root, &middle].map(|issuer| issuer.der().clone());
        for (chain, failure) in [
            (vec![leaf.clone()], Failure::CertificateIssuerUnknown),
            (vec![leaf.clone(), middle.clone()], Failure::CertificateChainIncomplete),
            (vec![leaf.clone(), middle.clone(), root.clone()], Failure::CertificateRootUntrusted),
        ] {
            let origin = showing(chain, key_of(&key)).await;
            assert_eq!(dialed(&origin, trusting(&[])).await.unwrap_err().failure, failure);
        }
        let origin = showing(vec![leaf.clone(), middle], key_of(&key)).await;
        dialed(&origin, trusting(&[root])).await.unwrap();
        let alone = showing(vec![leaf.clone()], key_of(&key)).await;
        dialed(&alone, trusting(&[leaf])).await.unwrap();
    });
}

/// Self-signed, P-256, from 2020 until 2120.
const VERSION_1: &str = include_str!("certificates/version-1.pem");
const VERSION_1_KEY: &str = include_str!("certificates/version-1.key");

#[test]
fn a_certificate_of_version_1_is_accepted_where_none_is_checked_or_it_is_trusted() {
    local(async {
        let own = CertificateDer::from_pem_slice(VERSION_1.as_bytes()).unwrap();
        let key = PrivateKeyDer::from_pem_slice(VERSION_1_KEY.as_bytes()).unwrap();
        let origin = showing(vec![own.clone()], key.clone_key()).await;
        for version in [ProtocolVersion::TLSv1_2, ProtocolVersion::TLSv1_3] {
            let tls = TlsOptions { versions: Some(vec![version]), ..TlsOptions::default() };
            let unchecked = NetOptions { verify_certificates: false, tls, ..NetOptions::default() };
            dialed(&origin, unchecked).await.unwrap();
        }
        dialed(&origin, trusting(&[own])).await.unwrap();
        let failed = dialed(&origin, trusting(&[])).await.unwrap_err();
        assert_eq!(failed.failure, Failure::CertificateSelfSigned);
    });
}

#[test]
fn a_server_must_own_the_key_of_its_certificate_even_where_none_is_checked() {
    local(async {
        let (own, others) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
        let shown = named("localhost", &["localhost"]).self_signed(&others).unwrap().der().clone();
        let origin = showing(vec![shown], key_of(&own)).await;
        for version in [ProtocolVersion::TLSv1_2, ProtocolVersion::TLSv1_3] {
            let tls = TlsOptions { versions: Some(vec![version]), ..TlsOptions::default() };
            let unchecked = NetOptions { verify_certificates: false, tls, ..NetOptions::default() };
            let failed = dialed(&origin, unchecked).await.unwrap_err();
            assert_eq!(failed.failure, Failure::TlsFailed);
            assert!(
                failed.detail.ends_with("it does not own the key of the certificate it shows"),
                "{failed}"
            );
        }
    });
}
