//! A request's bytes from its layout and this user's values.

use bytes::Bytes;
use serde_json::Value;

use super::{Unfilled, Values, append_value};
use crate::plan::address::{push_form, push_path};
use crate::plan::prepared::{HeaderPart, Layout, Part};
use crate::plan::template::Piece;
use crate::plan::{Body, Expression, FormPart, HttpStep, PartContent, Template};
use sonagi_transport::http::{Encoded, Head, push_length};
use sonagi_transport::net::Failed;

impl Values {
    /// The request a layout describes, holes filled; `cookie` is the value of its Cookie header for its path.
    pub(crate) fn request<'l>(
        &mut self,
        layout: &'l Layout,
        step: &HttpStep,
        cookie: impl FnOnce(&str) -> Option<String>,
    ) -> Result<Encoded<'l>, Failed> {
        let mut line = String::with_capacity(256);
        self.write_parts(&layout.line, &mut line)?;
        let mut head = Head::new(line, &step.method);
        let cookie = cookie(head.path());
        for part in &layout.headers {
            match part {
                HeaderPart::Lines(lines) => head.fixed(lines),
                HeaderPart::Holes(_, value) if self.is_unset(value) => {}
                HeaderPart::Holes(name, value) => {
                    head.line(name, |out| Ok(self.append_header(name.as_str(), value, out)?))?;
                }
            }
        }
        if let Some(cookie) = cookie {
            head.cookie(&cookie)?;
        }
        let out = head.text();
        let body = match &layout.tail {
            Some(tail) => {
                out.push_str(&tail.text);
                tail.body
            }
            None => {
                let body = self.body(&step.body)?;
                push_length(out, &step.method, body.len());
                out.push_str("\r\n");
                out.push_str(&body);
                body.len()
            }
        };
        Ok(head.finish(body, layout.ours, layout.has_connection))
    }

    /// A body, whatever it holds.
    pub(crate) fn body_bytes(&mut self, body: &Body) -> Result<Bytes, Unfilled> {
        match body {
            Body::Bytes(bytes) => Ok(bytes.clone()),
            body => self.body(body).map(Bytes::from),
        }
    }

    /// A body's text.
    fn body(&mut self, body: &Body) -> Result<String, Unfilled> {
        match body {
            // Never prepared: see `body_bytes` and `multipart`.
            Body::Empty | Body::Bytes(_) | Body::Multipart(_) => Ok(String::new()),
            Body::Text(text) => Ok(self.given(text)?.unwrap_or_default()),
            Body::Json(json) => self.json(json),
            Body::Form(fields) => {
                let mut form = String::new();
                for (name, value) in self.pairs(fields)? {
                    if !form.is_empty() {
                        form.push('&');
                    }
                    push_form(&name, &mut form);
                    form.push('=');
                    push_form(&value, &mut form);
                }
                Ok(form)
            }
        }
    }

    /// A header's value; None when it is nothing at all.
    pub(crate) fn given_header(
        &mut self,
        name: &str,
        template: &Template,
    ) -> Result<Option<String>, Unfilled> {
        if self.is_unset(template) {
            return Ok(None);
        }
        let mut text = String::new();
        self.append_header(name, template, &mut text).map(|()| Some(text))
    }

    /// A header's value. A list, what a captured `set-cookie` is, is several values of one header.
    fn append_header(&mut self, name: &str, template: &Template, out: &mut String) -> Result<(), Unfilled> {
        let [Piece::Hole(Expression::Path { variable, keys })] = template.pieces.as_slice() else {
            return self.append(template, out);
        };
        match &*self.at(variable, keys)? {
            Value::Array(values) => {
                let between = if name.eq_ignore_ascii_case("cookie") { "; " } else { ", " };
                for (index, value) in values.iter().enumerate() {
                    out.push_str(if index > 0 { between } else { "" });
                    append_value(value, out);
                }
            }
            other => append_value(other, out),
        }
        Ok(())
    }

    /// A body of several parts, and its boundary: drawn anew for each request, as browsers do.
    pub(crate) fn multipart(&mut self, parts: &[FormPart]) -> Result<(String, Bytes), Unfilled> {
        let boundary = format!("{:->26}{:024x}", "", self.rng.u128(..) >> 32);
        let mut out = Vec::new();
        for part in parts {
            let part = match &part.content {
                PartContent::OneOf { path, files } => {
                    let path = self.text(path)?;
                    let none = || Unfilled(format!("no file of the form `{}` is called {path}", part.name));
                    files.get(&path).ok_or_else(none)?
                }
                _ => part,
            };
            part.push_head(&boundary, &mut out);
            match &part.content {
                PartContent::Text(template) => out.extend_from_slice(self.text(template)?.as_bytes()),
                PartContent::File { bytes, .. } => out.extend_from_slice(bytes),
                // Each of them is a file by itself.
                PartContent::OneOf { .. } => {}
            }
            out.extend_from_slice(b"\r\n");
        }
        out.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
        Ok((boundary, out.into()))
    }

    fn write_parts(&mut self, parts: &[Part], out: &mut String) -> Result<(), Failed> {
        for part in parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Path(template) => {
                    let path = self.text(template)?;
                    push_path(&path, out);
                }
                Part::Query(before, template) => {
                    // The method has no question mark: it is a token, and the first word.
                    out.push(if has_query(out) { '&' } else { '?' });
                    out.push_str(before);
                    push_form(&self.given(template)?.unwrap_or_default(), out);
                }
            }
        }
        Ok(())
    }
}

