//! The tags by which whoever reads a run may break a metric down: more of them than thresholds and summaries need, with
//! a limit on how many values and sets of them are told apart.
//!
//! All threads share what is told apart, so that a value has a series of its own on all of them or on none.

use super::tags::TagSet;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The most values of one tag that are told apart; those that come later are called [`OTHER`].
pub const VALUES_MAX: usize = 100;
/// The most sets of tags that are told apart; of those that come later, only coarse tags are kept.
pub const SETS_MAX: usize = 300;
/// The value that stands for all beyond the limit.
pub const OTHER: &str = "other";

/// What is told apart so far.
#[derive(Debug, Default)]
pub(super) struct ToldApart {
    sets: HashSet<TagSet>,
    coarse: HashSet<TagSet>,
    values: HashMap<Arc<str>, HashSet<Arc<str>>>,
}

/// Where samples with certain tags count.
pub(super) struct Place {
    /// With these.
    pub(super) tags: TagSet,
    /// Whether they must be entered first.
    pub(super) is_new: bool,
}

impl ToldApart {
    /// Where samples with these tags count; beyond the limit of sets, with those of them that are coarse, and the tag
    /// that names what was done.
    pub(super) fn place(&self, tags: TagSet, name: &str, coarse: &[&str]) -> Place {
        if self.sets.contains(&tags) {
            return Place { tags, is_new: false };
        }
        let bounded = tags.map(|name, value| (!self.has_room(name, value)).then(|| OTHER.to_owned()));
        let is_new = !self.sets.contains(&bounded);
        if !is_new || self.sets.len() < SETS_MAX {
            return Place { tags: bounded, is_new };
        }
        let coarse = bounded.filter(|tag, _| tag == name || coarse.contains(&tag));
        let coarse = coarse.map(|tag, _| (tag == name).then(|| OTHER.to_owned()));
        let is_new = !self.coarse.contains(&coarse);
        if !is_new || self.coarse.len() < SETS_MAX {
            return Place { tags: coarse, is_new };
        }
        Place { tags: TagSet::default(), is_new: false }
    }

    /// Enters the tags of a place, which are returned.
    pub(super) fn enter(&mut self, Place { tags, is_new }: Place) -> TagSet {
        if is_new && self.sets.len() < SETS_MAX {
            for (name, value) in tags.shares().filter(|(_, value)| &***value != OTHER) {
                self.values.entry(Arc::clone(name)).or_default().insert(Arc::clone(value));
            }
            self.sets.insert(tags.clone());
        } else if is_new {
            self.coarse.insert(tags.clone());
        }
        tags
    }

    fn has_room(&self, name: &str, value: &str) -> bool {
        self.values.get(name).is_none_or(|known| known.len() < VALUES_MAX || known.contains(value))
    }
}
