//! A body of several parts, as a form with files is sent (RFC 7578).

use bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::template::Template;

/// A part of a multipart form.
#[derive(Clone, Debug)]
pub struct FormPart {
    /// The field's name.
    pub name: String,
    /// The part's content.
    pub content: PartContent,
    /// Its own Content-Type; of a file there always is one.
    pub content_type: Option<String>,
}

/// The content of a part.
#[derive(Clone, Debug)]
pub enum PartContent {
    /// A value.
    Text(Template),
    /// A file, read when the plan was made and shared by all users.
    File {
        /// Its name, without folders.
        name: String,
        /// All of it.
        bytes: Bytes,
    },
    /// One of several files, with the part each makes.
    OneOf {
        /// The file's path, by a user's values.
        path: Template,
        /// By their paths as the script writes them.
        files: Arc<BTreeMap<String, FormPart>>,
    },
}

impl FormPart {
    /// The part's head, and the line before it.
    pub(crate) fn push_head(&self, boundary: &str, out: &mut Vec<u8>) {
        let mut head =
            format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"", quoted(&self.name));
        if let PartContent::File { name, .. } = &self.content {
            head.push_str(&format!("; filename=\"{}\"", quoted(name)));
        }
        if let Some(content_type) = &self.content_type {
            head.push_str(&format!("\r\nContent-Type: {content_type}"));
        }
        head.push_str("\r\n\r\n");
        out.extend_from_slice(head.as_bytes());
    }
}

/// A name between quotation marks, as browsers write it (HTML standard, multipart/form-data encoding algorithm).
fn quoted(name: &str) -> String {
    name.replace('\r', "%0D").replace('\n', "%0A").replace('"', "%22")
}
