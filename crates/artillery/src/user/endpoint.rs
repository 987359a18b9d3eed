//! Metrics by endpoint that are told as responses come: what a target says of its own time, and everything of requests
//! that go by the address they asked for ([`Told`]).

use sonagi_measure::metrics::{Kind, Unit};
use sonagi_measure::secrets::masked;

use super::{Begun, Halt, User};
use crate::names;
use crate::plan::{Endpoint, HttpStep, Told};
use sonagi_transport::http::{Headers, Response};
use sonagi_transport::net::Origin;

/// How often something happened.
const COUNT: (Kind, Unit) = (Kind::Counter, Unit::Number);
/// How long something took.
const TIME: (Kind, Unit) = (Kind::Trend, Unit::Milliseconds);

impl User {
    /// The name of a request recorded by its address.
    pub(super) fn endpoint_asked(&self, step: &HttpStep, origin: &Origin, path: &str) -> Option<String> {
        let Endpoint::Asked { naming, name } = &step.told.as_deref()?.endpoint else { return None };
        let url = format!("{origin}{}", without_added(path, step.query.len()));
        let called = naming.called(&self.shard.plan().target, &url, name.as_deref())?;
        // It becomes a metric's name, and so part of the summary and of the run folder.
        Some(masked(&self.values.shown(&called)))
    }

    /// Tells how a request ended that goes by its address.
    pub(super) fn tell_endpoint(
        &self,
        begun: Begun,
        step: &HttpStep,
        name: &str,
        sent: Result<&Response, &Halt>,
    ) {
        let Some(told) = step.told.as_deref() else { return };
        let (prefix, at) = (&told.prefix, self.shard.clock.now());
        let mut recorder = self.shard.recorder.borrow_mut();
        match sent {
            Ok(response) => {
                let ms = response.ended.since(begun.planned) as f64 / 1e6;
                let status = response.status;
                recorder.observe(COUNT, &format!("{prefix}.{name}.codes.{status}"), 1.0, at);
                recorder.observe(TIME, &format!("{prefix}.response_time.{name}"), ms, at);
                drop(recorder);
                self.tell_server_timing(told, name, &response.headers);
            }
            Err(Halt::Failed) => {
                let failed = self.last_failure.as_deref().map(|(failure, _)| failure);
                if let Some(failure) = failed.filter(|failure| failure.is_of_request()) {
                    let error = names::failure(*failure);
                    recorder.observe(COUNT, &format!("{prefix}.{name}.errors.{error}"), 1.0, at);
                }
            }
            Err(Halt::Stopped | Halt::Lost) => {}
        }
    }

    /// Tells what the target says of the time it took, of a request that goes by the name the script has for it.
    pub(super) fn tell_response(&self, told: &Told, response: &Response) {
        if let Endpoint::Written(name) = &told.endpoint {
            self.tell_server_timing(told, name, &response.headers);
        }
    }

    fn tell_server_timing(&self, told: &Told, name: &str, headers: &Headers) {
        if let Some(ms) = total_ms(headers) {
            let metric = format!("{}.server-timing.{name}", told.prefix);
            self.shard.recorder.borrow_mut().observe(TIME, &metric, ms, self.shard.clock.now());
        }
    }
}

/// The path as the step's address has it: without the parameters it was given in addition.
fn without_added(path: &str, parameters: usize) -> &str {
    (0..parameters).fold(path, |path, _| path.rfind(['?', '&']).map_or(path, |at| &path[..at]))
}

/// The first `total` of `server-timing`, in ms.
fn total_ms(headers: &Headers) -> Option<f64> {
    const TOTAL: &[u8] = b"total;dur=";
    let number_in = |value: &[u8]| {
        let at = value.windows(TOTAL.len()).position(|part| part.eq_ignore_ascii_case(TOTAL))?;
        let digits = &value[at + TOTAL.len()..];
        let end = digits.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'.');
        std::str::from_utf8(&digits[..end.unwrap_or(digits.len())]).ok()?.parse().ok()
    };
    headers.get_all("server-timing").find_map(number_in)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_of_a_server_is_the_first_it_says() {
        let total = |values: &[&str]| {
            let headers: Headers = values.iter().map(|value| ("Server-Timing", value.as_bytes())).collect();
            total_ms(&headers)
        };
        assert_eq!(total(&["db;dur=53, total;dur=123.4"]), Some(123.4));
        assert_eq!(total(&["cache;desc=hit", "Total;Dur=7;desc=all, total;dur=8"]), Some(7.0));
        assert_eq!(total(&["total;desc=all"]), None);
        assert_eq!(total(&["total;dur="]), None);
        assert_eq!(total(&[]), None);
    }

    #[test]
    fn parameters_that_were_added_are_no_part_of_an_address() {
        assert_eq!(without_added("/x?a=1&b=2&c=3", 2), "/x?a=1");
        assert_eq!(without_added("/x?a=1", 1), "/x");
        assert_eq!(without_added("/x?a=1", 0), "/x?a=1");
    }
}
