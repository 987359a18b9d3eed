//! The whole test's virtual users: how many must exist when it begins, how many at most, and which shard each turn is
//! on.
//!
//! Scenarios share users: one that is given back serves the next scenario. Each turn therefore takes the lowest place
//! that is free when it begins, and places are dealt out to shards; so as many places are needed as k6 initialises
//! users, and no shard ever looks for a user that another one has.

use super::arrivals::Arrivals;
use super::turns::{Turn, length, ns, regular_end, turns};
use crate::options::span::written;
use crate::options::{Executor, Scenario, Stage};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

/// The plan of a test's execution, known before it begins.
#[derive(Debug, Clone)]
pub struct Plan {
    /// How many threads share the test.
    pub shards: usize,
    /// Users to initialise before the test begins.
    pub planned_vus: u64,
    /// Users that may exist at most.
    pub possible_vus: u64,
    /// When the last user is given back at the latest, from the test's beginning.
    pub longest: Duration,
    /// The scenarios, as the options have them.
    pub scenarios: Vec<Course>,
}

/// One scenario's execution.
#[derive(Debug, Clone)]
pub struct Course {
    /// When it begins, in ns from the test's beginning.
    pub start: i64,
    /// When its regular time is over, in ns from its start.
    pub regular_end: i64,
    /// When everything is interrupted, in ns from its start.
    pub hard_end: i64,
    /// The turns of its users, each with its place.
    pub turns: Vec<(Turn, u64)>,
    /// Its planned arrivals, if its executor has some.
    pub arrivals: Option<Arrivals>,
    /// How many users it may have at a time.
    pub most_vus: u64,
}

impl Plan {
    /// The plan of scenarios in the order of the options.
    pub fn of(scenarios: &[Scenario], shards: usize) -> Plan {
        let mut courses: Vec<Course> = scenarios.iter().map(course).collect();
        let planned_vus = places(&mut courses);
        let (possible_vus, longest) = possible(&courses);
        Plan { shards: shards.max(1), planned_vus, possible_vus, longest, scenarios: courses }
    }

    /// Users that a shard initialises before the test begins: those at its places.
    pub fn planned_on(&self, shard: usize) -> impl Iterator<Item = u64> + use<> {
        (shard as u64..self.planned_vus).step_by(self.shards)
    }

    /// The lines printed before a test: one about all scenarios, and one each.
    pub fn lines(&self, scenarios: &[Scenario]) -> Vec<String> {
        let many = if scenarios.len() == 1 { "" } else { "s" };
        let head = format!(
            "scenarios: (100.00%) {} scenario{many}, {} max VUs, {} max duration (incl. graceful stop):",
            scenarios.len(),
            self.possible_vus,
            written(to_tenths(self.longest))
        );
        std::iter::once(head).chain(scenarios.iter().map(line)).collect()
    }
}

/// To the nearest tenth of a second.
fn to_tenths(time: Duration) -> Duration {
    const TENTH: u128 = 100_000_000;
    Duration::from_millis(((time.as_nanos() + TENTH / 2) / TENTH * 100) as u64)
}

fn course(scenario: &Scenario) -> Course {
    let turns: Vec<_> = turns(scenario).into_iter().map(|turn| (turn, 0)).collect();
    let regular_end = regular_end(&scenario.executor);
    let most_vus = match &scenario.executor {
        Executor::ConstantArrivalRate { max_vus, .. } | Executor::RampingArrivalRate { max_vus, .. } => {
            *max_vus
        }
        _ => turns.iter().map(|(turn, _)| turn.vu + 1).max().unwrap_or(0),
    };
    let hard_end = regular_end.saturating_add(ns(scenario.graceful_stop));
    Course {
        start: ns(scenario.start_time),
        regular_end,
        hard_end: turns.iter().map(|(turn, _)| turn.until).max().unwrap_or(hard_end),
        turns,
        arrivals: Arrivals::of(&scenario.executor),
        most_vus,
    }
}

