//! Searches of a simulated target, whose trials take no time.

use super::*;
use crate::capacity::recovery::within;
use crate::capacity::{Demand, TrialLength};
use crate::fingerprint::{Ticks, ticks};
use sonagi_measure::ledger::Rules;
use sonagi_measure::metrics::MetricStore;
use sonagi_measure::summary::Health;
use sonagi_measure::totals::{Header, Totals};
use sonagi_report::Capacity;
use sonagi_report::capacity::{GeneratorLimit, Recovery};
use sonagi_verdict::capacity::Found;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

/// A target that holds loads up to this one.
struct Simulated {
    most: u64,
    length: TrialLength,
    /// How many responses of a trial come for each unit of its load.
    responses: u64,
    /// How long users stay behind the phases (s).
    stays_s: f64,
    /// Trials at the beginning in which the generator falls behind.
    unreliable: usize,
    /// Trials, by number, in which it misses every load, as others have half of the machine's time.
    stolen: Range<usize>,
    /// The lengths that were asked for, of trials and of probes.
    asked_s: Vec<f64>,
}

/// Its median latency at a load.
fn median_ms(load: u64) -> f64 {
    load as f64
}

impl Trials for Simulated {
    fn run(&mut self, load: u64, seconds: f64, _: Option<(&Path, &str)>) -> Result<Option<TrialRun>, Error> {
        let mut summary = Totals::new(&Header::default(), Rules::default(), MetricStore::default()).summary();
        let is_behind = self.asked_s.len() < self.unreliable;
        let is_stolen = self.stolen.contains(&self.asked_s.len());
        self.asked_s.push(seconds);
        summary.duration_s = seconds + self.stays_s;
        summary.generator.state = if is_behind { Health::Invalid } else { Health::Ok };
        summary.http_answers_ms.count = 1;
        summary.http_answers_ms.p50 = median_ms(load);
        let responses = (self.responses * load) as f64;
        let figures = BTreeMap::from([("http.response_time.count".to_owned(), responses)]);
        let evidence = String::new();
        Ok(Some(TrialRun { summary, held: load <= self.most && !is_stolen, evidence, figures, folder: None }))
    }

    fn log_in(&mut self, _: &Path) {}

    fn stopper(&self) -> Box<dyn FnOnce() + Send> {
        Box::new(|| {})
    }

    fn is_stopped(&self) -> bool {
        false
    }

    fn length(&self) -> TrialLength {
        self.length
    }

    fn demand(&self, load: u64, _: f64) -> Demand {
        Demand { files: load, ports: 0 }
    }

    fn ticks(&self) -> Option<Ticks> {
        let trials = self.asked_s.len();
        let stolen = (0..trials).filter(|trial| self.stolen.contains(trial)).count();
        ticks(&format!("cpu {} 0 0 0 0 0 0 {stolen}", 2 * trials - stolen))
    }
}

/// A search of a range from 10, whose trials are asked to be of 20 seconds.
struct Lab {
    target: Simulated,
    asked: Asked,
    record: Record,
    _runs: tempfile::TempDir,
}

impl Lab {
    fn new(target: Simulated) -> Lab {
        let runs = tempfile::tempdir().unwrap();
        let goal = target.length.fitted(Goal::of(10, 100, 0.05, 20.0));
        // It takes 299 responses to say so.
        let until = "http.response_time.p99 < 300";
        let capacity = Capacity {
            name: "simulated".to_owned(),
            started: "2026-01-01T00:00:00Z".to_owned(),
            version: String::new(),
            command: Vec::new(),
            varied: "size".to_owned(),
            until: until.to_owned(),
            goal,
            end: None,
            found: Found::default(),
            operate_at: None,
            limited_by: None,
            preflight: None,
            generator_limit: None,
            trouble: None,
            trials: Vec::new(),
            recoveries: Vec::new(),
            budget_s: 900.0,
            used_s: 0.0,
        };
        let record = Record::begin(runs.path(), capacity).unwrap();
        let asked = Asked {
            goal,
            varied: Varied::Variable("size".to_owned()),
            until: Threshold::new(until, true),
            budget: Duration::from_mins(15),
            recovers: true,
            quiet: true,
            machine: Machine::default(),
        };
        Lab { target, asked, record, _runs: runs }
    }

