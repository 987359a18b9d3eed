//! A request on its way: connections, cookies, redirects, and what is given to the script.

use bytes::Bytes;
use sonagi_measure::At;
use sonagi_measure::outcome::Failure;
use sonagi_transport::http::{
    Client, Phases, Request, Response, Spoken, WireForm, decoded_keeping, is_token,
};
use sonagi_transport::net::{Failed, Origin};
use std::borrow::Cow;
use std::mem::take;
use std::rc::Rc;

use super::address::Destination;
use super::answer::{Answer, Remote, Sent};
use super::call::{Auth, Call, ResponseType};
use super::errors::{Unanswered, code_of};
use super::redirect::{Astray, follow, location};
use super::samples::{Reply, observe, proto};
use super::set_cookies::keep;
use super::state::HttpState;
use super::{address, auth, debug};
use crate::modules::delivery;
use crate::shard::Level;
use crate::vu::Vu;

/// How large a body may be, 256 MiB: as it comes, and unpacked. Scripts are given all of it or an error.
const MOST_BODY: usize = 256 << 20;

/// A request of a chain.
pub(super) struct Hop {
    pub(super) origin: Origin,
    pub(super) url: String,
    /// The URL of a redirect that carries a user and password: with stars in their places, and as it came.
    pub(super) with_credentials: Option<(String, String)>,
    pub(super) request: Request,
}

impl Hop {
    /// Method and URL for samples and errors.
    fn place(&self) -> (&str, &str) {
        let clean = self.with_credentials.as_ref().map(|(clean, _)| clean.as_str());
        (&self.request.method, clean.unwrap_or(&self.url))
    }
}

/// Sends, follows redirects, answers a challenge; every answer is a set of samples of its own.
pub(super) async fn perform(vu: &Rc<Vu>, call: &Call) -> Answer {
    pace(vu).await;
    let until = vu.now().plus(i64::try_from(call.timeout.as_nanos()).unwrap_or(i64::MAX));
    let mut hop = match first(call) {
        Ok(hop) => hop,
        Err(why) => return failed(vu, call, None, None, why, Phases::default()),
    };
    let stamps = delivery::asked(vu, call.unpacked.as_ref().unwrap_or(&call.body));
    // Taken by requests that can be made alone: with a client go its connections.
    let http = vu.module_state::<HttpState>();
    let mut client = http.client(vu);
    // When redirects are followed, the script sees the first request as sent.
    let (mut redirects, mut was_challenged, mut sent) = (call.redirects, false, None);
    let answer = loop {
        let response = match one(vu, call, &mut client, &hop, until).await {
            Ok(response) => response,
            Err(why) => {
                let phases = phases_so_far(vu, &mut client, &hop.origin);
                break failed(vu, call, Some(hop.place()), None, why, phases);
            }
        };
        keep(&mut call.jar.borrow_mut(), &hop.origin, &hop.request.path, &response.headers);
        let phases = phases_of(&mut client, &hop.origin, &response);
        let spoken = client.spoken();
        let is_first_of_two = call.auth == Some(Auth::Digest) && !was_challenged;
        let reply = Reply { response: &response, spoken, is_first_of_two };
        let challenge = challenge(call, &hop, &response).filter(|_| !was_challenged);
        let location = location(&response).filter(|_| challenge.is_none());
        let next = location.as_deref().filter(|_| redirects > 0);
        if next.is_none() && challenge.is_none() {
            tell_of_redirects(vu, call, location.is_some());
            let at = Some(hop.place());
            match plain(call, &response) {
                Ok(body) => {
                    observe(vu, call, at, Some(reply), &phases, None);
                    break answered(call, &mut hop, response, body, phases, spoken);
                }
                Err(why) => break failed(vu, call, at, Some(reply), why, phases),
            }
        }
        let following =
            next.filter(|_| challenge.is_none()).map(|to| follow(call, &hop, response.status, to));
        if let Some(Err(Astray::Unreadable(why))) = following {
            break failed(vu, call, Some(hop.place()), Some(reply), why, phases);
        }
        observe(vu, call, Some(hop.place()), Some(reply), &phases, None);
        if let Some(header) = challenge {
            was_challenged = true;
            sent.get_or_insert_with(|| Sent::of(call, hop.request.clone()));
            hop.request.headers.push(("Authorization".to_owned(), header));
            arrange(&mut hop.request, &address::host(&hop.url), &[]);
            continue;
        }
        match following {
            Some(Ok(next)) => {
                redirects -= 1;
                sent.get_or_insert_with(|| Sent::of(call, hop.request));
                hop = next;
            }
            Some(Err(Astray::Unmade { method, url, why })) => {
                break failed(vu, call, Some((&method, &url)), None, why, Phases::default());
            }
            _ => unreachable!("an answer that leads nowhere has ended the loop"),
        }
    };
    http.put_back(client);
    delivery::answered(vu, &stamps, matches!(answer.status, 200..300));
    if call.method == "GET" {
        delivery::polled(vu, &answer.body);
    }
    Answer { sent: sent.unwrap_or_else(|| Sent::of(call, hop.request)), ..answer }
}