/// Gives every turn its place and returns how many places there are.
fn places(courses: &mut [Course]) -> u64 {
    let mut all: Vec<(i64, i64, usize, usize)> = Vec::new();
    for (scenario, course) in courses.iter().enumerate() {
        let at = |instant: i64| instant.saturating_add(course.start);
        let turns = course.turns.iter().enumerate();
        all.extend(turns.map(|(n, (turn, _))| (at(turn.from()), at(turn.until), scenario, n)));
    }
    all.sort_by_key(|(from, _, scenario, n)| (*from, *scenario, *n));
    let mut free: BinaryHeap<Reverse<u64>> = BinaryHeap::new();
    let mut taken: BinaryHeap<Reverse<(i64, u64)>> = BinaryHeap::new();
    let mut places = 0;
    for (from, until, scenario, n) in all {
        while let Some(Reverse((over, place))) = taken.peek().copied()
            && over <= from
        {
            taken.pop();
            free.push(Reverse(place));
        }
        let Reverse(place) = free.pop().unwrap_or(Reverse(places));
        places = places.max(place + 1);
        taken.push(Reverse((until, place)));
        courses[scenario].turns[n].1 = place;
    }
    places
}

/// The most users there can be at a time, those created on the way with them, and when the last one's time is over.
fn possible(courses: &[Course]) -> (u64, Duration) {
    let mut changes: Vec<(i64, i64)> = Vec::new();
    for course in courses {
        let mut held = |from: i64, until: i64, vus: u64| {
            changes.extend([
                (from.saturating_add(course.start), vus as i64),
                (until.saturating_add(course.start), -(vus as i64)),
            ]);
        };
        course.turns.iter().for_each(|(turn, _)| held(turn.from(), turn.until, 1));
        if course.arrivals.is_some() {
            held(0, course.hard_end, course.most_vus - course.turns.len() as u64);
        }
    }
    // Given back before taken, at the same instant.
    changes.sort_unstable();
    let (mut now, mut most, mut last) = (0, 0, 0);
    for (at, change) in changes.into_iter().filter(|(_, change)| *change != 0) {
        now += change;
        most = most.max(now);
        last = last.max(at);
    }
    (most as u64, Duration::from_nanos(last.max(0) as u64))
}

/// `* default: 10 looping VUs for 30s (gracefulStop: 30s)`
fn line(scenario: &Scenario) -> String {
    let lasting = |stages: &[Stage]| format!("for {} over {} stages", written(length(stages)), stages.len());
    let timed = |name: &str, time: Duration| Some(format!("{name}: {}", written(time)));
    let range = |pre: &u64, most: &u64| match most > pre {
        true => Some(format!("maxVUs: {pre}-{most}")),
        false => Some(format!("maxVUs: {pre}")),
    };
    let rate = Arrivals::of(&scenario.executor).map_or(0.0, |arrivals| arrivals.most_per_second());
    let (what, own) = match &scenario.executor {
        Executor::SharedIterations { vus, iterations, max_duration } => {
            (format!("{iterations} iterations shared among {vus} VUs"), timed("maxDuration", *max_duration))
        }
        Executor::PerVuIterations { vus, iterations, max_duration } => {
            (format!("{iterations} iterations for each of {vus} VUs"), timed("maxDuration", *max_duration))
        }
        Executor::ConstantVus { vus, duration } => {
            (format!("{vus} looping VUs for {}", written(*duration)), None)
        }
        Executor::RampingVus { start_vus, stages, graceful_ramp_down } => {
            let most = stages.iter().map(|stage| stage.target).fold(*start_vus, u64::max);
            let what = format!("Up to {most} looping VUs {}", lasting(stages));
            (what, timed("gracefulRampDown", *graceful_ramp_down))
        }
        Executor::ConstantArrivalRate { duration, pre_allocated_vus, max_vus, .. } => {
            let rate = if *max_vus == 0 { 0.0 } else { rate };
            let what = format!("{rate:.2} iterations/s for {}", written(*duration));
            (what, range(pre_allocated_vus, max_vus))
        }
        Executor::RampingArrivalRate { stages, pre_allocated_vus, max_vus, .. } => {
            let what = format!("Up to {rate:.2} iterations/s {}", lasting(stages));
            (what, range(pre_allocated_vus, max_vus))
        }
    };
    let exec = scenario.exec_given.then(|| format!("exec: {}", scenario.exec));
    let some = |name: &str, time: Duration| timed(name, time).filter(|_| !time.is_zero());
    let (start, stop) =
        (some("startTime", scenario.start_time), some("gracefulStop", scenario.graceful_stop));
    let facts: Vec<String> = [own, exec, start, stop].into_iter().flatten().collect();
    let facts = if facts.is_empty() { String::new() } else { format!(" ({})", facts.join(", ")) };
    format!("* {}: {what}{facts}", scenario.name)
}
