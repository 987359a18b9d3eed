//! What to do about a finding, ranked by seven criteria: impact, ease, resources at hand, cost, scalability, severity
//! and risk.

use serde::Serialize;

/// Something to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Remedy {
    /// The step, concrete for what was seen.
    pub text: String,
    /// Why it stands where it does.
    pub criteria: Criteria,
}

/// How good a remedy is, each from 1 (bad) to 3 (good).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Criteria {
    /// How much of the trouble it takes away.
    pub impact: u8,
    /// How quickly it is done.
    pub ease: u8,
    /// Whether what it needs is at hand.
    pub resources: u8,
    /// How little it costs.
    pub cost: u8,
    /// Whether it still helps when the load grows.
    pub scalability: u8,
    /// How grave the trouble is that it takes away.
    pub severity: u8,
    /// How little can go wrong with it.
    pub risk: u8,
}

impl Criteria {
    /// Impact, ease, resources, cost, scalability, severity, risk.
    pub(crate) const fn new(of: [u8; 7]) -> Criteria {
        let [impact, ease, resources, cost, scalability, severity, risk] = of;
        Criteria { impact, ease, resources, cost, scalability, severity, risk }
    }

    /// Impact counts twice: a remedy that changes little is no remedy, however cheap.
    pub fn score(&self) -> u32 {
        let rest =
            [self.ease, self.resources, self.cost, self.scalability, self.severity, self.risk].map(u32::from);
        2 * u32::from(self.impact) + rest.iter().sum::<u32>()
    }

    /// `impact 3 · ease 2 · …`.
    pub fn told(&self) -> String {
        let named = [
            ("impact", self.impact),
            ("ease", self.ease),
            ("at hand", self.resources),
            ("cost", self.cost),
            ("scales", self.scalability),
            ("severity", self.severity),
            ("safety", self.risk),
        ];
        named.map(|(name, grade)| format!("{name} {grade}")).join(" · ")
    }
}

/// A remedy, with impact, ease, resources, cost, scalability, severity and risk.
pub(crate) fn remedy(text: impl Into<String>, of: [u8; 7]) -> Remedy {
    Remedy { text: text.into(), criteria: Criteria::new(of) }
}

/// The best first; those equally good stay in their order.
pub(crate) fn ranked(mut remedies: Vec<Remedy>) -> Vec<Remedy> {
    remedies.sort_by_key(|remedy| std::cmp::Reverse(remedy.criteria.score()));
    remedies
}
