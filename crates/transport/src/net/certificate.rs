//! Reads the X.509 fields needed for certificates that webpki rejects (RFC 5280 §4.1): those of version 1, self-issued
//! ones, and the common names of certificates without alternative names.
//!
//! Not a validator: webpki judges the chain. The bytes come from a peer; anything malformed makes `read` return None.

use crate::calendar::days_since_1970;

/// A certificate's fields, borrowed from its DER.
pub(super) struct Certificate<'a> {
    /// 1 to 3.
    pub(super) version: u8,
    issuer: &'a [u8],
    subject: &'a [u8],
    validity: &'a [u8],
    /// Its SubjectPublicKeyInfo, whole.
    pub(super) key: &'a [u8],
    /// The key's algorithm.
    pub(super) key_algorithm: &'a [u8],
    /// The key itself.
    pub(super) key_bits: &'a [u8],
    extensions: &'a [u8],
}

/// The position of an instant relative to a certificate's validity period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Validity {
    Before,
    Within,
    After,
}

const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OBJECT_IDENTIFIER: u8 = 0x06;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const VERSION: u8 = 0xa0;
const EXTENSIONS: u8 = 0xa3;

/// id-at-commonName, 2.5.4.3.
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];

/// id-ce-subjectAltName, 2.5.29.17.
const ALTERNATIVE_NAMES: &[u8] = &[0x55, 0x1d, 0x11];

impl<'a> Certificate<'a> {
    /// Reads a DER certificate; None: it is malformed.
    pub(super) fn read(der: &'a [u8]) -> Option<Certificate<'a>> {
        let mut outer = Der(der);
        let mut certificate = Der(outer.take(SEQUENCE)?);
        let mut rest = Der(certificate.take(SEQUENCE)?);
        let version = match rest.take_if(VERSION) {
            Some(explicit) => match Der(explicit).take(INTEGER)? {
                &[number @ 0..=2] => number + 1,
                _ => return None,
            },
            None => 1,
        };
        rest.take(INTEGER)?;
        rest.take(SEQUENCE)?;
        let issuer = rest.take(SEQUENCE)?;
        let validity = rest.take(SEQUENCE)?;
        let subject = rest.take(SEQUENCE)?;
        let before = rest.0;
        let mut inner = Der(rest.take(SEQUENCE)?);
        let key = &before[..before.len() - rest.0.len()];
        let key_algorithm = inner.take(SEQUENCE)?;
        // The first byte counts the bits that are unused in the last one.
        let key_bits = inner.take(BIT_STRING)?.strip_prefix(&[0])?;
        let mut extensions: &[u8] = &[];
        while let Some((tag, contents)) = rest.next() {
            if tag == EXTENSIONS {
                extensions = Der(contents).take(SEQUENCE)?;
            }
        }
        Some(Certificate { version, issuer, subject, validity, key, key_algorithm, key_bits, extensions })
    }

    /// Whether its issuer is its subject.
    pub(super) fn is_self_issued(&self) -> bool {
        self.issuer == self.subject
    }

    /// Where an instant, in seconds since 1970, lies relative to the validity period. None: the period cannot be read.
    pub(super) fn validity(&self, now: i64) -> Option<Validity> {
        let mut both = Der(self.validity);
        let (from, until) = (instant(both.next()?)?, instant(both.next()?)?);
        Some(match now {
            early if early < from => Validity::Before,
            late if late > until => Validity::After,
            _ => Validity::Within,
        })
    }

    /// Whether the common name covers a host, as OpenSSL and Node read certificates that have no alternative names.
    pub(super) fn is_commonly_named(&self, host: &str) -> bool {
        !self.has_alternative_names() && self.common_names().any(|name| covers(name, host))
    }

    fn has_alternative_names(&self) -> bool {
        let mut extensions = Der(self.extensions);
        std::iter::from_fn(|| extensions.take(SEQUENCE))
            .any(|extension| Der(extension).take(OBJECT_IDENTIFIER) == Some(ALTERNATIVE_NAMES))
    }

    fn common_names(&self) -> impl Iterator<Item = &'a str> {
        let mut sets = Der(self.subject);
        let sets = std::iter::from_fn(move || sets.take(SET));
        let attributes = sets.flat_map(|set| {
            let mut attributes = Der(set);
            std::iter::from_fn(move || attributes.take(SEQUENCE))
        });
        attributes.filter_map(|attribute| {
            let mut parts = Der(attribute);
            let is_name = parts.take(OBJECT_IDENTIFIER)? == COMMON_NAME;
            let (_, name) = parts.next().filter(|_| is_name)?;
            std::str::from_utf8(name).ok()
        })
    }
}

