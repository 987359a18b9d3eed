//! A trial that is over, and what it says of the target.

/// How a trial ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The expression held.
    Held,
    /// It did not.
    Missed,
    /// The generator fell behind: the target is not to blame.
    Unreliable,
    /// It did not, while other virtual machines had this one's time: it is repeated.
    Stolen,
}

impl Outcome {
    /// Whether it says something of the target.
    pub fn is_of_target(self) -> bool {
        matches!(self, Outcome::Held | Outcome::Missed)
    }
}

/// A trial that is over.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Trial {
    /// Its load.
    pub load: u64,
    /// How long it was meant to be.
    pub seconds: f64,
    /// How it ended.
    pub outcome: Outcome,
    /// The load that the target kept up with, if that can be told in the load's own unit.
    pub achieved: Option<f64>,
}

/// The last outcome of trials that says something of the target.
pub(super) trait LastOutcome {
    fn rfind_outcome(self) -> Option<Outcome>;
}

impl<'t, I: Iterator<Item = &'t Trial>> LastOutcome for I {
    fn rfind_outcome(self) -> Option<Outcome> {
        self.map(|trial| trial.outcome).filter(|outcome| outcome.is_of_target()).last()
    }
}
