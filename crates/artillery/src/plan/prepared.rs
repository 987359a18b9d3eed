//! The part of an HTTP request that is the same for every user, written once: a step without template expressions then
//! costs a copy of its bytes, and others the cost of their expressions.
//!
//! Worked out at the first use, because the target and the default headers are the plan's and not the step's. A step
//! whose origin only its user knows (`{{ base }}/x`), or that cannot be sent at all, has none: it goes the long way,
//! where its mistake is found and told with the user's values.

use sonagi_wire::http1::Keep;
use std::sync::OnceLock;

use super::address::{self, push_form};
use super::template::Piece;
use super::{Body, Endpoint, Expectations, HttpStep, Plan, Source, Template};
use sonagi_transport::http::{ACCEPTED, Lines, Name, is_framing, push_length, push_method};
use sonagi_transport::net::{Failed, Origin};

/// An [`HttpStep`]'s bytes, once they are known. A copy of a step knows nothing yet: it may be changed.
#[derive(Debug, Default)]
pub struct Prepared(OnceLock<Option<Box<Layout>>>);

impl Clone for Prepared {
    fn clone(&self) -> Prepared {
        Prepared::default()
    }
}

impl Prepared {
    /// The step's layout; None when it has to be written anew each time. `step` is the one this belongs to.
    pub(crate) fn layout(&self, plan: &Plan, step: &HttpStep) -> Option<&Layout> {
        self.0.get_or_init(|| Layout::new(plan, step).ok().flatten().map(Box::new)).as_deref()
    }
}

/// A request in the order it is written: the request line, the script's headers, ours, the cookies, then the tail.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) origin: Origin,
    /// Method and path.
    pub(crate) line: Vec<Part>,
    /// The script's headers, then `user-agent` and `host`.
    pub(crate) headers: Vec<HeaderPart>,
    /// How many of the last ones are not the script's.
    pub(crate) ours: usize,
    /// Whether the script writes the Cookie header itself.
    pub(crate) has_cookie: bool,
    /// Whether the script writes a Connection header.
    pub(crate) has_connection: bool,
    /// The body's length, the end of the head, and the body; None: the body has holes.
    pub(crate) tail: Option<Tail>,
}

/// The end of a request.
#[derive(Debug)]
pub(crate) struct Tail {
    pub(crate) text: String,
    /// How much of it is the body.
    pub(crate) body: usize,
}

/// A piece of a method and path.
#[derive(Debug)]
pub(crate) enum Part {
    /// Written as it is.
    Text(String),
    /// A path with holes; percent-encoded where it must be.
    Path(Template),
    /// The value of a query parameter: encoded as in a form, after `name=` and what joins it to the path.
    Query(String, Template),
}

/// A piece of the headers.
#[derive(Debug)]
pub(crate) enum HeaderPart {
    /// Written as they are.
    Lines(Lines),
    /// A name and a value with holes.
    Holes(Name, Template),
}

impl Layout {
    fn new(plan: &Plan, step: &HttpStep) -> Result<Option<Layout>, Failed> {
        let Some((origin, path)) = leads_to(plan, &step.url)? else { return Ok(None) };
        let is_by_address =
            step.told.as_ref().is_some_and(|told| matches!(told.endpoint, Endpoint::Asked { .. }));
        if is_by_address || matches!(step.body, Body::Bytes(_) | Body::Multipart(_)) {
            // Prepared bytes are the same for all users, and nothing asks for the address.
            return Ok(None);
        }
        let credentials =
            match step.basic_auth.as_ref().map(|(user, password)| (fixed(user), fixed(password))) {
                None => None,
                Some((Some(user), Some(password))) => Some(basic(&user, &password)),
                Some(_) => return Ok(None),
            };
        let has = |wanted: &str| {
            let all = step.headers.iter().chain(&plan.http.headers);
            all.into_iter().any(|(name, _)| name.eq_ignore_ascii_case(wanted))
        };
        let mut line = Parts::default();
        push_method(&mut line.text, &step.method)?;
        match path {
            Path::Fixed(path) => line.text.push_str(&path),
            Path::Holes(template) => line.push(Part::Path(template)),
        }
        for (name, value) in &step.query {
            line.query(name, value);
        }
        let mut headers = Headers::default();
        for (name, value) in own_headers(plan, step) {
            headers.push(name, value)?;
        }
        if let Some(credentials) = credentials.filter(|_| !has("authorization")) {
            headers.lines.push("authorization", &credentials)?;
        }
        if let Some(content_type) = content_type(&step.body).filter(|_| !has("content-type")) {
            headers.lines.push("content-type", content_type)?;
        }
        if step.compressed && !has("accept-encoding") {
            headers.lines.push("accept-encoding", ACCEPTED)?;
        }
        let ours = headers.lines.push_ours(&origin, has);
        Ok(Some(Layout {
            origin,
            line: line.finish(),
            headers: headers.finish(),
            ours,
            has_cookie: has("cookie"),
            has_connection: has("connection"),
            tail: fixed_body(&step.body).map(|body| Tail::new(&step.method, body)),
        }))
    }
}

impl Tail {
    fn new(method: &str, body: &str) -> Tail {
        let mut text = String::new();
        push_length(&mut text, method, body.len());
        text.push_str("\r\n");
        text.push_str(body);
        Tail { text, body: body.len() }
    }
}

