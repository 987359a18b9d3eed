//! What the runs of a matrix say together: which value of an axis is best, and what the machine did meanwhile.

use super::{Matrix, Run};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sonagi_verdict::compare::{Choice, Drifted, Group, Observation, Question, choose, drifted};

/// A change of a time or a rate within it does not matter, unless the script says otherwise.
pub const MARGIN: f64 = 0.05;

/// What a script asks of its runs (`compare`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// The axis whose values are compared.
    pub across: String,
    /// The figure that decides; None: the usual one.
    pub primary: Option<String>,
    /// A change within it does not matter, as a share.
    pub margin: f64,
}

/// The answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Answer {
    /// For each combination of the other axes, what came of this one.
    pub choices: Vec<Choice>,
    /// What the machine did meanwhile.
    pub drift: Option<Drifted>,
    /// What was left out of the runs' begins, by the name of the run.
    #[serde(skip)]
    pub observed: Vec<Observation>,
}

impl Matrix {
    /// Answers what the script asks, from what was observed of each run: None of one that could not be run.
    pub fn judge(&mut self, observed: &[Option<Observation>]) {
        let all: Vec<(&Run, &Observation)> =
            self.runs.iter().zip(observed).filter_map(|(run, seen)| Some((run, seen.as_ref()?))).collect();
        let choices = match &self.compare {
            Some(asked) => self.choices(asked, observed),
            None => Vec::new(),
        };
        let drift = self.drift(&all);
        let observed = all.into_iter().map(|(_, seen)| seen.clone()).collect();
        self.answer = Answer { choices, drift, observed };
    }

    /// The drift of the combination that was run once more.
    fn drift(&self, all: &[(&Run, &Observation)]) -> Option<Drifted> {
        let (anchor, last) = all.iter().find(|(run, _)| run.is_anchor)?;
        let is_before =
            |(run, _): &&(&Run, &Observation)| !run.is_anchor && run.combination == anchor.combination;
        let before: Vec<Observation> =
            all.iter().filter(is_before).map(|(_, seen)| (*seen).clone()).collect();
        drifted(&before, last, &self.question())
    }

    /// A choice for each combination of the axes beside the one that is asked for, of all values of that one: one whose
    /// runs never began is told as well.
    fn choices(&self, asked: &Asked, observed: &[Option<Observation>]) -> Vec<Choice> {
        let mut parts = Parts { across: &asked.across, all: Vec::new() };
        for combination in &self.combinations {
            parts.group(combination);
        }
        for (run, seen) in self.runs.iter().zip(observed).filter(|(run, _)| !run.is_anchor) {
            let Some(group) = parts.group(&run.combination) else { continue };
            match seen {
                Some(seen) => group.runs.push(seen.clone()),
                None => group.not_run.push(run.why_not()),
            }
        }
        let question = question(asked);
        let choice = |(within, groups)| Choice { within, ..choose(&asked.across, groups, &question) };
        parts.all.into_iter().map(choice).collect()
    }

    fn question(&self) -> Question {
        self.compare.as_ref().map_or_else(|| question(&Asked::default()), question)
    }
}

fn question(asked: &Asked) -> Question {
    Question {
        primary: asked.primary.clone(),
        metrics: Vec::new(),
        margin: if asked.margin > 0.0 { asked.margin } else { MARGIN },
        across: vec![asked.across.clone()],
    }
}

/// The combinations of the axes beside one, each with the values of that one.
struct Parts<'m> {
    across: &'m str,
    all: Vec<(Map<String, Value>, Vec<Group>)>,
}

impl Parts<'_> {
    /// The group of a combination's value; None where it has none for the axis.
    fn group(&mut self, combination: &Map<String, Value>) -> Option<&mut Group> {
        let mut within = combination.clone();
        let value = within.shift_remove(self.across)?;
        let at = self.all.iter().position(|(known, _)| *known == within).unwrap_or_else(|| {
            self.all.push((within, Vec::new()));
            self.all.len() - 1
        });
        let groups = &mut self.all[at].1;
        let place = groups.iter().position(|group| group.value == value).unwrap_or_else(|| {
            groups.push(Group { value, runs: Vec::new(), not_run: Vec::new() });
            groups.len() - 1
        });
        groups.get_mut(place)
    }
}
