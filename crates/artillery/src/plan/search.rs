//! Ways to find a value in an answer that a front end brings along: of HTML, of XML, by another dialect of expressions. The
//! engine knows only that they are asked with the answer's text.

use serde_json::Value;
use std::fmt;
use std::sync::Arc;

use super::{Source, Template};

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
