//! Where values are in what the target answers, what is kept of them and what is demanded.
//!
//! Some ways to find one a reader of scripts brings along: of HTML, of XML, by another dialect of expressions. Here
//! they are only asked with the answer's text.

use regex::Regex;
use serde_json::Value;
use serde_json_path::JsonPath;
use sonagi_measure::secrets::{is_secret, mentions};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::template::{Template, ValueTemplate};

/// Keeps a value of a response or message.
#[derive(Clone, Debug)]
pub struct Capture {
    /// Where it is.
    pub from: Source,
    /// The variable that gets it, or a member within one: `user.id`.
    pub name: String,
    /// A strict capture that finds nothing fails the user.
    pub strict: bool,
}

/// Where a captured or matched value is.
#[derive(Clone, Debug)]
pub enum Source {
    /// The node, or one of the nodes, a JSONPath selects (RFC 9535).
    Json(JsonPath),
    /// The match of a group of a regular expression; group 0 is the whole match.
    Regexp {
        /// The expression.
        regex: Regex,
        /// The group.
        group: usize,
    },
    /// A response header, lower case.
    Header(String),
    /// All nodes a JSONPath selects, as a list.
    JsonAll(JsonPath),
    /// The length of the list or text, or the member `length` of the object, that a JSONPath selects.
    JsonLength(JsonPath),
    /// The result of a front end's own search in the text.
    Search(Arc<dyn Search>),
    /// An expression with template expressions in it.
    Open(OpenSource),
    /// The status code.
    Status,
}

impl Source {
    /// Whether what it points at is secret by its name.
    pub(crate) fn is_secret(&self) -> bool {
        match self {
            Source::Json(path) | Source::JsonAll(path) => mentions(&path.to_string()),
            Source::Regexp { regex, .. } => mentions(regex.as_str()),
            Source::Header(name) => is_secret(name),
            Source::JsonLength(_) | Source::Search(_) | Source::Open(_) | Source::Status => false,
        }
    }
}

/// Demands a value of a response or message.
#[derive(Clone, Debug)]
pub struct Match {
    /// Where it is.
    pub from: Source,
    /// The demanded value, as text.
    pub value: Template,
    /// A strict mismatch fails the user.
    pub strict: bool,
}

/// The demands on an awaited answer.
#[derive(Clone, Debug)]
pub struct Awaited {
    /// Longest wait before it counts as failed.
    pub timeout: Duration,
    /// Equality with the (first) argument or the whole arguments; None: anything.
    pub data: Option<ValueTemplate>,
    /// Values kept for later steps.
    pub captures: Vec<Capture>,
    /// Values demanded.
    pub matches: Vec<Match>,
    /// Whether it confirms a membership: an acknowledgement that refuses fails the user.
    pub confirms: bool,
}

/// A way to find a value in a text.
pub trait Search: fmt::Debug + Send + Sync {
    /// The value, if it is there. `draw` picks one of so many.
    fn find(&self, text: &str, draw: &mut dyn FnMut(usize) -> usize) -> Option<Value>;
}

/// A source whose expression has holes: what it is, only its user knows.
#[derive(Clone)]
pub struct OpenSource {
    /// The expression.
    pub text: Template,
    read: Arc<Reading>,
}

type Reading = dyn Fn(&str) -> Result<Source, String> + Send + Sync;

impl OpenSource {
    /// `read` makes a source of the filled expression, or says what is wrong with it.
    pub fn new(
        text: Template,
        read: impl Fn(&str) -> Result<Source, String> + Send + Sync + 'static,
    ) -> OpenSource {
        OpenSource { text, read: Arc::new(read) }
    }

    pub(crate) fn read(&self, filled: &str) -> Result<Source, String> {
        (self.read)(filled)
    }
}

impl fmt::Debug for OpenSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenSource").field("text", &self.text).finish_non_exhaustive()
    }
}
