//! The samples of a request, and its operation in the run's record.

use sonagi_transport::http::{Phases, Response, Spoken};
use sonagi_transport::net::Secured;
use std::rc::Rc;

use super::call::Call;
use super::errors::{Unanswered, code_of};
use super::state::HttpState;
use super::tags::OfAnswer;
use crate::metrics::{SystemTag, builtin};
use crate::modules::record;
use crate::vu::Vu;

/// An answer of the target, usable or not.
#[derive(Clone, Copy)]
pub(super) struct Reply<'r> {
    pub(super) response: &'r Response,
    pub(super) spoken: Spoken,
    /// It asks for a digest, as it should.
    pub(super) is_first_of_two: bool,
}

/// Takes the samples of an answer or of a failure, at the instant the response ended, now if none came. The tags of a
/// failure say nothing of a response.
pub(super) fn observe(
    vu: &Rc<Vu>,
    call: &Call,
    at: Option<(&str, &str)>,
    reply: Option<Reply<'_>>,
    phases: &Phases,
    why: Option<&Unanswered>,
) {
    let response = reply.map(|reply| reply.response);
    let answer = reply.filter(|_| why.is_none());
    let spoken = answer.map(|answer| answer.spoken);
    let status = answer.map_or(0, |answer| answer.response.status);
    let code = why.map_or(code_of(status), |why| why.code);
    let is_expected = match call.expected.judge(status) {
        Some(_) if answer.is_some_and(|answer| answer.is_first_of_two) => Some(status == 401),
        judged => judged,
    };
    let of_answer = OfAnswer {
        status,
        code,
        expected: is_expected,
        proto: spoken.map_or("", proto),
        tls: spoken.and_then(|spoken| spoken.secured).map_or("", version),
        error: why.map_or("", |why| &why.error),
        elsewhere: at.filter(|(_, url)| *url != call.address.url),
        is_named: call.is_named,
        ip: spoken
            .and_then(|spoken| spoken.peer)
            .filter(|_| call.tags.wants(SystemTag::Ip))
            .map(|peer| peer.ip()),
    };
    let tags = vu.module_state::<HttpState>().tags.borrow_mut().of_answer(&call.tags, &of_answer);
    // All have one instant: reading the clock costs as much as a sample.
    let ended = response.map_or_else(|| vu.now(), |response| response.ended);
    let (ms, mut sampler) = (|ns: i64| ns as f64 / 1e6, vu.shard.sampler.borrow_mut());
    let mut observe = |metric, value| sampler.observe(metric, value, &tags, ended);
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
    let detail = why.map_or_else(String::new, |why| match why.seen {
        Some(seen) => format!("{}; {seen}", why.told),
        None => why.told.clone(),
    });
    let outcome = why.map_or(Ok(status), |why| Err((why.failure, &*detail)));
    record::request(vu, phases, response, outcome, ended);
}

pub(super) fn proto(spoken: Spoken) -> &'static str {
    if spoken.http2 { "HTTP/2.0" } else { "HTTP/1.1" }
}

