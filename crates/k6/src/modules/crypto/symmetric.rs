//! AES in WebCrypto's three modes, and keys from passwords.

use aes::cipher::block_padding::Pkcs7;
use aes::cipher::{BlockModeDecrypt, BlockModeEncrypt, KeyIvInit, StreamCipher};
use aes::{Aes128, Aes192, Aes256};
use aes_gcm::aead::{Aead, Payload};
use aes_gcm::{AesGcm, KeyInit, aead::consts::U12};

use super::hashing::{Algorithm, Hashing};

/// Why there is no result; all a script learns is that it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Failed;

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Encrypt,
    Decrypt,
}

pub(super) fn cbc(way: Way, key: &[u8], iv: &[u8], data: &[u8]) -> Result<Vec<u8>, Failed> {
    macro_rules! with {
        ($aes:ty) => {
            match way {
                Way::Encrypt => Ok(cbc::Encryptor::<$aes>::new_from_slices(key, iv)
                    .map_err(|_| Failed)?
                    .encrypt_padded_vec::<Pkcs7>(data)),
                Way::Decrypt => cbc::Decryptor::<$aes>::new_from_slices(key, iv)
                    .map_err(|_| Failed)?
                    .decrypt_padded_vec::<Pkcs7>(data)
                    .map_err(|_| Failed),
            }
        };
    }
    match key.len() {
        16 => with!(Aes128),
        24 => with!(Aes192),
        32 => with!(Aes256),
        _ => Err(Failed),
    }
}

/// The counter is all of the block, however much of it the script says; k6 does the same.
pub(super) fn ctr(key: &[u8], counter: &[u8], data: &[u8]) -> Result<Vec<u8>, Failed> {
    let mut data = data.to_vec();
    macro_rules! with {
        ($aes:ty) => {
            ctr::Ctr128BE::<$aes>::new_from_slices(key, counter)
                .map_err(|_| Failed)?
                .try_apply_keystream(&mut data)
                .map_err(|_| Failed)?
        };
    }
    match key.len() {
        16 => with!(Aes128),
        24 => with!(Aes192),
        32 => with!(Aes256),
        _ => return Err(Failed),
    }
    Ok(data)
}

/// With a nonce of 12 bytes, and a tag of `tag` bytes (12 to 16) behind the text.
pub(super) fn gcm(
    way: Way,
    key: &[u8],
    iv: &[u8],
    data: &[u8],
    also: &[u8],
    tag: usize,
) -> Result<Vec<u8>, Failed> {
    match way {
        Way::Encrypt => {
            let mut sealed = whole_gcm(way, key, iv, data, also)?;
            sealed.truncate(data.len() + tag);
            Ok(sealed)
        }
        Way::Decrypt if tag == 16 => whole_gcm(way, key, iv, data, also),
        // A cut tag is compared with what is cut off the right one. Encrypting twice decrypts: the text is only masked.
        Way::Decrypt => {
            let length = data.len().checked_sub(tag).ok_or(Failed)?;
            let mut plain = whole_gcm(Way::Encrypt, key, iv, &data[..length], also)?;
            plain.truncate(length);
            let sealed = gcm(Way::Encrypt, key, iv, &plain, also, tag)?;
            if sealed == data { Ok(plain) } else { Err(Failed) }
        }
    }
}

fn whole_gcm(way: Way, key: &[u8], iv: &[u8], data: &[u8], also: &[u8]) -> Result<Vec<u8>, Failed> {
    let nonce = iv.try_into().map_err(|_| Failed)?;
    let payload = Payload { msg: data, aad: also };
    macro_rules! with {
        ($aes:ty) => {{
            let cipher = AesGcm::<$aes, U12>::new_from_slice(key).map_err(|_| Failed)?;
            match way {
                Way::Encrypt => cipher.encrypt(nonce, payload),
                Way::Decrypt => cipher.decrypt(nonce, payload),
            }
        }};
    }
    let made = match key.len() {
        16 => with!(Aes128),
        24 => with!(Aes192),
        32 => with!(Aes256),
        _ => return Err(Failed),
    };
    made.map_err(|_| Failed)
}

/// PBKDF2 (RFC 8018) of as many bytes as asked for.
pub(super) fn pbkdf2(
    algorithm: Algorithm,
    password: &[u8],
    salt: &[u8],
    rounds: u32,
    length: usize,
) -> Vec<u8> {
    let keyed = |parts: &[&[u8]]| {
        let mut hashing = Hashing::keyed(algorithm, password);
        parts.iter().for_each(|part| hashing.update(part));
        hashing.digest()
    };
    let mut bytes = Vec::with_capacity(length);
    for block in 1_u32.. {
        if bytes.len() >= length {
            break;
        }
        let mut round = keyed(&[salt, &block.to_be_bytes()]);
        let mut sum = round.clone();
        for _ in 1..rounds {
            round = keyed(&[&round]);
            sum.iter_mut().zip(&round).for_each(|(sum, byte)| *sum ^= byte);
        }
        bytes.extend_from_slice(&sum);
    }
    bytes.truncate(length);
    bytes
}

#[cfg(test)]
mod tests {
    use super::super::hex;
    use super::*;

    /// RFC 6070, NIST SP 800-38A and the GCM specification.
    #[test]
    fn ciphers_and_derived_keys_are_those_of_the_specifications() {
        assert_eq!(
            hex(&pbkdf2(
                Algorithm::Sha1,
                b"passwordPASSWORDpassword",
                b"saltSALTsaltSALTsaltSALTsaltSALTsalt",
                4096,
                25
            )),
            "3d2eec4fe41c849b80c8d83662c0e44a8b291a964cf2f07038"
        );
        let unhex = |text: &str| -> Vec<u8> {
            (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
        };
        let (key, iv) =
            (unhex("2b7e151628aed2a6abf7158809cf4f3c"), unhex("000102030405060708090a0b0c0d0e0f"));
        let plain = unhex("6bc1bee22e409f96e93d7e117393172a");
        let sealed = cbc(Way::Encrypt, &key, &iv, &plain).unwrap();
        assert_eq!(hex(&sealed[..16]), "7649abac8119b246cee98e9b12e9197d");
        assert_eq!(cbc(Way::Decrypt, &key, &iv, &sealed), Ok(plain.clone()));
        let counter = unhex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
        assert_eq!(hex(&ctr(&key, &counter, &plain).unwrap()), "874d6191b620e3261bef6864990db6ce");
        let tag = gcm(Way::Encrypt, &[0; 16], &[0; 12], b"", b"", 16).unwrap();
        assert_eq!(hex(&tag), "58e2fccefa7e3061367f1d57a4e7455a");
        assert_eq!(gcm(Way::Decrypt, &[0; 16], &[0; 12], &tag, b"other", 16), Err(Failed));
        let short = gcm(Way::Encrypt, &[0; 32], &[1; 12], b"words", b"also", 12).unwrap();
        assert_eq!(short.len(), 17);
        assert_eq!(gcm(Way::Decrypt, &[0; 32], &[1; 12], &short, b"also", 12), Ok(b"words".to_vec()));
        assert_eq!(gcm(Way::Decrypt, &[0; 32], &[1; 12], &short, b"", 12), Err(Failed));
        assert_eq!(cbc(Way::Encrypt, &key[1..], &iv, &plain), Err(Failed));
    }
}
