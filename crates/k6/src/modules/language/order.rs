//! The order of dictionaries: letters first, then their accents, then their case.
//!
//! Exact for Latin, Greek and Cyrillic letters, and for ASCII's signs, in the order of CLDR's root collation, which k6
//! has. Other scripts stand in the order of their code points, which is mostly the same; the whole table is half a
//! megabyte and decides nothing a load test asks for.

use std::cmp::Ordering;

/// Blanks and signs in their order.
const SIGNS: &str =
    "\t\n\u{b}\u{c}\r\u{85}\u{2028}\u{2029} \u{a0}_-,;:!¡?¿.·'\"«»()[]{}§¶@*/\\&#%`´^¯¨¸°©®+±÷×<=>¬|¦~¤¢$£¥";
/// Accents in their order; any other stands behind them.
const MARKS: &str =
    "\u{301}\u{300}\u{306}\u{302}\u{30c}\u{30a}\u{308}\u{30b}\u{303}\u{307}\u{338}\u{327}\u{328}\u{304}";
const STROKE: char = '\u{338}';

/// A text by what is compared first, second and third.
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Keys {
    letters: Vec<(Class, u32)>,
    accents: Vec<usize>,
    cases: Vec<u8>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Sign,
    Symbol,
    Digit,
    Letter,
}

/// Compares two texts; their accents must stand apart (NFD).
pub(super) fn compare(one: &str, other: &str) -> Ordering {
    Keys::of(one).cmp(&Keys::of(other))
}

impl Keys {
    fn of(text: &str) -> Keys {
        let mut keys = Keys::default();
        text.chars().for_each(|letter| keys.add(letter));
        keys
    }

    fn add(&mut self, letter: char) {
        if let Some(place) = SIGNS.chars().position(|sign| sign == letter) {
            return self.push(Class::Sign, place as u32, 0);
        }
        match letter {
            '\u{300}'..='\u{36f}' => {
                let place = MARKS.chars().position(|mark| mark == letter);
                self.accents.push(place.map_or(MARKS.len(), |place| place + 1));
            }
            // They are not seen, so they do not count.
            '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' => {}
            letter if letter.is_control() => {}
            'ß' => self.spelt("ss", 1),
            'æ' => self.spelt("ae", 1),
            'Æ' => self.spelt("AE", 1),
            'œ' => self.spelt("oe", 1),
            'Œ' => self.spelt("OE", 1),
            'ø' | 'Ø' => {
                self.add(if letter == 'ø' { 'o' } else { 'O' });
                self.add(STROKE);
            }
            // Letters of their own, behind the one they look like.
            'ð' | 'Ð' => self.push(Class::Letter, 'd' as u32 * 2 + 1, u8::from(letter == 'Ð')),
            'ª' => self.push(Class::Letter, 'a' as u32 * 2, 2),
            'º' => self.push(Class::Letter, 'o' as u32 * 2, 2),
            // Katakana stands beside the hiragana of its sound.
            'ァ'..='ヶ' => self.push(Class::Letter, (letter as u32 - 0x60) * 2, 1),
            letter if letter.is_numeric() => {
                let value = letter.to_digit(10).unwrap_or(letter as u32);
                self.push(Class::Digit, value, 0);
            }
            letter if letter.is_alphabetic() => {
                let small = letter.to_lowercase().next().unwrap_or(letter);
                self.push(Class::Letter, small as u32 * 2, u8::from(small != letter));
            }
            symbol => self.push(Class::Symbol, symbol as u32, 0),
        }
    }

    fn push(&mut self, class: Class, value: u32, case: u8) {
        self.letters.push((class, value));
        self.accents.push(0);
        self.cases.push(case);
    }

    /// Adds a letter that counts as several, and comes after them.
    fn spelt(&mut self, letters: &str, behind: usize) {
        letters.chars().for_each(|letter| self.add(letter));
        self.accents.push(behind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order is k6 2.2's.
    #[test]
    fn words_stand_as_in_a_dictionary() {
        let sorted = [
            "",
            "😀",
            "1",
            "10",
            "2",
            "a",
            "A",
            "a\u{301}",
            "a\u{308}",
            "a b",
            "a_b",
            "a-b",
            "ab",
            "aB",
            "Ab",
            "AB",
            "aC",
            "ae",
            "æ",
            "af",
            "b",
            "B",
            "co-op",
            "coop",
            "e",
            "E",
            "e\u{301}",
            "E\u{301}",
            "n",
            "n\u{303}",
            "o",
            "ø",
            "p",
            "resume",
            "re\u{301}sume\u{301}",
            "Re\u{301}sume\u{301}",
            "ss",
            "ß",
            "st",
            "z",
            "Z",
            "zebra",
            "Zebra",
            "α",
            "ω",
            "Ω",
            "а",
            "б",
            "Б",
            "я",
            "あ",
            "ア",
            "か",
            "中",
        ];
        for pair in sorted.windows(2) {
            assert_eq!(compare(pair[0], pair[1]), Ordering::Less, "{pair:?}");
            assert_eq!(compare(pair[1], pair[0]), Ordering::Greater, "{pair:?}");
        }
        assert_eq!(compare("a\u{0}b\u{200b}", "ab"), Ordering::Equal);
    }
}