/// TLS's version in k6's words.
pub(super) fn version(secured: Secured) -> &'static str {
    match secured.version.as_str() {
        Some("TLSv1_2") => "tls1.2",
        Some("TLSv1_3") => "tls1.3",
        _ => "",
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::modules::http::address::Address;
    use crate::modules::http::call::ResponseType;
    use crate::runtime::tests::with_user;
    use bytes::Bytes;
    use sonagi_measure::At;
    use sonagi_measure::recorder::{Counter, Histogram};
    use sonagi_transport::http::Headers;
    use std::time::Duration;

    pub(in crate::modules::http) fn response(headers: Headers, body: &[u8], body_bytes: usize) -> Response {
        Response {
            status: 200,
            reason: Box::default(),
            headers,
            body: Bytes::copy_from_slice(body),
            body_bytes: body_bytes as u64,
            first_byte: At(0),
            ended: At(0),
            reused: false,
            redirected: None,
        }
    }

    fn call(vu: &Vu) -> Call {
        Call {
            method: "GET".to_owned(),
            address: Rc::new(Address::parse("http://a/").ok().unwrap()),
            headers: Vec::new(),
            body: Bytes::new(),
            is_chunked: false,
            unpacked: None,
            cookies: Vec::new(),
            jar: Rc::default(),
            tags: vu.tags(),
            is_named: false,
            timeout: Duration::from_secs(60),
            redirects: 0,
            limits_redirects: false,
            auth: None,
            response_type: ResponseType::Text,
            expected: vu.module_state::<HttpState>().expected.borrow().clone(),
            throws: false,
        }
    }

    #[test]
    fn an_answer_is_of_the_instant_it_ended_however_long_it_was_unpacked() {
        for why in [None, Some(Unanswered::packed("gzip"))] {
            let (samples, record) = with_user(async |vu| {
                vu.clock().sleep_until(At(9_000_000)).await;
                let response = Response { ended: At(5_000_000), ..response(Headers::default(), b"", 0) };
                let reply = Reply { response: &response, spoken: Spoken::default(), is_first_of_two: false };
                let phases = Phases { blocked_ns: 1_000_000, waiting_ns: 1_000_000, ..Phases::default() };
                observe(&vu, &call(&vu), None, Some(reply), &phases, why.as_ref());
                let samples = vu.shard.sampler.borrow_mut().take().samples;
                (samples, vu.shard.recorder.borrow_mut().take())
            });
            assert_eq!(samples.len(), 9);
            assert!(samples.iter().all(|sample| sample.at == At(5_000_000)), "{samples:?}");
            let longest = |times: &Option<Box<Histogram>>| times.as_ref().map(|times| times.quantile_ms(1.0));
            let (operation, failed) = (&record.operations[0], record.failures.first());
            let times = (longest(&operation.response), longest(&operation.service));
            let failed_at = failed.map(|failure| failure.first_at);
            match why {
                None => assert_eq!((times, failed_at), ((Some(2.0), Some(1.0)), None)),
                // How long it took says nothing of the target.
                Some(_) => assert_eq!((times, failed_at), ((None, None), Some(At(5_000_000)))),
            }
        }
    }

    /// The script, the log and the samples have k6's words.
    #[test]
    fn an_answer_that_streams_events_without_end_is_told_of_in_the_run_folder_alone() {
        let told = |is_event_stream| {
            let why = Unanswered::endless(is_event_stream);
            assert_eq!((&*why.error, &*why.told), ("request timeout", "request timeout"));
            with_user(async |vu| {
                observe(&vu, &call(&vu), None, None, &Phases::default(), Some(&why));
                vu.shard.recorder.borrow_mut().take().failures.remove(0).example
            })
        };
        assert_eq!(told(false), "request timeout");
        let endless =
            "request timeout; it was answered with text/event-stream, which never ends: use k6/x/sse";
        assert_eq!(told(true), endless);
    }

    #[test]
    fn a_response_counts_with_the_bytes_of_its_body_as_they_came_whatever_can_be_made_of_it() {
        let counted = |response: Option<Response>, why: Option<Unanswered>| {
            let counters = with_user(async |vu| {
                let (spoken, is_first_of_two) = (Spoken::default(), false);
                let reply = response.as_ref().map(|response| Reply { response, spoken, is_first_of_two });
                observe(&vu, &call(&vu), None, reply, &Phases::default(), why.as_ref());
                vu.shard.recorder.borrow_mut().take().counters
            });
            [Counter::HttpRequests, Counter::HttpResponses, Counter::HttpBytesReceived]
                .map(|counter| counters[counter])
        };
        let packed = || Some(response(Headers::default(), b"", 700));
        assert_eq!(counted(packed(), None), [1, 1, 700]);
        assert_eq!(counted(packed(), Some(Unanswered::packed("gzip"))), [1, 1, 700]);
        assert_eq!(counted(None, Some(Unanswered::timeout())), [1, 0, 0]);
    }
}
