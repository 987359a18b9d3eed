//! Basic and digest authentication (RFC 7617, RFC 7616 with MD5 and SHA-256).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest, Md5};
use sha2::Sha256;

/// The Authorization header of a user and a password.
pub(super) fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
}

/// The Authorization header that answers a challenge; None when it asks for another hash.
pub(super) fn digest(
    challenge: &str,
    method: &str,
    path: &str,
    user: &str,
    password: &str,
) -> Option<String> {
    let cnonce = format!("{:016x}", fastrand::u64(..));
    answer(challenge, method, path, user, password, &cnonce)
}

fn answer(
    challenge: &str,
    method: &str,
    path: &str,
    user: &str,
    password: &str,
    cnonce: &str,
) -> Option<String> {
    let (scheme, rest) = challenge.trim().split_once(' ')?;
    let given =
        |name: &str| parameters(rest).find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value);
    if !scheme.eq_ignore_ascii_case("digest") {
        return None;
    }
    let algorithm = given("algorithm");
    let hash: fn(&str) -> String = match algorithm.map(str::to_ascii_lowercase).as_deref() {
        None | Some("md5") => hash::<Md5>,
        Some("sha-256") => hash::<Sha256>,
        Some(_) => return None,
    };
    let (realm, nonce) = (given("realm")?, given("nonce")?);
    let (first, second) = (hash(&format!("{user}:{realm}:{password}")), hash(&format!("{method}:{path}")));
    let has_auth = given("qop").is_some_and(|qop| qop.split(',').any(|one| one.trim() == "auth"));
    let count = "00000001";
    let response = match has_auth {
        true => hash(&format!("{first}:{nonce}:{count}:{cnonce}:auth:{second}")),
        false => hash(&format!("{first}:{nonce}:{second}")),
    };
    let mut header = format!(
        "Digest username=\"{user}\", realm=\"{realm}\", nonce=\"{nonce}\", uri=\"{path}\", response=\"{response}\""
    );
    if let Some(algorithm) = algorithm {
        header.push_str(&format!(", algorithm={algorithm}"));
    }
    if let Some(opaque) = given("opaque") {
        header.push_str(&format!(", opaque=\"{opaque}\""));
    }
    if has_auth {
        header.push_str(&format!(", qop=auth, nc={count}, cnonce=\"{cnonce}\""));
    }
    Some(header)
}

fn hash<H: Digest>(text: &str) -> String {
    H::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `name="value, with a comma", other=value`.
fn parameters(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches([',', ' ', '\t']);
        let (name, tail) = rest.split_once('=')?;
        let (value, tail) = match tail.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => tail.split_at(tail.find(',').unwrap_or(tail.len())),
        };
        rest = tail;
        Some((name.trim(), value.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn basic_credentials_are_base64() {
        assert_eq!(basic("Aladdin", "open sesame"), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    }

    /// The example of RFC 7616 §3.9.1.
    #[test]
    fn a_digest_is_what_the_standards_example_says() {
        for (algorithm, response) in [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ] {
            let challenge = format!(
                "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", algorithm={algorithm}, \
                nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", \
                opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""
            );
            let cnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ";
            let header = answer(&challenge, "GET", "/dir/index.html", "Mufasa", "Circle of Life", cnonce);
            let header = header.unwrap();
            assert!(header.contains(&format!("response=\"{response}\", algorithm={algorithm}")), "{header}");
            assert!(header.ends_with(&format!("qop=auth, nc=00000001, cnonce=\"{cnonce}\"")), "{header}");
        }
        let other = "Digest realm=\"a\", nonce=\"b\", algorithm=SHA-512-256";
        assert_eq!(answer(other, "GET", "/", "u", "p", "c"), None);
    }
}
