//! Which virtual user of a scenario iterates when, as a pure function: for each of them its turns.
//!
//! A turn is the time a scenario keeps one virtual user. Within it are spans in which iterations may begin; between two
//! spans and after the last one an iteration that is under way may go on, until the turn ends and it is interrupted. A
//! user that ramps down and up again within `gracefulRampDown` has one turn with two spans. (k6 2.2 interrupts such a
//! user in its second span when fewer come back than had gone, and never starts it again.)

use crate::options::{Executor, Scenario, Stage};
use std::time::Duration;

/// One stretch of one virtual user's time; instants in ns from the scenario's start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Which of the scenario's virtual users, from 0.
    pub vu: u64,
    /// When iterations may begin, in order: from the first instant, before the second.
    pub spans: Vec<(i64, i64)>,
    /// When whatever still runs is interrupted.
    pub until: i64,
}

impl Turn {
    /// When it begins.
    pub fn from(&self) -> i64 {
        self.spans[0].0
    }
}

/// The turns of a scenario's virtual users, those of arrival rates being the ones allocated before its start.
pub(super) fn turns(scenario: &Scenario) -> Vec<Turn> {
    let end = regular_end(&scenario.executor);
    let all = |vus: u64| {
        let until = end.saturating_add(ns(scenario.graceful_stop));
        (0..vus).map(|vu| Turn { vu, spans: vec![(0, end)], until }).collect()
    };
    match &scenario.executor {
        Executor::SharedIterations { vus, .. }
        | Executor::PerVuIterations { vus, .. }
        | Executor::ConstantVus { vus, .. } => all(*vus),
        Executor::ConstantArrivalRate { pre_allocated_vus, .. }
        | Executor::RampingArrivalRate { pre_allocated_vus, .. } => all(*pre_allocated_vus),
        Executor::RampingVus { start_vus, stages, graceful_ramp_down } => {
            let last = ns(length(stages));
            let end = last.saturating_add(ns(scenario.graceful_stop));
            ramping(*start_vus, stages, ns(*graceful_ramp_down), last, end)
        }
    }
}

/// When a scenario's regular time is over and nothing begins any more. Ramping users may be done before the last stage
/// is.
pub(super) fn regular_end(executor: &Executor) -> i64 {
    match executor {
        Executor::SharedIterations { max_duration, .. } | Executor::PerVuIterations { max_duration, .. } => {
            ns(*max_duration)
        }
        Executor::ConstantVus { duration, .. } | Executor::ConstantArrivalRate { duration, .. } => {
            ns(*duration)
        }
        Executor::RampingArrivalRate { stages, .. } => ns(length(stages)),
        Executor::RampingVus { start_vus, stages, .. } => match steps(*start_vus, stages).last() {
            Some(step) if step.vus == 0 => step.at,
            _ => ns(length(stages)),
        },
    }
}

/// How long all stages take.
pub(super) fn length(stages: &[Stage]) -> Duration {
    stages.iter().map(|stage| stage.duration).sum()
}

pub(super) fn ns(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

/// From `at` on there are `vus` virtual users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Step {
    at: i64,
    vus: u64,
}

/// How many users there are when; instants never go back, two steps may share one.
fn steps(start_vus: u64, stages: &[Stage]) -> Vec<Step> {
    let mut steps = vec![Step { at: 0, vus: start_vus }];
    let (mut begun, mut from) = (0i64, start_vus);
    for stage in stages {
        let (duration, to) = (ns(stage.duration), stage.target);
        let end = begun.saturating_add(duration);
        let part = |n: u64, of: u64| (i128::from(duration) * i128::from(n) / i128::from(of)) as i64;
        if duration == 0 {
            if from != to {
                steps.push(Step { at: end, vus: to });
            }
        } else if to > from {
            // The last comes as the stage ends.
            steps.extend((from + 1..=to).map(|vus| Step { at: end - part(to - vus, to - from), vus }));
        } else {
            // The last to go goes as the stage ends; the first as long after its beginning as each after the one
            // before.
            steps.extend((to..from).rev().map(|vus| Step { at: end - part(vus - to, from - to), vus }));
        }
        (begun, from) = (end, to);
    }
    steps
}

/// The last started is the first stopped, so user n is there while there are more than n.
fn ramping(start_vus: u64, stages: &[Stage], ramp_down: i64, last: i64, end: i64) -> Vec<Turn> {
    let mut done = Vec::new();
    // Of each user so far its turn, whose last span is open while the user is there.
    let mut open: Vec<Option<Turn>> = Vec::new();
    let mut now = 0;
    for step in steps(start_vus, stages) {
        let next = step.vus as usize;
        if next > open.len() {
            open.resize(next, None);
        }
        for (vu, turn) in open.iter_mut().enumerate().take(next).skip(now) {
            match turn {
                Some(turn) if step.at <= turn.until => turn.spans.push((step.at, last)),
                turn => {
                    let new = Turn { vu: vu as u64, spans: vec![(step.at, last)], until: end };
                    done.extend(turn.replace(new));
                }
            }
        }
        for turn in open.iter_mut().take(now).skip(next).flatten() {
            if let Some(span) = turn.spans.last_mut() {
                span.1 = step.at;
            }
            turn.until = step.at.saturating_add(ramp_down).min(end);
        }
        // Whoever came back is bound by the scenario's end again.
        for turn in open.iter_mut().take(next).skip(now).flatten() {
            turn.until = end;
        }
        now = next;
    }
    done.extend(open.into_iter().flatten());
    done.sort_by_key(|turn| (turn.from(), turn.vu));
    done
}
