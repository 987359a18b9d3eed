//! Events written. A field is always `name: value` with the space, so a value that begins with one keeps it.

use bytes::Bytes;

/// An event as a server gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// Where a client that reconnects goes on; `Some("")` makes clients forget theirs.
    pub id: Option<&'a str>,
    /// The event's type; None is `message` to the client.
    pub name: Option<&'a str>,
    /// Any text: a line of it becomes a data line. CR and CR LF arrive as LF, the form has nothing else to offer.
    pub data: &'a str,
}

/// A field the form cannot carry: it would end early, or be another field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event's {field} must hold no line break and an id no NUL, got one")]
pub struct Unwritable {
    /// `id` or `name`.
    pub field: &'static str,
}

impl Message<'_> {
    /// Appends the event, its blank line included.
    ///
    /// # Errors
    /// [`Unwritable`]; `out` is as it was.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), Unwritable> {
        let is_broken = |text: &str| memchr::memchr2(b'\n', b'\r', text.as_bytes()).is_some();
        if self.id.is_some_and(|id| is_broken(id) || id.contains('\0')) {
            return Err(Unwritable { field: "id" });
        }
        if self.name.is_some_and(is_broken) {
            return Err(Unwritable { field: "name" });
        }
        let fields = self.id.map_or(0, str::len) + self.name.map_or(0, str::len);
        out.reserve(self.data.len() + fields + 24);
        for (field, value) in [(&b"id: "[..], self.id), (b"event: ", self.name)] {
            if let Some(value) = value {
                push_line(field, value.as_bytes(), out);
            }
        }
        push_lines(b"data: ", self.data.as_bytes(), out);
        out.push(b'\n');
        Ok(())
    }

    /// The event alone, to be shared by all who receive it.
    ///
    /// # Errors
    /// The errors of [`Message::encode`].
    pub fn to_bytes(&self) -> Result<Bytes, Unwritable> {
        let mut out = Vec::new();
        self.encode(&mut out)?;
        Ok(out.into())
    }
}

/// Appends how long clients should wait before they connect again, in milliseconds.
pub fn retry(ms: u64, out: &mut Vec<u8>) {
    push_line(b"retry: ", ms.to_string().as_bytes(), out);
}

fn push_lines(field: &[u8], mut text: &[u8], out: &mut Vec<u8>) {
    while let Some(end) = memchr::memchr2(b'\n', b'\r', text) {
        push_line(field, &text[..end], out);
        let rest = &text[end + 1..];
        text = if text[end] == b'\r' { rest.strip_prefix(b"\n").unwrap_or(rest) } else { rest };
    }
    push_line(field, text, out);
}

fn push_line(field: &[u8], value: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(field);
    out.extend_from_slice(value);
    out.push(b'\n');
}
