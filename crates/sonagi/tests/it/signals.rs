use crate::support::{Place, Running, Service};
use rustix::process::Signal;

/// A run of ten minutes: nobody waits for its end.
const LONG: &str = r#"
config:
  target: "http://127.0.0.1:9"
  phases: [{ duration: 600, arrivalRate: 5 }]
scenarios:
  - name: patient
    flow:
      - get: { url: /healthz }
      - think: 600
"#;

fn long_run(place: &Place, service: &Service) -> Running {
    place.write("long.yml", LONG);
    let mut running = Running::start(place.command(&["run", "long.yml", "-t", &service.url]));
    // The line of the first second: by then that second is in the run folder.
    running.wait_for("0:01/");
    running
}

#[test]
fn the_first_signal_ends_a_run_gracefully_with_summary_and_verdict() {
    for signal in [Signal::INT, Signal::TERM] {
        let place = Place::new();
        let service = Service::start(&place, &[]);
        let mut running = long_run(&place, &service);
        running.signal(signal);
        running.wait_for("stopping");
        let answer = running.end();
        assert_eq!(answer.code, Some(130), "{answer:?}");
        // Nobody completes a flow of ten minutes; that is no failure.
        assert!(answer.out.contains("until then: "), "{}", answer.out);
        assert!(answer.out.contains("stopped in mid-flow, 0 failed"), "{}", answer.out);
        let reported = place.reported();
        assert_eq!((&reported["complete"], &reported["interrupted"]), (&true.into(), &true.into()));
    }
}

#[test]
fn the_second_signal_ends_it_at_once_with_130_and_what_was_recorded_is_on_disk() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    let mut running = long_run(&place, &service);
    running.signal(Signal::INT);
    running.wait_for("stopping");
    running.signal(Signal::INT);
    let answer = running.end();
    assert_eq!(answer.code, Some(130), "{answer:?}");
    let reported = place.reported();
    assert!(reported["users"]["started"].as_u64().unwrap() >= 1, "{reported}");
}

#[test]
fn a_killed_run_leaves_a_folder_that_is_read_up_to_its_last_second() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    let running = long_run(&place, &service);
    let folder = place.folders().remove(0);
    let text = place.sonagi(&["report", folder.to_str().unwrap()]).out;
    assert!(text.starts_with("RUNNING ") && text.contains("Under way:"), "{text}");
    assert!(text.contains("so far: ") && !text.contains("Cut off:"), "{text}");
    let listed = || place.sonagi(&["report", "runs"]).out;
    assert!(listed().starts_with("running "), "{}", listed());
    running.signal(Signal::KILL);
    assert_eq!(running.end().code, None);
    assert!(listed().starts_with("cut off "), "{}", listed());
    let reported = place.reported();
    assert_eq!((&reported["complete"], &reported["interrupted"]), (&false.into(), &false.into()));
    assert!(reported["users"]["started"].as_u64().unwrap() >= 1, "{reported}");
    let text = place.sonagi(&["report", folder.to_str().unwrap()]).out;
    assert!(text.starts_with("CUT OFF ") && text.contains("Cut off:"), "{text}");
}

#[test]
fn scripts_that_did_not_run_because_of_a_signal_are_no_pass() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    place.write("long.yml", LONG);
    place.write("longer.yml", LONG);
    let arguments = ["run", "long.yml", "longer.yml", "-t", &service.url, "--json"];
    let mut running = Running::start(place.command(&arguments));
    running.wait_for("0:01/");
    running.signal(Signal::INT);
    let answer = running.end();
    assert_eq!(answer.code, Some(130), "{answer:?}");
    assert_eq!(answer.json().as_array().unwrap().len(), 1);
    assert!(answer.err.ends_with("not run: longer\n"), "{}", answer.err);
}
