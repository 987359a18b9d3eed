//! Text on a page of fixed width: labelled paragraphs that wrap, aligned tables, and colour as an afterthought.
//!
//! Widths are columns of plain text: a Hangul syllable or an ideograph takes two. Colour is added to finished pieces
//! only, so that a coloured page and a plain one break their lines in the same places.

pub(crate) use sonagi_measure::figures::tame;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How a piece is set off; nothing without colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Faint,
    Good,
    Bad,
    Doubtful,
}

impl Tone {
    fn code(self) -> &'static str {
        match self {
            Tone::Plain => "",
            Tone::Faint => "2",
            Tone::Good => "1;32",
            Tone::Bad => "1;31",
            Tone::Doubtful => "1;33",
        }
    }

    /// What pages call the tone of a verdict.
    pub(crate) fn mood(self) -> &'static str {
        match self {
            Tone::Good => "good",
            Tone::Bad => "bad",
            _ => "doubtful",
        }
    }
}

/// Width of the label column, its space included.
const LABEL: usize = 12;

pub(crate) struct Page {
    text: String,
    width: usize,
    colour: bool,
}

impl Page {
    /// A page of `width` columns, at least 60: below that the tables have no room.
    pub(crate) fn new(width: usize, colour: bool) -> Page {
        Page { text: String::new(), width: width.max(60), colour }
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    pub(crate) fn blank(&mut self) {
        self.text.push('\n');
    }

    /// Adds a line, cut at the page's width.
    pub(crate) fn line(&mut self, text: &str, tone: Tone) {
        let cut = cut(text.trim_end(), self.width);
        let painted = self.paint(&cut, tone);
        self.text.push_str(&painted);
        self.text.push('\n');
    }

    /// A label in the margin and a paragraph beside it.
    pub(crate) fn entry(&mut self, label: &str, tone: Tone, paragraph: &str) {
        let margin = padded(label, LABEL);
        let mut lines = wrap(paragraph, self.width - LABEL).into_iter();
        let first = lines.next().unwrap_or_default();
        let margin = self.paint(&margin, tone);
        self.text.push_str(format!("{margin}{first}").trim_end());
        self.text.push('\n');
        for line in lines {
            self.text.push_str(format!("{:LABEL$}{line}", "").trim_end());
            self.text.push('\n');
        }
    }

    /// Entries under one label, which the first of them has.
    pub(crate) fn entries(&mut self, label: &str, paragraphs: impl IntoIterator<Item = String>) {
        for (at, paragraph) in paragraphs.into_iter().enumerate() {
            self.entry(if at == 0 { label } else { "" }, Tone::Faint, &paragraph);
        }
    }

    /// A paragraph under the entry above.
    pub(crate) fn more(&mut self, paragraph: &str) {
        self.entry("", Tone::Plain, paragraph);
    }

    fn paint(&self, text: &str, tone: Tone) -> String {
        if !self.colour || tone == Tone::Plain || text.trim().is_empty() {
            return text.to_string();
        }
        let shown = text.trim_end();
        let rest = &text[shown.len()..];
        format!("\x1b[{}m{shown}\x1b[0m{rest}", tone.code())
    }
}

/// How many columns a text takes on a terminal.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// `text` with blanks behind it up to `width` columns.
pub(crate) fn padded(text: &str, width: usize) -> String {
    let blanks = width.saturating_sub(columns(text));
    format!("{text}{:blanks$}", "")
}

/// `text` in at most `width` columns; what had to go is marked by `…`.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_string();
    }
    let mut room = width.saturating_sub(1);
    let fits = |c: &char| {
        let taken = c.width().unwrap_or(0);
        let fits = taken <= room;
        room = room.saturating_sub(taken);
        fits
    };
    let mut out: String = text.chars().take_while(fits).collect();
    out.push('…');
    out
}

/// Items in a row: lines break between them, not inside.
pub(crate) fn items(items: &[String]) -> String {
    let glued: Vec<_> = items.iter().map(|item| item.replace(' ', "\u{a0}")).collect();
    glued.join("\u{a0}· ")
}

/// Words in lines of at most `width` columns; a longer word has a line of its own, broken where it must.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    for word in tame(text).split(' ').filter(|word| !word.is_empty()) {
        let long = columns(word);
        if used > 0 && used + 1 + long > width {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        if used > 0 {
            line.push(' ');
            used += 1;
        }
        for c in word.chars() {
            let taken = c.width().unwrap_or(0);
            if used + taken > width {
                lines.push(std::mem::take(&mut line));
                used = 0;
            }
            line.push(if c == '\u{a0}' { ' ' } else { c });
            used += taken;
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_wrap_at_words_and_break_only_words_longer_than_a_line() {
        assert_eq!(wrap("aaa bbb ccc", 7), ["aaa bbb", "ccc"]);
        assert_eq!(wrap("abcdefghij kl", 4), ["abcd", "efgh", "ij", "kl"]);
        assert_eq!(wrap("", 4), Vec::<String>::new());
        assert_eq!(wrap(&items(&["a b".into(), "c d".into()]), 6), ["a b ·", "c d"]);
    }

    #[test]
    fn letters_that_take_two_columns_count_twice() {
        assert_eq!((columns("채팅방 1"), columns("e\u{301}t")), (8, 2));
        assert_eq!(padded("채팅", 6), "채팅  ");
        assert_eq!(
            (cut("채팅방", 6), cut("채팅방", 5), cut("a채팅방", 5)),
            ("채팅방".into(), "채팅…".into(), "a채…".into())
        );
        assert_eq!(wrap("채팅방 입장", 6), ["채팅방", "입장"]);
        assert_eq!(wrap("채팅방입장", 5), ["채팅", "방입", "장"]);
    }

    #[test]
    fn colour_changes_no_line_break() {
        let render = |colour| {
            let mut page = Page::new(60, colour);
            page.entry("delivery", Tone::Good, &"word ".repeat(30));
            page.finish()
        };
        let plain = render(false);
        assert_eq!(render(true).replace("\x1b[1;32m", "").replace("\x1b[0m", ""), plain);
        assert!(plain.lines().all(|line| line.chars().count() <= 60));
    }

    #[test]
    fn control_characters_of_the_target_never_reach_the_terminal() {
        let mut page = Page::new(60, false);
        page.entry("", Tone::Plain, "a\x1b[2Jb\r\nc");
        assert!(!page.finish().trim_end_matches('\n').contains(|c: char| c.is_control()));
    }
}
