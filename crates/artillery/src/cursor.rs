//! The position of a user's connection in what it has received, so that another one can continue there.
//!
//! Two kinds: a link's own, which only its protocol can read (an event's id, a poll's `next`), and a number in the
//! messages themselves, found as stamps are: by substring search in the raw text, and only in runs whose plan names its
//! member.
//!
//! The decision to question is which messages count. In a run that tracks delivery only those that carry a stamp move
//! the number on, because an acknowledgement may tell of a number before the messages that lead up to it have come; a
//! connection that breaks off in between would skip them. What the target says on joining sets a number that is not
//! there yet.

use memchr::memmem::Finder;
use serde_json::Value;
use sonagi_measure::stamp;

use sonagi_transport::link::{Incoming, WebsocketEvent};

/// How far one user's connections have come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cursor {
    largest: Option<u64>,
    of_link: Option<Box<str>>,
}

/// The member of messages whose number is the cursor.
pub(crate) struct Sought {
    name: Finder<'static>,
    /// Whether only stamped messages count once there is a number.
    is_tracked: bool,
}

impl Sought {
    pub(crate) fn new(member: &str, is_tracked: bool) -> Sought {
        let name = format!("{}:", Value::from(member));
        Sought { name: Finder::new(&name).into_owned(), is_tracked }
    }

    /// The largest number that follows the member's name.
    fn largest(&self, text: &[u8]) -> Option<u64> {
        let length = self.name.needle().len();
        self.name.find_iter(text).filter_map(|at| number(&text[at + length..])).max()
    }
}

impl Cursor {
    /// Takes note of what came in.
    pub(crate) fn note(cursor: &mut Option<Box<Cursor>>, sought: &Sought, incoming: &Incoming<'_>) {
        let (text, is_message) = match incoming {
            Incoming::Websocket(WebsocketEvent::Text(text))
            | Incoming::Event { data: text, .. }
            | Incoming::Message { text, .. } => (text.as_bytes(), true),
            Incoming::Websocket(WebsocketEvent::Binary(bytes)) => (*bytes, true),
            Incoming::Ack { data, .. } => (data.as_bytes(), false),
            _ => return,
        };
        let Some(found) = sought.largest(text) else { return };
        let known = cursor.as_ref().and_then(|cursor| cursor.largest);
        let counts = match known {
            None => true,
            Some(known) if known >= found => false,
            Some(_) => is_message && (!sought.is_tracked || stamp::find(text).next().is_some()),
        };
        if counts {
            cursor.get_or_insert_default().largest = Some(found);
        }
    }

    /// A link that ended was here.
    pub(crate) fn of_link(&mut self, cursor: &str) {
        if self.of_link.as_deref() != Some(cursor) {
            self.of_link = Some(cursor.into());
        }
    }

    /// The position that a link continues from.
    pub(crate) fn for_link(&self) -> Option<&str> {
        self.of_link.as_deref()
    }

    /// The value of `$cursor`.
    pub(crate) fn value(&self) -> Value {
        match (&self.of_link, self.largest) {
            (Some(text), _) => Value::from(&**text),
            (None, Some(number)) => Value::from(number),
            (None, None) => Value::Null,
        }
    }
}

/// The whole number a text begins with, blanks aside.
fn number(text: &[u8]) -> Option<u64> {
    let text = text.trim_ascii_start();
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&text[..digits]).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sonagi_measure::stamp::Stamp;

    fn after(sought: &Sought, incoming: &[Incoming<'_>]) -> Option<u64> {
        let mut cursor = None;
        for incoming in incoming {
            Cursor::note(&mut cursor, sought, incoming);
        }
        cursor.and_then(|cursor| cursor.largest)
    }

    fn text(text: &str) -> Incoming<'_> {
        Incoming::Websocket(WebsocketEvent::Text(text))
    }

    fn ack(data: &str) -> Incoming<'_> {
        Incoming::Ack { namespace: "/", id: 0, data, attachments: &[] }
    }

    #[test]
    fn the_cursor_is_the_largest_number_of_its_member() {
        let sought = Sought::new("seq", false);
        let largest = |said: &str| after(&sought, &[text(said)]);
        assert_eq!(largest(r#"{"seq":7,"content":"x"}"#), Some(7));
        assert_eq!(largest(r#"[{"seq": 7},{"seq":12},{"seq":9}]"#), Some(12));
        assert_eq!(largest(r#"{"sequence":7,"seq":"8","seq":-9,"seq":null,"seq":"#), None);
        assert_eq!(
            largest(r#"{"content":"{\"seq\":99}","seq":3}"#),
            Some(3),
            "text in a string is no member"
        );
        assert_eq!(largest(r#"{"seq":99999999999999999999}"#), None, "more than a number can hold");
        let events = [text(r#"{"seq":9}"#), Incoming::Websocket(WebsocketEvent::Binary(br#"{"seq":8}"#))];
        assert_eq!(after(&sought, &events), Some(9), "it never goes back");
    }

    #[test]
    fn where_delivery_is_tracked_only_stamped_messages_move_it_on() {
        let sought = Sought::new("seq", true);
        let stamped = |seq: u32| {
            let mut said = format!("{{\"seq\":{seq},\"content\":\"");
            Stamp { run: 1, room: 2, sender: 3, number: 4 }.write(&mut said);
            said + "\"}"
        };
        let joined = text(r#"{"type":"joined","seq":5}"#);
        assert_eq!(after(&sought, &[joined]), Some(5), "the first number comes from wherever it may");
        let (six, seven) = (stamped(6), stamped(7));
        let told = text(r#"{"type":"ack","seq":9}"#);
        let seen = [joined, text(&six), told, ack(r#"[{"seq":9}]"#)];
        assert_eq!(after(&sought, &seen), Some(6), "what is acknowledged has not come yet");
        let event = Incoming::Event { namespace: "/", data: &seven, attachments: &[], ack: None };
        assert_eq!(after(&sought, &[joined, event]), Some(7));
    }

    #[test]
    fn an_acknowledgement_only_sets_a_cursor_that_is_not_there() {
        let sought = Sought::new("seq", false);
        assert_eq!(after(&sought, &[ack(r#"[{"ok":true,"seq":4}]"#)]), Some(4));
        assert_eq!(after(&sought, &[text(r#"{"seq":4}"#), ack(r#"[{"seq":5}]"#)]), Some(4));
    }

    #[test]
    fn a_links_own_cursor_goes_before_a_number() {
        let mut cursor = Cursor { largest: Some(4), of_link: None };
        assert_eq!(cursor.value(), Value::from(4));
        cursor.of_link("e7.4");
        assert_eq!((cursor.value(), cursor.for_link()), (Value::from("e7.4"), Some("e7.4")));
        assert_eq!(Cursor::default().value(), Value::Null);
    }
}
