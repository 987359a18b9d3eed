//! The variables a script can set, and those it uses.
//!
//! A variable is fine when *some* step of the same scenario sets it: an earlier loop iteration may have. That misses a
//! use before its capture, which the run then reports as a failed template.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

use crate::script::problem::nearest;
use crate::script::template::unknown;
use crate::script::yaml::{Node, Place, covers};

/// Values of one variable that are kept: more files nobody has in a form.
const MOST_CHOICES: usize = 1000;

/// Variables of a script while it is read.
#[derive(Default)]
pub(crate) struct Names {
    /// Set for every user: `config.variables`, payload fields, captures of `before`.
    global: BTreeSet<String>,
    /// Global ones with a single value, usable in `config` itself.
    constants: Vec<(String, Value)>,
    /// Global ones with all the values they may have.
    choices: BTreeMap<String, Vec<Value>>,
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
    /// Whether it is counted under a name of its own.
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
    /// In a condition: what has no value does not hold.
    in_condition: bool,
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

    /// All values that users may have of a global one, where they are few.
    pub(crate) fn declare_choices(&mut self, name: &str, values: impl ExactSizeIterator<Item = Value>) {
        if values.len() <= MOST_CHOICES {
            self.choices.insert(name.to_owned(), values.collect());
        }
    }

    /// All values that users may have of this from their start. None: nobody can say, for a flow may set it.
    pub(crate) fn choices(&self, name: &str) -> Option<&[Value]> {
        let is_set_later = self.local.contains(name) || self.anywhere.contains(name);
        self.choices.get(name).filter(|_| !is_set_later).map(Vec::as_slice)
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
        self.uses_one(name, place, false);
    }

    pub(crate) fn used_in_condition(&mut self, name: String, place: Place) {
        self.uses_one(name, place, true);
    }

    fn uses_one(&mut self, name: String, place: Place, in_condition: bool) {
        let over_list = self.loops.iter().any(|turns| turns.over_list);
        if let Some(innermost) = self.loops.last_mut().filter(|_| name == "$loopCount") {
            innermost.is_counted = true;
        }
        let by = String::new();
        self.uses.push(Use { name, place, in_loop: !self.loops.is_empty(), over_list, in_condition, by });
    }

    /// How many uses there are by now.
    pub(crate) fn uses(&self) -> usize {
        self.uses.len()
    }

    /// The names used since there were so many uses.
    pub(crate) fn used_since(&self, before: usize) -> Vec<String> {
        self.uses[before..].iter().map(|used| used.name.clone()).collect()
    }

    /// Says of the uses since then that stand in a template on whose behalf they are; what a step filled in (`filled`)
    /// has been looked at where the step stands.
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

    /// Variables that the flow being read sets although every user has them from its start.
    pub(crate) fn shadowed(&self) -> Vec<String> {
        self.local.intersection(&self.global).cloned().collect()
    }

    /// Ends a flow: its uses that nothing sets, each with the nearest known name. `keep` makes what it set global
    /// (`before`).
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
        let is_set = |name: &str| {
            let is_open = self.open && !unknown::is_call(name);
            is_open || unknown::is_known(name) || self.global.contains(name) || local.contains(name)
        };
        let known = || self.global.iter().chain(local).map(String::as_str).chain(["target"]);
        uses.into_iter()
            .filter_map(|used| match outside_its_loop(&used) {
                Some((what, hint)) => Some(Unset {
                    is_tolerable: false,
                    ..Unset::new(used, what.to_owned(), hint.map(str::to_owned))
                }),
                None if is_set(&used.name) => None,
                None => Some(never_set(used, &mut known())),
            })
            .collect()
    }
}

/// A use that cannot be.
pub(crate) struct Unset {
    pub(crate) name: String,
    pub(crate) place: Place,
    pub(crate) what: String,
    pub(crate) hint: Option<String>,
    /// No slip of the pen: it is undefined, and a run may go on.
    pub(crate) is_tolerable: bool,
    /// On whose behalf, as the end of a sentence.
    pub(crate) by: String,
}

impl Unset {
    fn new(used: Use, what: String, hint: Option<String>) -> Unset {
        let Use { name, place, by, .. } = used;
        Unset { name, place, what, hint, is_tolerable: true, by }
    }
}

/// The problem of a variable that only a loop sets, and its remedy.
fn outside_its_loop(used: &Use) -> Option<(&'static str, Option<&'static str>)> {
    match used.name.as_str() {
        "$loopCount" if !used.in_loop => Some(("$loopCount outside a loop has no value", None)),
        "$loopElement" if !used.over_list => {
            Some(("$loopElement outside a loop over a list has no value", Some("add `over:` beside `loop:`")))
        }
        _ => None,
    }
}

fn never_set(used: Use, known: &mut dyn Iterator<Item = &str>) -> Unset {
    if used.name.starts_with('$') {
        let (what, hint) = unknown::told(&used.name);
        return Unset::new(used, what, Some(hint));
    }
    let meant = nearest(&used.name, known).map(|meant| format!("did you mean {{{{ {meant} }}}}?"));
    // A condition on its existence may well expect it to be missing.
    let is_tolerable = meant.is_none() || used.in_condition;
    let hint = meant.unwrap_or_else(|| {
        "set it in `config.variables`, as a `payload` field, or by a `capture` with `as`".into()
    });
    let what = format!("nothing sets the variable \"{}\"", used.name);
    Unset { is_tolerable, ..Unset::new(used, what, Some(hint)) }
}