/// Whether a certificate's name covers a host; `*.` stands for one label.
fn covers(name: &str, host: &str) -> bool {
    match name.strip_prefix("*.") {
        Some(parent) => host.split_once('.').is_some_and(|(_, rest)| rest.eq_ignore_ascii_case(parent)),
        None => name.eq_ignore_ascii_case(host),
    }
}

/// A time of a certificate (§4.1.2.5) in seconds since 1970.
fn instant((tag, text): (u8, &[u8])) -> Option<i64> {
    let digits = text.strip_suffix(b"Z").filter(|digits| digits.iter().all(u8::is_ascii_digit))?;
    let digits = std::str::from_utf8(digits).ok()?;
    let (year, rest) = match tag {
        UTC_TIME if digits.len() == 12 => {
            let year: i64 = digits[..2].parse().ok()?;
            (if year < 50 { year + 2000 } else { year + 1900 }, &digits[2..])
        }
        GENERALIZED_TIME if digits.len() == 14 => (digits[..4].parse().ok()?, &digits[4..]),
        _ => return None,
    };
    let part = |at: usize| rest[at..at + 2].parse::<i64>().ok();
    let day = days_since_1970(year, part(0)?, part(2)?);
    Some(day * 86_400 + part(4)? * 3600 + part(6)? * 60 + part(8)?)
}

/// The rest of a sequence of values in DER (X.690 §10).
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    /// The next value: its tag and its contents.
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (&tag, rest) = self.0.split_first()?;
        let (&first, rest) = rest.split_first()?;
        let (length, rest) = match first {
            0..=0x7f => (usize::from(first), rest),
            // A length of more than three bytes is not that of any certificate.
            0x81..=0x83 => {
                let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
                (bytes.iter().fold(0, |length, &byte| length << 8 | usize::from(byte)), rest)
            }
            _ => return None,
        };
        let (contents, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((tag, contents))
    }

    /// The contents of the next value, which must have this tag.
    fn take(&mut self, tag: u8) -> Option<&'a [u8]> {
        self.next().filter(|(found, _)| *found == tag).map(|(_, contents)| contents)
    }

    /// The contents of the next value, if it has this tag; else it stays.
    fn take_if(&mut self, tag: u8) -> Option<&'a [u8]> {
        if self.0.first() == Some(&tag) { self.take(tag) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair};

    fn made(common_name: &str, alternative: &[&str]) -> Vec<u8> {
        let names: Vec<String> = alternative.iter().map(|&name| name.to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::OrganizationName, "here");
        params.distinguished_name.push(DnType::CommonName, common_name);
        (params.not_before, params.not_after) =
            (rcgen::date_time_ymd(2020, 2, 29), rcgen::date_time_ymd(2051, 1, 1));
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().to_vec()
    }

    #[test]
    fn a_certificate_says_its_version_its_issuer_its_time_and_its_key() {
        let der = made("localhost", &[]);
        let found = Certificate::read(&der).unwrap();
        assert_eq!((found.version, found.is_self_issued()), (3, true));
        // UTCTime begins with two digits of the year, GeneralizedTime with four.
        assert_eq!(instant((UTC_TIME, b"200229000000Z")), Some(1_582_934_400));
        for (now, validity) in [
            (1_582_934_399, Validity::Before),
            (1_582_934_400, Validity::Within),
            (2_556_144_000, Validity::Within),
            (2_556_144_001, Validity::After),
        ] {
            assert_eq!(found.validity(now), Some(validity), "{now}");
        }
        // SubjectPublicKeyInfo of a P-256 key: 91 bytes.
        assert_eq!((found.key.len(), found.key[0]), (91, SEQUENCE));
    }

    #[test]
    fn a_common_name_is_a_name_only_where_there_are_no_others() {
        for (common_name, alternative, host, is_named) in [
            ("localhost", &[][..], "localhost", true),
            ("LocalHost", &[], "localhost", true),
            ("localhost", &[], "other", false),
            ("*.example.test", &[], "a.example.test", true),
            ("*.example.test", &[], "a.b.example.test", false),
            ("*.example.test", &[], "example.test", false),
            ("localhost", &["other"], "localhost", false),
        ] {
            let der = made(common_name, alternative);
            let found = Certificate::read(&der).unwrap();
            assert_eq!(found.is_commonly_named(host), is_named, "{common_name} {alternative:?} {host}");
        }
    }

    #[test]
    fn what_is_cut_or_bent_is_no_certificate_and_no_panic() {
        let der = made("localhost", &[]);
        for end in 0..der.len() {
            assert!(Certificate::read(&der[..end]).is_none(), "{end}");
        }
        for at in 0..der.len() {
            for bit in 0..8 {
                let mut bent = der.clone();
                bent[at] ^= 1 << bit;
                if let Some(found) = Certificate::read(&bent) {
                    found.validity(0);
                    found.is_commonly_named("localhost");
                }
            }
        }
    }
}
