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

/// What is wrong at byte `offset` of `text`.
pub(crate) fn fault(text: &str, offset: usize, what: impl Into<String>) -> Fault {
    let (line, column) = place(text, offset);
    Fault { line, column, what: what.into() }
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
    fn a_byte_order_mark_is_taken_off_and_what_is_not_utf8_is_shown_where_it_is() {
        assert_eq!(text(b"\xef\xbb\xbflet a"), Ok("let a"));
        let latin = text(b"let a = 1;\nlet b = 'caf\xe9'").unwrap_err();
        assert_eq!((latin.line, latin.column), (2, 13));
        assert_eq!(latin.what, "the file must be UTF-8, byte 0xe9 is not");
        let wide = text(b"\xff\xfel\0e\0t\0").unwrap_err();
        assert_eq!((wide.line, wide.column, wide.what.contains("UTF-16")), (1, 1, true));
    }
}
