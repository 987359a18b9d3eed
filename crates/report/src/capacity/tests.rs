use super::*;

fn row(load: u64, seconds: f64, outcome: Outcome, p99: f64) -> TrialRow {
    let trial = Trial { load, seconds, outcome, achieved: None };
    TrialRow {
        trial,
        is_full: seconds >= 20.0,
        achieved_per_s: Some(load.min(860) as f64),
        p50_ms: Some(12.0),
        p99_ms: Some(p99),
        delivered: Some(if outcome == Outcome::Held { 1.0 } else { 0.961 }),
        late: Some(0.0),
        evidence: String::new(),
        folder: None,
    }
}

fn bound(load: u64, agreeing: usize) -> Option<Bound> {
    Some(Bound { load, agreeing, trials: agreeing, throughput: None })
}

fn found() -> Capacity {
    Capacity {
        name: "chat".to_owned(),
        started: "2026-01-01T00:00:00Z".to_owned(),
        version: "0.1.0".to_owned(),
        command: ["sonagi", "capacity", "chat.yml"].map(str::to_owned).to_vec(),
        varied: "rate".to_owned(),
        until: "delivery.ratio >= 0.999".to_owned(),
        goal: Goal::of(10, 5000, 0.05, 20.0),
        end: Some(End::Bracket),
        found: Found { lower: bound(840, 3), upper: bound(880, 2), held: Some(840), missed: Some(880) },
        operate_at: None,
        limited_by: Some("one thread of the target is full".to_owned()),
        preflight: None,
        generator_limit: None,
        trouble: None,
        trials: vec![
            row(10, 7.0, Outcome::Held, 14.0),
            row(1280, 7.0, Outcome::Missed, 2100.0),
            row(840, 20.0, Outcome::Held, 41.0),
            row(880, 20.0, Outcome::Missed, 950.0),
            row(880, 20.0, Outcome::Missed, 960.0),
        ],
        recoveries: vec![Recovery { after: 1280, seconds: Some(12.0), patience_s: 60.0, probe_s: 2.0 }],
        budget_s: 900.0,
        used_s: 250.0,
    }
    .advised()
}

/// The search of the manual's sample, trial by trial.
fn documented() -> Capacity {
    let held = |load: u64, seconds: f64, p99: f64| row(load, seconds, Outcome::Held, p99);
    let missed = |load: u64, seconds: f64, p99: f64| row(load, seconds, Outcome::Missed, p99);
    let trials = [
        held(10, 6.7, 14.0),
        held(40, 6.7, 14.0),
        held(160, 6.7, 15.0),
        held(640, 6.7, 22.0),
        missed(2560, 6.7, 2100.0),
        missed(882, 6.7, 940.0),
        held(839, 6.7, 40.0),
        held(839, 20.0, 41.0),
        held(839, 20.0, 43.0),
        held(839, 20.0, 41.0),
        missed(882, 20.0, 950.0),
        missed(882, 20.0, 960.0),
    ];
    Capacity {
        until: "delivery.ratio >= 0.999 and delivery.latency_ms.p99 < 300".to_owned(),
        found: Found { lower: bound(839, 3), upper: bound(882, 3), held: Some(839), missed: Some(882) },
        trials: trials.into(),
        recoveries: vec![Recovery { after: 2560, seconds: Some(12.0), patience_s: 60.0, probe_s: 2.0 }],
        used_s: 182.0,
        ..found()
    }
    .advised()
}

#[test]
fn the_manual_shows_what_is_printed() {
    let shown = documented().console(80, false);
    let manual = include_str!("../../../../docs/capacity.md");
    assert!(
        manual.contains(&format!("```text\n{shown}```\n")),
        "docs/capacity.md has another sample than:\n{shown}"
    );
}

