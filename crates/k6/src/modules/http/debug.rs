//! `httpDebug`: requests and their answers in the log.

use sonagi_transport::http::{Request, Response, reason};
use std::fmt::Write;

use super::call::canonical;
use crate::options::HttpDebug;
use crate::shard::Level;
use crate::vu::Vu;

/// A request, as it is about to leave.
pub(super) fn request(vu: &Vu, debug: HttpDebug, request: &Request) {
    let mut text = format!("Request:\n{} {} HTTP/1.1\n", request.method, request.path);
    for (name, value) in &request.headers {
        let _ = writeln!(text, "{name}: {value}");
    }
    say(vu, debug, text, &request.body);
}

/// Prints the response to it.
pub(super) fn response(vu: &Vu, debug: HttpDebug, response: &Response) {
    let status = response.status;
    let mut text = format!("Response:\nHTTP/1.1 {status} {}\n", reason(status));
    for (name, value) in response.headers.iter() {
        let _ = writeln!(text, "{}: {}", canonical(name), String::from_utf8_lossy(value));
    }
    say(vu, debug, text, &response.body);
}

fn say(vu: &Vu, debug: HttpDebug, mut text: String, body: &[u8]) {
    text.push('\n');
    if debug == HttpDebug::Full {
        text.push_str(&String::from_utf8_lossy(body));
    }
    text.push('\n');
    let tags = vu.tags();
    let tag = |name: &'static str| tags.get(name).map(|value| (name, value.to_owned()));
    let own = [
        tag("group"),
        Some(("iter", vu.iteration().to_string())),
        tag("scenario"),
        Some(("source", "http-debug".to_owned())),
        Some(("vu", vu.number.to_string())),
    ];
    vu.shard.say(Level::Info, text, own.into_iter().flatten().collect());
}
