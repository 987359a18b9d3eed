//! The TLS options: `tlsVersion`, `tlsCipherSuites`, `tlsAuth`.
//!
//! k6 refuses values it does not know, and so do we. Settings that k6 supports and we do not are reported before the
//! run, because requests that fail one by one would look like the target's fault. Nothing but TLS below 1.2 is a
//! problem; a range that begins there, and suites without forward secrecy or with CBC, are notices, because most
//! targets speak something newer.

use super::problem::{Reading, meant};
use super::read::{same, text, texts, unknown};
use serde_json::{Map, Value};
use sonagi_transport::net::{CipherSuite, Identity};

/// Versions by their names, oldest first; those from [`OLDEST`] on are spoken here.
const VERSIONS: [&str; 4] = ["tls1.0", "tls1.1", "tls1.2", "tls1.3"];
const OLDEST: usize = 2;

/// A version for both ends, or `{min, max}`; an empty text is "any".
pub(super) fn version(value: &Value, reading: &mut Reading<'_>) -> Option<Value> {
    let one = |value: &Value, reading: &mut Reading<'_>| match value {
        Value::Null => Some("".into()),
        Value::String(name) if name.is_empty() || VERSIONS.contains(&name.as_str()) => Some(value.clone()),
        _ => reading.wrong(&format!("one of {}", VERSIONS.join(", ")), value),
    };
    let mut ends = Map::from_iter([("min".to_string(), "".into()), ("max".to_string(), "".into())]);
    if let Some(given) = value.as_object() {
        for (name, end) in given {
            match same(name, ["min", "max"]) {
                Some(name) => {
                    ends.extend(one(end, &mut reading.within(name)).map(|end| (name.to_string(), end)));
                }
                None => unknown(name, ["min", "max"].into_iter(), reading),
            }
        }
    } else {
        let both = one(value, reading)?;
        ends.values_mut().for_each(|end| *end = both.clone());
    }
    let is_too_old = |end: &str| VERSIONS[..OLDEST].contains(&ends[end].as_str().unwrap_or_default());
    if is_too_old("max") {
        let text = format!("asks for {} at most, but Sonagi speaks TLS 1.2 and 1.3 only", ends["max"]);
        reading.problem_with_hint(text, "have the target speak TLS 1.2, or test it with k6");
    } else if is_too_old("min") {
        reading.notice(
            "Sonagi speaks TLS 1.2 and 1.3 only; a target that speaks nothing newer than TLS 1.1 is not \
                        reached",
        );
    }
    Some(Value::Object(ends))
}

/// Suites by k6's names, and what we know them as; None: k6 speaks it and we do not.
const SUITES: [(&str, Option<CipherSuite>); 25] = [
    ("TLS_RSA_WITH_RC4_128_SHA", None),
    ("TLS_RSA_WITH_3DES_EDE_CBC_SHA", None),
    ("TLS_RSA_WITH_AES_128_CBC_SHA", None),
    ("TLS_RSA_WITH_AES_256_CBC_SHA", None),
    ("TLS_RSA_WITH_AES_128_CBC_SHA256", None),
    ("TLS_RSA_WITH_AES_128_GCM_SHA256", None),
    ("TLS_RSA_WITH_AES_256_GCM_SHA384", None),
    ("TLS_ECDHE_ECDSA_WITH_RC4_128_SHA", None),
    ("TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", None),
    ("TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", None),
    ("TLS_ECDHE_RSA_WITH_RC4_128_SHA", None),
    ("TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA", None),
    ("TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", None),
    ("TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", None),
    ("TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256", None),
    ("TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256", None),
    ("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", Some(CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256)),
    ("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", Some(CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256)),
    ("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", Some(CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384)),
    ("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", Some(CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384)),
    ("TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", Some(CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256)),
    (
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305",
        Some(CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256),
    ),
    ("TLS_AES_128_GCM_SHA256", Some(CipherSuite::TLS13_AES_128_GCM_SHA256)),
    ("TLS_AES_256_GCM_SHA384", Some(CipherSuite::TLS13_AES_256_GCM_SHA384)),
    ("TLS_CHACHA20_POLY1305_SHA256", Some(CipherSuite::TLS13_CHACHA20_POLY1305_SHA256)),
];

/// The suites of TLS 1.3, which cannot be chosen, here as in Go.
const ALWAYS: [CipherSuite; 3] = [
    CipherSuite::TLS13_AES_128_GCM_SHA256,
    CipherSuite::TLS13_AES_256_GCM_SHA384,
    CipherSuite::TLS13_CHACHA20_POLY1305_SHA256,
];

/// The suites to offer where these are asked for.
pub(crate) fn suites_named(names: &[String]) -> Vec<CipherSuite> {
    let suite = |name: &String| SUITES.iter().find(|(known, _)| known == name).and_then(|(_, suite)| *suite);
    names.iter().filter_map(suite).chain(ALWAYS).collect()
}

