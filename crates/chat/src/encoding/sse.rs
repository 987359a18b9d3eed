//! A message as an event of an event stream.

use sonagi_wire::sse::Message as Event;

use crate::model::message::Message;

/// Appends a message as an event; without its number for who is not to go on behind it.
pub(crate) fn write(message: &Message, numbered: bool, out: &mut Vec<u8>) {
    let id = numbered.then(|| message.seq.to_string());
    // Its content is passed on as it came, line ends between its words included.
    let data = String::from_utf8_lossy(&message.object);
    let written = Event { id: id.as_deref(), name: None, data: &data }.encode(out);
    debug_assert_eq!(written, Ok(()), "a number breaks no line");
}