#[test]
fn the_verdict_comes_first_then_the_curve() {
    insta::assert_snapshot!(found().console(80, false), @r"
    capacity    840/s holds (confirmed 3 of 3), 880/s does not (failed 2 of 2);
                width 4.5 %
                limited by: one thread of the target is full
                operate at 588/s (70 %)
    until       delivery.ratio >= 0.999
    curve       load     achieved p50      p99       delivered verdict
                10       10.0/s   12.0 ms  14.0 ms   100 %     held 1 of 1
                840      840/s    12.0 ms  41.0 ms   100 %     held 1 of 1, lower
                880      860/s    12.0 ms  955 ms    96.1 %    failed 2 of 2, upper
                1,280    860/s    12.0 ms  2,100 ms  96.1 %    failed 1 of 1
    recovery    after 1,280/s: 12 s until latency was as before
    budget      5 trials, 4 min 10 s of 15 min
    ");
}

#[test]
fn what_is_only_half_known_is_told_as_that() {
    let mut cut = Capacity { end: Some(End::Budget), recoveries: Vec::new(), trials: Vec::new(), ..found() };
    cut.found = Found { held: Some(320), missed: Some(1280), ..Found::default() };
    insta::assert_snapshot!(cut.advised().console(80, false), @r"
    capacity    not found: the budget of 15 min is used up
                so far: 320/s held (unconfirmed), 1,280/s did not (unconfirmed)
                limited by: one thread of the target is full
    until       delivery.ratio >= 0.999
    budget      0 trials, 4 min 10 s of 15 min
    ");
}

#[test]
fn a_target_that_does_not_come_back_is_told_beside_the_verdict() {
    let mut found = found();
    found.recoveries.push(Recovery { after: 1280, seconds: None, patience_s: 60.0, probe_s: 2.0 });
    let text = found.console(80, false);
    assert!(text.contains("recovery    after 1,280/s: did not recover within 1 min\n"), "{text}");
}

#[test]
fn a_trial_while_others_had_the_machine_is_held_against_no_load() {
    let mut found = found();
    found.trials.push(row(880, 20.0, Outcome::Stolen, 3000.0));
    found.trials.push(row(900, 20.0, Outcome::Stolen, 3000.0));
    let text = found.console(80, false);
    assert!(text.contains(" 955 ms    96.1 %    failed 2 of 2, upper\n"), "{text}");
    assert!(text.contains(" machine was shared\n"), "{text}");
}

#[test]
fn a_generator_that_can_do_no_more_leaves_a_lower_bound() {
    let mut limited = Capacity { end: Some(End::Generator), ..found() };
    limited.found.upper = None;
    let expected = "at least 840/s, generator-limited: 840/s holds (confirmed 3 of 3)";
    assert_eq!(limited.verdict(), expected);
    limited.found = Found::default();
    assert_eq!(limited.verdict(), "not found: the generator fell behind at every load");
}

#[test]
fn a_load_that_held_in_half_of_its_trials_is_an_upper_bound_all_the_same_and_no_sharp_edge() {
    let mut found = found();
    found.trials.push(row(880, 20.0, Outcome::Held, 100.0));
    found.trials.push(row(880, 20.0, Outcome::Held, 200.0));
    found.trials.push(row(900, 20.0, Outcome::Held, 90.0));
    // A short trial is lenient.
    found.trials.push(row(1000, 7.0, Outcome::Held, 90.0));
    let text = found.console(80, false);
    // The middle of 100, 200, 950 and 960 ms.
    assert!(text.contains(" 575 ms    98.0 %    failed 2 of 4, upper\n"), "{text}");
    assert!(text.contains("\n            no sharp edge: 900/s held in 1 of 1 trial\n"), "{text}");
}

#[test]
fn late_copies_are_told_unless_the_expression_looks_at_latencies() {
    let mut found = found();
    found.trials[2].late = Some(0.596);
    let told = "at 840/s up to 59.6\u{a0}% of the copies came behind the deadline, which counts as delivered";
    assert_eq!(found.beside().last().unwrap().replace(" %", "\u{a0}%"), told);
    found.until = "delivery.ratio >= 0.999 and delivery.latency_ms.p99 < 1000".to_owned();
    assert!(found.beside().last().unwrap().starts_with("operate at"));
    found.until = "delivery.ratio >= 0.999".to_owned();
    found.trials[2].late = Some(0.0004);
    assert!(found.beside().last().unwrap().starts_with("operate at"));
}

#[test]
fn a_long_probe_has_not_seen_a_recovery_at_once() {
    let recovery = |probe_s| Recovery { after: 1280, seconds: Some(0.0), patience_s: 60.0, probe_s };
    let found = |probe_s| Capacity { recoveries: vec![recovery(probe_s)], ..found() }.recovered();
    assert_eq!(found(2.0), ["at once after every load that failed"]);
    assert_eq!(found(17.6), ["in the first probe (18 s) after every load that failed"]);
}

/// A search that ended where the descriptors did.
fn out_of_descriptors() -> Capacity {
    let finding = PreflightFinding {
        limit: GeneratorLimit::Descriptors,
        what: "this process may have 904 files".to_owned(),
        hint: "raise the limit".to_owned(),
    };
    let preflight = Preflight { highest: Some(840), findings: vec![finding], ..Preflight::default() };
    let mut limited = Capacity { end: Some(End::Generator), limited_by: None, ..found() };
    limited.found.upper = None;
    Capacity { preflight: Some(preflight), generator_limit: Some(GeneratorLimit::Descriptors), ..limited }
}

#[test]
fn a_limit_of_the_generator_that_was_found_before_is_named() {
    let limited = out_of_descriptors();
    let verdict = "at least 840/s, generator-limited (descriptors): 840/s holds (confirmed 3 of 3)";
    assert_eq!(limited.verdict(), verdict);
    assert_eq!(limited.beside(), ["this process may have 904 files", "operate at 588/s (70\u{a0}%)"]);
}

#[test]
fn the_document_is_read_as_it_was_written_and_so_are_those_of_older_versions() {
    for capacity in [found(), out_of_descriptors()] {
        assert_eq!(Capacity::read(&capacity.document()).unwrap(), capacity);
    }
    let mut old: serde_json::Value = serde_json::from_str(&found().document()).unwrap();
    let fields = old.as_object_mut().unwrap();
    for field in ["preflight", "generator_limit"] {
        assert!(fields.remove(field).is_some(), "{field}");
    }
    assert_eq!(Capacity::read(&old.to_string()).unwrap(), found());
}

#[test]
fn advice_has_three_digits_and_none_is_rounded_up() {
    assert_eq!([588.0, 136.9, 7.0, 0.4, 1400.0, 12_399.0].map(rounded), [588, 136, 7, 0, 1400, 12_300]);
}

#[test]
fn the_page_has_the_words_of_the_terminal_and_every_trial() {
    let page = found().page(true);
    assert_eq!((&page["mood"], &page["is_over"]), (&"good".into(), &true.into()));
    assert_eq!(page["verdict"], found().verdict());
    assert_eq!(page["lower"]["name"], "840/s");
    assert_eq!(page["command"][2], "chat.yml");
    let rows = page["rows"].as_array().unwrap();
    assert_eq!(
        rows.iter().map(|row| row["load"].as_str().unwrap()).collect::<Vec<_>>(),
        ["10/s", "840/s", "880/s", "1,280/s"]
    );
    assert_eq!(rows[2]["verdict"], "failed 2 of 2, upper");
    // Beside the load and the verdict, a cell for each title.
    assert_eq!(rows[2]["cells"].as_array().unwrap().len() + 1, page["columns"].as_array().unwrap().len());
    let trials = page["trials"].as_array().unwrap();
    assert_eq!((trials.len(), &trials[3]["outcome"]), (5, &"missed".into()));
    let state = |goes_on| {
        let page = Capacity { end: None, ..found() }.page(goes_on);
        (page["mood"].clone(), page["is_over"].clone())
    };
    assert_eq!(state(true), ("running".into(), false.into()));
    assert_eq!(state(false), ("doubtful".into(), true.into()), "it was cut off");
}
