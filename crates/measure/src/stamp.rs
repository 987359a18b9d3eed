//! The token that makes a message countable: fixed width, safe inside JSON strings and STOMP bodies.
//!
//! `~sng` run(4) room(4) sender(4) number(5) check(1), base64url digits, 22 bytes in all. Receivers find it by
//! substring search in the raw frame, so nothing is parsed on the hot path. It does not sign anything: a target that
//! wants to forge stamps can. The check digit is there for damage (a frame cut and glued, a wrapped line): it catches
//! every single changed digit and nearly every swap of two neighbours.

/// The contents of a stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// 24 bits drawn per run: foreign runs' messages are told apart.
    pub run: u32,
    /// 24 bits.
    pub room: u32,
    /// The sending user, 24 bits.
    pub sender: u32,
    /// Number in its room from 0, 30 bits.
    pub number: u32,
}

const MARK: &[u8; 4] = b"~sng";
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const BODY: usize = Stamp::LEN - MARK.len() - 1;
const NOT_A_DIGIT: u8 = 255;

static VALUES: [u8; 256] = values();

const fn values() -> [u8; 256] {
    let mut values = [NOT_A_DIGIT; 256];
    let mut i = 0;
    while i < DIGITS.len() {
        values[DIGITS[i] as usize] = i as u8;
        i += 1;
    }
    values
}

impl Stamp {
    /// Length of the text form in bytes.
    pub const LEN: usize = 22;
    /// Highest value of `run`, `room` and `sender`.
    pub const MAX_ID: u32 = (1 << 24) - 1;
    /// Highest value of `number`.
    pub const MAX_NUMBER: u32 = (1 << 30) - 1;

    /// Appends the text form. Bits above a field's width are cut off.
    pub fn write(&self, out: &mut String) {
        let text = self.text();
        // Only ASCII digits and the mark are in there.
        out.extend(text.iter().map(|&byte| char::from(byte)));
    }

    /// The text form as bytes.
    pub fn text(&self) -> [u8; Self::LEN] {
        let mut digits = [0; BODY + 1];
        let mut at = 0;
        for (value, width) in [(self.run, 4), (self.room, 4), (self.sender, 4), (self.number, 5)] {
            for digit in (0..width).rev() {
                digits[at] = (value >> (6 * digit)) as u8 & 63;
                at += 1;
            }
        }
        digits[BODY] = check(&digits[..BODY]);
        let mut text = [0; Self::LEN];
        let (mark, written) = text.split_at_mut(MARK.len());
        mark.copy_from_slice(MARK);
        written.iter_mut().zip(digits).for_each(|(byte, digit)| *byte = DIGITS[usize::from(digit)]);
        text
    }

    /// The stamp `text` begins with, if it is undamaged.
    pub fn parse(text: &[u8]) -> Option<Stamp> {
        let text = text.get(..Self::LEN)?;
        let body = text.strip_prefix(MARK)?;
        let digits: [u8; BODY + 1] = std::array::from_fn(|at| VALUES[body[at] as usize]);
        // Nearly every mark begins a stamp: one look at all digits is less than one at each.
        let is_written_in_digits = digits.iter().fold(0, |all, digit| all | digit) < DIGITS.len() as u8;
        if !is_written_in_digits || check(&digits[..BODY]) != digits[BODY] {
            return None;
        }
        let field = |range: std::ops::Range<usize>| {
            digits[range].iter().fold(0u32, |value, &digit| value << 6 | u32::from(digit))
        };
        Some(Stamp { run: field(0..4), room: field(4..8), sender: field(8..12), number: field(12..17) })
    }
}

/// Weighted sum over the digits, modulo 64. Odd weights make every single change visible; consecutive weights
/// differ by two, which shows swaps except those of digits exactly 32 apart.
fn check(digits: &[u8]) -> u8 {
    let weighted = digits.iter().zip((1u8..).step_by(2)).map(|(&digit, weight)| weight.wrapping_mul(digit));
    weighted.fold(0u8, u8::wrapping_add) & 63
}

/// Every stamp in `bytes`, in order; damaged ones are skipped. No allocation. One search for the mark's first byte,
/// which hardly any message has elsewhere: on short messages half the price of a search for the whole mark.
#[inline]
pub fn find(bytes: &[u8]) -> impl Iterator<Item = Stamp> + '_ {
    memchr::memchr_iter(MARK[0], bytes).filter_map(|at| Stamp::parse(&bytes[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stamp() -> impl Strategy<Value = Stamp> {
        let id = 0..=Stamp::MAX_ID;
        (id.clone(), id.clone(), id, 0..=Stamp::MAX_NUMBER).prop_map(|(run, room, sender, number)| Stamp {
            run,
            room,
            sender,
            number,
        })
    }

    fn text(stamp: &Stamp) -> String {
        let mut text = String::new();
        stamp.write(&mut text);
        text
    }

    proptest! {
        #[test]
        fn stamps_are_found_wherever_they_stand(
            stamps in proptest::collection::vec((stamp(), "[^~]{0,30}"), 0..5), tail in "[^~]{0,30}~?s?n?") {
            let mut frame = String::new();
            for (stamp, before) in &stamps {
                frame.push_str(before);
                stamp.write(&mut frame);
            }
            frame.push_str(&tail);
            let expected: Vec<Stamp> = stamps.iter().map(|(stamp, _)| *stamp).collect();
            prop_assert_eq!(find(frame.as_bytes()).collect::<Vec<_>>(), expected);
        }

        #[test]
        fn a_stamp_with_one_digit_changed_is_skipped(stamp in stamp(), at in 4usize..22, to in 0usize..64) {
            let mut damaged = stamp.text();
            prop_assume!(damaged[at] != DIGITS[to]);
            damaged[at] = DIGITS[to];
            prop_assert_eq!(find(&damaged).next(), None);
        }

        #[test]
        fn finding_never_panics(bytes in proptest::collection::vec(
            prop_oneof![any::<u8>(), proptest::sample::select(b"~sngA_-".to_vec())], 0..200)) {
            find(&bytes).for_each(drop);
        }

        #[test]
        fn a_stamp_needs_no_escape_in_json_or_stomp(stamp in stamp()) {
            let text = text(&stamp);
            prop_assert_eq!(text.len(), Stamp::LEN);
            prop_assert_eq!(serde_json::to_string(&text).unwrap(), format!("\"{text}\""));
            prop_assert!(text.bytes().all(|b| b.is_ascii_graphic() && !b":\\&+%<>\"'".contains(&b)), "{}", text);
        }
    }

    #[test]
    fn the_text_form_is_fixed() {
        let stamp = Stamp { run: 1, room: 63, sender: 64, number: Stamp::MAX_NUMBER };
        assert_eq!(text(&stamp), "~sngAAABAAA_AABA_____8");
    }

    #[test]
    fn a_damaged_stamp_does_not_hide_the_next() {
        let stamp = Stamp { run: 1, room: 2, sender: 3, number: 4 };
        let frame = format!("~sng~sngAAAA{}", text(&stamp));
        assert_eq!(find(frame.as_bytes()).collect::<Vec<_>>(), [stamp]);
    }
}
