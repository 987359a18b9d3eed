//! From a byte in a text to the line and column a person counts, and from bytes on disk to a text.

use crate::Fault;

/// Line and column of byte `offset` in `text`, both from 1, the column in characters.
pub(crate) fn place(text: &str, offset: usize) -> (usize, usize) {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// A fault at byte `offset` of `text`.
pub(crate) fn fault(text: &str, offset: usize, what: impl Into<String>) -> Fault {
    let (line, column) = place(text, offset);
    Fault { line, column, what: what.into() }
}

/// Where what stands in a made text stands in its source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places(Vec<(Place, Place)>);

/// Line and column from 0, as source maps count: columns in UTF-16 units.
type Place = (u32, u32);

impl Places {
    /// Made of pairs of a place in the text and one in the source.
    pub(crate) fn new(mut pairs: Vec<(Place, Place)>) -> Places {
        pairs.sort_unstable();
        Places(pairs)
    }

    /// The text's first line begins with so many more columns.
    pub(crate) fn push_right(&mut self, columns: u32) {
        let first_line = self.0.iter_mut().take_while(|((line, _), _)| *line == 0);
        first_line.for_each(|((_, column), _)| *column += columns);
    }

    /// Whether the text is its source.
    #[must_use]
    pub fn is_same(&self) -> bool {
        self.0.is_empty()
    }

    /// The place in the source of `line` and `column` of the text, all from 1; the same one where none is known.
    #[must_use]
    pub fn of(&self, line: u32, column: u32) -> (u32, u32) {
        let asked = (line.saturating_sub(1), column.saturating_sub(1));
        let after = self.0.partition_point(|(text, _)| *text <= asked);
        match after.checked_sub(1).map(|at| self.0[at]) {
            Some(((at, _), (line, column))) if at == asked.0 => (line + 1, column + 1),
            _ => (line, column),
        }
    }
}

/// The bytes of a source file as text, its byte order mark taken off.
pub(crate) fn text(bytes: &[u8]) -> Result<&str, Fault> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(Fault { line: 1, column: 1, what: "the file is UTF-16, it must be UTF-8".into() });
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let good = error.valid_up_to();
        let before = std::str::from_utf8(&bytes[..good]).unwrap_or_default();
        fault(before, good, format!("the file must be UTF-8, byte 0x{:02x} is not", bytes[good]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_in_characters_and_lines_from_one() {
        assert_eq!(place("héllo\nwörld!", 0), (1, 1));
        assert_eq!(place("héllo\nwörld!", "héllo\nwör".len()), (2, 4));
        assert_eq!(place("a\r\nb", 3), (2, 1));
        assert_eq!(place("ab", 99), (1, 3));
    }

    #[test]
    fn a_place_of_the_text_is_where_the_source_has_the_word_before_it() {
        let places = Places::new(vec![((1, 4), (7, 2)), ((1, 0), (6, 0)), ((3, 0), (9, 1))]);
        assert_eq!(
            [(2, 1), (2, 4), (2, 5), (2, 99), (4, 1)].map(|(line, column)| places.of(line, column)),
            [(7, 1), (7, 1), (8, 3), (8, 3), (10, 2)]
        );
        assert_eq!((places.of(3, 5), places.of(1, 1), Places::default().of(3, 4)), ((3, 5), (1, 1), (3, 4)));
    }

    #[test]
    fn a_byte_order_mark_is_taken_off_and_what_is_not_utf8_is_shown_where_it_is() {
        assert_eq!(text(b"\xef\xbb\xbflet a"), Ok("let a"));
        let latin = text(b"let a = 1;\nlet b = 'caf\xe9'").unwrap_err();
        assert_eq!((latin.line, latin.column), (2, 13));
        assert_eq!(latin.what, "the file must be UTF-8, byte 0xe9 is not");
        let wide = text(b"\xff\xfel\0e\0t\0").unwrap_err();
        assert_eq!((wide.line, wide.column, wide.what.contains("UTF-16")), (1, 1, true));
    }
}
