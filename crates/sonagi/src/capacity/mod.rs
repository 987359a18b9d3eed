//! `sonagi capacity`: trials one after the other until the highest load is known that the target holds.
//!
//! [`sonagi_verdict::capacity`] decides which trial comes next; here they are carried out, whatever the script's
//! language ([`Trials`]), written down ([`Record`]), and waited for between ([`recovery`]).

mod artillery;
mod deadline;
mod preflight;
mod record;
mod recovery;
mod search;
mod trials;

pub(crate) use artillery::{ArtilleryTrials, Varying};
pub(crate) use preflight::Machine;
pub(crate) use record::Record;
pub(crate) use search::{Asked, search};
/// What is said of a script that asks for several runs.
pub(crate) const REPEATS_ITSELF: &str =
    "notice: the script's `repeat` and `compare` are not looked at: a search repeats its trials itself";

pub(crate) use trials::{Demand, TrialLength, TrialRun, Trials, Varied, service_is_varied};
