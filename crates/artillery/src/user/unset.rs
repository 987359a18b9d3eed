//! Telling of variables that have no value.

use super::User;
use crate::plan::Step;

/// Variables of a shard's users that are told of when they have no value.
const MOST_TOLD: usize = 10;

impl User {
    /// After a step: says of a variable that had no value that it had none, where it was first.
    pub(super) fn tell_unset(&mut self, step: &Step) {
        let Some(name) = self.values.take_unset() else { return };
        let mut told = self.shard.told_unset.borrow_mut();
        if told.len() == MOST_TOLD || told.contains(&name) {
            return;
        }
        let operations = &self.shard.plan().operations;
        let named = step.operation().and_then(|counted| operations.get(usize::from(counted.id.0)));
        let place = named.map_or_else(String::new, |operation| format!(" in \"{}\"", operation.name));
        let text =
            format!("the variable `{name}` has no value{place}: it is written as `undefined`, or left out");
        told.push(name);
        drop(told);
        self.shard.tell(Some(self.values.member), text);
    }
}