fn has_query(line: &str) -> bool {
    line.contains('?')
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;
    use std::sync::Arc;

    use serde_json::json;
    use sonagi_measure::outcome::OperationId;

    use super::*;
    use crate::plan::template::JsonPiece;
    use crate::plan::{JsonTemplate, Plan};
    use crate::values::RunValues;
    use sonagi_transport::http::USER_AGENT;

    /// Text whose `{}` are the variable `v`.
    fn template(text: &str) -> Template {
        let hole = || Piece::Hole(Expression::Path { variable: "v".into(), keys: Vec::new() });
        let mut pieces = Vec::new();
        for (index, piece) in text.split("{}").enumerate() {
            pieces.extend((index > 0).then(hole));
            pieces.extend((!piece.is_empty()).then(|| Piece::Text(piece.to_owned())));
        }
        Template { pieces }
    }

    fn step(method: &str, url: &str) -> HttpStep {
        HttpStep::new(OperationId(0), method, template(url))
    }

    fn plan(target: &str) -> Plan {
        Plan { target: target.into(), ..Plan::empty() }
    }

    /// The bytes sent for a user whose `v` is `value`; None when the step has no layout.
    fn written(plan: Plan, step: &HttpStep, value: &str) -> Option<Result<String, Failed>> {
        let common = RunValues::new(Arc::new(plan), Vec::new(), 0);
        let mut values = Values::new(Rc::new(common), 0, 0, fastrand::Rng::with_seed(1));
        values.set("v", value.into());
        let common = Rc::clone(&values.common);
        let layout = step.prepared.layout(&common.plan, step)?;
        let encoded = values.request(layout, step, |_| None);
        Some(encoded.map(|encoded| String::from_utf8(encoded.bytes().to_vec()).unwrap()))
    }

    #[track_caller]
    fn line(target: &str, step: &HttpStep, value: &str, expected: &str) {
        let text = written(plan(target), step, value).unwrap().unwrap();
        assert_eq!(text.split_once(" HTTP/1.1\r\n").unwrap().0, expected);
    }

    #[test]
    fn a_prepared_path_is_what_its_url_leads_to() {
        line("http://a:1", &step("GET", "/x"), "", "GET /x");
        line("http://a:1/api/", &step("GET", "/x?y=z#top"), "", "GET /api/x?y=z");
        line("http://a:1", &step("GET", "http://b/x y"), "", "GET /x%20y");
        line("http://a:1/api", &step("GET", "/rooms/{}/x"), "a b/é", "GET /api/rooms/a%20b/%C3%A9/x");
        line("http://a:1", &step("GET", "?q={}"), "1#2", "GET /?q=1");
        line("http://a:1", &step("GET", "/{}"), "x\r\nInjected: 1", "GET /x%0D%0AInjected:%201");
    }

    #[test]
    fn query_parameters_follow_the_urls_own() {
        let query = |url: &str| HttpStep {
            query: vec![("a b".into(), template("{}")), ("c".into(), template("d"))],
            ..step("GET", url)
        };
        line("http://a", &query("/x"), "1&2", "GET /x?a+b=1%262&c=d");
        line("http://a", &query("/x?y"), "1", "GET /x?y&a+b=1&c=d");
        line("http://a", &query("/{}"), "x?y", "GET /x?y&a+b=x%3Fy&c=d");
    }

    #[test]
    fn a_step_whose_origin_only_its_user_knows_is_not_prepared() {
        for url in ["{}/x", "{}", "http://{}/x", "x/{}"] {
            assert!(written(plan("http://a"), &step("GET", url), "b").is_none(), "{url}");
        }
        assert!(written(plan("http://a/?x"), &step("GET", "/{}"), "b").is_none());
        assert!(written(plan("no url"), &step("GET", "/"), "b").is_none());
        assert!(written(plan("http://a"), &step("G T", "/"), "b").is_none());
    }

    #[test]
    fn a_steps_headers_come_first_and_a_default_it_overrides_is_not_even_rendered() {
        let mut plan = plan("http://a");
        let missing = Template {
            pieces: vec![Piece::Hole(Expression::Path { variable: "none".into(), keys: vec![] })],
        };
        plan.http.headers = vec![("x-one".into(), missing), ("Accept".into(), template("*/*"))];
        let own = vec![("X-One".into(), template("<{}>")), ("Content-Length".into(), template("7"))];
        let step = HttpStep { headers: own, body: Body::Text(template("é{}")), ..step("POST", "/") };
        let expected = format!(
            "POST / HTTP/1.1\r\nx-one: <1>\r\naccept: */*\r\nuser-agent: {USER_AGENT}\r\nhost: a\r\n\
             content-length: 3\r\n\r\né1"
        );
        assert_eq!(written(plan, &step, "1").unwrap().unwrap(), expected);
    }

    #[test]
    fn a_header_that_is_one_unset_variable_is_left_out_and_a_parameter_empty() {
        let unset = Template {
            pieces: vec![Piece::Hole(Expression::Path { variable: "none".into(), keys: vec![] })],
        };
        let query = vec![("a".into(), unset.clone()), ("b".into(), template("{}"))];
        let headers = vec![("x-a".into(), unset), ("x-b".into(), template("{}"))];
        let step = HttpStep { headers, query, ..step("GET", "/{}") };
        let lenient = Plan { unset_fails: false, ..plan("http://a") };
        let expected =
            format!("GET /1?a=&b=1 HTTP/1.1\r\nx-b: 1\r\nuser-agent: {USER_AGENT}\r\nhost: a\r\n\r\n");
        assert_eq!(written(lenient, &step, "1").unwrap().unwrap(), expected);
        assert!(written(plan("http://a"), &step, "1").unwrap().is_err());
    }

    #[test]
    fn a_value_of_two_lines_is_no_header() {
        let headers = vec![("x".to_owned(), template("{}"))];
        let failed = written(plan("http://a"), &HttpStep { headers, ..step("GET", "/") }, "1\r\nInjected: 2");
        let failed = failed.unwrap().unwrap_err();
        assert_eq!(failed.failure, sonagi_measure::outcome::Failure::Template);
    }

    #[test]
    fn bodies_fixed_and_filled_are_sent_with_their_type_and_length() {
        let hole = || Expression::Path { variable: "v".into(), keys: Vec::new() };
        let filled = vec![JsonPiece::Raw("[".into()), JsonPiece::Value(hole()), JsonPiece::Raw("]".into())];
        let fixed = Body::Json(JsonTemplate { pieces: vec![JsonPiece::Raw(json!({"a": 1}).to_string())] });
        for (body, expected) in [
            (fixed, "application/json|7|{\"a\":1}"),
            (Body::Json(JsonTemplate { pieces: filled }), "application/json|7|[\"a b\"]"),
            (Body::Form(vec![("x".into(), template("{}"))]), "application/x-www-form-urlencoded|5|x=a+b"),
            (Body::Text(template("")), "none|0|"),
        ] {
            let text =
                written(plan("http://a"), &HttpStep { body, ..step("PUT", "/") }, "a b").unwrap().unwrap();
            let (head, body) = text.split_once("\r\n\r\n").unwrap();
            let header = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("none");
            let got = format!("{}|{}|{body}", header("content-type: "), header("content-length: "));
            assert_eq!(got, expected);
        }
    }
}
