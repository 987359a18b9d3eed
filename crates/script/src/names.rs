//! Which variables a script can set, and which it uses.
//!
//! A variable is fine when *some* step of the same scenario sets it: an earlier loop iteration may have. That misses a use
//! before its capture, which the run then reports as a failed template.

use serde_json::Value;
use std::collections::BTreeSet;

use crate::yaml::{Node, Place, covers};

/// Variables of a script while it is read.
#[derive(Default)]
pub(crate) struct Names {
    /// Set for every user: `config.variables`, payload fields, captures of `before`.
    global: BTreeSet<String>,
    /// Global ones with a single value, usable in `config` itself.
    constants: Vec<(String, Value)>,
    /// Constants whose value is wrong, which has been said: nothing more is said of what hangs on them.
    unknown: BTreeSet<String>,
    /// Set by the flow being read.
    local: BTreeSet<String>,
    /// Set by any flow, for uses in `config`.
    anywhere: BTreeSet<String>,
    /// A file that names variables cannot be read: nobody can say which are set.
    open: bool,
    uses: Vec<Use>,
    /// Open loops around the step being read.
    loops: Vec<Turns>,
    /// The texts being read become a message that is sent, which may be stamped.
    pub(crate) in_message: bool,
    /// Stamps in messages of the flow being read.
    stamps: Vec<Place>,
    /// The texts being read subscribe to a room, which may take up where it broke off.
    in_subscription: bool,
    /// Uses of `$cursor` in all flows.
    cursors: Vec<Place>,
}

/// An open loop.
struct Turns {
    over_list: bool,
    /// It counts under a name of its own.
    is_named: bool,
    /// `$loopCount` stands in its own steps.
    is_counted: bool,
    /// Another loop in it counts under the usual name.
    holds_another: bool,
}

/// A variable used somewhere.
#[derive(Clone, Debug)]
pub(crate) struct Use {
    pub(crate) name: String,
    pub(crate) place: Place,
    in_loop: bool,
    over_list: bool,
    /// On whose behalf, as the end of a sentence; empty in a step's own text.
    by: String,
}

impl Names {
    pub(crate) fn declare_global(&mut self, name: &str) {
        self.global.insert(name.to_owned());
    }

    /// Variables that cannot be known are set too: none is reported as unset.
    pub(crate) fn may_be_anything(&mut self) {
        self.open = true;
    }

    pub(crate) fn declare_constant(&mut self, name: &str, value: Value) {
        self.constants.push((name.to_owned(), value));
    }

    pub(crate) fn declare_unknown(&mut self, name: &str) {
        self.unknown.insert(name.to_owned());
    }

    pub(crate) fn is_unknown(&self, name: &str) -> bool {
        self.unknown.contains(name)
    }

    pub(crate) fn constant(&self, name: &str) -> Option<&Value> {
        self.constants.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// A step of the flow being read sets this.
    pub(crate) fn declare(&mut self, name: &str) {
        self.local.insert(name.to_owned());
        self.anywhere.insert(name.to_owned());
    }

    pub(crate) fn used(&mut self, name: String, place: Place) {
        let over_list = self.loops.iter().any(|turns| turns.over_list);
        if let Some(innermost) = self.loops.last_mut().filter(|_| name == "$loopCount") {
            innermost.is_counted = true;
        }
        let by = String::new();
        self.uses.push(Use { name, place, in_loop: !self.loops.is_empty(), over_list, by });
    }

    /// How many uses there are by now.
    pub(crate) fn uses(&self) -> usize {
        self.uses.len()
    }

    /// The names used since there were so many uses.
    pub(crate) fn used_since(&self, before: usize) -> Vec<String> {
        self.uses[before..].iter().map(|used| used.name.clone()).collect()
    }

    /// Says of the uses since then that stand in a template on whose behalf they are; what a step filled in (`filled`) has
    /// been looked at where the step stands.
    pub(crate) fn on_behalf(&mut self, before: usize, template: &Node, filled: &[String], by: &str) {
        let recent = self.uses.split_off(before);
        for mut used in recent {
            if covers(template, used.place) {
                if filled.contains(&used.name) {
                    continue;
                }
                used.by = by.to_owned();
            }
            self.uses.push(used);
        }
    }

    /// Whether what is read from here on subscribes to a room; gives back what was so before.
    pub(crate) fn subscribe(&mut self, subscribes: bool) -> bool {
        std::mem::replace(&mut self.in_subscription, subscribes)
    }

    pub(crate) fn in_subscription(&self) -> bool {
        self.in_subscription
    }

    pub(crate) fn resumes(&mut self, place: Place) {
        self.cursors.push(place);
    }

    /// How many uses of `$cursor` there are by now.
    pub(crate) fn cursors(&self) -> usize {
        self.cursors.len()
    }

    /// The first use of `$cursor`.
    pub(crate) fn first_cursor(&self) -> Option<Place> {
        self.cursors.first().copied()
    }

    /// How many stamps the flow being read has by now.
    pub(crate) fn stamps(&self) -> usize {
        self.stamps.len()
    }

    pub(crate) fn stamped(&mut self, place: Place) {
        self.stamps.push(place);
    }

    /// The stamps of the flow read so far.
    pub(crate) fn take_stamps(&mut self) -> Vec<Place> {
        std::mem::take(&mut self.stamps)
    }

    pub(crate) fn enter_loop(&mut self, over_list: bool, is_named: bool) {
        if let Some(outer) = self.loops.last_mut().filter(|_| !is_named) {
            outer.holds_another = true;
        }
        self.loops.push(Turns { over_list, is_named, is_counted: false, holds_another: false });
    }

    /// Whether the loop counts under the name that another one in it counts under.
    pub(crate) fn leave_loop(&mut self) -> bool {
        self.loops.pop().is_some_and(|turns| !turns.is_named && turns.is_counted && turns.holds_another)
    }

    /// Whether a user has a value for this at the step being read.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.open || self.is_declared(name)
    }

