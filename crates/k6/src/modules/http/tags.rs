//! The tags of requests and their answers. Most requests of a script are like one of the last few: their tags are
//! found again without looking up eight strings.

use std::net::IpAddr;

use super::recent::Recent;
use crate::metrics::{SystemTag, Tags};

/// The last ones.
#[derive(Debug, Default)]
pub(super) struct LastTags {
    /// By the user's tags, method and name.
    calls: Recent<(Tags, String, String), Tags>,
    /// By the call's tags.
    answers: Recent<(Tags, Plain), Tags>,
}

/// The parts in which answers to one call differ: status, `error_code`, expectation, protocol and TLS.
type Plain = (u16, u16, Option<bool>, &'static str, &'static str);

/// The parts that an answer adds to its call's tags.
pub(super) struct OfAnswer<'a> {
    pub(super) status: u16,
    /// `error_code`; 0 is none.
    pub(super) code: u16,
    pub(super) expected: Option<bool>,
    /// Empty: there was no answer.
    pub(super) proto: &'static str,
    /// Empty: it came without TLS.
    pub(super) tls: &'static str,
    /// Empty: there was one.
    pub(super) error: &'a str,
    /// Method and URL of a request that a redirect led to.
    pub(super) elsewhere: Option<(&'a str, &'a str)>,
    pub(super) is_named: bool,
    /// Where it came from, if that is wanted.
    pub(super) ip: Option<IpAddr>,
}

impl LastTags {
    /// The tags of a call: its URL is told by the name it goes by.
    pub(super) fn of_call(&mut self, tags: &Tags, method: &str, name: &str) -> Tags {
        let known = self.calls.find(|(of, known, named)| of.is(tags) && known == method && named == name);
        if let Some(made) = known {
            return made;
        }
        let system = [(SystemTag::Method, method), (SystemTag::Url, name), (SystemTag::Name, name)];
        let made = tags.with_automatic(&system);
        self.calls.keep((tags.clone(), method.to_owned(), name.to_owned()), made.clone());
        made
    }

    pub(super) fn of_answer(&mut self, call: &Tags, answer: &OfAnswer<'_>) -> Tags {
        let OfAnswer { status, code, expected, proto, tls, .. } = *answer;
        let plain = (status, code, expected, proto, tls);
        let is_plain = answer.error.is_empty() && answer.elsewhere.is_none() && answer.ip.is_none();
        let known = || self.answers.find(|(of, known)| *known == plain && of.is(call));
        if let Some(made) = if is_plain { known() } else { None } {
            return made;
        }
        let made = made(call, answer);
        if is_plain {
            self.answers.keep((call.clone(), plain), made.clone());
        }
        made
    }
}

fn made(call: &Tags, answer: &OfAnswer<'_>) -> Tags {
    let (status, code) = (answer.status.to_string(), answer.code.to_string());
    let mut system = vec![(SystemTag::Status, status.as_str())];
    if !answer.proto.is_empty() {
        system.push((SystemTag::Proto, answer.proto));
    }
    if !answer.tls.is_empty() {
        system.push((SystemTag::TlsVersion, answer.tls));
    }
    if let Some(expected) = answer.expected {
        system.push((SystemTag::ExpectedResponse, if expected { "true" } else { "false" }));
    }
    if answer.code != 0 {
        system.push((SystemTag::ErrorCode, &code));
    }
    if !answer.error.is_empty() {
        system.push((SystemTag::Error, answer.error));
    }
    if let Some((method, url)) = answer.elsewhere {
        system.push((SystemTag::Method, method));
        if !answer.is_named {
            system.extend([(SystemTag::Url, url), (SystemTag::Name, url)]);
        }
    }
    let ip = answer.ip.map(|ip| ip.to_string());
    system.extend(ip.iter().map(|ip| (SystemTag::Ip, ip.as_str())));
    call.with_automatic(&system)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Detail, SystemTags, registry, sampler};
    use std::sync::Arc;

    #[test]
    fn answers_that_differ_in_protocol_or_tls_alone_have_tags_of_their_own() {
        let sampler = sampler(&Arc::new(registry()), Detail::Total, SystemTags::default(), false);
        let (call, mut last) = (sampler.tags(), LastTags::default());
        let mut said = |proto, tls| {
            let answer = OfAnswer {
                status: 200,
                code: 0,
                expected: Some(true),
                proto,
                tls,
                error: "",
                elsewhere: None,
                is_named: true,
                ip: None,
            };
            let tags = last.of_answer(&call, &answer);
            (tags.get("proto").map(str::to_owned), tags.get("tls_version").map(str::to_owned))
        };
        let of = |proto: &str, tls: Option<&str>| (Some(proto.to_owned()), tls.map(str::to_owned));
        assert_eq!(said("HTTP/1.1", ""), of("HTTP/1.1", None));
        assert_eq!(said("HTTP/1.1", "tls1.3"), of("HTTP/1.1", Some("tls1.3")));
        assert_eq!(said("HTTP/2.0", "tls1.3"), of("HTTP/2.0", Some("tls1.3")));
        assert_eq!(said("HTTP/1.1", ""), of("HTTP/1.1", None));
    }
}
