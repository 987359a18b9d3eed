//! What else the machine did just before a run began.

use super::{Matrix, Run};
use crate::figures::figure;
use serde::{Deserialize, Serialize};

/// Others that use so much of all cores make a run's figures theirs as well.
const BUSY: f64 = 0.2;
/// Runs that are told one by one.
const TOLD: usize = 3;

/// The machine just before a run. What could not be read is not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// The load average of the last minute: the run before is in it.
    #[serde(default)]
    pub load_1m: Option<f64>,
    /// The share of all cores' time that others used.
    #[serde(default)]
    pub busy: Option<f64>,
    /// The share that the host gave to other guests.
    #[serde(default)]
    pub stolen: Option<f64>,
    /// The cores' mean frequency.
    #[serde(default)]
    pub mhz: Option<f64>,
}

impl Fingerprint {
    /// So much time that the host gives to other guests makes a run's figures theirs as well.
    pub const STOLEN: f64 = 0.05;

    /// Why a run that begins now shares the machine, if it does: `others use 45 % of this machine`.
    pub fn trouble(&self) -> Option<String> {
        let beyond = |share: Option<f64>, limit: f64| share.filter(|share| *share >= limit);
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        let busy =
            beyond(self.busy, BUSY).map(|share| format!("others use {} of this machine", percent(share)));
        let stolen = beyond(self.stolen, Self::STOLEN)
            .map(|share| format!("the host gives {} of its time to other guests", percent(share)));
        let troubles: Vec<String> = busy.into_iter().chain(stolen).collect();
        (!troubles.is_empty()).then(|| troubles.join("; "))
    }
}

/// Runs that began on a busy machine, in a sentence.
pub(super) fn sentence(matrix: &Matrix) -> Option<String> {
    let troubled = |run: &Run| Some(format!("{}: {}", run.label(), run.before?.trouble()?));
    let all: Vec<String> = matrix.runs.iter().filter_map(troubled).collect();
    let more = all.len().checked_sub(TOLD).filter(|more| *more > 0);
    let more = more.map(|more| format!("; and {more} more")).unwrap_or_default();
    let told = all.iter().take(TOLD).cloned().collect::<Vec<_>>().join("; ");
    (!all.is_empty())
        .then(|| format!("{} of {} runs began while it was busy: {told}{more}", all.len(), matrix.runs.len()))
}

/// How much the cores' frequency changed between runs, where it did by a tenth or more.
pub(super) fn frequency(matrix: &Matrix) -> Option<String> {
    let mhz = || matrix.runs.iter().filter_map(|run| run.before?.mhz).filter(|mhz| *mhz > 0.0);
    let (low, high) = (mhz().reduce(f64::min)?, mhz().reduce(f64::max)?);
    let differs = high > low * 1.1;
    differs.then(|| format!("its cores ran at {} to {} MHz before the runs", figure(low), figure(high)))
}
