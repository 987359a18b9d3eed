//! How many users a plan has at one time, as far as that is known before it runs.

use serde_json::Value;
use sonagi_measure::outcome::OperationKind;

use super::Plan;
use super::seconds::seconds_of;
use super::step::{Jitter, Loop, Repeat, Step, Think};
use super::template::Expression;

impl Plan {
    /// The least number of connections that are open at one time, however fast the target is: a closed run's largest
    /// population; of an open one, users that arrive while the first of them still thinks and that `maxVusers` lets in.
    /// Where users share connections, those shared ones are few: 0. So it is where no operation opens a connection.
    pub fn least_crowd(&self) -> u64 {
        let connects = self.operations.iter().any(|operation| operation.kind.connects());
        let asks = self.operations.iter().any(|operation| operation.kind == OperationKind::Http);
        if !connects && (!asks || self.http.pool.is_some()) {
            return 0;
        }
        if let Some(population) = self.load.population() {
            return population;
        }
        let shortest = self.scenarios.iter().map(|scenario| thought(&scenario.flow)).reduce(f64::min);
        self.load.most_within(shortest.unwrap_or(0.0))
    }
}

/// The least time that steps take by the script alone, in seconds: their fixed pauses.
fn thought(steps: &[Step]) -> f64 {
    let of = |step: &Step| match step {
        Step::Think(Think { seconds: Expression::Constant(length), jitter }) => {
            let length = match length {
                Value::Number(number) => number.as_f64().unwrap_or(0.0),
                Value::String(text) => seconds_of(text).unwrap_or(0.0),
                _ => 0.0,
            };
            let least = match jitter {
                Jitter::None => length,
                Jitter::Millis(ms) => length - ms / 1e3,
                Jitter::Share(share) => length * (1.0 - share),
            };
            least.max(0.0)
        }
        Step::Loop(Loop { body, repeat: Repeat::Count { from, to }, pace }) => {
            let times = to.saturating_sub(*from) as f64;
            let paced = pace.map_or(0.0, |pace| (times - 1.0).max(0.0) * pace.every.as_secs_f64());
            paced.max(times * thought(body))
        }
        _ => 0.0,
    };
    steps.iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Pace, Scenario};
    use crate::schedule::{Load, Phase, Shape, Spacing, Stage};
    use sonagi_measure::outcome::Operation;
    use std::time::Duration;

    fn think(seconds: f64) -> Step {
        Step::Think(Think { seconds: Expression::Constant(seconds.into()), jitter: Jitter::None })
    }

    fn plan(load: Load, flow: Vec<Step>) -> Plan {
        let scenario = Scenario { name: "only".into(), weight: 1.0, flow };
        let operations = vec![Operation { name: "GET /".into(), kind: OperationKind::Http }];
        Plan { load, scenarios: vec![scenario], operations, ..Plan::empty() }
    }

    fn phase(rate: f64, max_users: Option<u64>) -> Phase {
        let shape = Shape::Rate { from: rate, to: rate };
        Phase { name: None, duration: Duration::from_secs(60), shape, max_users }
    }

    fn arriving(rate: f64) -> Load {
        Load::Open { phases: vec![phase(rate, None)], spacing: Spacing::Even }
    }

    #[test]
    fn users_of_an_open_run_are_there_together_as_long_as_they_think() {
        let repeat = Repeat::Count { from: 0, to: 5 };
        let looped = Step::Loop(Loop { body: vec![think(2.0)], repeat: repeat.clone(), pace: None });
        let paced =
            Step::Loop(Loop { body: vec![], repeat, pace: Some(Pace::at_once(Duration::from_secs(1))) });
        let flows =
            [(vec![], 1), (vec![think(1.0)], 11), (vec![looped, think(20.0)], 301), (vec![paced], 41)];
        for (flow, least) in flows {
            assert_eq!(plan(arriving(10.0), flow).least_crowd(), least);
        }
        assert_eq!(plan(arriving(10.0), vec![think(1000.0)]).least_crowd(), 600);
    }

    #[test]
    fn users_that_a_phase_refuses_are_not_there() {
        let crowd = |phases: &[(f64, Option<u64>)]| {
            let phases = phases.iter().map(|(rate, limit)| phase(*rate, *limit)).collect();
            plan(Load::Open { phases, spacing: Spacing::Even }, vec![think(90.0)]).least_crowd()
        };
        assert_eq!(crowd(&[(100.0, Some(50))]), 50);
        assert_eq!(crowd(&[(100.0, Some(9000))]), 6000);
        assert_eq!(crowd(&[(100.0, Some(50)), (2.0, None), (4.0, None)]), 301);
        assert_eq!(crowd(&[(2.0, None), (4.0, None), (100.0, Some(50))]), 301);
    }

    #[test]
    fn where_nothing_opens_a_connection_there_are_none() {
        let thinking = Plan { operations: Vec::new(), ..plan(arriving(10.0), vec![think(1.0)]) };
        assert_eq!(thinking.least_crowd(), 0);
    }

    #[test]
    fn a_closed_run_has_its_population_and_a_pool_has_few_connections() {
        let stage = Stage { name: None, duration: Duration::from_secs(1), from: None, users: 3000 };
        let mut closed = plan(Load::Closed { stages: vec![stage] }, vec![]);
        assert_eq!(closed.least_crowd(), 3000);
        closed.http.pool = Some(10);
        assert_eq!(closed.least_crowd(), 0);
    }
}
