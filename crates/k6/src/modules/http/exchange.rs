//! A request on its way: connections, cookies, redirects, and the samples of each answer.

use bytes::Bytes;
use sonagi_engine::http::{Client, Headers, MAX_BODY, Phases, Request, Response, decoded};
use sonagi_engine::net::{Failed, Origin};
use sonagi_measure::At;
use std::borrow::Cow;
use std::rc::Rc;

use super::auth;
use super::call::{Auth, Call, ResponseType};
use super::errors::{Unanswered, code_of};
use super::tags::OfAnswer;
use crate::metrics::builtin;
use crate::runtime::Vu;

/// What came of a request, its redirects included.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) url: String,
    pub(super) headers: Headers,
    pub(super) body: Bytes,
    /// Whether the body was wanted.
    pub(super) has_body: bool,
    pub(super) phases: Phases,
    /// Set-Cookie headers of the last answer.
    pub(super) error: String,
    pub(super) error_code: u16,
    pub(super) remote: Option<(String, u16)>,
    pub(super) proto: &'static str,
    /// The request that was answered, as it left.
    pub(super) sent: Sent,
}

/// A request as it left.
#[derive(Debug, Default)]
pub(super) struct Sent {
    pub(super) method: String,
    pub(super) url: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Bytes,
    pub(super) cookies: Vec<(String, String)>,
}

/// One request of a chain.
struct Hop {
    origin: Origin,
    url: String,
    request: Request,
    cookies: Vec<(String, String)>,
}

/// Sends, follows redirects, answers a challenge; every answer is a set of samples of its own.
pub(super) async fn perform(vu: &Rc<Vu>, call: &Call) -> Answer {
    let mut client = vu.kept.http.client(vu);
    let until = vu.now().plus(i64::try_from(call.timeout.as_nanos()).unwrap_or(i64::MAX));
    let mut hop = match first(call) {
        Ok(hop) => hop,
        Err(failed) => {
            let mut answer = unanswered(vu, call, None, Unanswered::other(failed.detail));
            answer.url.clone_from(&call.url);
            return answer;
        }
    };
    let (mut redirects, mut was_challenged) = (call.redirects, false);
    let answer = loop {
        let answer = one(vu, call, &mut client, &hop, until).await;
        let response = match answer {
            Ok(response) => response,
            Err(why) => break unanswered(vu, call, Some(hop), why),
        };
        call.jar.borrow_mut().keep(&hop.origin, &hop.request.path, &response.headers);
        let phases = phases_of(&mut client, &hop.origin, &response);
        let challenge = challenge(call, &hop, &response).filter(|_| !was_challenged);
        let next = location(&response).filter(|_| redirects > 0 && challenge.is_none());
        observe(vu, call, &hop, Some(&response), &phases, None);
        if let Some(header) = challenge {
            was_challenged = true;
            hop.request.headers.push(("Authorization".to_owned(), header));
            continue;
        }
        match next.map(|location| follow(call, &hop, response.status, &location)) {
            Some(Ok(next)) => {
                redirects -= 1;
                hop = next;
            }
            Some(Err(failed)) => break unanswered(vu, call, Some(hop), Unanswered::other(failed.detail)),
            None => break answered(call, hop, response, phases),
        }
    };
    vu.kept.http.put_back(client);
    answer
}

/// The call's own request.
fn first(call: &Call) -> Result<Hop, Failed> {
    let (origin, path) = Origin::parse(&call.url)?;
    let mut headers = call.headers.clone();
    if call.auth == Some(Auth::Basic)
        && let Some((user, password)) = &call.credentials
        && !call.has("Authorization")
    {
        headers.push(("Authorization".to_owned(), auth::basic(user, password)));
    }
    let cookies = cookies(call, &origin, &path);
    let request = Request { method: call.method.clone(), path, headers, body: call.body.clone() };
    Ok(Hop { origin, url: call.url.clone(), request, cookies })
}

/// The jar's cookies and the call's own.
fn cookies(call: &Call, origin: &Origin, path: &str) -> Vec<(String, String)> {
    let jar = call.jar.borrow();
    let replaced = |name: &str| call.cookies.iter().any(|own| own.replaces && own.name == name);
    let kept = jar.pairs(origin, path).into_iter().filter(|(name, _)| !replaced(name));
    let mut cookies: Vec<(String, String)> =
        kept.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    cookies.extend(call.cookies.iter().map(|own| (own.name.clone(), own.value.clone())));
    cookies
}

async fn one(
    vu: &Rc<Vu>,
    call: &Call,
    client: &mut Client,
    hop: &Hop,
    until: At,
) -> Result<Response, Unanswered> {
    let mut request = Cow::Borrowed(&hop.request);
    if !hop.cookies.is_empty() && !call.has("Cookie") {
        let pairs: Vec<String> = hop.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        request.to_mut().headers.push(("Cookie".to_owned(), pairs.join("; ")));
    }
    let keep = if call.response_type == ResponseType::Discard { 0 } else { MAX_BODY };
    client.mark();
    let outcome = tokio::select! {
        biased;
        outcome = client.request_keeping(&hop.origin, &request, keep) => outcome.map_err(|failed| Unanswered::of(&failed)),
        () = vu.clock().sleep_until(until) => Err(Unanswered::timeout()),
    };
    let traffic = client.take_traffic();
    vu.kept.traffic.add(traffic.sent, traffic.received);
    outcome
}

fn phases_of(client: &mut Client, origin: &Origin, response: &Response) -> Phases {
    let marks = client.take_marks();
    marks.map_or_else(Phases::default, |marks| marks.phases(origin.tls, response.first_byte, response.ended))
}

