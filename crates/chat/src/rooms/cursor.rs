//! A place in a room's log: where what somebody gets begins, and what is found there.

use bytes::Bytes;
use serde_json::value::RawValue;

use crate::model::message::Message;
use crate::problem::Problem;

/// Messages that whoever comes with no usable cursor is given as the present state.
pub(crate) const PRESENT: u64 = 100;

/// Where what somebody gets of a room begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// With the next message.
    Now,
    /// Behind this number, or with a gap behind what is not kept any more.
    After(u64),
    /// Behind this number, or not at all.
    Exactly(u64),
    /// With the last so many messages.
    Last(u64),
}

/// Messages are missing that were asked for: `after` was the cursor, `from` is the first that there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    pub(crate) after: u64,
    pub(crate) from: u64,
}

/// The answer to a join.
#[derive(Clone, Copy)]
pub(crate) struct Joined<'a> {
    /// The room's public name.
    pub(crate) room: &'a str,
    /// The number of the last message published.
    pub(crate) seq: u64,
    pub(crate) gap: Option<Gap>,
}

/// The result of an attempt to enter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entered {
    Member,
    /// Greeted, but what follows this number, up to `upto` for now, has to be given page by page first.
    Behind {
        after: u64,
        upto: u64,
    },
    /// The peer has left meanwhile.
    Left,
    /// Not everything behind that start is kept: nothing has been done.
    NotKept,
    /// Other services may have said something here that this one has not heard: nothing has been done, and the store
    /// must be asked first.
    Stale,
}

/// The result of a look with a cursor.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    /// Nothing above this number yet.
    Nothing(u64),
    Excerpt(Excerpt, Option<Gap>),
    /// The messages must be read from the store.
    Behind {
        after: u64,
        upto: u64,
        gap: Option<Gap>,
    },
    /// As `Entered::Stale`.
    Stale,
}

/// A part of a room's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Excerpt {
    pub(crate) after: u64,
    /// The number of the last message, or `after` when there is none.
    pub(crate) last: u64,
    pub(crate) count: u64,
    /// Objects with commas between them.
    pub(crate) objects: Bytes,
}

impl Excerpt {
    /// The messages that fit this many bytes, and at least one.
    pub(crate) fn new<'a>(after: u64, messages: impl Iterator<Item = &'a Message>, most: usize) -> Excerpt {
        let (mut objects, mut last, mut count) = (Vec::new(), after, 0);
        for message in messages {
            if count > 0 {
                if objects.len() + message.object.len() >= most {
                    break;
                }
                objects.push(b',');
            }
            objects.extend_from_slice(&message.object);
            (last, count) = (message.seq, count + 1);
        }
        Excerpt { after, last, count, objects: objects.into() }
    }
}

/// Where a client wants to go on: a number, alone or as text; nothing, `null` and empty text are no cursor.
pub(crate) fn start_of(after: Option<&RawValue>) -> Result<Start, Problem> {
    let json = after.map_or("null", RawValue::get);
    match json.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        Some(text) => start_of_text(text),
        None if json == "null" => Ok(Start::Now),
        None => start_of_text(json),
    }
}

/// The same of a query's or a header's text.
pub(crate) fn start_of_text(text: &str) -> Result<Start, Problem> {
    if text.is_empty() {
        return Ok(Start::Now);
    }
    // The store counts to the same bound.
    text.parse::<u64>()
        .ok()
        .filter(|number| i64::try_from(*number).is_ok())
        .map(Start::After)
        .ok_or_else(|| Problem::bad_request(format!("after is the number of a message, got `{text}`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_a_number_or_its_text_and_nothing_is_none() {
        let start = |json: &str| start_of(Some(serde_json::from_str(json).unwrap()));
        assert_eq!(
            (start("7"), start("\"7\""), start("0")),
            (Ok(Start::After(7)), Ok(Start::After(7)), Ok(Start::After(0)))
        );
        assert_eq!(
            (start("null"), start("\"\""), start_of(None)),
            (Ok(Start::Now), Ok(Start::Now), Ok(Start::Now))
        );
        for wrong in ["-1", "1.0", "true", "[1]", "\"x\"", "9223372036854775808"] {
            assert_eq!(start(wrong).unwrap_err().code, "bad_request", "{wrong}");
        }
    }

    #[test]
    fn an_excerpt_ends_where_it_is_full_but_has_a_message() {
        let messages: Vec<Message> = (8..12).map(|seq| Message::new(seq, 0, 3, "1", 9)).collect();
        let size = messages[0].object.len();
        let excerpt = |most| Excerpt::new(7, messages.iter(), most);
        let whole = excerpt(1000);
        assert_eq!((whole.last, whole.count), (11, 4));
        let objects: serde_json::Value =
            serde_json::from_slice(&[b"[", &whole.objects[..], b"]"].concat()).unwrap();
        assert_eq!(objects.as_array().unwrap().len(), 4);
        assert_eq!((excerpt(0).last, excerpt(0).count), (8, 1));
        assert_eq!((excerpt(2 * size + 1).last, excerpt(2 * size).last), (9, 8));
        let none = Excerpt::new(7, [].iter(), 1000);
        assert_eq!((none.last, none.count, none.objects.len()), (7, 0, 0));
    }
}
