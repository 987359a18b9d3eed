//! The HTTP step: a request rendered, sent, followed through redirects, examined.

use bytes::Bytes;
use hyper::header::CONTENT_TYPE;
use sonagi_measure::outcome::{Failure, Outcome};
use sonagi_measure::recorder::Counter;
use std::rc::Rc;

use super::evidence::{Evidence, examine, excerpt};
use super::redirect;
use super::values::Unfilled;
use super::{Begun, Halt, User, Waited, after};
use crate::http::{Client, Request, Response};
use crate::net::{Failed, Origin, push_query};
use crate::plan::{Body, HttpStep};

/// Redirects followed in a row, as browsers limit them.
const MAX_REDIRECTS: usize = 20;

impl User {
    pub(super) async fn request(&mut self, step: &HttpStep) -> Result<(), Halt> {
        let begun = self.begin(step.operation);
        let prepared = self.prepare_request(step).map_err(Failed::from);
        let (mut url, mut request) = self.prepared(begun, prepared)?;
        let own_cookies = self.values.pairs(&step.cookies).map_err(Failed::from);
        let mut own_cookies = self.prepared(begun, own_cookies)?;
        for _ in 0..=MAX_REDIRECTS {
            let target = Origin::parse(&url);
            let (origin, path) = self.prepared(begun, target)?;
            let mut outgoing = Request { path: path.clone(), ..request.clone() };
            if let Some(cookie) = self.jar.header(&origin.host, &own_cookies) {
                add_missing(&mut outgoing.headers, vec![("cookie".to_owned(), cookie)]);
            }
            let response = self.exchange(begun, step, &origin, outgoing).await?;
            self.jar.keep(&origin.host, &response.headers);
            let Some(location) = redirect::location(&response).filter(|_| step.follow_redirects) else {
                return self.take_response(begun, step, &response);
            };
            self.shard.recorder.borrow_mut().status(response.status);
            url = redirect::resolve(&origin, &path, location);
            let next = Origin::parse(&url);
            let Ok((next, _)) = next else {
                let detail = format!("redirected to what is no URL: {}", excerpt(location));
                return Err(self.fail(begun, None, Failure::Protocol, detail));
            };
            redirect::follow(&mut request, response.status, next != origin);
            if next != origin {
                own_cookies.clear();
            }
        }
        Err(self.fail(
            begun,
            None,
            Failure::Protocol,
            format!("more than {MAX_REDIRECTS} redirects in a row"),
        ))
    }

    /// One request and its response, within the step's time limit.
    async fn exchange(
        &mut self,
        begun: Begun,
        step: &HttpStep,
        origin: &Origin,
        request: Request,
    ) -> Result<Response, Halt> {
        let mut client = self.client.take().unwrap_or_else(|| {
            let shard = &self.shard;
            Box::new(Client::new(Rc::clone(&shard.net), shard.pool.clone(), Rc::clone(&shard.clock_reader)))
        });
        self.shard.count(Counter::HttpRequests, 1);
        let until = after(begun.started, step.timeout);
        let waited = self.alongside(until, client.request(origin, request)).await;
        self.client = Some(client);
        match waited? {
            Waited::Done(Ok(response)) => {
                self.count_response(&response);
                Ok(response)
            }
            Waited::Done(Err(failed)) => Err(self.fail(begun, None, failed.failure, failed.detail)),
            Waited::Elapsed => {
                let detail =
                    format!("{} {origin}: no response within {} ms", step.method, step.timeout.as_millis());
                Err(self.fail(begun, Some(step.timeout), Failure::Timeout, detail))
            }
        }
    }

    fn count_response(&self, response: &Response) {
        let mut recorder = self.shard.recorder.borrow_mut();
        recorder.add(Counter::HttpResponses, 1);
        recorder.add(Counter::HttpBytesReceived, response.body_bytes);
        recorder.add(Counter::BytesSent, response.sent);
        recorder.add(Counter::BytesReceived, response.received);
        let reused = if response.reused { Counter::ConnectionsReused } else { Counter::ConnectionsOpened };
        recorder.add(reused, 1);
    }

