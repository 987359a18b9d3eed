//! A response as functions know it: by Node's names, and those of the client that Artillery sends with.

use serde_json::{Map, Value, json};
use sonagi_measure::At;
use std::borrow::Cow;
use std::time::{SystemTime, UNIX_EPOCH};

use super::{Answered, User};
use sonagi_transport::http::{Marks, Response, decoded_keeping, reason};
use sonagi_transport::net::Dialing;

impl User {
    /// The response, and when its request was how far.
    pub(super) fn described(&mut self, answered: &Answered) -> Value {
        let Answered { origin, request, response } = answered;
        // A body that cannot be unpacked is shown as it came.
        let body = decoded_keeping(&response.headers, &response.body, self.shard.plan().http.max_body);
        let body = body.unwrap_or(Cow::Borrowed(&response.body));
        let mut described = json!({
            "statusCode": response.status,
            "statusMessage": reason(response.status),
            "url": format!("{origin}{}", request.path),
            "headers": headers(response),
            "body": String::from_utf8_lossy(&body),
        });
        if let Some(marks) = self.client.as_mut().and_then(|client| client.take_marks()) {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            described["timings"] =
                timings(&marks, response, origin.tls, self.now(), since.as_secs_f64() * 1e3);
        }
        described
    }
}

fn headers(response: &Response) -> Map<String, Value> {
    let mut headers = Map::new();
    for (name, value) in response.headers.iter() {
        let value = String::from_utf8_lossy(value).into_owned();
        let name = name.to_ascii_lowercase();
        // Of all headers, this one alone is always a list.
        if name == "set-cookie" {
            let list = headers.entry(name).or_insert_with(|| json!([]));
            list.as_array_mut().expect("made above").push(value.into());
        } else if let Some(Value::String(known)) = headers.get_mut(&name) {
            known.push_str(", ");
            known.push_str(&value);
        } else {
            headers.insert(name, value.into());
        }
    }
    headers
}

/// Instants in ms since 1970, and between them phases in ms; `now` is `now_ms`. A connection that was open before took
/// no time to open, and what is not known is not there.
fn timings(marks: &Marks, response: &Response, is_tls: bool, now: At, now_ms: f64) -> Value {
    let instant = |at: At| json!((now_ms - now.since(at) as f64 / 1e6).round());
    let phase = |from: At, to: At| json!((to.since(from).max(0) as f64 / 1e3).round() / 1e3);
    let dialing = marks.dialed.at(Dialing::Begun);
    let socket = dialing.unwrap_or(marks.begun.plus(marks.wait_ns));
    let resolved = marks.dialed.at(Dialing::Resolved).unwrap_or(socket);
    let ready = marks.dialed.at(Dialing::Ready).unwrap_or(socket);
    let connected = marks.dialed.at(Dialing::Connected).unwrap_or(ready);
    let mut timings = json!({
        "start": instant(marks.begun),
        "socket": instant(socket),
        "lookup": instant(resolved),
        "connect": instant(connected),
        "response": instant(response.first_byte),
        "end": instant(response.ended),
        "phases": {
            "wait": phase(marks.begun, socket),
            "dns": phase(socket, resolved),
            "tcp": phase(resolved, connected),
            "firstByte": phase(marks.left.unwrap_or(ready), response.first_byte),
            "download": phase(response.first_byte, response.ended),
            "total": phase(marks.begun, response.ended),
        },
    });
    if is_tls && dialing.is_some() {
        timings["secureConnect"] = instant(ready);
        timings["phases"]["tls"] = phase(connected, ready);
    }
    if let Some(left) = marks.left {
        timings["upload"] = instant(left);
        timings["phases"]["request"] = phase(ready, left);
    }
    timings
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn at_ms(ms: i64) -> At {
        At::default().plus(ms * 1_000_000)
    }

    fn response(first_byte: i64, ended: i64) -> Response {
        Response {
            status: 200,
            reason: Box::default(),
            headers: Default::default(),
            body: Bytes::new(),
            body_bytes: 0,
            first_byte: at_ms(first_byte),
            ended: at_ms(ended),
            reused: false,
            redirected: None,
        }
    }

    #[test]
    fn a_fresh_connections_phases_follow_each_other_and_add_up() {
        let mut marks = Marks::at(at_ms(0));
        marks.left = Some(at_ms(31));
        for (dialing, ms) in
            [(Dialing::Begun, 1), (Dialing::Resolved, 3), (Dialing::Connected, 10), (Dialing::Ready, 30)]
        {
            marks.dialed.note(dialing, at_ms(ms));
        }
        let told = timings(&marks, &response(81, 90), true, at_ms(100), 1_000.0);
        let phases = json!({
            "wait": 1.0, "dns": 2.0, "tcp": 7.0, "tls": 20.0, "request": 1.0, "firstByte": 50.0, "download": 9.0,
            "total": 90.0,
        });
        assert_eq!(told["phases"], phases);
        assert_eq!(
            (&told["start"], &told["upload"], &told["end"]),
            (&json!(900.0), &json!(931.0), &json!(990.0))
        );
    }

    #[test]
    fn a_connection_that_was_open_took_no_time_to_open_and_an_early_answer_none_to_come() {
        let mut marks = Marks::at(at_ms(0));
        (marks.left, marks.wait_ns) = (Some(at_ms(40)), 5_000_000);
        let told = timings(&marks, &response(39, 45), true, at_ms(50), 0.0);
        let phases = json!({
            "wait": 5.0, "dns": 0.0, "tcp": 0.0, "request": 35.0, "firstByte": 0.0, "download": 6.0, "total": 45.0,
        });
        assert_eq!(told["phases"], phases);
    }
}
