//! The values for `{{ $room }}` and `{{ $message }}` in a block's templates.

use crate::script::engine::Engine;
use crate::script::reader::{Fields, Reader, plain_text};
use crate::script::yaml::{Entry, Kind, Node, Origin, Place};

/// The values for a template's expressions.
pub(crate) struct Filling<'n> {
    pub(crate) room: &'n Node,
    /// The variables it holds: they have been looked at where it stands.
    uses: Vec<String>,
    message: Option<&'n Node>,
    /// The step, for what is wrong in the template.
    verb: &'static str,
    pub(crate) place: Place,
}

impl<'n> Filling<'n> {
    /// The room a step names under a key.
    pub(crate) fn of(
        reader: &mut Reader,
        fields: &Fields<'n>,
        verb: &'static str,
        key: &'static str,
        message: Option<&'n Node>,
    ) -> Option<Filling<'n>> {
        let room = fields.get(key)?;
        let before = reader.names.uses();
        // Compiled here for its mistakes alone: these belong to the step.
        reader.template_of(fields, key)?;
        let uses = reader.names.used_since(before);
        Some(Filling { room, uses, message, verb, place: fields.place })
    }

    /// A copy of a template in which the holes are filled.
    pub(crate) fn fill(&self, reader: &mut Reader, template: &Node) -> Node {
        let kind = match &template.kind {
            Kind::Text { text, .. } => return self.fill_text(reader, template, text),
            Kind::List(items) => Kind::List(items.iter().map(|item| self.fill(reader, item)).collect()),
            Kind::Map(entries) => Kind::Map(
                entries
                    .iter()
                    .map(|entry| Entry { value: self.fill(reader, &entry.value), ..entry.clone() })
                    .collect(),
            ),
            plain => plain.clone(),
        };
        Node { place: template.place, kind }
    }

    fn fill_text(&self, reader: &mut Reader, node: &Node, text: &str) -> Node {
        if let (Some(message), Some(("", "$message", ""))) = (self.message, hole(text)) {
            return message.clone();
        }
        let room = plain_text(self.room).unwrap_or_default();
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, name, after)) = hole(rest) {
            filled.push_str(before);
            match (name, self.message) {
                ("$room", _) => filled.push_str(&room),
                ("$message", Some(message)) => match plain_text(message) {
                    Some(message) => filled.push_str(&message),
                    None => {
                        let what = "a message that is no text stands alone in its value".to_owned();
                        reader.problem(node.place, what, Some("write \"{{ $message }}\"".into()));
                    }
                },
                _ => filled.push_str(&rest[before.len()..rest.len() - after.len()]),
            }
            rest = after;
        }
        filled.push_str(rest);
        if filled == text {
            return node.clone();
        }
        Node { place: node.place, kind: Kind::Text { text: filled, inset: None } }
    }

    /// The engine's block does not say how.
    pub(crate) fn lacks(&self, reader: &mut Reader, engine: Engine, key: &str) {
        let (block, over) = (engine.block(), engine.name());
        let what =
            format!("config.{block} does not say what `{}` does over {over}: it has no `{key}`", self.verb);
        let example = engine.example(key);
        reader.problem(
            self.place,
            what,
            Some(format!("for `sonagi serve`, add to config: `{block}: {example}`")),
        );
    }

    /// Reads what came of a template, and tells what is wrong in it with the step that came upon it.
    pub(crate) fn read<T>(
        &self,
        reader: &mut Reader,
        template: &Node,
        read: impl FnOnce(&mut Reader, &Node) -> Option<T>,
    ) -> Option<T> {
        let (problems, uses) = (reader.problems.len(), reader.names.uses());
        let filled = self.fill(reader, template);
        let read = read(reader, &filled);
        let by = match self.place {
            Place { origin: Origin::Script, line, .. } => {
                format!(" (used by the `{}` step on line {line})", self.verb)
            }
            _ => format!(" (used by a `{}` step)", self.verb),
        };
        reader.on_behalf(problems, template, &by);
        reader.names.on_behalf(uses, template, &self.uses, &by);
        read
    }
}

/// The first hole of a text that could be a template's own: what is before it, its name, what is after it.
fn hole(text: &str) -> Option<(&str, &str, &str)> {
    let open = text.find("{{")?;
    let close = open + text[open..].find("}}")?;
    Some((&text[..open], text[open + 2..close].trim(), &text[close + 2..]))
}

/// Whether a template has such a hole.
pub(crate) fn has_hole(template: &Node, name: &str) -> bool {
    match &template.kind {
        Kind::Text { text, .. } => {
            let mut rest = text.as_str();
            while let Some((_, found, after)) = hole(rest) {
                if found == name {
                    return true;
                }
                rest = after;
            }
            false
        }
        Kind::List(items) => items.iter().any(|item| has_hole(item, name)),
        Kind::Map(entries) => entries.iter().any(|entry| has_hole(&entry.value, name)),
        _ => false,
    }
}
