//! A published message, encoded once: as the JSON object that history, polls and event streams give. Every other form
//! is made of that (`encoding::form`).

use std::io::Write;

use bytes::Bytes;

/// A published message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) seq: u64,
    /// Its number among all that this process has published, in any room; 0 when it was read from the store.
    pub(crate) serial: u64,
    /// `{"seq":…,"senderId":…,"content":…,"at":…}`
    pub(crate) object: Bytes,
}

impl Message {
    /// `sender` is 0 for who has no account, `at` milliseconds since the Unix epoch.
    pub(crate) fn new(seq: u64, serial: u64, sender: u64, content: &str, at: u64) -> Message {
        const AROUND: usize = r#"{"seq":,"senderId":,"content":,"at":}"#.len();
        let digits = |number: u64| number.checked_ilog10().map_or(1, |log| log as usize + 1);
        // Exactly what it takes: what is kept for long should not keep spare room with it.
        let size = AROUND + digits(seq) + digits(sender) + content.len() + digits(at);
        let mut object = Vec::with_capacity(size);
        let _ = write!(object, r#"{{"seq":{seq},"senderId":{sender},"content":{content},"at":{at}}}"#);
        debug_assert_eq!(object.len(), size);
        Message { seq, serial, object: object.into() }
    }

    /// The object without its opening brace, for who puts more members before these.
    pub(crate) fn members(&self) -> &[u8] {
        self.object.get(1..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_the_message_as_history_has_it() {
        for number in [0, 9, 10, 99, 100, u64::MAX] {
            let kept = Message::new(number, 1, number, r#"{"n":1.10}"#, number);
            let expected =
                format!(r#"{{"seq":{number},"senderId":{number},"content":{{"n":1.10}},"at":{number}}}"#);
            assert_eq!(kept.object, expected);
            assert_eq!(kept.members(), &expected.as_bytes()[1..]);
        }
    }
}
