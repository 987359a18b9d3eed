//! A request's bytes from its layout and this user's values.

use super::{Unfilled, Values};
use crate::http::{Encoded, end_value, push_length};
use crate::net::{Failed, push_component, push_query, wire_path};
use crate::plan::prepared::{Layout, Part};
use crate::plan::{Body, HttpStep};

impl Values {
    /// The request a layout describes, holes filled; `cookie` is the value of its Cookie header.
    pub(crate) fn request(
        &mut self,
        layout: &Layout,
        step: &HttpStep,
        cookie: Option<&str>,
    ) -> Result<Encoded, Failed> {
        let mut out = String::with_capacity(256);
        self.write_parts(&layout.line, &mut out)?;
        let own = out.len();
        self.write_parts(&layout.own, &mut out)?;
        let own = own..out.len();
        out.push_str(&layout.ours);
        if let Some(cookie) = cookie {
            out.push_str("cookie: ");
            let begin = out.len();
            out.push_str(cookie);
            end_value(&mut out, begin, "cookie")?;
        }
        let body = match &layout.tail {
            Some(tail) => {
                out.push_str(&tail.text);
                tail.body
            }
            None => {
                let body = self.body(&step.body)?;
                push_length(&mut out, &step.method, body.len());
                out.push_str("\r\n");
                out.push_str(&body);
                body.len()
            }
        };
        let body = out.len() - body;
        Ok(Encoded::from_parts(out.into_bytes(), own, body))
    }

    /// A body's text.
    pub(crate) fn body(&mut self, body: &Body) -> Result<String, Unfilled> {
        match body {
            Body::Empty => Ok(String::new()),
            Body::Text(text) => self.text(text),
            Body::Json(json) => self.json(json),
            Body::Form(fields) => {
                let mut form = String::new();
                for (name, value) in self.pairs(fields)? {
                    push_query(&mut form, &name, &value);
                }
                // The helper begins with the query's question mark; a form has none.
                Ok(form.split_off(1.min(form.len())))
            }
        }
    }

    fn write_parts(&mut self, parts: &[Part], out: &mut String) -> Result<(), Failed> {
        for part in parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Path(template) => {
                    let path = self.text(template)?;
                    out.push_str(&wire_path(&path));
                }
                Part::Query(before, template) => {
                    // The method has no question mark: it is a token, and the first word.
                    out.push(if has_query(out) { '&' } else { '?' });
                    out.push_str(before);
                    push_component(&self.text(template)?, out);
                }
                Part::Header(name, template) => {
                    let begin = out.len();
                    self.append(template, out)?;
                    end_value(out, begin, name)?;
                }
            }
        }
        Ok(())
    }
}

fn has_query(line: &str) -> bool {
    line.contains('?')
}
