//! Values that can never be sent, reported before anything is: addresses of other schemes, invalid header names, values
//! that would break their line.
//!
//! Only what the script itself fixes is judged. A value that a user fills in is judged by the engine when it is there.

use crate::plan::Template;
use crate::plan::template::Piece;
use sonagi_transport::http::is_token;

use crate::script::forms::{self, Lists};
use crate::script::reader::{Fields, Reader};
use crate::script::yaml::{Node, Place};

const SCHEMES: [&str; 4] = ["http", "https", "ws", "wss"];

impl Reader {
    /// An address, absolute or relative to the target.
    pub(crate) fn address(&mut self, node: &Node) -> Option<Template> {
        let address = self.template(node)?;
        // An address that begins with `{{ target }}` has the target's mistakes, which are reported there.
        if node.as_text().is_none_or(|written| !written.trim_start().starts_with("{{")) {
            let wrong = match address.pieces.as_slice() {
                [Piece::Text(whole)] if scheme(whole).is_some() => unreachable_because(whole),
                [Piece::Text(start), ..] => {
                    let scheme =
                        scheme(start).filter(|scheme| !SCHEMES.contains(&scheme.to_lowercase().as_str()));
                    scheme.map(|scheme| {
                        format!("URL must have the scheme http, https, ws or wss, got {scheme:?}")
                    })
                }
                _ => None,
            };
            if let Some(wrong) = wrong {
                self.problem(node.place, wrong, None);
            }
        }
        Some(address)
    }

    /// An address under a key.
    pub(crate) fn address_of(&mut self, fields: &Fields<'_>, key: &str) -> Option<Template> {
        let node = fields.get(key)?;
        if crate::script::reader::plain_text(node).is_none() {
            self.wrong(fields, key, node);
        }
        self.address(node)
    }

    /// Header names and their values, of which each may be a list.
    pub(crate) fn headers(&mut self, fields: &Fields<'_>, key: &str) -> Vec<(String, Template)> {
        let all = forms::pairs(self, fields, key, Lists::Header);
        for entry in fields.get(key).map(Node::entries).unwrap_or_default() {
            if !is_token(entry.key.as_bytes()) {
                let what =
                    format!("a header's name is one word of letters, digits and dashes; got {:?}", entry.key);
                let hint = entry.key.contains("{{").then(|| "only values have templates".to_owned());
                self.problem(entry.place, what, hint);
            }
            self.one_line("header", &all, &entry.key, entry.value.place);
        }
        all
    }

    /// Cookie names and their values.
    pub(crate) fn cookies(&mut self, fields: &Fields<'_>, key: &str) -> Vec<(String, Template)> {
        let all = self.templates(fields, key);
        for entry in fields.get(key).map(Node::entries).unwrap_or_default() {
            if entry.key.is_empty() || entry.key.contains(|c: char| c.is_control() || "=; ".contains(c)) {
                let what = format!("a cookie's name is one word; got {:?}", entry.key);
                self.problem(entry.place, what, None);
            }
            self.one_line("cookie", &all, &entry.key, entry.value.place);
        }
        all
    }

    fn one_line(&mut self, what: &str, all: &[(String, Template)], name: &str, place: Place) {
        let Some((_, value)) = all.iter().find(|(known, _)| known == name) else { return };
        let control = value.pieces.iter().find_map(|piece| match piece {
            Piece::Text(text) => text.chars().find(|c| c.is_ascii_control() && *c != '\t'),
            Piece::Hole(_) => None,
        });
        if let Some(control) = control {
            let what =
                format!("a {what}'s value is one line without control characters; {name} has {control:?}");
            let hint = "a YAML text after `|` ends with a line break; after `>-` it does not";
            self.problem(place, what, (control == '\n').then(|| hint.to_owned()));
        }
    }
}

/// Why an absolute URL leads nowhere.
pub(crate) fn unreachable_because(url: &str) -> Option<String> {
    crate::plan::address(url).err().map(|failed| failed.detail)
}

/// The scheme of a text that begins with one, and `://`.
fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.trim_start().split_once("://")?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    (scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(plain)).then_some(scheme)
}
