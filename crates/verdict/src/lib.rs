//! Pure functions over runs: what broke first, with evidence, what was ruled out, and remedies ([`diagnose`]); which of
//! two sides of runs is better ([`compare::compare`]); and which trial comes next in a search for the highest load that
//! a target holds ([`capacity::Search`]). No I/O.
//!
//! A run is a [`Timeline`]: the series of its frames, second by second. [`diagnose`] asks first whether the service
//! stopped following at all ([`Story`]), then every rule of [`rules::TABLE`] whether its resource saturated, and ranks
//! those that did. A rule tells a story, not a threshold: demand held or rose, the service stopped following, this
//! resource saturated no later, and its rivals did not. A target that kept up is never accused.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod capacity;
mod case;
pub mod compare;
mod diagnosis;
mod investigation;
mod korean;
mod littles_law;
mod remedy;
pub mod rules;
mod series;
mod story;
#[cfg(test)]
mod tests;
mod timeline;

pub use case::Case;
pub use diagnosis::{Confidence, Diagnosis, Evidence, Finding, RuledOut, diagnose};
pub use investigation::Investigation;
pub use korean::korean;
pub use remedy::{Criteria, Remedy};
pub use story::{Story, Symptom, SymptomKind};
pub use timeline::Timeline;
