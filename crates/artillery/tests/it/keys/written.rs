//! A script's text as a tree that knows which characters each key and value takes, so that a mistake can be written
//! into it.

use saphyr_parser::{Event, Parser, ScalarStyle, Span};
use std::ops::Range;

/// A value, and the characters it takes.
pub(super) struct Written {
    pub(super) at: Range<usize>,
    pub(super) kind: Kind,
}

pub(super) enum Kind {
    Scalar(String),
    /// An alias: its value is written elsewhere.
    Alias,
    List(Vec<Written>),
    Map(Vec<Entry>),
}

pub(super) struct Entry {
    pub(super) name: String,
    pub(super) at: Range<usize>,
    pub(super) value: Written,
}

impl Written {
    pub(super) fn entries(&self) -> &[Entry] {
        if let Kind::Map(entries) = &self.kind { entries } else { &[] }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Written> {
        self.entries().iter().find(|entry| entry.name == name).map(|entry| &entry.value)
    }

    pub(super) fn text(&self) -> Option<&str> {
        if let Kind::Scalar(text) = &self.kind { Some(text) } else { None }
    }
}

/// Reads a text that is known to be a script.
pub(super) fn read(text: &str) -> Written {
    let mut parser = Parser::new_from_str(text);
    let mut events = std::iter::from_fn(|| parser.next_event().map(Result::unwrap));
    events.by_ref().find(|(event, _)| matches!(event, Event::DocumentStart(_))).unwrap();
    let mut tree = Tree { characters: text.chars().collect(), events };
    let first = tree.events.next().unwrap();
    tree.value(first)
}

struct Tree<I> {
    characters: Vec<char>,
    events: I,
}

impl<'a, I: Iterator<Item = (Event<'a>, Span)>> Tree<I> {
    fn value(&mut self, (event, span): (Event<'a>, Span)) -> Written {
        let (start, end) = (span.start.index(), span.end.index());
        match event {
            Event::Scalar(text, ..) => Written { at: start..end, kind: Kind::Scalar(text.into_owned()) },
            Event::SequenceStart(..) => self.list(start),
            Event::MappingStart(..) => self.map(start),
            _ => Written { at: start..end, kind: Kind::Alias },
        }
    }

    fn list(&mut self, start: usize) -> Written {
        let mut items: Vec<Written> = Vec::new();
        loop {
            match self.events.next().unwrap() {
                (Event::SequenceEnd, end) => {
                    let end = self.end(end, items.last().map_or(start, |item| item.at.end));
                    return Written { at: start..end, kind: Kind::List(items) };
                }
                item => items.push(self.value(item)),
            }
        }
    }

    fn map(&mut self, start: usize) -> Written {
        let mut entries: Vec<Entry> = Vec::new();
        loop {
            let (name, at) = match self.events.next().unwrap() {
                (Event::MappingEnd, end) => {
                    let end = self.end(end, entries.last().map_or(start, |entry| entry.value.at.end));
                    return Written { at: start..end, kind: Kind::Map(entries) };
                }
                (Event::Scalar(name, ..), span) => (name.into_owned(), span.start.index()..span.end.index()),
                (other, _) => panic!("{other:?} is a key"),
            };
            let next = self.events.next().unwrap();
            // A missing value has the place of the next text.
            let value = match next {
                (Event::Scalar(text, ScalarStyle::Plain, ..), _) if text.is_empty() => {
                    Written { at: at.end + 1..at.end + 1, kind: Kind::Scalar(String::new()) }
                }
                next => self.value(next),
            };
            entries.push(Entry { name, at, value });
        }
    }

    /// In braces and brackets a value ends behind them, in lines of its own with the last thing in it.
    fn end(&self, closing: Span, last: usize) -> usize {
        match self.characters.get(closing.start.index()) {
            Some('}' | ']') => closing.start.index() + 1,
            _ => last,
        }
    }
}

/// The text with something else in the place of these characters.
pub(super) fn with(text: &str, at: &Range<usize>, new: &str) -> String {
    let before = text.chars().take(at.start);
    before.chain(new.chars()).chain(text.chars().skip(at.end)).collect()
}

/// Line and column of a character, both from 1.
pub(super) fn place(text: &str, at: usize) -> (usize, usize) {
    let before: Vec<char> = text.chars().take(at).collect();
    let line = 1 + before.iter().filter(|c| **c == '\n').count();
    let column = 1 + before.iter().rev().take_while(|c| **c != '\n').count();
    (line, column)
}

#[test]
fn every_value_knows_its_characters() {
    let text = "a:\n  - {b: &x [1, \"zwei\"], c: }\n  - *x\nd: last # of all\n";
    let tree = read(text);
    let of = |value: &Written| text[value.at.clone()].to_owned();
    let Kind::List(items) = &tree.get("a").unwrap().kind else { panic!("a is a list") };
    assert_eq!(of(&items[0]), "{b: &x [1, \"zwei\"], c: }");
    assert_eq!(of(items[0].get("b").unwrap()), "&x [1, \"zwei\"]");
    assert_eq!(of(items[0].get("c").unwrap()), "");
    assert_eq!(of(&items[1]), "*x");
    assert_eq!((of(&tree), tree.get("d").unwrap().text()), (text.replace(" # of all\n", ""), Some("last")));
    assert_eq!(with(text, &tree.entries()[1].at, "dé").lines().last(), Some("dé: last # of all"));
    assert_eq!(place(text, tree.entries()[1].at.start), (4, 1));
}
