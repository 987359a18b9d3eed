//! Hash functions by name, with a key or without.

use sha2::digest::{Digest, DynDigest};

/// A hash function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    Md4,
    Md5,
    Sha1,
    Sha256,
    Sha384,
    Sha512,
    Sha512To224,
    Sha512To256,
    Ripemd160,
}

use Algorithm::{Md4, Md5, Ripemd160, Sha1, Sha256, Sha384, Sha512, Sha512To224, Sha512To256};

impl Algorithm {
    pub(super) const ALL: &[Algorithm] =
        &[Md4, Md5, Sha1, Sha256, Sha384, Sha512, Sha512To224, Sha512To256, Ripemd160];

    /// The name that k6 has for it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Md4 => "md4",
            Md5 => "md5",
            Sha1 => "sha1",
            Sha256 => "sha256",
            Sha384 => "sha384",
            Sha512 => "sha512",
            Sha512To224 => "sha512_224",
            Sha512To256 => "sha512_256",
            Ripemd160 => "ripemd160",
        }
    }

    pub(super) fn named(name: &str) -> Option<Algorithm> {
        Algorithm::ALL.iter().copied().find(|algorithm| algorithm.name() == name)
    }

    /// The algorithm that WebCrypto knows by a name.
    pub(super) fn of_web(name: &str) -> Option<Algorithm> {
        match name {
            "SHA-1" => Some(Sha1),
            "SHA-256" => Some(Sha256),
            "SHA-384" => Some(Sha384),
            "SHA-512" => Some(Sha512),
            _ => None,
        }
    }

    fn begin(self) -> Box<dyn DynDigest> {
        match self {
            Md4 => Box::new(md4::Md4::new()),
            Md5 => Box::new(md5::Md5::new()),
            Sha1 => Box::new(sha1::Sha1::new()),
            Sha256 => Box::new(sha2::Sha256::new()),
            Sha384 => Box::new(sha2::Sha384::new()),
            Sha512 => Box::new(sha2::Sha512::new()),
            Sha512To224 => Box::new(sha2::Sha512_224::new()),
            Sha512To256 => Box::new(sha2::Sha512_256::new()),
            Ripemd160 => Box::new(ripemd::Ripemd160::new()),
        }
    }

    /// Bytes the function takes at a time, which a key is padded to.
    pub(super) fn block(self) -> usize {
        match self {
            Sha384 | Sha512 | Sha512To224 | Sha512To256 => 128,
            _ => 64,
        }
    }
}

/// A hash under way.
pub(super) struct Hashing {
    inner: Box<dyn DynDigest>,
    /// With a key (HMAC, RFC 2104): what the inner hash goes into.
    outer: Option<Box<dyn DynDigest>>,
}

impl Hashing {
    pub(super) fn plain(algorithm: Algorithm) -> Hashing {
        Hashing { inner: algorithm.begin(), outer: None }
    }

    /// HMAC; here rather than by a library, whose types would have to be named for each of the nine.
    pub(super) fn keyed(algorithm: Algorithm, key: &[u8]) -> Hashing {
        let mut pad = key.to_vec();
        if pad.len() > algorithm.block() {
            let mut hashing = Hashing::plain(algorithm);
            hashing.update(key);
            pad = hashing.digest();
        }
        pad.resize(algorithm.block(), 0);
        let padded = |with: u8| {
            let mut digest = algorithm.begin();
            digest.update(&pad.iter().map(|byte| byte ^ with).collect::<Vec<u8>>());
            digest
        };
        Hashing { inner: padded(0x36), outer: Some(padded(0x5c)) }
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.inner.update(bytes);
    }

    /// The digest of everything so far; more may follow.
    pub(super) fn digest(&self) -> Vec<u8> {
        let inner = self.inner.box_clone().finalize();
        match &self.outer {
            None => inner.into_vec(),
            Some(outer) => {
                let mut outer = outer.box_clone();
                outer.update(&inner);
                outer.finalize().into_vec()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 2202 and RFC 4231, a key longer than a block among them.
    #[test]
    fn keyed_hashes_are_those_of_the_specifications() {
        let of = |algorithm, key: &[u8], data: &[u8]| {
            let mut hashing = Hashing::keyed(algorithm, key);
            hashing.update(data);
            super::super::hex(&hashing.digest())
        };
        assert_eq!(of(Md5, b"Jefe", b"what do ya want for nothing?"), "750c783e6ab0b503eaa86e310a5db738");
        let long = of(Sha256, &[0xaa; 131], b"Test Using Larger Than Block-Size Key - Hash Key First");
        assert_eq!(long, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
        let long = of(Sha512, &[0xaa; 131], b"Test Using Larger Than Block-Size Key - Hash Key First");
        assert!(
            long.starts_with("80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f352"),
            "{long}"
        );
    }
}
