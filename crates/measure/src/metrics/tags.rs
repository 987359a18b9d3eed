//! The tags of samples: each set exists once per thread.
//!
//! A request has up to ten tags and eight samples. Its set is looked up once (hashing the strings that differ from the
//! user's own tags); after that a sample knows its set by address, and the set knows for each metric where its samples
//! go.
//!
//! A script can make ever new tags (an URL with a number in it): sets nobody holds any more are dropped when there are
//! more than [`KEPT`] and more than twice those that were held the last time.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::{Rc, Weak};
use std::sync::Arc;

/// Fewer sets than this are not looked through for those nobody holds.
pub(super) const KEPT: usize = 4_096;

/// Says of a set and a metric that nobody has asked yet where the samples go.
pub(super) const UNSETTLED: u32 = u32::MAX;

/// A tag that the tool sets by itself, of a script's language that has such: a test can do without.
pub trait AutomaticTag: Copy {
    /// The tag's name.
    fn name(self) -> &'static str;
    /// Its bit in [`AutomaticTags`], below 64; no other has it.
    fn number(self) -> u32;
    /// Whether it says something that is different for every iteration: then it is told beside a sample ([`Metadata`])
    /// and makes no series of its own.
    fn is_metadata(self) -> bool;
}

/// The automatic tags that a test wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AutomaticTags(u64);

impl AutomaticTags {
    /// These and one more.
    #[must_use]
    pub fn and(self, tag: impl AutomaticTag) -> AutomaticTags {
        AutomaticTags(self.0 | 1 << tag.number())
    }

    /// Whether the test wants it.
    pub fn has(self, tag: impl AutomaticTag) -> bool {
        self.0 & (1 << tag.number()) != 0
    }
}

/// Tags, in the order of their names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TagSet(Box<[(Arc<str>, Arc<str>)]>);

impl serde::Serialize for TagSet {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> serde::Deserialize<'de> for TagSet {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<TagSet, D::Error> {
        let pairs = std::collections::BTreeMap::<String, String>::deserialize(deserializer)?;
        Ok(TagSet(pairs.into_iter().map(|(name, value)| (Arc::from(name), Arc::from(value))).collect()))
    }
}

/// Facts beside a sample that make no series of their own: the numbers of the user and of its iteration, a script's
/// additions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata(pub Vec<(String, String)>);

impl TagSet {
    /// These; of those given twice, the last counts.
    pub fn of(pairs: &[(&str, &str)]) -> TagSet {
        let pairs: std::collections::BTreeMap<&str, &str> = pairs.iter().copied().collect();
        TagSet(pairs.into_iter().map(|(name, value)| (Arc::from(name), Arc::from(value))).collect())
    }

    /// The value of a tag.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.shared(name).map(AsRef::as_ref)
    }

    /// All, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), value.as_ref()))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The tags with these names.
    pub fn only(&self, names: &[&str]) -> TagSet {
        if names.is_empty() {
            return TagSet::default();
        }
        self.filter(|name, _| names.contains(&name))
    }

    /// Those of the tags that are wanted.
    pub(super) fn filter(&self, is_wanted: impl Fn(&str, &str) -> bool) -> TagSet {
        TagSet(self.0.iter().filter(|(name, value)| is_wanted(name, value)).cloned().collect())
    }

    /// The same tags with another value for each of which one is given back.
    pub(crate) fn map(&self, value: impl Fn(&str, &str) -> Option<String>) -> TagSet {
        let mapped = self.0.iter().map(|(name, old)| {
            let kept = value(name, old).map_or_else(|| Arc::clone(old), Arc::from);
            (Arc::clone(name), kept)
        });
        TagSet(mapped.collect())
    }

    /// All, to be kept.
    pub(super) fn shares(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<str>)> {
        self.0.iter().map(|(name, value)| (name, value))
    }

    /// The value of a tag, to be kept.
    pub fn shared(&self, name: &str) -> Option<&Arc<str>> {
        self.0.iter().find(|(known, _)| **known == *name).map(|(_, value)| value)
    }
}

/// A set of tags of one thread, and what is told beside its samples. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Tags {
    pub(super) node: Rc<Node>,
    metadata: Option<Arc<Metadata>>,
}

/// A set, once per thread.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) set: Arc<TagSet>,
    /// Where samples go, by metric.
    pub(super) cells: RefCell<Vec<u32>>,
    hash: u64,
    interner: Weak<Interner>,
}

/// The sets of a thread.
#[derive(Debug)]
pub(super) struct Interner {
    wanted: AutomaticTags,
    sets: RefCell<Sets>,
}

#[derive(Debug)]
struct Sets {
    by_hash: HashMap<u64, Vec<Rc<Node>>>,
    count: usize,
    sweep_at: usize,
}

impl Interner {
    pub(super) fn new(wanted: AutomaticTags) -> Rc<Interner> {
        let sets = Sets { by_hash: HashMap::new(), count: 0, sweep_at: KEPT };
        Rc::new(Interner { wanted, sets: RefCell::new(sets) })
    }

    pub(super) fn empty(self: &Rc<Interner>) -> Tags {
        Tags { node: self.intern(0, |set| set.0.is_empty(), TagSet::default), metadata: None }
    }

    /// The set that `is_it`, made when there is none.
    fn intern(
        self: &Rc<Interner>,
        hash: u64,
        is_it: impl Fn(&TagSet) -> bool,
        make: impl FnOnce() -> TagSet,
    ) -> Rc<Node> {
        let mut sets = self.sets.borrow_mut();
        if let Some(node) = sets.by_hash.get(&hash).and_then(|same| same.iter().find(|node| is_it(&node.set)))
        {
            return node.clone();
        }
        if sets.count >= sets.sweep_at {
            sets.sweep();
        }
        let interner = Rc::downgrade(self);
        let node = Rc::new(Node { set: Arc::new(make()), cells: RefCell::default(), hash, interner });
        sets.by_hash.entry(hash).or_default().push(node.clone());
        sets.count += 1;
        node
    }
}

