//! The elements of a table of keys.

/// How a time is written.
pub(super) const SECONDS: &str = "a time: seconds, or a text like \"500ms\", \"30s\", \"5m\"";

/// How a time between two turns is written.
pub(super) const SECONDS_OR_RATE: &str =
    "a time: seconds, or a text like \"500ms\", \"30s\", \"5m\"; or a rate, like \"20/s\"";

/// How tags are written.
pub(super) const TAGS: &str = "a mapping of names to texts";

/// The tags of a step.
pub(super) const fn tags() -> Key {
    key(
        "tags",
        TAGS,
        "{page: list}",
        "What the step is told apart by, in figures and thresholds; over those of its scenario. (Sonagi's own.)",
    )
    .label()
}

/// A place in a script that has a fixed set of keys.
#[derive(Debug)]
pub(crate) struct Area {
    /// The place's name, as in "unknown key … in a phase".
    pub(crate) name: &'static str,
    /// Where it stands, for the reference: `config.phases[]`.
    pub(crate) path: &'static str,
    /// The treatment of a key that is not among them.
    pub(crate) others: Others,
    pub(crate) keys: &'static [Key],
}

/// The treatment of a key that its place does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Others {
    /// Nothing: Artillery does not look at it either. A run goes on without it, unless it is a known key misspelt or in
    /// the wrong place.
    Ignored,
    /// Like [`Others::Ignored`], and a misplaced key of `config` or a plugin is ignored like any other, unless it
    /// decides on the target or the load (`LOADING` of the folder above).
    Astray,
    /// Nothing to what judges the run, which goes by the keys it knows: as [`Others::Ignored`], and what is said of it
    /// is that it decides nothing.
    Unjudged,
    /// Something: Artillery hands all that stands there on to a client, or the run is judged by it, or the place is
    /// Sonagi's own.
    Meant,
}

/// A key of a place.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// The expected value, as in "arrivalRate wants …".
    pub(crate) wants: &'static str,
    /// A value as one would write it.
    pub(crate) example: &'static str,
    /// A sentence for the reference: its effect, unit and default.
    pub(crate) about: &'static str,
    pub(crate) support: Support,
    /// The places a mapping under it may be; what is around the mappings (a list, say) is in `wants`.
    pub(crate) of: &'static [&'static Area],
    /// Whether it only labels something: in the wrong place it changes nothing.
    pub(super) is_label: bool,
}

/// The support for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Support {
    Honoured,
    /// A problem; `wants` says why, `example` what to write instead.
    Refused,
    /// A notice; `wants` says why it has no effect. No notice when `wants` is empty.
    Ignored,
}

pub(super) const fn key(
    name: &'static str,
    wants: &'static str,
    example: &'static str,
    about: &'static str,
) -> Key {
    Key { name, wants, example, about, support: Support::Honoured, of: &[], is_label: false }
}

pub(super) const fn refused(name: &'static str, why: &'static str, instead: &'static str) -> Key {
    Key { name, wants: why, example: instead, about: "", support: Support::Refused, of: &[], is_label: false }
}

pub(super) const fn ignored(name: &'static str, why: &'static str) -> Key {
    Key { name, wants: why, example: "", about: "", support: Support::Ignored, of: &[], is_label: false }
}

impl Key {
    /// With the places a mapping under it may be.
    pub(super) const fn of(mut self, areas: &'static [&'static Area]) -> Key {
        self.of = areas;
        self
    }

    /// A key that only labels something.
    pub(super) const fn label(mut self) -> Key {
        self.is_label = true;
        self
    }

    /// The hint that shows one.
    pub(crate) fn as_written(&self) -> String {
        format!("e.g. `{}: {}`", self.name, self.example)
    }

    /// Whether it wants a number or a time; none of them may be negative.
    pub(crate) fn is_quantity(&self) -> bool {
        ["a number", "a whole number", "a time", "a percentage", "milliseconds"]
            .iter()
            .any(|quantity| self.wants.starts_with(quantity))
    }
}
