//! What diagnoses say, in Korean: for the page, which takes it with the run.
//!
//! The English sentence is the key, as with gettext: rules stay readable, and folders of older versions are said in
//! Korean as well. What is not in the catalogue stays English. A hole of a sentence that is a sentence itself, or a
//! list of them, is said in Korean, too.

mod causes;
mod evidence;
mod remedies;

use std::sync::OnceLock;

/// A sentence with `{}` for its holes, or `{#}` where only a number fits, and its Korean with `{1}` for the first hole.
type Entry = (&'static str, &'static str);

/// The Korean of a sentence of a diagnosis; None: it is in no catalogue.
pub fn korean(sentence: &str) -> Option<String> {
    static PATTERNS: OnceLock<Vec<Pattern>> = OnceLock::new();
    // Those with the most words of their own first: what is said with few of them fits much else.
    let patterns = PATTERNS.get_or_init(|| {
        let entries = [causes::ENTRIES, remedies::ENTRIES, evidence::ENTRIES].into_iter().flatten();
        let mut all: Vec<Pattern> = entries.map(Pattern::of).collect();
        all.sort_by_key(|pattern| std::cmp::Reverse(pattern.own_words()));
        all
    });
    patterns.iter().find_map(|pattern| Some(filled(pattern.korean, &pattern.holes_in(sentence)?)))
}

/// An entry, read.
struct Pattern {
    /// Before the first hole.
    start: &'static str,
    holes: Vec<Hole>,
    korean: &'static str,
}

/// A hole, and what stands behind it.
struct Hole {
    is_number: bool,
    after: &'static str,
}

impl Pattern {
    fn of((english, korean): &Entry) -> Pattern {
        let next = |text: &'static str| {
            let holes = [("{}", false), ("{#}", true)].into_iter();
            let at = holes.filter_map(|(mark, is_number)| Some((text.find(mark)?, mark, is_number)));
            at.min().map(|(at, mark, is_number)| (&text[..at], is_number, &text[at + mark.len()..]))
        };
        let Some((start, mut is_number, mut rest)) = next(english) else {
            return Pattern { start: english, holes: Vec::new(), korean };
        };
        let mut holes = Vec::new();
        while let Some((after, is_next_number, more)) = next(rest) {
            holes.push(Hole { is_number, after });
            (is_number, rest) = (is_next_number, more);
        }
        holes.push(Hole { is_number, after: rest });
        Pattern { start, holes, korean }
    }

    /// How much of a sentence it says itself.
    fn own_words(&self) -> usize {
        self.start.len() + self.holes.iter().map(|hole| hole.after.len()).sum::<usize>()
    }

    /// What stands in the holes; None: the sentence is another one.
    fn holes_in<'s>(&self, sentence: &'s str) -> Option<Vec<&'s str>> {
        let mut rest = sentence.strip_prefix(self.start)?;
        let mut found = Vec::with_capacity(self.holes.len());
        for (at, Hole { is_number, after }) in self.holes.iter().enumerate() {
            // A hole is never empty; the last piece is the end, wherever it stands before.
            let first = rest.chars().next()?.len_utf8();
            let end = if at + 1 == self.holes.len() {
                rest.len().checked_sub(after.len()).filter(|end| *end >= first && rest.ends_with(after))?
            } else {
                first + rest[first..].find(after)?
            };
            let (hole, more) = rest.split_at(end);
            if *is_number && !is_a_number(hole) {
                return None;
            }
            found.push(hole);
            rest = &more[after.len()..];
        }
        rest.is_empty().then_some(found)
    }
}

fn is_a_number(text: &str) -> bool {
    text.chars().all(|char| char.is_ascii_digit() || ".,".contains(char))
}

/// The Korean with what stands in the holes, itself in Korean where that is known.
fn filled(korean: &str, holes: &[&str]) -> String {
    let mut text = korean.to_owned();
    for (number, hole) in (1..).zip(holes) {
        let inner = self::korean(hole).or_else(|| listed(hole)).unwrap_or_else(|| (*hole).to_owned());
        text = text.replace(&format!("{{{number}}}"), &inner);
    }
    text
}

