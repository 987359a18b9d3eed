//! Instants as plain numbers: nanoseconds since the run's start, on one monotonic clock.

/// An instant of a run; negative before its start. A `before` flow has no place on this axis: it counts from its own
/// start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct At(pub i64);

impl At {
    /// Nanoseconds from `earlier` to `self`; negative when `earlier` is later.
    pub fn since(self, earlier: At) -> i64 {
        self.0 - earlier.0
    }
    /// This instant moved by `ns`.
    pub fn plus(self, ns: i64) -> At {
        At(self.0.saturating_add(ns))
    }
    /// The whole second this instant falls in, counted from the run's start.
    pub fn second(self) -> i64 {
        self.0.div_euclid(1_000_000_000)
    }
}