/// Waits for the request's turn where a test may only make so many a second.
async fn pace(vu: &Rc<Vu>) {
    let Some(per_second) = vu.shard.common.options.rps else { return };
    if let Some(at) = vu.shard.common.pace.turn(Some(per_second), vu.now()) {
        vu.clock().sleep_until(at).await;
    }
}

/// Warns of an answer that stays a redirect, where neither script nor options say how many are followed.
fn tell_of_redirects(vu: &Vu, call: &Call, is_redirect: bool) {
    if !is_redirect || call.limits_redirects {
        return;
    }
    let text = format!(
        "Stopped after {} redirects and returned the redirection; pass {{ redirects: n }} in request params or set \
         global maxRedirects to silence this",
        u64::from(call.redirects) + 1
    );
    vu.shard.say(Level::Warn, text, vec![("url", call.address.url.clone())]);
}

/// The call's own request.
fn first(call: &Call) -> Result<Hop, Unanswered> {
    let Destination { origin, path, host } = match &call.address.destination {
        Some(destination) => destination.clone(),
        None => return Err(nowhere(&call.address.url)),
    };
    sendable(call).map_err(|failed| Unanswered::other(failed.detail))?;
    let mut headers = call.headers.clone();
    if call.auth == Some(Auth::Basic)
        && let Some((user, password)) = &call.address.credentials
        && !call.has("Authorization")
    {
        headers.push(("Authorization".to_owned(), auth::basic(user, password)));
    }
    let written = WireForm { keeps_case: true, is_chunked: call.is_chunked };
    let cookies = cookies(call, &origin, &path);
    let method = if call.method.is_empty() { "GET".to_owned() } else { call.method.clone() };
    let mut request = Request { method, path, headers, body: call.body.clone(), written };
    arrange(&mut request, &host, &cookies);
    Ok(Hop { origin, url: call.address.url.clone(), with_credentials: None, request })
}

/// Headers that cannot be sent are told in Go's words.
fn sendable(call: &Call) -> Result<(), Failed> {
    let is_name = |name: &str| is_token(name.as_bytes());
    let is_line = |value: &str| !value.bytes().any(|byte| (byte < b' ' && byte != b'\t') || byte == 0x7f);
    if !call.method.is_empty() && !is_name(&call.method) {
        return Err(Failed::protocol(format!("net/http: invalid method {:?}", call.method)));
    }
    match call.headers.iter().find(|(name, value)| !is_name(name) || !is_line(value)) {
        Some((name, _)) if !is_name(name) => {
            Err(Failed::protocol(format!("net/http: invalid header field name {name:?}")))
        }
        Some((name, _)) => {
            Err(Failed::protocol(format!("net/http: invalid header field value for {name:?}")))
        }
        None => Ok(()),
    }
}

/// Why no request can be sent to a URL that leads nowhere.
fn nowhere(url: &str) -> Unanswered {
    match Origin::parse(url) {
        Err(failed) => Unanswered::of_url(url, &failed),
        Ok(_) => unreachable!("an address leads where its URL does"),
    }
}