    /// Whether a part of the script, and not some function, sets this.
    pub(crate) fn is_declared(&self, name: &str) -> bool {
        self.is_global(name) || self.local.contains(name)
    }

    /// Whether every user has a value for this from its start.
    pub(crate) fn is_global(&self, name: &str) -> bool {
        name.starts_with('$') || self.global.contains(name)
    }

    /// Uses of `config`, kept until all flows are known.
    pub(crate) fn take_uses(&mut self) -> Vec<Use> {
        std::mem::take(&mut self.uses)
    }

    /// What the flow being read sets and every user has from its start, too.
    pub(crate) fn shadowed(&self) -> Vec<String> {
        self.local.intersection(&self.global).cloned().collect()
    }

    /// Ends a flow: its uses that nothing sets, each with the nearest known name. `keep` makes what it set global (`before`).
    pub(crate) fn end_flow(&mut self, keep: bool) -> Vec<Unset> {
        let local = std::mem::take(&mut self.local);
        let uses = self.take_uses();
        let unset = self.unset(uses, &local);
        if keep {
            self.global.extend(local);
        }
        unset
    }

    /// Uses in `config` that no flow sets.
    pub(crate) fn unset_anywhere(&self, uses: Vec<Use>) -> Vec<Unset> {
        self.unset(uses, &self.anywhere)
    }

    fn unset(&self, uses: Vec<Use>, local: &BTreeSet<String>) -> Vec<Unset> {
        let unset = uses.into_iter().filter(|used| !self.open || used.name.starts_with('$'));
        unset.filter_map(|used| why_unset(used, &self.global, local)).collect()
    }
}

/// A use that cannot be.
pub(crate) struct Unset {
    pub(crate) place: Place,
    pub(crate) what: String,
    pub(crate) hint: Option<String>,
    /// On whose behalf, as the end of a sentence.
    pub(crate) by: String,
}

fn why_unset(used: Use, global: &BTreeSet<String>, local: &BTreeSet<String>) -> Option<Unset> {
    let place = used.place;
    let by = used.by;
    match used.name.as_str() {
        "$loopCount" if !used.in_loop => {
            Some(Unset { place, what: "$loopCount outside a loop has no value".into(), hint: None, by })
        }
        "$loopElement" if !used.over_list => Some(Unset {
            place,
            what: "$loopElement outside a loop over a list has no value".into(),
            hint: Some("add `over:` beside `loop:`".into()),
            by,
        }),
        name if name.starts_with('$') || global.contains(name) || local.contains(name) => None,
        name => {
            let known = global.iter().chain(local).map(String::as_str).chain(["target"]);
            let hint = match crate::problem::nearest(name, known) {
                Some(meant) => format!("did you mean {{{{ {meant} }}}}?"),
                None => {
                    "set it in `config.variables`, as a `payload` field, or by a `capture` with `as`".into()
                }
            };
            let what = format!("nothing sets the variable \"{name}\"");
            Some(Unset { place, what, hint: Some(hint), by })
        }
    }
}
