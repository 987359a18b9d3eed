//! How far the scenarios are, a line each, as k6 draws them.

use sonagi_measure::At;
use std::sync::Arc;
use std::time::Duration;

use crate::executor::{Common, Plan};
use crate::options::span::written;
use crate::options::{Executor, Scenario};

/// Cells of a bar.
const WIDTH: usize = 38;

/// The state of a test's scenarios.
pub(super) struct Bars<'a> {
    pub(super) scenarios: &'a [Scenario],
    pub(super) plan: &'a Plan,
    pub(super) commons: &'a [Arc<Common>],
    /// When each of them was seen to be over.
    pub(super) over: &'a [Option<At>],
    /// Whether the test was ended early.
    pub(super) is_cut: bool,
}

impl Bars<'_> {
    /// One line for the test and one for each scenario, `now` being the end.
    pub(super) fn lines(&self, elapsed: Duration, now: At) -> Vec<String> {
        let sum = |of: fn(&Common) -> u64| self.commons.iter().map(|common| of(common)).sum::<u64>();
        let there = self.plan.planned_vus.max(sum(Common::held_vus));
        let digits = there.to_string().len();
        let head = format!(
            "running ({}), {:0digits$}/{there} VUs, {} complete and {} interrupted iterations",
            clock(elapsed),
            sum(Common::active_vus),
            sum(Common::complete),
            sum(Common::interrupted)
        );
        let width = self.scenarios.iter().map(|scenario| scenario.name.len()).max().unwrap_or(0);
        let line = |at: usize| self.line(at, width, now);
        std::iter::once(head).chain((0..self.scenarios.len()).map(line)).collect()
    }

    fn line(&self, at: usize, width: usize, now: At) -> String {
        let (scenario, common) = (&self.scenarios[at], &self.commons[at]);
        let ended = self.over[at].unwrap_or(now);
        let spent = Duration::from_nanos(ended.since(common.start).max(0) as u64);
        let is_counted = common.total().is_some();
        let done = common.progress(ended);
        // What is counted is done when all of it is; what lasts is done when nobody cut it off.
        let is_done = if is_counted { done >= 1.0 } else { !self.is_cut };
        let filled = (done * WIDTH as f64) as usize;
        let bar: String = (0..WIDTH).map(|cell| if cell < filled { '=' } else { '-' }).collect();
        let mark = if is_done { '✓' } else { '✗' };
        let name = &scenario.name;
        let right = self.right(scenario, common, at, spent);
        format!("{name:width$} {mark} [{bar}] {right}").trim_end().to_owned()
    }

    fn right(&self, scenario: &Scenario, common: &Common, at: usize, spent: Duration) -> String {
        let regular = Duration::from_nanos(self.plan.scenarios[at].regular_end.max(0) as u64);
        let time = if spent >= regular {
            written(regular)
        } else {
            format!("{}/{}", clock(spent), written(regular))
        };
        let ended = common.complete() + common.interrupted();
        match &scenario.executor {
            Executor::SharedIterations { vus, iterations, .. } => {
                format!("{vus} VUs  {}/{}  {ended}/{iterations} shared iters", clock(spent), written(regular))
            }
            Executor::PerVuIterations { vus, iterations, .. } => {
                let all = vus * iterations;
                format!(
                    "{vus} VUs  {}/{}  {ended}/{all} iters, {iterations} per VU",
                    clock(spent),
                    written(regular)
                )
            }
            Executor::ConstantVus { vus, .. } => format!("{vus} VUs  {time}"),
            Executor::RampingVus { .. } => {
                format!("{}/{} VUs  {time}", common.active_vus(), self.plan.scenarios[at].most_vus)
            }
            Executor::ConstantArrivalRate { pre_allocated_vus, .. }
            | Executor::RampingArrivalRate { pre_allocated_vus, .. } => {
                let arrivals = self.plan.scenarios[at].arrivals.as_ref();
                let rate = arrivals
                    .map_or(0.0, |arrivals| arrivals.per_second(spent.min(regular).as_nanos() as i64));
                let held = common.held_vus().max(*pre_allocated_vus);
                format!("{:02}/{held:02} VUs  {time}  {rate:05.2} iters/s", common.active_vus())
            }
        }
    }
}

/// `00m01.2s`.
fn clock(time: Duration) -> String {
    let tenths = time.as_millis() / 100;
    format!("{:02}m{:02}.{}s", tenths / 600, tenths / 10 % 60, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_told_to_a_tenth_of_a_second() {
        assert_eq!(clock(Duration::from_millis(61_280)), "01m01.2s");
        assert_eq!(clock(Duration::ZERO), "00m00.0s");
    }
}