    fn searched(mut self) -> (Capacity, Vec<f64>) {
        let terminal = Terminal::from_environment();
        search(&mut self.target, &self.asked, &mut self.record, &terminal).unwrap();
        (self.record.into_capacity(), self.target.asked_s)
    }

    /// The median that the target must come back to, after so many trials.
    fn median_after(mut self, trials: usize) -> Option<f64> {
        let terminal = Terminal::from_environment();
        let mut searching = Searching {
            trials: &mut self.target,
            asked: &self.asked,
            record: &mut self.record,
            terminal: &terminal,
            search: Search::new(self.asked.goal),
            needs: needs(&self.asked.until),
            began: Instant::now(),
            median_ms: None,
            behind: None,
            lasted: Vec::new(),
        };
        for _ in 0..trials {
            assert_eq!(searching.step().unwrap(), None);
        }
        searching.median_ms
    }
}

fn target(length: TrialLength, unreliable: usize) -> Simulated {
    Simulated {
        most: 37,
        length,
        responses: 100,
        stays_s: 0.0,
        unreliable,
        stolen: 0..0,
        asked_s: Vec::new(),
    }
}

#[test]
fn trials_and_probes_are_as_long_as_the_script_says_and_count_as_full() {
    let (found, asked_s) = Lab::new(target(TrialLength::OfScript { seconds: 7.0 }, 0)).searched();
    let bound = |bound: &Option<_>| bound.as_ref().map(|bound: &sonagi_verdict::capacity::Bound| bound.load);
    assert_eq!(found.end, Some(End::Bracket));
    assert_eq!((bound(&found.found.lower), bound(&found.found.upper)), (Some(37), Some(38)));
    assert!(found.trials.iter().all(|row| row.trial.seconds == 7.0 && row.is_full), "{:?}", found.trials);
    assert_eq!(found.found.lower.unwrap().agreeing, 3);
    assert!(!found.recoveries.is_empty() && asked_s.len() > found.trials.len());
    assert!(asked_s.iter().all(|seconds| *seconds == 7.0), "{asked_s:?}");
}

#[test]
fn a_search_without_descriptors_for_its_top_ends_where_they_do_and_says_so() {
    let end = |room: Option<u64>, varied: Varied| {
        let mut lab = Lab::new(target(TrialLength::OfScript { seconds: 7.0 }, 0));
        lab.asked.machine.open_files_limit = room.map(|room| lab.asked.machine.own_files() + room);
        lab.asked.varied = varied;
        let found = lab.searched().0;
        let highest = found.preflight.clone().and_then(|preflight| preflight.highest);
        let most = found.trials.iter().map(|row| row.trial.load).max();
        (found.end, found.generator_limit, highest, most, found.goal.to)
    };
    let descriptors = Some(GeneratorLimit::Descriptors);
    assert_eq!(end(Some(30), Varied::Users), (Some(End::Generator), descriptors, Some(30), Some(30), 100));
    // The limit of the target, 37, comes before that of the generator.
    assert_eq!(end(Some(38), Varied::Users), (Some(End::Bracket), None, Some(38), Some(38), 100));
    assert_eq!(end(None, Varied::Users).0, Some(End::Bracket));
    // How much a variable takes at another value is not known.
    let of_variable = end(Some(30), Varied::Variable("size".to_owned()));
    assert_eq!((of_variable.0, of_variable.2), (Some(End::Bracket), None));
}

#[test]
fn too_few_events_matter_where_a_load_is_confirmed() {
    let end = |responses| {
        let target = Simulated { responses, ..target(TrialLength::OfScript { seconds: 7.0 }, 0) };
        Lab::new(target).searched().0.end
    };
    // The lowest load has 100 of the 299, and the one that is confirmed 370; or 185.
    assert_eq!((end(10), end(5)), (Some(End::Bracket), Some(End::TooFewEvents)));
}

#[test]
fn no_probe_begins_that_would_end_behind_the_budget() {
    let left = Duration::from_secs(3);
    let probed = |length| {
        let mut target = target(length, 0);
        let after = recovery(&mut target, 10, Some(10.0), 40, left).unwrap();
        (matches!(after, After::OutOfTime), target.asked_s)
    };
    assert_eq!(probed(TrialLength::OfScript { seconds: 7.0 }), (true, Vec::new()));
    assert_eq!(probed(TrialLength::AS_ASKED), (false, vec![2.0]));
}

