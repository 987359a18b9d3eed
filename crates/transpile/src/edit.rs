//! Changes to a text by place, none of which adds or takes a line: the source map made before them stays right.

use std::ops::Range;

/// Changes to one text, collected in any order.
#[derive(Default)]
pub(crate) struct Edits(Vec<(Range<usize>, String)>);

impl Edits {
    /// Puts `with` in the place of `range`. Ranges must not overlap; texts for the same empty range come in the order
    /// of the calls.
    pub(crate) fn replace(&mut self, range: Range<usize>, with: impl Into<String>) {
        self.0.push((range, with.into()));
    }

    /// The text with every change made. The lines that a change took away are given back as empty ones behind it.
    pub(crate) fn apply(mut self, text: &str) -> String {
        self.0.sort_by_key(|(range, _)| (range.start, range.end));
        let mut made =
            String::with_capacity(text.len() + self.0.iter().map(|(_, with)| with.len()).sum::<usize>());
        let mut done = 0;
        for (range, with) in &self.0 {
            debug_assert!(range.start >= done, "edits overlap");
            debug_assert!(!with.contains('\n'), "an edit adds a line");
            made.push_str(&text[done..range.start]);
            made.push_str(with);
            made.extend(text[range.clone()].matches('\n'));
            done = range.end;
        }
        made.push_str(&text[done..]);
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_come_out_in_the_order_of_their_places_and_keep_every_line_where_it_was() {
        let mut edits = Edits::default();
        edits.replace(10..11, "z");
        edits.replace(0..7, "b");
        edits.replace(0..0, "first ");
        edits.replace(0..0, "second ");
        assert_eq!(edits.apply("one\ntwo\nthree"), "first second b\n\nthzee");
    }
}