/// What a 401 that asks for a digest is answered with.
fn challenge(call: &Call, hop: &Hop, response: &Response) -> Option<String> {
    let (user, password) = call.credentials.as_ref()?;
    if call.auth != Some(Auth::Digest) || response.status != 401 {
        return None;
    }
    let asked = std::str::from_utf8(response.headers.get("www-authenticate")?).ok()?;
    auth::digest(asked, &hop.request.method, &hop.request.path, user, password)
}

fn location(response: &Response) -> Option<String> {
    let redirects = matches!(response.status, 301..=303 | 307 | 308);
    let location = response.headers.get("location").filter(|_| redirects)?;
    std::str::from_utf8(location).ok().map(str::to_owned)
}

/// The request a redirect leads to, as Go's client makes it: after 301, 302 and 303 everything but HEAD becomes a GET without a
/// body; 307 and 308 repeat the request. Another host is told no credentials.
fn follow(call: &Call, hop: &Hop, status: u16, location: &str) -> Result<Hop, Failed> {
    let url = sonagi_engine::http::resolved(&hop.origin, &hop.request.path, location);
    let (origin, path) = Origin::parse(&url)?;
    let mut request = Request { path, ..hop.request.clone() };
    if !matches!(status, 307 | 308) {
        if request.method != "HEAD" {
            request.method = "GET".to_owned();
        }
        request.body = Bytes::new();
        let of_body = |name: &str| {
            name.eq_ignore_ascii_case("content-type") || name.eq_ignore_ascii_case("content-encoding")
        };
        request.headers.retain(|(name, _)| !of_body(name));
    }
    request.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("referer"));
    if hop.origin.tls <= origin.tls {
        request.headers.push(("Referer".to_owned(), hop.url.clone()));
    }
    if origin.host != hop.origin.host {
        request.headers.retain(|(name, _)| {
            !name.eq_ignore_ascii_case("authorization") && !name.eq_ignore_ascii_case("cookie")
        });
    }
    request.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("host"));
    let cookies = cookies(call, &origin, &request.path);
    Ok(Hop { origin, url, request, cookies })
}

/// The samples of one answer, or of none.
fn observe(
    vu: &Rc<Vu>,
    call: &Call,
    hop: &Hop,
    response: Option<&Response>,
    phases: &Phases,
    why: Option<&Unanswered>,
) {
    let status = response.map_or(0, |response| response.status);
    let code = why.map_or(code_of(status), |why| why.code);
    let is_expected = call.expected.judge(status);
    let of_answer = OfAnswer {
        status,
        code,
        expected: is_expected,
        proto: response.map_or("", |_| proto(&hop.origin)),
        error: why.map_or("", |why| &why.error),
        elsewhere: (hop.url != call.url).then_some((&*hop.request.method, &*hop.url)),
        is_named: call.is_named,
    };
    let tags = vu.kept.http.tags.borrow_mut().of_answer(&call.tags, &of_answer);
    // One instant for all: reading the clock costs as much as a sample.
    let (ms, now, mut sampler) = (|ns: i64| ns as f64 / 1e6, vu.now(), vu.shard.sampler.borrow_mut());
    let mut observe = |metric, value| sampler.observe(metric, value, &tags, now);
    observe(builtin::HTTP_REQS, 1.0);
    observe(builtin::HTTP_REQ_DURATION, ms(phases.sending_ns + phases.waiting_ns + phases.receiving_ns));
    observe(builtin::HTTP_REQ_BLOCKED, ms(phases.blocked_ns));
    observe(builtin::HTTP_REQ_CONNECTING, ms(phases.connecting_ns));
    observe(builtin::HTTP_REQ_TLS_HANDSHAKING, ms(phases.tls_handshaking_ns));
    observe(builtin::HTTP_REQ_SENDING, ms(phases.sending_ns));
    observe(builtin::HTTP_REQ_WAITING, ms(phases.waiting_ns));
    observe(builtin::HTTP_REQ_RECEIVING, ms(phases.receiving_ns));
    if let Some(expected) = is_expected {
        observe(builtin::HTTP_REQ_FAILED, f64::from(u8::from(!expected)));
    }
}

fn proto(_: &Origin) -> &'static str {
    "HTTP/1.1"
}

fn answered(call: &Call, hop: Hop, response: Response, phases: Phases) -> Answer {
    let has_body = call.response_type != ResponseType::Discard;
    // What cannot be unpacked is handed over as it came.
    let body = match decoded(&response.headers, &response.body) {
        Ok(std::borrow::Cow::Owned(plain)) => plain.into(),
        _ => response.body.clone(),
    };
    Answer {
        status: response.status,
        url: hop.url.clone(),
        headers: response.headers,
        body,
        has_body,
        phases,
        error: String::new(),
        error_code: code_of(response.status),
        remote: Some((hop.origin.host.clone(), hop.origin.port)),
        proto: proto(&hop.origin),
        sent: sent(hop),
    }
}

/// A request without an answer: samples of zero time, a line in the log.
fn unanswered(vu: &Rc<Vu>, call: &Call, hop: Option<Hop>, why: Unanswered) -> Answer {
    let Some(hop) = hop else {
        return Answer { url: call.url.clone(), error: why.error, error_code: why.code, ..Answer::default() };
    };
    observe(vu, call, &hop, None, &Phases::default(), Some(&why));
    Answer {
        url: hop.url.clone(),
        error: why.error,
        error_code: why.code,
        sent: sent(hop),
        ..Answer::default()
    }
}

fn sent(hop: Hop) -> Sent {
    let Hop { url, request, cookies, .. } = hop;
    Sent { method: request.method, url, headers: request.headers, body: request.body, cookies }
}