    fn take_response(&mut self, begun: Begun, step: &HttpStep, response: &Response) -> Result<(), Halt> {
        self.succeed(begun, Some(response.first_byte), Outcome::Status(response.status));
        if !step.expect_status.is_empty() && !step.expect_status.contains(&response.status) {
            let detail = format!("expected status {:?}, got {}", step.expect_status, response.status);
            return Err(self.object(begun.operation, detail));
        }
        if step.captures.is_empty() && step.matches.is_empty() {
            return Ok(());
        }
        let body = String::from_utf8_lossy(&response.body);
        let evidence = Evidence::response(response.status, &response.headers, &body);
        examine(&evidence, &step.captures, &step.matches, &mut self.values)
            .map_err(|why| self.object(begun.operation, format!("status {}: {why}", response.status)))
    }

    /// The absolute URL and everything of the request but its path and cookies.
    fn prepare_request(&mut self, step: &HttpStep) -> Result<(String, Request), Unfilled> {
        // Not the plan's own count: that one is atomic and shared by all shards.
        let shard = Rc::clone(&self.shard);
        let plan = shard.plan();
        let mut url = absolute(&plan.target, &self.values.text(&step.url)?);
        for (name, value) in self.values.pairs(&step.query)? {
            push_query(&mut url, &name, &value);
        }
        let mut headers = self.values.pairs(&step.headers)?;
        let defaults = self.values.pairs(&plan.http.headers)?;
        add_missing(&mut headers, defaults);
        if let Some((user, password)) = &step.basic_auth {
            use base64::Engine as _;
            let credentials = format!("{}:{}", self.values.text(user)?, self.values.text(password)?);
            let encoded = base64::engine::general_purpose::STANDARD.encode(credentials);
            add_missing(&mut headers, vec![("authorization".to_owned(), format!("Basic {encoded}"))]);
        }
        let (body, content_type) = self.body(&step.body)?;
        if let Some(content_type) = content_type {
            add_missing(&mut headers, vec![(CONTENT_TYPE.as_str().to_owned(), content_type.to_owned())]);
        }
        Ok((url, Request { method: step.method.clone(), path: String::new(), headers, body }))
    }

    fn body(&mut self, body: &Body) -> Result<(Bytes, Option<&'static str>), Unfilled> {
        Ok(match body {
            Body::Empty => (Bytes::new(), None),
            Body::Text(text) => (self.values.text(text)?.into(), None),
            Body::Json(json) => (self.values.json(json)?.into(), Some("application/json")),
            Body::Form(fields) => {
                let mut form = String::new();
                for (name, value) in self.values.pairs(fields)? {
                    push_query(&mut form, &name, &value);
                }
                // The helper begins with the query's question mark; a form has none.
                (form.split_off(1.min(form.len())).into(), Some("application/x-www-form-urlencoded"))
            }
        })
    }
}

/// A step's URL: as it is when absolute, else under the target.
pub(super) fn absolute(target: &str, url: &str) -> String {
    if url.contains("://") && redirect::has_scheme(url) {
        return url.to_owned();
    }
    let base = target.trim_end_matches('/');
    match url {
        "" => target.to_owned(),
        rooted if rooted.starts_with('/') => format!("{base}{rooted}"),
        query if query.starts_with('?') => format!("{base}{query}"),
        relative => format!("{base}/{relative}"),
    }
}

/// Adds the headers whose names are not there yet.
pub(super) fn add_missing(headers: &mut Vec<(String, String)>, others: Vec<(String, String)>) {
    for (name, value) in others {
        if !headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(&name)) {
            headers.push((name, value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_url_stands_under_the_target() {
        let table = [
            ("http://a:1", "/x", "http://a:1/x"),
            ("http://a:1/", "/x", "http://a:1/x"),
            ("http://a:1/api", "/x", "http://a:1/api/x"),
            ("http://a:1", "x", "http://a:1/x"),
            ("http://a:1", "", "http://a:1"),
            ("http://a:1", "ws://b/y", "ws://b/y"),
            ("http://a:1", "/go?to=http://b", "http://a:1/go?to=http://b"),
        ];
        for (target, url, expected) in table {
            assert_eq!(absolute(target, url), expected);
        }
    }
}
