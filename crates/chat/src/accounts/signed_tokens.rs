//! Access tokens that say themselves whose they are and until when, signed by a secret that services share: each takes
//! those of the others, and none remembers any. So none can be taken back, and nobody counts them.
//!
//! A token is `USER.END.NONCE.SIGNATURE`, the end in seconds since the Unix epoch, the signature HMAC-SHA-256 of all
//! before it.

use std::time::Duration;

use ring::hmac;

pub(crate) struct SignedTokens {
    key: hmac::Key,
    lifetime: Duration,
}

impl SignedTokens {
    pub(crate) fn new(secret: &str, lifetime: Duration) -> SignedTokens {
        SignedTokens { key: hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()), lifetime }
    }

    /// A new token of the user; `now` in seconds since the Unix epoch.
    pub(crate) fn give(&self, user: u64, nonce: &str, now: u64) -> String {
        let end = now.saturating_add(self.lifetime.as_secs());
        let text = format!("{user}.{end}.{nonce}");
        let signature = hmac::sign(&self.key, text.as_bytes());
        format!("{text}.{}", hex(signature.as_ref()))
    }

    /// The user of a valid token.
    pub(crate) fn who(&self, token: &str, now: u64) -> Option<u64> {
        let (text, signature) = token.rsplit_once('.')?;
        hmac::verify(&self.key, text.as_bytes(), &unhex(signature)?).ok()?;
        let mut parts = text.split('.');
        let user = parts.next()?.parse().ok()?;
        let end: u64 = parts.next()?.parse().ok()?;
        (end > now).then_some(user)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    text.as_bytes().chunks(2).map(|pair| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_its_user_s_at_every_service_with_the_secret_until_it_ends() {
        let tokens = |secret| SignedTokens::new(secret, Duration::from_secs(60));
        let token = tokens("shared").give(7, "n", 1000);
        let other = tokens("shared");
        assert_eq!((other.who(&token, 1000), other.who(&token, 1059)), (Some(7), Some(7)));
        assert_eq!(other.who(&token, 1060), None);
        assert_eq!(tokens("another").who(&token, 1000), None);
    }

    #[test]
    fn a_token_that_was_changed_anywhere_is_nobody_s() {
        let tokens = SignedTokens::new("shared", Duration::from_secs(60));
        let token = tokens.give(7, "n", 1000);
        for at in 0..token.len() {
            for byte in [b'0', b'8', b'.', b'g'] {
                let mut changed = token.clone().into_bytes();
                let before = std::mem::replace(&mut changed[at], byte);
                let changed = String::from_utf8(changed).unwrap();
                let who = (before == byte).then_some(7);
                assert_eq!(tokens.who(&changed, 1000), who, "{changed}");
            }
        }
        for text in ["", ".", "7", "7.9999.n", "7.9999.n.", "7.9999.n.0", "7.9999.n.é"] {
            assert_eq!(tokens.who(text, 1000), None, "{text}");
        }
    }
}
