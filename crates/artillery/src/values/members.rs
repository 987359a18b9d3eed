//! Values within variables, and variables that are taken away.

use serde_json::{Map, Value};
use std::borrow::Cow;

use super::Values;

/// The largest index a list is filled up to; a larger number is a name.
const MAX_INDEX: usize = 10_000;

impl Values {
    /// Sets a variable, or a member within one (`user.id`, `user[id]`), whoever set that: what else is in it stays.
    /// What is not there on the way becomes a list where an index follows, else an object.
    pub(crate) fn set_at(&mut self, path: &str, value: Value) {
        let Some(at) = path.find(['.', '[']) else { return self.set(path, value) };
        let (variable, members) = path.split_at(at);
        let mut whole = self.find(variable).map(Cow::into_owned).unwrap_or_default();
        *member_at(&mut whole, members) = value;
        self.set(variable, whole);
    }

    /// The value set under this name, for a variable or one of its members.
    pub(super) fn captured_at(&self, path: &str) -> Option<Cow<'_, Value>> {
        let mut members = path.split(['.', '[', ']']).filter(|member| !member.is_empty());
        let mut value = self.find(members.next()?)?;
        for member in members {
            let found = match value.as_ref() {
                Value::Array(items) => items.get(member.parse::<usize>().ok()?).cloned(),
                whole => whole.get(member).cloned(),
            };
            value = Cow::Owned(found?);
        }
        Some(value)
    }

    /// Takes a variable from the user, also one that all users have.
    pub(crate) fn unset(&mut self, name: &str) {
        self.own.retain(|(own, _)| own != name);
        if self.find(name).is_some()
            && let Some(known) = &mut self.acquaintance
        {
            known.note_lost(name);
        }
    }
}

fn member_at<'v>(whole: &'v mut Value, members: &str) -> &'v mut Value {
    let members = members.split(['.', '[', ']']).filter(|member| !member.is_empty());
    members.fold(whole, |at, member| {
        let index = member.parse::<usize>().ok().filter(|index| *index <= MAX_INDEX && !at.is_object());
        let fits = matches!((&*at, index), (Value::Array(_), Some(_)) | (Value::Object(_), _));
        if !fits {
            *at = if index.is_some() { Value::Array(Vec::new()) } else { Value::Object(Map::new()) };
        }
        match (at, index) {
            (Value::Array(items), Some(index)) => {
                if items.len() <= index {
                    items.resize(index + 1, Value::Null);
                }
                &mut items[index]
            }
            (at, _) => &mut at[member],
        }
    })
}
