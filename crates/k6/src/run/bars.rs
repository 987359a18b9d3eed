//! How far the scenarios are, a line each, as k6 draws them.

use sonagi_measure::At;
use std::sync::Arc;
use std::time::Duration;

use crate::executor::{Arrivals, Common, Count, Counts, Plan};
use crate::options::span::written;
use crate::options::{Executor, Scenario};

/// Cells of a bar.
const WIDTH: usize = 38;

/// The state of a test's scenarios.
pub(super) struct Bars<'a> {
    pub(super) scenarios: &'a [Scenario],
    pub(super) plan: &'a Plan,
    pub(super) commons: &'a [Arc<Common>],
    /// Whether the test was ended early.
    pub(super) is_cut: bool,
}

impl Bars<'_> {
    /// The line for the test.
    pub(super) fn head(&self, elapsed: Duration) -> String {
        let sum = |of: fn(&Counts) -> &Count| Common::sum(self.commons, of);
        let there = self.plan.planned_vus.max(sum(|counts| &counts.held));
        let digits = there.to_string().len();
        format!(
            "running ({}), {:0digits$}/{there} VUs, {} complete and {} interrupted iterations",
            clock(elapsed, self.plan.longest),
            sum(|counts| &counts.active),
            sum(|counts| &counts.complete),
            sum(|counts| &counts.interrupted)
        )
    }

    /// One line for each scenario, `now` being their end.
    pub(super) fn lines(&self, now: At) -> Vec<String> {
        let width = self.scenarios.iter().map(|scenario| scenario.name.len()).max().unwrap_or(0);
        (0..self.scenarios.len()).map(|at| self.line(at, width, now)).collect()
    }

    fn line(&self, at: usize, width: usize, now: At) -> String {
        let (scenario, common) = (&self.scenarios[at], &self.commons[at]);
        let ended = common.ended().unwrap_or(now);
        let spent = Duration::from_nanos(ended.since(common.start).max(0) as u64);
        let done = common.progress(ended);
        let is_done = done >= 1.0 && !self.is_cut;
        let filled = (done * WIDTH as f64) as usize;
        let bar: String = (0..WIDTH).map(|cell| if cell < filled { '=' } else { '-' }).collect();
        let mark = if is_done { '✓' } else { '✗' };
        let name = &scenario.name;
        let right = self.right(scenario, common, at, spent);
        format!("{name:width$} {mark} [{bar}] {right}").trim_end().to_owned()
    }

    fn right(&self, scenario: &Scenario, common: &Common, at: usize, spent: Duration) -> String {
        let (course, counts) = (&self.plan.scenarios[at], &common.counts);
        let regular = Duration::from_nanos(course.regular_end.max(0) as u64);
        let so_far = format!("{}/{}", clock(spent, regular), written(regular));
        let time = if spent >= regular { written(regular) } else { so_far.clone() };
        let ended = common.over();
        match &scenario.executor {
            Executor::SharedIterations { vus, iterations, .. } => {
                format!("{vus} VUs  {so_far}  {} shared iters", of(ended, *iterations))
            }
            Executor::PerVuIterations { vus, iterations, .. } => {
                format!("{vus} VUs  {time}  {} iters, {iterations} per VU", of(ended, vus * iterations))
            }
            Executor::ConstantVus { vus, .. } => format!("{vus} VUs  {time}"),
            Executor::RampingVus { .. } => {
                format!("{} VUs  {time}", of(counts.active.get(), course.most_vus))
            }
            Executor::ConstantArrivalRate { pre_allocated_vus, max_vus, .. }
            | Executor::RampingArrivalRate { pre_allocated_vus, max_vus, .. } => {
                let begun = counts.begun.get() + counts.dropped.get();
                let rate = course.arrivals.as_ref().map_or(0.0, |arrivals| arrivals.rate_before(begun));
                let most = course.arrivals.as_ref().map_or(0.0, Arrivals::most_per_second);
                let (digits, wide) = (max_vus.to_string().len(), format!("{most:.2}").len());
                let held = counts.most_held.get().max(*pre_allocated_vus);
                let active = counts.active.get();
                format!("{active:0digits$}/{held:0digits$} VUs  {time}  {rate:0wide$.2} iters/s")
            }
        }
    }
}

/// `04/10`.
fn of(count: u64, all: u64) -> String {
    let digits = all.to_string().len();
    format!("{count:0digits$}/{all}")
}

/// `00m01.2s`: as wide as the longest one it can become, so that what stands behind it stays where it is.
fn clock(time: Duration, longest: Duration) -> String {
    const UNITS: [(u64, &str); 3] = [(86_400, "d"), (3_600, "h"), (60, "m")];
    let mut text = String::new();
    let (mut rest, mut most) = (time.as_secs(), longest.as_secs());
    for (seconds, unit) in UNITS {
        if !text.is_empty() || most >= seconds {
            let digits = if text.is_empty() { (most / seconds).to_string().len() } else { 2 };
            text.push_str(&format!("{:0digits$}{unit}", rest / seconds));
            rest %= seconds;
        }
        most %= seconds;
    }
    let digits = if text.is_empty() { most.to_string().len() } else { 2 };
    format!("{text}{rest:0digits$}.{}s", time.subsec_millis() / 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_told_to_a_tenth_of_a_second_and_as_wide_as_the_longest_one() {
        for (ms, longest, told) in [
            (61_280, 630, "01m01.2s"),
            (0, 60, "0m00.0s"),
            (1_250, 31, "01.2s"),
            (999, 1, "0.9s"),
            (61_000, 1, "61.0s"),
            (0, 93_784, "0d00h00m00.0s"),
            (3_661_000, 5_400, "1h01m01.0s"),
        ] {
            assert_eq!(clock(Duration::from_millis(ms), Duration::from_secs(longest)), told);
        }
    }
}
