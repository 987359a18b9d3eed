//! Pings on their way, and how long each took.

use sonagi_measure::At;

/// Pings of one socket that nobody has answered yet.
#[derive(Debug, Default)]
pub(crate) struct Pings {
    next: u32,
    sent: Vec<(u32, At)>,
}

impl Pings {
    /// The payload of the next one: its number.
    pub(crate) fn next(&mut self, now: At) -> String {
        let number = self.next;
        self.next += 1;
        self.sent.push((number, now));
        number.to_string()
    }

    /// When the one was sent that this is the answer to; none for a pong nobody asked for.
    pub(crate) fn answered(&mut self, payload: &[u8]) -> Option<At> {
        let number: u32 = std::str::from_utf8(payload).ok()?.parse().ok()?;
        let place = self.sent.iter().position(|(own, _)| *own == number)?;
        Some(self.sent.remove(place).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pong_finds_its_ping_once() {
        let mut pings = Pings::default();
        assert_eq!((pings.next(At(1)), pings.next(At(2))), ("0".to_owned(), "1".to_owned()));
        assert_eq!(pings.answered(b"1"), Some(At(2)));
        assert_eq!(
            (pings.answered(b"1"), pings.answered(b"x"), pings.answered(b"0")),
            (None, None, Some(At(1)))
        );
    }
}