#[cfg(test)]
impl Node {
    /// How many sets its thread has.
    pub(super) fn interner_count(&self) -> usize {
        self.interner.upgrade().map_or(0, |interner| interner.sets.borrow().count)
    }
}

impl Sets {
    fn sweep(&mut self) {
        let mut count = 0;
        self.by_hash.retain(|_, same| {
            same.retain(|node| Rc::strong_count(node) > 1);
            count += same.len();
            !same.is_empty()
        });
        self.count = count;
        self.sweep_at = KEPT.max(count * 2);
    }
}

impl Tags {
    /// Whether these are the very set the others are, without looking at any of them.
    pub fn is(&self, others: &Tags) -> bool {
        let beside = |tags: &Tags| tags.metadata.as_ref().map(Arc::as_ptr);
        Rc::ptr_eq(&self.node, &others.node) && beside(self) == beside(others)
    }

    /// These and one more, or with another value.
    pub fn with(&self, name: &str, value: &str) -> Tags {
        self.with_all(&[(name, value)])
    }

    /// These and more; of those given twice, the last counts.
    pub fn with_all(&self, added: &[(&str, &str)]) -> Tags {
        let set = &*self.node.set;
        let (mut hash, mut count) = (self.node.hash, set.0.len());
        let lasting = |at: usize| added[at + 1..].iter().all(|later| later.0 != added[at].0);
        for (at, (name, value)) in added.iter().enumerate() {
            if lasting(at) {
                match set.get(name) {
                    Some(old) => hash = hash.wrapping_sub(hash_of(name, old)),
                    None => count += 1,
                }
                hash = hash.wrapping_add(hash_of(name, value));
            }
        }
        let added_here =
            |name: &str| added.iter().rev().find(|(known, _)| *known == name).map(|(_, value)| *value);
        let is_it = |other: &TagSet| {
            other.0.len() == count
                && other.0.iter().all(|(name, value)| match added_here(name) {
                    Some(added) => **value == *added,
                    None => {
                        set.shared(name).is_some_and(|known| Arc::ptr_eq(known, value) || **known == **value)
                    }
                })
        };
        let make = || {
            let kept = set.0.iter().filter(|(name, _)| added_here(name).is_none()).cloned();
            let new = (0..added.len())
                .filter(|at| lasting(*at))
                .map(|at| (Arc::from(added[at].0), Arc::from(added[at].1)));
            let mut all: Vec<_> = kept.chain(new).collect();
            all.sort_unstable();
            TagSet(all.into())
        };
        let node = match self.node.interner.upgrade() {
            Some(interner) => interner.intern(hash, is_it, make),
            // The thread's sampler is gone: what is tagged now counts nowhere.
            None => Rc::new(Node {
                set: Arc::new(make()),
                cells: RefCell::default(),
                hash,
                interner: Weak::new(),
            }),
        };
        Tags { node, metadata: self.metadata.clone() }
    }

    /// These and those of the given automatic tags that the test wants; the first 24 of them.
    pub fn with_automatic<T: AutomaticTag>(&self, added: &[(T, &str)]) -> Tags {
        const MOST: usize = 24;
        let Some(interner) = self.node.interner.upgrade() else { return self.clone() };
        let mut wanted = [("", ""); MOST];
        let mut count = 0;
        for (tag, value) in
            added.iter().filter(|(tag, _)| interner.wanted.has(*tag) && !tag.is_metadata()).take(MOST)
        {
            wanted[count] = (tag.name(), value);
            count += 1;
        }
        self.with_all(&wanted[..count])
    }

    /// These without one.
    pub fn without(&self, name: &str) -> Tags {
        let Some(interner) = self.node.interner.upgrade() else { return self.clone() };
        let kept: Vec<_> = self.node.set.iter().filter(|(known, _)| *known != name).collect();
        Tags { metadata: self.metadata.clone(), ..interner.empty().with_all(&kept) }
    }

    /// These, and beside them what makes no series of its own.
    pub fn with_metadata(&self, metadata: Option<Arc<Metadata>>) -> Tags {
        Tags { node: self.node.clone(), metadata }
    }

    /// The facts beside their samples.
    pub fn metadata(&self) -> Option<&Arc<Metadata>> {
        self.metadata.as_ref()
    }

    /// The value of a tag.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.node.set.get(name)
    }

    /// The set itself.
    pub fn set(&self) -> &Arc<TagSet> {
        &self.node.set
    }

    /// Whether the test wants an automatic tag.
    pub fn wants(&self, tag: impl AutomaticTag) -> bool {
        self.node.interner.upgrade().is_some_and(|interner| interner.wanted.has(tag))
    }
}

/// A pair's share of its set's hash: shares are added, so that the order of tags does not matter and one can be taken
/// away.
fn hash_of(name: &str, value: &str) -> u64 {
    // No defence against chosen collisions is needed: sets are compared in full, and the strings are the test's own.
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = SPREAD ^ (name.len() as u64) << 32 ^ value.len() as u64;
    for text in [name, value] {
        for chunk in text.as_bytes().chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            hash = (hash.rotate_left(23) ^ u64::from_le_bytes(word)).wrapping_mul(SPREAD);
        }
    }
    hash ^ hash >> 29
}