#[test]
fn a_target_that_holds_nothing_any_more_is_dead_and_one_that_stays_slow_goes_on() {
    let after = |most, median_ms| {
        let mut target = Simulated { most, ..target(TrialLength::AS_ASKED, 0) };
        let (patience, between) = (Duration::from_millis(50), Duration::from_millis(5));
        let asked = (Some(median_ms), 40, Duration::from_mins(1));
        (within(patience, between, &mut target, 10, asked).unwrap(), target.asked_s.len())
    };
    let (dead, probes) = after(9, 10.0);
    assert!(matches!(dead, After::Dead(Recovery { after: 40, seconds: None, .. })) && probes > 1, "{probes}");
    // Its median at the lowest load is 10 ms.
    let (slow, probes) = after(37, 4.0);
    assert!(matches!(slow, After::Goes(Recovery { seconds: None, .. })) && probes > 1, "{probes}");
    let (back, probes) = after(37, 9.5);
    assert!(matches!(back, After::Goes(Recovery { seconds: Some(_), .. })) && probes == 1, "{probes}");
}

#[test]
fn no_trial_begins_that_would_end_behind_the_budget() {
    let mut lab = Lab::new(target(TrialLength::OfScript { seconds: 7.0 }, 0));
    lab.asked.budget = Duration::from_millis(6_900);
    let (found, asked_s) = lab.searched();
    assert_eq!((found.end, asked_s), (Some(End::Budget), Vec::new()));
}

#[test]
fn where_users_stay_behind_the_phases_a_trial_is_as_long_as_those_before_it() {
    let trials = |length| {
        let mut lab = Lab::new(Simulated { stays_s: 600.0, ..target(length, 0) });
        lab.asked.recovers = false;
        let found = lab.searched().0;
        (found.end, found.trials.len())
    };
    // A budget of 900 s has no room for a second one of 1,000 s, once the first has shown it; none takes any time here.
    assert_eq!(trials(TrialLength::OfScript { seconds: 400.0 }), (Some(End::Budget), 1));
    assert_eq!(trials(TrialLength::OfScript { seconds: 200.0 }).0, Some(End::Bracket), "800 s fit");
    assert_eq!(trials(TrialLength::AS_ASKED).0, Some(End::Bracket), "these are cut where they end");
}

#[test]
fn the_target_must_come_back_to_the_median_of_the_first_trial_that_held_at_the_lowest_load() {
    let after = |unreliable, trials| Lab::new(target(TrialLength::AS_ASKED, unreliable)).median_after(trials);
    assert_eq!((after(0, 1), after(1, 1)), (Some(10.0), None));
    assert_eq!(after(1, 2), Some(10.0));
    // A trial at a higher load takes longer, and says nothing of it.
    assert_eq!((after(0, 2), after(1, 3)), (Some(10.0), Some(10.0)));
}

#[test]
fn a_trial_that_missed_while_others_had_the_machine_is_made_again() {
    let found = |stolen| {
        let mut lab = Lab::new(Simulated { stolen, ..target(TrialLength::AS_ASKED, 0) });
        lab.asked.recovers = false;
        lab.searched().0
    };
    let loads = |found: &Capacity, outcome| {
        let rows = found.trials.iter().filter(|row| row.trial.outcome == outcome);
        rows.map(|row| row.trial.load).collect::<Vec<_>>()
    };
    let (quiet, noisy) = (found(0..0), found(0..3));
    assert_eq!(loads(&noisy, Outcome::Stolen), [10, 10, 10]);
    assert_eq!((noisy.end, &noisy.found), (Some(End::Bracket), &quiet.found));
    assert_eq!(loads(&noisy, Outcome::Missed), loads(&quiet, Outcome::Missed));
    // Wherever it comes, it changes nothing but the time that the search takes.
    for at in 0..quiet.trials.len() {
        let once = found(at..at + 1);
        assert_eq!((&once.found, loads(&once, Outcome::Stolen).len()), (&quiet.found, 1), "at trial {at}");
        assert_eq!(once.trials.len(), quiet.trials.len() + 1);
    }
    assert_eq!(noisy.trials[0].evidence, "50 % of this machine's time was stolen; ");
    // A machine that is never its own: what it says then must do.
    let shared = found(0..usize::MAX);
    assert_eq!((shared.end, loads(&shared, Outcome::Stolen).len()), (Some(End::Below), STOLEN_MOST));
}
