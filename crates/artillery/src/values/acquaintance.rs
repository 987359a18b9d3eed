//! The processor's knowledge of a user's variables, and the changes it must still be told.

use super::LoopValues;

/// The processor's knowledge of a user.
#[derive(Default)]
pub(crate) struct Acquaintance {
    /// The process it was introduced to; another one knows nothing.
    pub(crate) generation: Option<u32>,
    /// Variables that changed since the last call, each once.
    pub(crate) changed: Vec<String>,
    /// Variables all users have, and this one no longer: a function took them away.
    pub(crate) lost: Vec<String>,
    /// The loop's values as they were told.
    pub(crate) loops: Option<LoopValues>,
}

impl Acquaintance {
    /// A variable has a new value, which the process does not know yet.
    pub(crate) fn note_set(&mut self, name: &str) {
        self.lost.retain(|lost| lost != name);
        if !self.changed.iter().any(|changed| changed == name) {
            self.changed.push(name.to_owned());
        }
    }

    /// A variable that all users have is none of this user's any more.
    pub(crate) fn note_lost(&mut self, name: &str) {
        if !self.has_lost(name) {
            self.lost.push(name.to_owned());
        }
    }

    /// The changes since the last call.
    pub(crate) fn take_changed(&mut self) -> Vec<String> {
        std::mem::take(&mut self.changed)
    }

    pub(crate) fn has_lost(&self, name: &str) -> bool {
        self.lost.iter().any(|lost| lost == name)
    }
}