/// Parts being put together; what is fixed runs into one text.
#[derive(Default)]
struct Parts {
    done: Vec<Part>,
    text: String,
}

impl Parts {
    fn push(&mut self, part: Part) {
        if !self.text.is_empty() {
            self.done.push(Part::Text(std::mem::take(&mut self.text)));
        }
        self.done.push(part);
    }

    fn query(&mut self, name: &str, value: &Template) {
        let mut before = String::new();
        push_form(name, &mut before);
        before.push('=');
        self.push(Part::Query(before, value.clone()));
    }

    fn finish(mut self) -> Vec<Part> {
        if !self.text.is_empty() {
            self.done.push(Part::Text(self.text));
        }
        self.done
    }
}

/// Headers being put together; those that are fixed and follow each other are one part.
#[derive(Default)]
struct Headers {
    done: Vec<HeaderPart>,
    lines: Lines,
}

impl Headers {
    fn push(&mut self, name: &str, value: &Template) -> Result<(), Failed> {
        if is_framing(name) {
            return Ok(());
        }
        if let Some(fixed) = fixed(value) {
            return self.lines.push(name, &fixed);
        }
        self.flush();
        self.done.push(HeaderPart::Holes(Name::new(name)?, value.clone()));
        Ok(())
    }

    fn flush(&mut self) {
        if !self.lines.is_empty() {
            self.done.push(HeaderPart::Lines(std::mem::take(&mut self.lines)));
        }
    }

    fn finish(mut self) -> Vec<HeaderPart> {
        self.flush();
        self.done
    }
}

enum Path {
    Fixed(String),
    Holes(Template),
}

/// Where a step's URL leads, when its holes cannot change the origin.
fn leads_to(plan: &Plan, url: &Template) -> Result<Option<(Origin, Path)>, Failed> {
    if let Some(url) = fixed(url) {
        let (origin, path) = address::under(&plan.target, &url)?;
        return Ok(Some((origin, Path::Fixed(path))));
    }
    match url.pieces.first() {
        Some(Piece::Text(text)) if text.starts_with(['/', '?']) => {}
        _ => return Ok(None),
    }
    // The target's own path and query precede the step's.
    if plan.target.contains(['?', '#']) {
        return Ok(None);
    }
    let (origin, base) = address::address(&plan.target)?;
    let mut template = url.clone();
    if let Some(Piece::Text(text)) = template.pieces.first_mut() {
        text.insert_str(0, base.trim_end_matches('/'));
    }
    Ok(Some((origin, Path::Holes(template))))
}

/// The text of a template without holes.
fn fixed(template: &Template) -> Option<String> {
    let pieces = template.pieces.iter().map(|piece| match piece {
        Piece::Text(text) => Some(text.as_str()),
        Piece::Hole(_) => None,
    });
    pieces.collect()
}

fn fixed_body(body: &Body) -> Option<&str> {
    match body {
        Body::Empty => Some(""),
        Body::Text(template) => match template.pieces.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        },
        Body::Json(template) => match template.pieces.as_slice() {
            [super::template::JsonPiece::Raw(text)] => Some(text),
            _ => None,
        },
        Body::Form(_) | Body::Bytes(_) | Body::Multipart(_) => None,
    }
}

/// The step's headers, then those defaults it does not override.
pub(crate) fn own_headers<'a>(
    plan: &'a Plan,
    step: &'a HttpStep,
) -> impl Iterator<Item = (&'a str, &'a Template)> {
    let overridden = |name: &str| step.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
    let defaults = plan.http.headers.iter().filter(move |(name, _)| !overridden(name));
    step.headers.iter().chain(defaults).map(|(name, value)| (name.as_str(), value))
}

/// The value of an Authorization header (RFC 7617).
pub(crate) fn basic(user: &str, password: &str) -> String {
    use base64::Engine as _;
    let encoded = base64::engine::general_purpose::STANDARD.encode(format!("{user}:{password}"));
    format!("Basic {encoded}")
}

/// The content type of a body, when the script sets none.
pub(crate) fn content_type(body: &Body) -> Option<&'static str> {
    match body {
        // The type of a body of several parts names its boundary: it is made with the body.
        Body::Empty | Body::Text(_) | Body::Bytes(_) | Body::Multipart(_) => None,
        Body::Json(_) => Some("application/json"),
        Body::Form(_) => Some("application/x-www-form-urlencoded"),
    }
}

/// The parts of a response that the step looks at.
pub(crate) fn keep(step: &HttpStep, plan: &Plan) -> Keep {
    let sources = step.captures.iter().map(|capture| &capture.from);
    let mut sources = sources.chain(step.matches.iter().map(|wanted| &wanted.from));
    let is_shown = step.hooks.as_ref().is_some_and(|hooks| !hooks.after.is_empty());
    let expected = step.expect.as_deref();
    let is_examined = is_shown
        || !(step.captures.is_empty() && step.matches.is_empty())
        || expected.is_some_and(Expectations::look_at_body);
    Keep {
        headers: is_shown
            || step.told.is_some()
            || sources.any(|source| matches!(source, Source::Header(_)))
            || expected.is_some_and(Expectations::look_at_headers),
        body: if is_examined { plan.http.max_body } else { 0 },
    }
}