pub(super) fn cipher_suites(value: &Value, reading: &mut Reading<'_>) -> Option<Value> {
    let given = texts(value, reading)?;
    let names = || given.as_array().into_iter().flatten().filter_map(Value::as_str);
    let find = |name: &str| SUITES.iter().find(|(known, _)| *known == name);
    for name in names().filter(|name| find(name).is_none()) {
        let text = format!("unknown cipher suite \"{name}\"; names are like TLS_AES_128_GCM_SHA256");
        match meant(name, SUITES.iter().map(|(known, _)| *known)) {
            Some(meant) => reading.problem_with_hint(text, format!("did you mean `{meant}`?")),
            None => reading.problem(text),
        }
    }
    let unspoken: Vec<&str> = names().filter(|name| matches!(find(name), Some((_, None)))).collect();
    if !unspoken.is_empty() {
        reading.notice(format!(
            "Sonagi has no {}, only suites with ECDHE and AES-GCM or ChaCha20; a target that speaks TLS 1.2 and none \
             of these is not reached",
            unspoken.join(", ")
        ));
    }
    Some(given)
}

/// Client certificates, each with its key.
pub(super) fn auth(value: &Value, reading: &mut Reading<'_>) -> Option<Value> {
    const MEMBERS: [&str; 4] = ["cert", "key", "password", "domains"];
    let Some(items) = value.as_array() else { return reading.wrong("a list of objects", value) };
    let mut certificates = Vec::new();
    for (n, item) in items.iter().enumerate() {
        let mut reading = reading.within(n);
        let Some(given) = item.as_object() else { return reading.wrong("an object with cert and key", item) };
        let mut certificate: Map<String, Value> =
            MEMBERS.iter().map(|name| (name.to_string(), Value::Null)).collect();
        for (name, member) in given.iter().filter(|(_, member)| !member.is_null()) {
            let checked = match same(name, MEMBERS) {
                Some("domains") => texts(member, &mut reading.within("domains")),
                Some(name) => text(member, &mut reading.within(name)),
                None => {
                    unknown(name, MEMBERS.into_iter(), &mut reading);
                    continue;
                }
            };
            let name = same(name, MEMBERS).unwrap_or(name).to_string();
            certificate.extend(checked.map(|checked| (name, checked)));
        }
        usable(&certificate, &mut reading);
        certificates.push(Value::Object(certificate));
    }
    Some(Value::Array(certificates))
}

/// Whether there are a certificate and a key, and the key is the certificate's.
fn usable(certificate: &Map<String, Value>, reading: &mut Reading<'_>) {
    let missing: Vec<&str> =
        ["cert", "key"].into_iter().filter(|name| certificate[*name].is_null()).collect();
    for name in &missing {
        reading.problem(format!("has no {name}"));
    }
    if !missing.is_empty() {
        return;
    }
    let part = |name: &str| certificate[name].as_str().unwrap_or_default().to_owned();
    let key = part("key");
    if key.contains("ENCRYPTED") {
        let hint = "openssl pkey -in encrypted.pem -out key.pem writes it without";
        return reading.problem_with_hint("its key is encrypted, which Sonagi cannot read", hint);
    }
    let identity = Identity { certificates: part("cert"), key, hosts: Vec::new() };
    if let Err(failed) = identity.check() {
        reading.problem(failed.detail);
    }
}

#[cfg(test)]
mod tests {
    use crate::options::{Consolidated, Problems, Tiers, consolidate};
    use serde_json::{Value, json};

    fn options(script: Value) -> Result<Consolidated, Problems> {
        let Value::Object(script) = script else { unreachable!("an object is written there") };
        consolidate(Tiers { script, ..Tiers::default() })
    }

    #[test]
    fn what_k6_speaks_and_we_do_not_is_a_problem_where_nothing_else_is_left() {
        let encrypted = "-----BEGIN ENCRYPTED PRIVATE KEY-----";
        for (script, problem) in [
            (
                json!({"tlsVersion": "tls1.0"}),
                "options.tlsVersion: asks for \"tls1.0\" at most, but Sonagi speaks TLS 1.2 and 1.3 only\n    hint: \
                 have the target speak TLS 1.2, or test it with k6",
            ),
            (
                json!({"tlsAuth": [{"cert": "x", "key": encrypted, "password": "y"}]}),
                "options.tlsAuth.0: its key is encrypted, which Sonagi cannot read\n    hint: openssl pkey -in \
                 encrypted.pem -out key.pem writes it without",
            ),
        ] {
            assert_eq!(options(script).unwrap_err().to_string(), problem);
        }
    }

    #[test]
    fn what_k6_speaks_and_we_do_not_is_a_warning_where_something_else_is_left() {
        for (script, notice) in [
            (
                json!({"tlsVersion": {"min": "tls1.0"}}),
                "options.tlsVersion: Sonagi speaks TLS 1.2 and 1.3 only; a target that speaks nothing newer than TLS \
                 1.1 is not reached",
            ),
            (
                json!({"tlsCipherSuites": ["TLS_RSA_WITH_AES_128_CBC_SHA", "TLS_AES_128_GCM_SHA256"]}),
                "options.tlsCipherSuites: Sonagi has no TLS_RSA_WITH_AES_128_CBC_SHA, only suites with ECDHE and \
                 AES-GCM or ChaCha20; a target that speaks TLS 1.2 and none of these is not reached",
            ),
        ] {
            assert_eq!(options(script).unwrap().notices, [notice]);
        }
        let new = json!({
            "tlsVersion": {"min": "tls1.2", "max": "tls1.3"},
            "tlsCipherSuites": ["TLS_AES_128_GCM_SHA256"],
        });
        assert_eq!(options(new).unwrap().notices, [""; 0]);
    }
}
