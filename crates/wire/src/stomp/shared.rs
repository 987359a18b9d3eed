//! A message for many receivers: what is the same for all of them is written once.
//!
//! The protocol gives a MESSAGE headers of the receiver (`subscription`, `message-id`, `ack`), but no order of headers. So
//! those go first, and from there on all receivers of a version get the same bytes; of all versions, unless a header needs
//! escapes.

use bytes::Bytes;

use super::encode::{self, Unwritable};
use super::{Command, Version};

/// What differs between the receivers of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery<'a> {
    /// The subscription's id; "" in 1.0 for one that has none, and then it is left out.
    pub subscription: &'a str,
    /// Unique within the connection.
    pub message_id: u64,
    /// 1.2, and modes other than auto: what the receiver puts into ACK's `id`. Older versions do without.
    pub ack: Option<&'a str>,
}

/// The part of a MESSAGE that its receivers share. Cloning copies no bytes.
#[derive(Clone, Debug)]
pub struct Shared {
    rests: [Result<Bytes, Unwritable>; 3],
}

impl Shared {
    /// `headers` are those that are the same for all, `destination` among them and `content-length` not.
    pub fn new(headers: &[(&str, &str)], body: &[u8]) -> Shared {
        let is_plain =
            |text: &str| !text.bytes().any(|byte| matches!(byte, b'\n' | b'\r' | b':' | b'\\' | 0));
        let newest = rest(headers, body, Version::V1_2);
        if headers.iter().all(|(name, value)| is_plain(name) && is_plain(value)) {
            return Shared { rests: [newest.clone(), newest.clone(), newest] };
        }
        Shared { rests: [rest(headers, body, Version::V1_0), rest(headers, body, Version::V1_1), newest] }
    }

    /// Appends the receiver's part to `head` and gives the shared rest, to be sent right behind it.
    ///
    /// # Errors
    /// [`Unwritable`] when this version cannot say one of the headers; `head` is as it was.
    pub fn frame(&self, version: Version, to: Delivery<'_>, head: &mut Vec<u8>) -> Result<Bytes, Unwritable> {
        let rest = self.rests[version as usize].clone()?;
        let begin = head.len();
        head.extend_from_slice(Command::Message.name().as_bytes());
        head.push(b'\n');
        let subscription = Some(to.subscription).filter(|id| !id.is_empty());
        let ack = to.ack.filter(|_| version == Version::V1_2);
        for (name, value) in [("subscription", subscription), ("ack", ack)] {
            let Some(value) = value else { continue };
            if encode::write_header(name, value, Some(version), head).is_none() {
                head.truncate(begin);
                return Err(Unwritable { version, name: name.to_owned() });
            }
        }
        head.extend_from_slice(b"message-id:");
        encode::write_number(to.message_id, head);
        head.push(b'\n');
        Ok(rest)
    }
}

fn rest(headers: &[(&str, &str)], body: &[u8], version: Version) -> Result<Bytes, Unwritable> {
    let mut out = Vec::with_capacity(body.len() + 128);
    for (name, value) in headers {
        encode::write_header(name, value, Some(version), &mut out)
            .ok_or_else(|| Unwritable { version, name: (*name).to_owned() })?;
    }
    encode::write_body(body, &mut out);
    Ok(out.into())
}
