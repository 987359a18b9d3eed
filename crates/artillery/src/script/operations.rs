//! The names under which a run's steps are counted, each once, and the tags they have.

use crate::plan::Tagged;
use sonagi_measure::outcome::{CountedAs, Operation, OperationId, OperationKind, TaggedId};
use std::collections::{BTreeMap, BTreeSet};

/// Different tags that a script may have: each makes series of its own.
pub(crate) const MOST_TAGS: usize = 1000;

/// Interns step names.
#[derive(Default)]
pub(crate) struct Operations {
    all: Vec<Operation>,
    /// Tags of the scenario and the step being read; the inner ones override.
    tags: BTreeMap<String, String>,
    different_tags: BTreeSet<(String, String)>,
    tagged: Vec<Tagged>,
}

impl Operations {
    /// What an operation of the step being read is counted as. None: more of them than ids (65,535).
    pub(crate) fn counted_as(&mut self, name: &str, kind: OperationKind) -> Option<CountedAs> {
        let id = self.intern(name, kind)?;
        if self.tags.is_empty() {
            return Some(id.into());
        }
        let is_it = |tagged: &Tagged| tagged.operation == id && tagged.tags == self.tags;
        let at = self.tagged.iter().position(is_it).unwrap_or(self.tagged.len());
        let tagged = TaggedId(u16::try_from(at).ok()?);
        if at == self.tagged.len() {
            self.tagged.push(Tagged { operation: id, tags: self.tags.clone() });
        }
        Some(CountedAs { id, tagged: Some(tagged) })
    }

    /// The tags of what is being read.
    pub(crate) fn tags(&self) -> &BTreeMap<String, String> {
        &self.tags
    }

    /// One more tag of what is being read, or another value of one. False: the script has too many.
    pub(crate) fn tag(&mut self, (name, value): (String, String)) -> bool {
        self.different_tags.insert((name.clone(), value.clone()));
        self.tags.insert(name, value);
        self.different_tags.len() <= MOST_TAGS
    }

    /// What was read is over: its tags end, these are those around it.
    pub(crate) fn restore_tags(&mut self, around: BTreeMap<String, String>) {
        self.tags = around;
    }

    /// Operations as steps with tags take them, by `TaggedId`.
    pub(crate) fn tagged(&self) -> &[Tagged] {
        &self.tagged
    }

    /// The id of an operation; the same name and kind is the same operation. A name already taken by another kind gets
    /// the kind added, because names are unique in a plan. None: more operations than ids (65,535).
    fn intern(&mut self, name: &str, kind: OperationKind) -> Option<OperationId> {
        let distinct = format!("{name} ({})", kind.word());
        let known = self.all.iter().position(|operation| {
            operation.kind == kind && (operation.name == name || operation.name == distinct)
        });
        if let Some(index) = known {
            return u16::try_from(index).ok().map(OperationId);
        }
        let taken = self.all.iter().any(|operation| operation.name == name);
        let index = u16::try_from(self.all.len()).ok()?;
        self.all.push(Operation { name: if taken { distinct } else { name.to_owned() }, kind });
        Some(OperationId(index))
    }

    pub(crate) fn all(&self) -> &[Operation] {
        &self.all
    }

    pub(crate) fn into_parts(self) -> (Vec<Operation>, Vec<Tagged>) {
        (self.all, self.tagged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_operation_per_kind_and_unique() {
        let mut operations = Operations::default();
        let first = operations.intern("emit say", OperationKind::SocketioEmit);
        let other = operations.intern("emit say", OperationKind::SocketioRequest);
        assert_eq!(operations.intern("emit say", OperationKind::SocketioEmit), first);
        assert_eq!(operations.intern("emit say", OperationKind::SocketioRequest), other);
        let names: Vec<String> = operations.all().iter().map(|operation| operation.name.clone()).collect();
        assert_eq!(names, ["emit say", "emit say (answered)"]);
    }
}