/// The headers as Go's client sends them: Host and User-Agent, then the others by their names.
pub(super) fn arrange(request: &mut Request, host: &str, cookies: &[String]) {
    let headers = &mut request.headers;
    if !cookies.is_empty() {
        let cookies = cookies.join("; ");
        match headers.iter_mut().find(|(name, _)| name == "Cookie") {
            Some((_, own)) => *own = format!("{own}; {cookies}"),
            None => headers.push(("Cookie".to_owned(), cookies)),
        }
    }
    // An empty one is none, as in k6.
    headers.retain(|(name, value)| name != "Host" || !value.is_empty());
    if !headers.iter().any(|(name, _)| name == "Host") {
        headers.push(("Host".to_owned(), host.to_owned()));
    }
    let place = |name: &str| match name {
        "Host" => 0,
        "User-Agent" => 1,
        _ => 2,
    };
    headers.sort_by(|(one, _), (other, _)| (place(one), one).cmp(&(place(other), other)));
}

/// The call's own cookies, then the jar's.
pub(super) fn cookies(call: &Call, origin: &Origin, path: &str) -> Vec<String> {
    let jar = call.jar.borrow();
    let replaced = |name: &str| call.cookies.iter().any(|own| own.replaces && own.name == name);
    let own = call.cookies.iter().map(|own| (&*own.name, &*own.value));
    let kept = jar.pairs(origin, path).into_iter().filter(|(name, _)| !replaced(name));
    own.chain(kept).map(|(name, value)| format!("{name}={}", quoted(value))).collect()
}

/// A value with a blank or a comma stands in quotes.
pub(crate) fn quoted(value: &str) -> Cow<'_, str> {
    if value.contains([' ', ',']) { format!("\"{value}\"").into() } else { value.into() }
}

async fn one(
    vu: &Rc<Vu>,
    call: &Call,
    client: &mut Client,
    hop: &Hop,
    until: At,
) -> Result<Response, Unanswered> {
    let keep = if call.response_type == ResponseType::Discard { 0 } else { MOST_BODY };
    if vu.now() >= until {
        return Err(Unanswered::timeout());
    }
    let debug = vu.shard.common.options.http_debug;
    if let Some(debug) = debug {
        debug::request(vu, debug, &hop.request);
    }
    client.mark();
    let outcome = tokio::select! {
        biased;
        outcome = client.request_keeping(&hop.origin, &hop.request, keep) => {
            outcome.map_err(|failed| Unanswered::of(&failed, &hop.origin))
        }
        () = vu.clock().sleep_until(until) => Err(Unanswered::timeout()),
    };
    let outcome = outcome.map_err(|why| match why.failure {
        Failure::Timeout => Unanswered::endless(client.is_event_stream()),
        _ => why,
    });
    let traffic = client.take_traffic();
    vu.traffic.add(traffic.sent, traffic.received);
    if let (Some(debug), Ok(response)) = (debug, &outcome) {
        debug::response(vu, debug, response);
    }
    outcome
}

fn phases_of(client: &mut Client, origin: &Origin, response: &Response) -> Phases {
    let marks = client.take_marks();
    marks.map_or_else(Phases::default, |marks| marks.phases(origin.tls, response.first_byte, response.ended))
}

/// The phases of a request that failed: none where it never left.
fn phases_so_far(vu: &Vu, client: &mut Client, origin: &Origin) -> Phases {
    let marks = client.take_marks().filter(|marks| marks.left.is_some());
    let now = vu.now();
    marks.map_or_else(Phases::default, |marks| marks.phases(origin.tls, now, now))
}

/// The `Authorization` for a 401 that asks for a digest.
fn challenge(call: &Call, hop: &Hop, response: &Response) -> Option<String> {
    let (user, password) = call.address.credentials.as_ref()?;
    if call.auth != Some(Auth::Digest) || response.status != 401 {
        return None;
    }
    let asked = std::str::from_utf8(response.headers.get("www-authenticate")?).ok()?;
    auth::digest(asked, &hop.request.method, &hop.request.path, user, password)
}

/// The codings that are unpacked.
const CODINGS: [&str; 6] = ["gzip", "x-gzip", "deflate", "br", "zstd", "identity"];