/// The parts of a list; None: one of them is in no catalogue.
fn listed(list: &str) -> Option<String> {
    let parts: Option<Vec<String>> = list.split(", ").map(self::korean).collect();
    Some(parts?.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_said_with_what_stands_in_them() {
        for (english, in_korean) in [
            ("The target's memory was used up.", Some("대상의 메모리를 다 썼습니다.")),
            (
                "99 % of a core (31 % before), full from 29 s on",
                Some("코어의 99 %(이전 31 %), 29초부터 가득 참"),
            ),
            ("p95 of answers rose from 24 to 1,640 ms", Some("응답 p95가 24에서 1,640 ms로 증가")),
            ("nobody measured the machine's CPU", Some("장비의 CPU는 측정하지 않음")),
            ("target.threads went from 10.00 to 90.00", Some("target.threads: 10.00 → 90.00")),
            (
                "3 copies never arrived: 1 with nothing after them, 2 of messages that reached nobody",
                Some(
                    "사본 3개가 끝내 도착하지 않음: 뒤에 온 것이 없는 사본 1개, 아무에게도 가지 않은 메시지의 사본 2개",
                ),
            ),
            ("something of a later version", None),
            ("", None),
        ] {
            assert_eq!(korean(english).as_deref(), in_korean, "{english}");
        }
    }

    #[test]
    fn no_sentence_is_there_twice_and_every_hole_is_in_the_korean() {
        let all = [causes::ENTRIES, remedies::ENTRIES, evidence::ENTRIES].concat();
        for (at, (english, korean)) in all.iter().enumerate() {
            assert!(all[..at].iter().all(|(other, _)| other != english), "{english}");
            for number in 1..=Pattern::of(&(english, korean)).holes.len() {
                assert!(korean.contains(&format!("{{{number}}}")), "{korean}");
            }
        }
    }

    /// What rules look for in events, and do not say.
    const LOOKED_FOR: [&str; 3] =
        ["wait for locks", "worker_connections are not enough", "one statement takes"];

    /// The texts between quotation marks in a source, those of comments and of tests left out.
    fn literals(source: &str) -> Vec<String> {
        let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
        let code: String = code.flat_map(|line| [line, "\n"]).collect();
        let (mut found, mut literal) = (Vec::new(), None::<String>);
        let mut chars = code.chars().peekable();
        while let Some(char) = chars.next() {
            match (&mut literal, char) {
                (None, '"') => literal = Some(String::new()),
                (Some(_), '"') => found.extend(literal.take()),
                (Some(text), '\\') => match chars.next() {
                    // The line goes on behind the next line's indent.
                    Some('\n') => while chars.next_if(|char| char.is_whitespace()).is_some() {},
                    Some(escaped) => text.push(escaped),
                    None => {}
                },
                (Some(text), char) => text.push(char),
                (None, _) => {}
            }
        }
        found
    }

    /// What stands between the holes of a format string, if it is three words and more.
    fn pieces(format: &str) -> Vec<String> {
        let plain = format.replace("{{", "\u{1}").replace("}}", "\u{2}");
        let parts = plain.split('{').enumerate().map(|(at, part)| match at {
            0 => part,
            _ => part.split_once('}').map_or(part, |(_, after)| after),
        });
        let parts = parts.map(|part| part.replace('\u{1}', "{").replace('\u{2}', "}"));
        let parts = parts.map(|part| part.trim_matches([' ', '.', ',', ';', ':', '(', ')', '%']).to_owned());
        parts.filter(|part| part.split_whitespace().count() >= 3).collect()
    }

    #[test]
    fn all_that_rules_and_stories_say_is_in_a_catalogue() {
        let all = [causes::ENTRIES, remedies::ENTRIES, evidence::ENTRIES].concat();
        let is_known = |piece: &String| {
            LOOKED_FOR.contains(&piece.as_str())
                || all.iter().any(|(english, _)| english.contains(piece.as_str()))
        };
        let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let folders = ["rules", "story"].map(|name| std::fs::read_dir(source.join(name)).unwrap());
        let files = folders.into_iter().flatten().map(|entry| entry.unwrap().path());
        let texts: Vec<String> = files
            .chain(["story.rs", "diagnosis.rs", "littles_law.rs"].map(|name| source.join(name)))
            .flat_map(|path| literals(&std::fs::read_to_string(path).unwrap()))
            .flat_map(|literal| pieces(&literal))
            .collect();
        assert!(texts.len() > 150, "{} found", texts.len());
        let unknown: Vec<&String> = texts.iter().filter(|piece| !is_known(piece)).collect();
        assert_eq!(unknown, Vec::<&String>::new());
    }
}