/// The body unpacked. In a coding nobody knows it stays as it came.
fn plain(call: &Call, response: &Response) -> Result<Bytes, Unanswered> {
    if call.response_type == ResponseType::Discard {
        return Ok(Bytes::new());
    }
    whole(response, MOST_BODY)
}

/// All of the body, which is no more than `most` bytes.
fn whole(response: &Response, most: usize) -> Result<Bytes, Unanswered> {
    let too_large = || Unanswered::other(format!("the response's body is larger than {} MiB", most >> 20));
    if response.body_bytes > response.body.len() as u64 {
        return Err(too_large());
    }
    match decoded_keeping(&response.headers, &response.body, most + 1) {
        Ok(plain) if plain.len() > most => Err(too_large()),
        Ok(Cow::Borrowed(_)) => Ok(response.body.clone()),
        Ok(Cow::Owned(plain)) => Ok(plain.into()),
        Err(_) => {
            let said = response.headers.get("content-encoding").unwrap_or_default();
            let said = String::from_utf8_lossy(said).to_lowercase();
            let mut codings = said.split(',').map(str::trim);
            match codings.clone().all(|coding| CODINGS.contains(&coding)) {
                true => Err(Unanswered::packed(codings.next_back().unwrap_or_default())),
                false => Ok(response.body.clone()),
            }
        }
    }
}

fn answered(
    call: &Call,
    hop: &mut Hop,
    response: Response,
    body: Bytes,
    phases: Phases,
    spoken: Spoken,
) -> Answer {
    let has_none = matches!(response.status, 100..=199 | 204 | 304);
    Answer {
        status: response.status,
        reason: response.reason,
        url: match hop.with_credentials.take() {
            Some((_, given)) => given,
            None if hop.url == call.address.url && call.auth == Some(Auth::Basic) => {
                call.address.given.clone()
            }
            None => take(&mut hop.url),
        },
        headers: response.headers,
        body,
        has_body: call.response_type != ResponseType::Discard && !has_none,
        phases,
        error: String::new(),
        told: String::new(),
        error_code: code_of(response.status),
        remote: Some(match spoken.peer {
            Some(peer) => Remote::Peer(peer),
            None => Remote::Host(take(&mut hop.origin.host), hop.origin.port),
        }),
        proto: proto(spoken),
        secured: spoken.secured,
        sent: Sent::default(),
    }
}

/// A request without an answer, or with one that is of no use.
fn failed(
    vu: &Rc<Vu>,
    call: &Call,
    at: Option<(&str, &str)>,
    reply: Option<Reply<'_>>,
    why: Unanswered,
    phases: Phases,
) -> Answer {
    observe(vu, call, at, reply, &phases, Some(&why));
    let (method, url) = at.unwrap_or((call.method.as_str(), call.address.url.as_str()));
    let why = why.telling(method, url);
    Answer {
        url: url.to_owned(),
        error: why.error,
        told: why.told,
        error_code: why.code,
        phases,
        ..Answer::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::tests::response;
    use super::*;
    use sonagi_transport::http::Headers;
    use std::io::Read;

    #[test]
    fn a_body_is_given_whole_or_not_at_all() {
        let of = |headers: Headers, body: &[u8], body_bytes: usize| {
            whole(&response(headers, body, body_bytes), 1 << 20)
                .map(|body| body.len())
                .map_err(|why| (why.code, why.error))
        };
        let too_large = || Err((1000, "the response's body is larger than 1 MiB".to_owned()));
        let body = vec![b'x'; 1 << 20];
        assert_eq!(of(Headers::default(), &body, body.len()), Ok(1 << 20));
        assert_eq!(of(Headers::default(), &body, body.len() + 1), too_large());
        let packed = |size: usize| {
            let mut packer = flate2::read::GzEncoder::new(
                std::io::repeat(b'x').take(size as u64),
                flate2::Compression::fast(),
            );
            let mut packed = Vec::new();
            packer.read_to_end(&mut packed).unwrap();
            let headers: Headers = [("content-encoding", &b"gzip"[..])].into_iter().collect();
            of(headers, &packed, packed.len())
        };
        assert_eq!((packed(1 << 20), packed((1 << 20) + 1)), (Ok(1 << 20), too_large()));
    }
}
